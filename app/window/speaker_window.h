// The speaker's own window (app/ui/state/speaker.h), beside the one that the audience sees.
#pragma once

#include "app/window/events.h"
#include "app/window/frame_times.h"

#include <memory>
#include <string>

namespace tilewalk {

class SpeakerWindow {
public:
    /// `audience`, its events and the times live at least as long.
    SpeakerWindow(GLFWwindow* audience, Events& events, FrameTimes& times);
    ~SpeakerWindow();
    SpeakerWindow(const SpeakerWindow&) = delete;
    SpeakerWindow& operator=(const SpeakerWindow&) = delete;

    /// Opens or closes it as the state asks, and puts both windows on their screens.
    void follow(ui::AppState& state);
    /// Draws a frame, if it is open. A path: writes it as PNG as well; an exit code.
    int draw(ui::AppState& state, bool slept, const std::string& screenshot = {});

private:
    struct Own;
    std::string open(ui::AppState& state);
    void close(ui::AppState& state);
    int draw_page(ui::AppState& state, bool slept, const std::string& screenshot);

    GLFWwindow* audience_;
    Events& audience_events_;
    FrameTimes& times_;
    std::unique_ptr<Own> own_;
};

}  // namespace tilewalk

// How long the program's own part of a frame took, without OpenGL's (tilewalk --timing, tests/soak.sh).
#pragma once

#include <array>
#include <string>

namespace tilewalk {
namespace ui {
struct AppState;
}

class FrameTimes {
public:
    enum Part { frame, speaker, fonts, keep, parts };

    explicit FrameTimes(bool wanted);
    ~FrameTimes();
    FrameTimes(const FrameTimes&) = delete;
    FrameTimes& operator=(const FrameTimes&) = delete;

    /// Does the work, and says on stderr when, where and in which part it took longer than `limit`.
    template <class Work> void measure(Part part, const ui::AppState& state, const Work& work) {
        if (!wanted_) return work();
        const Moment began = now();
        const std::string where = place(state);
        work();
        add(part, began, where, state);
    }
    /// The number of frames and the longest of each part, on stderr.
    void report() const;

    static constexpr double limit = 0.016;

private:
    struct Moment {
        double passed = 0,
               waited = 0;  ///< seconds of the clock, and those in which the thread had no processor
    };
    Moment now() const;
    static std::string place(const ui::AppState& state);
    void add(Part part, const Moment& began, const std::string& where, const ui::AppState& state);

    bool wanted_;
    int waits_ = -1;  ///< the file that tells how long the thread waited for a processor; −1: there is none
    std::array<double, parts> longest_{};
    int frames_ = 0, long_ = 0;
};

}  // namespace tilewalk

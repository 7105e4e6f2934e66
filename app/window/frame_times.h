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
    /// Seconds of the clock; those in which the thread ran, and in which it waited for a processor; how often
    /// it gave one up by itself, to wait for something.
    struct Moment {
        double passed = 0, ran = 0, waited = 0;
        long gave_up = 0;
    };
    Moment now() const;
    double own_time(const Moment& began, const Moment& ended) const;
    static std::string place(const ui::AppState& state);
    void add(Part part, const Moment& began, const std::string& where, const ui::AppState& state);

    bool wanted_;
    int scheduled_ =
        -1;  ///< the file that tells how long the thread waited for a processor; −1: there is none
    std::array<double, parts> longest_{};
    int frames_ = 0, long_ = 0;
};

}  // namespace tilewalk

// The start page: what it draws from, and what its keys do. All numbers are those of walks, closed forms,
// recorded results and a run of a kernel.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/base/background.h"
#include "core/class/tour.h"
#include "core/compare/kernel_compare.h"
#include "core/study/memory_study.h"

namespace tilewalk::ui {

/// What one kernel took at each length of a recorded report, ascending.
struct RecordedKernel {
    struct At {
        std::int64_t N;
        double seconds;
    };
    std::string name;
    std::vector<At> times;
    std::int64_t memory = 0;  ///< beside its inputs and outputs at the longest of them, bytes
};

struct StartPage {
    // The worked example
    std::shared_ptr<const Trace> forward, broken, backward, training;
    int step = 0;      ///< of `forward`: the row sum in which α shrinks an old one, …
    int corrects = 0;  ///< … and the step that computes this α
    int row = 0;       ///< a query whose α that is
    Study at_length;   ///< of the moment about memory
    std::vector<RecordedKernel> kernels;
    Background<Result<KernelComparison>> run;
    std::shared_ptr<const KernelComparison> compared;  ///< null until it has run
    std::vector<std::string> stops;                    ///< headings of the tour; none: there is no tour
    std::vector<TourChapter> tour_chapters;            ///< of the same

    /// What the last frame showed to be pressed, for the arrow keys; logical px.
    struct Spot {
        unsigned id;
        float x, y, w, h;
    };
    std::vector<Spot> spots;
};

/// The page's contents, made when they are asked for first.
StartPage& start_page(AppState& state);
/// Waits for the kernel, so that a picture shows its numbers.
void wait_for_start(AppState& state);

void open_start(AppState& state);
/// Goes to stop n, from 0, of the tour that runs; where none does, begins the program's own there.
void begin_tour_at(AppState& state, int n);
/// Back to what was left; begins the tour where nothing was.
void continue_from_start(AppState& state);
/// The field for a file's name, from wherever one is.
void ask_for_file(AppState& state);
/// The problem panel of the walk.
void open_own_numbers(AppState& state);
/// Opens files and goes to their walk.
void open_files_from_start(AppState& state, const std::vector<std::string>& paths);
void open_example(AppState& state, int index);

bool answer_start_key(AppState& state, const KeyPress& press);
void pass_start_time(AppState& state, float seconds);
double start_idle_seconds(const AppState& state);
std::vector<Shortcut> start_keys();

}  // namespace tilewalk::ui

// What the page Inside holds: the record that it walks through, and the run that makes one.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/base/background.h"
#include "core/inside/origin.h"
#include "core/inside/source.h"
#include "cuda/host/gpu.h"

#include <atomic>
#include <chrono>

namespace tilewalk::ui {

/// A record, and what is looked up in it. Never moved once it is made: its parts point at each other.
struct InsideWalk {
    InsideWalk(inside::Record of_run, std::string of_problem, int of_block);
    InsideWalk(const InsideWalk&) = delete;
    InsideWalk& operator=(const InsideWalk&) = delete;

    struct Launch {
        const inside::Launch* launch;
        const inside::BlockRecord* block;
        inside::Steps steps;
        inside::Origins origins;
    };
    const inside::Record record;
    const std::string problem;                            ///< "128 × 64"
    const int block;                                      ///< which of each launch is kept
    std::vector<std::unique_ptr<const Launch>> launches;  ///< that have such a block
};

struct InsideRun {
    Background<Result<std::shared_ptr<const InsideWalk>>> result;
    std::shared_ptr<std::atomic<int>> blocks_done;
    std::chrono::steady_clock::time_point started;
};

struct InsidePage {
    std::shared_ptr<const InsideWalk> shown;
    ProblemPtr beside, several;  ///< the walk's problem when the page was last drawn; one of several tiles
    std::string asked, done;     ///< what the form asks for, and what `shown` or the last failure is of
    std::string failure;         ///< why the last run has brought nothing
    std::unique_ptr<InsideRun> run;
    bool straight = false;  ///< banks are shown as if rows lay one behind the other
    std::vector<gpu::TraceableKernel> kernels;
    std::vector<inside::SourceText> sources;
};

/// The page's contents, made when they are asked for first.
InsidePage& inside_page(AppState& state);
/// Waits for a run that is under way, so that a picture shows it.
void wait_for_inside(AppState& state);

/// The walk's problem; where one tile holds it, one of several tiles takes its place until the user asks for
/// it.
const Problem& recorded_problem(const AppState& state);
bool inside_offers_several(const AppState& state);

void choose_inside_kernel(AppState& state, const std::string& name);
const gpu::TraceableKernel* inside_kernel(const AppState& state);
void start_record(AppState& state);
void cancel_record(AppState& state);
/// Takes over what a run in the background has brought; begins one by itself.
void refresh_inside(AppState& state, float seconds);
bool answer_inside_key(AppState& state, const KeyPress& press);
std::vector<Shortcut> inside_keys();
double inside_idle_seconds(const AppState& state);

/// Where the walk stands, with all that is drawn of it. `launch` null: there is nothing to walk through.
struct InsidePlace {
    const InsideWalk* walk = nullptr;
    const InsideWalk::Launch* launch = nullptr;
    int warp = 0, k = 0, lane = 0;
    std::uint32_t n = 0;  ///< of the event
    const inside::Event* event = nullptr;
    std::span<const std::uint32_t> words{};  ///< of the event

    explicit operator bool() const { return event != nullptr; }
    const inside::Record& record() const { return walk->record; }
    const inside::BlockRecord& block() const { return *launch->block; }
    const inside::Steps& steps() const { return launch->steps; }
    const inside::Origins& origins() const { return launch->origins; }
    const inside::Place& place() const { return walk->record.places[event->place]; }
};
InsidePlace place_inside(const AppState& state);

inside::Stride inside_stride(const AppState& state);
void go_inside(AppState& state, int warp, int k);
void go_inside_by(AppState& state, inside::Stride stride, int by);
/// The same moment in another warp.
void choose_warp(AppState& state, int warp);
void choose_lane(AppState& state, int lane);
void toggle_inside_play(AppState& state);
/// Where one panel has room: that of memory, because the step is about it or because it was chosen.
bool inside_shows_memory(const AppState& state);

/// The text of a file of the record; null if it is none of the kernels'.
const inside::SourceText* source_of(const AppState& state, const std::string& file);

/// The quantity whose hue a matter has.
Role role_of(inside::Matter matter);

}  // namespace tilewalk::ui

// What the page Inside holds: the record that it walks through, and the run that makes one.
#pragma once

#include "app/ui/kit/canvas.h"
#include "app/ui/state/app_state.h"
#include "core/base/background.h"
#include "core/inside/barriers.h"
#include "core/inside/bridge.h"
#include "core/inside/calls.h"
#include "core/inside/crossing.h"
#include "core/inside/faults.h"
#include "core/inside/line_times.h"
#include "core/inside/origin.h"
#include "core/inside/phases.h"
#include "core/inside/shared_map.h"
#include "core/inside/source.h"
#include "core/inside/sums.h"
#include "cuda/host/gpu.h"

#include <atomic>
#include <chrono>
#include <map>

namespace tilewalk::ui {

/// A record, and what is looked up in it. Never moved once it is made: its parts point at each other.
struct InsideWalk {
    /// `own_text`: of a kernel of the user's own. `held`: by walked launch, what stands behind what.
    InsideWalk(inside::Record of_run, std::string of_problem, int of_block, std::string own_text = "",
               const std::map<int, inside::HeldBack>& held = {});
    InsideWalk(const InsideWalk&) = delete;
    InsideWalk& operator=(const InsideWalk&) = delete;

    struct Launch {
        const inside::Launch* launch;
        const inside::BlockRecord* block;
        inside::Steps steps;
        inside::Origins origins;
        inside::SharedMap shared;
        inside::Barriers barriers;
        inside::LineTimes times;
        std::vector<std::vector<inside::PhaseStretch>> phases;  ///< of each warp
        std::vector<inside::WarpRole> roles;                    ///< of each warp
        inside::Calls calls;                                    ///< who called the helper of a step
    };
    const inside::Record record;
    const std::string problem;                            ///< "128 × 64"
    const int block;                                      ///< which of each launch is kept
    std::vector<std::unique_ptr<const Launch>> launches;  ///< that have such a block
    const std::string own_text;
    const inside::SourceText own_source;  ///< its lines

    /// Which of `launches` is the n-th, or the last one there is; below 0 the one that does the main work.
    int launch_at(int n) const;
};

/// What a fault does: to the numbers, and where two accesses race.
struct BrokenWalk {
    inside::Fault fault;
    bool own = false;  ///< a kernel of the user's own, which races as it is: nothing is left out
    inside::Damage damage;
    int tried = 0;                               ///< orders of the run
    int launch = 0;                              ///< of InsideWalk::launches: the crossing is there
    std::optional<inside::Crossing> crossing;    ///< of the block that is kept
    std::optional<std::uint32_t> first, second;  ///< with which events its accesses happened in this run
    struct Gap {
        const InsideWalk::Launch* launch;
        int warp, slot;
    };
    std::vector<Gap> gaps{};  ///< where warps came to what is left out
};

/// What a run brings: the sound walk, and the one that is shown, which may be the same.
struct MadeWalks {
    std::shared_ptr<const InsideWalk> sound, shown;
    std::shared_ptr<const BrokenWalk> broken;  ///< null: it is the sound one, or nothing races
    std::string refused;                       ///< why there is none with the fault that was asked for
};

struct InsideRun {
    Background<Result<MadeWalks>> result;
    std::shared_ptr<std::atomic<int>> blocks_done;
    std::chrono::steady_clock::time_point started;
};

struct BridgeRun;
struct InsideArrival;
struct InsideTarget;
struct InsideWays;
struct LadderRun;

struct InsidePage {
    std::shared_ptr<const InsideWalk> shown;
    ProblemPtr beside;                         ///< the walk's problem when the page was last drawn
    std::vector<ProblemPtr> sized;             ///< those of inside_sizes()
    std::shared_ptr<const InsideWalk> sound;   ///< the same run without a fault
    std::shared_ptr<const BrokenWalk> broken;  ///< null: `shown` is the sound one
    std::string sound_of;                      ///< what it is of, as `asked`
    bool chosen = false;                       ///< another kernel, in the frame before
    std::string broken_last;                   ///< the fault that was taken back last
    std::string asked, done;  ///< what the form asks for, and what `shown` or the last failure is of
    std::string failure;      ///< why the last run has brought nothing
    std::unique_ptr<InsideRun> run;
    bool straight = false;  ///< banks are shown as if rows lay one behind the other
    std::vector<gpu::TraceableKernel> kernels;
    std::vector<inside::SourceText> sources;

    // The bridge to the lesson and to the page Kernel and CPU (bridge.h)
    ProblemPtr brought;  ///< the problem of what was compared: walked through until another one is asked for
    std::shared_ptr<const InsideTarget> wanted;    ///< where to go, once it is known where that is
    std::shared_ptr<const InsideArrival> arrived;  ///< where the bridge led last
    std::shared_ptr<const inside::Bridge> bridge;
    std::shared_ptr<const InsideWalk> bridge_of;  ///< whose bridge that is, or is to be
    std::string bridge_failure;                   ///< why there is none
    std::shared_ptr<BridgeRun> bridge_run;

    std::shared_ptr<InsideWays> ways;   ///< what was looked up of the place at hand (ways.h)
    std::shared_ptr<LadderRun> ladder;  ///< two rungs side by side (ladder.h)
};

/// The page's contents, made when they are asked for first.
InsidePage& inside_page(AppState& state);
/// Waits for a run that is under way, so that a picture shows it.
void wait_for_inside(AppState& state);

/// The walk's problem; where one tile holds it, one of several tiles takes its place until the user asks for
/// it.
const Problem& recorded_problem(const AppState& state);

/// Random problems that kernels are recorded on beside the walk's, up to the largest that is.
struct RecordedSize {
    int N, d;
    const char* name;   ///< of links: "256x64"
    const char* shows;  ///< that the smaller ones do not
};
std::span<const RecordedSize> inside_sizes();
/// Which of them is recorded; −1: the walk's problem.
int inside_size(const AppState& state);
/// −1: the walk's problem.
void choose_inside_size(AppState& state, int size);

/// A file that holds a kernel, by its ending.
bool is_kernel_source(const std::vector<std::string>& paths);
/// Goes to the page and asks whether it shall be compiled and run; `agreed`: it shall.
void open_kernel_source(AppState& state, const std::string& path, bool agreed);
/// The answer to that.
void agree_to_run(AppState& state, bool yes);
/// It waits for that answer.
bool asks_to_run(const AppState& state);
/// It waits for that answer, or is compiled, or runs: what was shown before is not of it.
bool awaits_own_kernel(const AppState& state);
/// "my.cu", or the name of the ladder's kernel.
std::string inside_kernel_name(const AppState& state);

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
    const inside::Bridge* bridge = nullptr;  ///< to the lesson; null: there is none, or not yet

    explicit operator bool() const { return event != nullptr; }
    const inside::Record& record() const { return walk->record; }
    const inside::BlockRecord& block() const { return *launch->block; }
    const inside::Steps& steps() const { return launch->steps; }
    const inside::Origins& origins() const { return launch->origins; }
    /// Of the record, as the bridge counts them.
    int launch_number() const { return static_cast<int>(launch->launch - record().launches.data()); }
    const inside::Place& place() const { return walk->record.places[event->place]; }
};
InsidePlace place_inside(const AppState& state);
/// The card of the glossary that the step at hand is about, by its id.
const char* card_of_step(const AppState& state);
/// The same step of another walk of the same kernel.
InsidePlace place_in(const InsideWalk& walk, const InsideForm& form);

inside::Stride inside_stride(const AppState& state);
void go_inside(AppState& state, int warp, int k);
void go_inside_by(AppState& state, inside::Stride stride, int by);
/// The same moment in another warp.
void choose_warp(AppState& state, int warp);
void choose_lane(AppState& state, int lane);
/// To a number that a lane has at a step; `word`: which of the step's words it is, −1: none of them.
void go_to_word(AppState& state, int warp, int step, int lane, int word);
/// The step that has the sums which this one is about, with their values; −1: it is about none, or nobody
/// waits for them.
int step_of_sums(const InsidePlace& at);
/// How many sums a lane has at this step, among which C goes round.
int sums_of_lane(const InsidePlace& at);
void toggle_inside_play(AppState& state);
/// Where one panel has room: that of memory, because the step is about it or because it was chosen.
bool inside_shows_memory(const AppState& state);

// ---- Breaking it on purpose (breaking.cpp)

/// "128 × 64", "100, 140 × 32": queries, keys and d.
std::string size_of_recorded(const Problem& problem);
/// A row of the list: what can be left out, or why this kind makes no difference here.
struct InsideFault {
    inside::Fault fault;
    std::string name, title, words;
    bool offered = true;
};
/// Empty: nothing is recorded yet.
std::vector<InsideFault> inside_faults(const AppState& state);
/// This fault alone, or, if it is on, none.
void choose_inside_fault(AppState& state, const std::string& name);
/// X: puts back what is left out; where nothing is, opens the list, and there breaks again.
void break_or_repair_inside(AppState& state);
/// What the panels tell of: the fault, or the step.
bool tells_fault(const AppState& state);
/// To where the fault shows first: the race, the conflict, the first step that differs.
void go_to_inside_fault(AppState& state);
/// The race of a kernel of the user's own that is drawn; null: no two accesses of this block race.
std::shared_ptr<const BrokenWalk> own_race(const InsideWalk& walk);
/// In the background: the sound run if that is not known, and the one with the fault.
Result<MadeWalks> make_walks(const gpu::RecordRequest& request, std::shared_ptr<const InsideWalk> sound,
                             const std::string& fault);
/// The list over the page, and its keys.
void draw_inside_faults(const Canvas& canvas, AppState& state, float W, float H);
bool answer_inside_faults(AppState& state, const KeyPress& press);

/// The text of a file of the record; null if it is none of the kernels'.
const inside::SourceText* source_of(const AppState& state, const std::string& file);

/// The quantity whose hue a matter has.
Role role_of(inside::Matter matter);

}  // namespace tilewalk::ui

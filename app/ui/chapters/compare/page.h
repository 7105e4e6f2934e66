// What the page Kernel and CPU holds: the comparison that it shows, the run under way, the device.
#pragma once

#include "app/ui/state/app_state.h"
#include "core/base/background.h"
#include "core/compare/kernel_compare.h"
#include "cuda/host/gpu.h"

#include <atomic>
#include <chrono>

namespace tilewalk::ui {

struct CompareRun {
    Background<Result<KernelComparison>> result;
    std::shared_ptr<std::atomic<int>> stage;  ///< 0 the kernel runs, 1 the CPU walks
    std::chrono::steady_clock::time_point started;
};

struct ComparePage {
    std::shared_ptr<const KernelComparison> shown;
    std::string source;       ///< the file that it came from; empty: it was run here
    bool settling = false;    ///< what a file brought is there, its problem and the GPU are not yet
    ProblemPtr beside;        ///< the problem of the walk when the page was last drawn
    ProblemPtr several;       ///< one of several tiles
    bool own = false;         ///< the walk's problem is compared although one tile holds it
    std::string asked, done;  ///< what the form asks for, and what `shown` or the last failure is of
    std::string failure;      ///< why the last run has brought nothing
    std::unique_ptr<CompareRun> run;
    std::vector<gpu::TraceableKernel> kernels;
    Background<gpu::Probe> asking;  ///< for GPUs, once
    std::optional<gpu::Probe> probe;
};

/// The page's contents, made when they are asked for first.
ComparePage& compare_page(AppState& state);
/// Waits for the GPU to be looked for and for a run that is under way, so that a picture shows them.
void wait_for_comparison(AppState& state);

/// The walk's problem; where one tile holds it there is little to see, so one of several tiles takes its
/// place, until the user asks for it or opens another.
const Problem& compared_problem(const AppState& state);
/// The walk's problem is so small that the page offers both.
bool offers_several_tiles(const AppState& state);

const gpu::TraceableKernel* chosen_kernel(const AppState& state);
gpu::Where chosen_device(const AppState& state);
/// Why there is no CUDA here, as a phrase; empty if there is, or while it is being looked for.
std::string why_no_cuda(const AppState& state);
/// Takes another kernel, with a type that it has.
void choose_kernel(AppState& state, const std::string& name);

/// Answers a key of the page. False: the key means what it means everywhere.
bool answer_compare_key(AppState& state, const KeyPress& press);
std::vector<Shortcut> compare_keys();
/// As idle_seconds: when something on the page will move by itself.
double compare_idle_seconds(const AppState& state);
/// Takes over what a run in the background has brought, and runs small problems by itself.
void refresh_compare(AppState& state);

void start_comparison(AppState& state);
void cancel_comparison(AppState& state);
/// Shows a run that was recorded elsewhere.
void show_bundle(AppState& state, KernelTrace trace, const std::string& source);

// Files, through the hooks
bool is_bundle(const AppState& state, const std::vector<std::string>& paths);
void open_bundle(AppState& state, const std::string& path);
void save_bundle(AppState& state);

/// The injected fault; none takes it away.
void inject(AppState& state, const KernelFault& fault);
void undo_fault(AppState& state);

/// The tile and the row that the page is about: as chosen, or where the kernel is furthest off.
struct Place {
    int i = 0, j = 0;
    int row = 0;  ///< of the whole problem
};
Place place_of(const AppState& state);
void choose_tile(AppState& state, int i, int j);
void choose_query(AppState& state, int row);
/// To the cell that rounding does not explain first.
void show_finding(AppState& state);

/// Which colour a difference has. Rounding makes differences of about one size, a fault some that are many
/// times as large as the others: the first are told apart by a linear scale from 0, the second by the
/// logarithm.
struct DifferenceScale {
    bool logarithmic = false;
    double from = 0, to = 0;  ///< differences at its ends; both 0: there is none
    /// Place on it, 0 … 1.
    float place(double far) const;
};
DifferenceScale scale_of(std::vector<double> differences);

/// What the heat map shows, and its cells: rows and columns count from the top left of the map.
struct MapCell {
    int row = 0, column = 0;
};
struct Map {
    Slot slot = Slot::O;
    std::optional<KernelFault::Quantity> quantity;  ///< of a tile
    ThreeWays values;
    Format format = Format::fp32;
    int row0 = 0, column0 = 0;  ///< the map's first cell in the whole matrix
    bool from_exact = false;    ///< how far the kernel's is from fp64; else from the CPU's
    Matrix far;                 ///< as the chosen measure has it; NaN where both are −∞
    DifferenceScale scale;
    double most = 0;            ///< of those that are finite
    double limit = 0;           ///< what the rule allows of it; 0: the rule is about something else
    std::string limit_words;    ///< as the verdict writes it
    MapCell worst;              ///< the cell furthest off
    std::int64_t unlike = 0;    ///< cells that are not as the CPU has them, …
    std::int64_t compared = 0;  ///< … of so many
    /// So few that a picture of them is nearly empty.
    bool is_sparse() const { return unlike * 25 < compared; }
};
/// Null before the first run.
std::optional<Map> map_of(const AppState& state);
/// The maps that there are, by their names.
std::vector<std::string> map_names(const AppState& state);
/// The chosen cell, or the worst.
MapCell shown_cell(const AppState& state, const Map& map);
void choose_cell(AppState& state, const Map& map, int row, int column);
/// Opens the lesson at the step that computes a cell of the map.
void go_to_cell(AppState& state, const Map& map, int row, int column);
/// Takes the walk to where go_to_cell wanted, once it is built.
void arrive(AppState& state);

/// The verdict and the finding, to the clipboard.
void copy_verdict(AppState& state);

}  // namespace tilewalk::ui

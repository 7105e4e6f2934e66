// What the page about large problems asks and holds: the form, the run under way, the reports, the devices.
#pragma once

#include "app/ui/kit/chart.h"
#include "app/ui/state/app_state.h"
#include "core/base/background.h"
#include "core/bench/bench.h"

#include <array>

namespace tilewalk::ui {

// ---- What comes of the form, and what keys and clock do (form.cpp)

struct LengthPreset {
    const char* name;  ///< "to 8192"
    std::int64_t last;
};
/// Powers of two from 512 on.
inline constexpr std::array<LengthPreset, 5> length_presets = {{{"to 4096", 4096},
                                                                {"to 8192", 8192},
                                                                {"to 16384", 16384},
                                                                {"to 65536", 65536},
                                                                {"to 1048576", 1048576}}};
/// The last one is for decoding, whose work grows with N alone.
inline constexpr std::int64_t longest_square = 65536;

/// The lengths that are asked for, ascending, each once; none where the user's list cannot be read.
std::vector<std::int64_t> chosen_lengths(const ScaleForm& form);
BenchRequest bench_request(const ScaleForm& form);
/// The types that some kernel of the engine takes, and why the others cannot be chosen, as a phrase.
struct ScaleTypes {
    std::vector<DType> taken;
    std::string why_no_more;
};
ScaleTypes types_of(const Engine& engine);
/// Heads of K and V: those asked for, or the next fewer that divide the heads.
int kv_heads_of(const ScaleForm& form);
inline const char* run_label(const ScaleForm& form) { return form.gpu ? "Run on GPU" : "Run on CPU"; }

/// Answers a key of the page. False: the key means what it means everywhere.
bool answer_scale_key(AppState& state, const KeyPress& press);
std::vector<Shortcut> scale_keys();
/// As idle_seconds: when something on the page will move by itself.
double scale_idle_seconds(const AppState& state);
/// Takes over what a run has measured since the last frame.
void refresh_scale(AppState& state);

// ---- What it holds

/// `Point` alone is a place on the canvas here.
using Record = tilewalk::Point;

/// One report, or the part of one that has one shape: the points differ in kernel and length only.
struct ShownReport {
    BenchReport report;
    bool recorded = false;  ///< read from a file; otherwise measured by this process
    std::string tag;        ///< behind the names of its kernels in plots: "", "recorded", or a letter

    std::string name() const;                   ///< "this run", "recorded", "recorded B"
    std::vector<std::int64_t> lengths() const;  ///< ascending
    std::vector<std::string> kernels() const;   ///< as they come
    const Record* find(const std::string& kernel, std::int64_t N) const;
    Workload shape() const;  ///< of its points, whatever their N
};

/// Whether the times of both belong into one picture: as many heads and batches, and rings with rings.
bool comparable(const ShownReport& a, const ShownReport& b);

struct ScaleDevices {
    Machine machine;
    std::string gpu, why_no_gpu;  ///< one of them
};

struct ScalePage {
    /// Makes the engine that runs and tells the closed forms; 0 threads: all of the machine.
    std::function<std::unique_ptr<Engine>(int threads)> make_engine;
    std::unique_ptr<Engine> engine;  ///< of `engine_threads`, for its kernels and closed forms only
    int engine_threads = -1;
    /// The same of the GPU, made when it is chosen.
    std::function<std::unique_ptr<Engine>()> make_gpu_engine;
    std::unique_ptr<Engine> gpu_engine;
    /// What the engine's kernels take, asked once for each engine: a frame asks none of them.
    struct TypesOf {
        const Engine* engine = nullptr;
        int threads = -1;
        ScaleTypes types;
    } types;
    std::vector<std::string> ladder;  ///< names of the kernels of both, in their order

    std::unique_ptr<BackgroundBench> bench;  ///< null before the first run
    std::uint64_t seen = 0;                  ///< its version that was taken over
    bool running = false, cancelling = false;
    BenchProgress progress;

    std::vector<ShownReport> kept;     ///< all that there is
    std::vector<ShownReport> reports;  ///< of what the form asks for; what was measured here comes first
    std::string reports_for;           ///< the direction, mask, d, queries and type that they are of
    int changes = 0;                   ///< of `reports`
    Background<ScaleDevices> asked;    ///< for the devices, once
    std::optional<ScaleDevices> devices;

    /// The plots as they were laid out last, and for what.
    struct Drawn {
        std::string made_for;
        ChartScene scene;
    };
    Drawn time, memory;
    int hovered = -1;    ///< the record under the mouse in this frame, by its number
    Point hovered_at{};  ///< where
    ScalePage();
};

/// The page's contents, made when they are asked for first.
ScalePage& scale_page(AppState& state);
/// The engine for the device and the threads that the form asks for.
const Engine& scale_engine(AppState& state);
/// The types that it takes.
const ScaleTypes& scale_types(AppState& state);
/// Waits until it is known which devices there are, so that a picture shows them.
void wait_for_devices(AppState& state);  ///< for a picture; not for a driver that hangs

/// Starts what the form asks for; a notice if that cannot be run.
void start_bench(AppState& state);
/// Asks the run to end; it does so within a moment, and keeps what it has.
void cancel_bench(AppState& state);
/// What is measured by this process takes the place of what it measured before of the same shape.
void show_report(AppState& state, const BenchReport& report);
/// Adds reports from files. A form that asks for something else is changed to what the first has.
void add_reports(AppState& state, const std::vector<BenchReport>& reports);
void close_report(AppState& state, std::size_t n);

// Files, through the hooks
void load_results(AppState& state, const std::vector<std::string>& paths);
/// "csv", "json", "report", "svg" or "png", under the name in the form with the ending that belongs to it.
void export_results(AppState& state, const std::string& kind);
/// Why that cannot be done now, as a phrase; null if it can.
const char* why_no_export(const AppState& state, const std::string& kind);

/// The chosen report, length and kernel.
const ShownReport* chosen_report(const AppState& state);
std::int64_t chosen_length(const AppState& state);
/// A record by the number that plots carry: reports and their points counted through.
const Record* record_of(const ScalePage& page, int number, const ShownReport** report = nullptr);
int number_of(const ScalePage& page, const Record& record);

}  // namespace tilewalk::ui

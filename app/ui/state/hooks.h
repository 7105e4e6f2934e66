// What the interface may ask of the outside world: files in and out.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewalk {
enum class Slot : std::uint8_t;
struct BenchReport;
struct KernelTrace;
namespace gpu {
struct RecordRequest;
}
namespace inside {
struct Record;
}
struct Problem;
struct SavedView;
}  // namespace tilewalk

namespace tilewalk::ui {

struct AppState;
struct ChartScene;
struct Theme;
struct Tour;

/// Work that is done a piece at a time, so that frames are drawn in between. Dropped before its end it leaves
/// nothing behind.
struct Piecework {
    int done = 0, all = 0;               ///< pieces
    std::function<Result<void>()> next;  ///< does a bit of one; a sentence if that failed, which ends it
    bool waits = false;  ///< for work beside the frames: no use in asking once more in this one
};

/// What a clock shows: the time of the day, and seconds that never jump.
struct ClockTime {
    int hour = 0, minute = 0;
    double seconds = 0;
};

/// Absent hooks disable the buttons that need them.
struct Hooks {
    std::function<ClockTime()> clock;
    /// Lets the user choose files from a list of them, which come as if they were dropped; none: their names
    /// are typed.
    std::function<void()> choose_file;
    /// One problem file gives a whole problem. Matrix files (.csv, .tsv, .npy) replace matrices of `current`:
    /// a single file the one named by its name (q.csv, my_keys.npy) or else `target` (Q, K or V); several
    /// files at once the ones that their names say.
    /// A problem file may say where its walk stood.
    std::function<Result<Problem>(const std::vector<std::string>& paths, const Problem& current, Slot target,
                                  SavedView* view)>
        load_files;
    /// A table of numbers, as a spreadsheet puts it on the clipboard, in the place of one matrix of
    /// `current`.
    std::function<Result<Problem>(const std::string& table, const Problem& current, Slot target)> take_table;
    /// Writes a problem file with where the walk stands; a sentence if that failed.
    std::function<Result<void>(const std::string& path, const Problem& problem, const SavedView& view)>
        save_problem;
    /// Files of measured results, one report each; all or none.
    std::function<Result<std::vector<BenchReport>>(const std::vector<std::string>& paths)> load_results;
    /// Results that the program brings along.
    std::function<std::vector<BenchReport>()> recorded_results;
    /// Writes them as "csv", "json" or "report" (Markdown); a sentence if that failed.
    std::function<Result<void>(const std::string& path, const std::vector<BenchReport>& reports,
                               const std::string& kind)>
        save_results;
    /// Writes what plots show as "svg" or "png"; a sentence if that failed.
    std::function<Result<void>(const std::string& path, const ChartScene& scene, const Theme& theme,
                               const std::string& kind)>
        save_plot;
    /// Runs of a kernel with what it wrote down of itself.
    std::function<bool(const std::string& path)> is_bundle;
    std::function<Result<KernelTrace>(const std::string& path)> load_bundle;
    std::function<Result<void>(const std::string& path, const KernelTrace& trace)> save_bundle;
    /// Compiles and runs a kernel of the user's own, `request.kernel` its path, and gives its text beside its
    /// record. In a thread of its own.
    std::function<Result<inside::Record>(const gpu::RecordRequest& request, std::string& text)> record_source;
    // Files that take longer than a frame. The last piece writes it, whole; a sentence if it cannot begin.
    /// A picture of the window in so many px, as its ending says: .png or .svg.
    std::function<Result<std::shared_ptr<Piecework>>(const std::string& path, const AppState& state,
                                                     int width, int height)>
        begin_picture;
    /// The whole walk as its ending says: .html, .md or .tex.
    std::function<Result<std::shared_ptr<Piecework>>(const std::string& path, const AppState& state)>
        begin_hand_out;
    /// Slides (.pdf) of the tour that is shown, or of the walk: of its marked range if there is one.
    std::function<Result<std::shared_ptr<Piecework>>(const std::string& path, const AppState& state)>
        begin_slides;
    /// Answers to questions as CSV; a sentence if that failed.
    std::function<Result<void>(const std::string& path, const std::string& csv)> save_quiz;
    /// A line that leads somebody else to what is shown; a sentence if that takes too many letters.
    std::function<Result<std::string>(const AppState& state)> link;
    /// A tour from a file, or the program's own if the path is empty.
    std::function<Result<Tour>(const std::string& path)> read_tour;
};

}  // namespace tilewalk::ui

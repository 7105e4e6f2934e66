// A guided tour as data: stops in the walks, each with a place on screen and a few sentences. Files are read
// by app/io/tour_file.h, the window shows them (app/ui/state/tour.h).
#pragma once

#include "core/compare/kernel_trace.h"
#include "core/inside/steps.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// What a stop points at.
struct TourPlace {
    enum class Kind { none, panel, button, cell, matrix };
    Kind kind = Kind::none;
    std::string name;    ///< of the panel or button
    CellRef cell;        ///< kind cell; of a matrix its slot alone
    std::string within;  ///< only inside this panel; empty: anywhere
};

struct TourStop {
    std::string heading;
    std::shared_ptr<const Problem> problem;  ///< shared by the stops that show the same one
    const Lesson* lesson = nullptr;
    std::string page;             ///< "memory", "scale", "compare"; empty: the lesson's walk
    std::string side;             ///< the right panel: "explanation", "problem" or "break"
    int step = 0;                 ///< from 0
    std::optional<CellRef> cell;  ///< the cell that the formula is about
    TourPlace place;
    std::vector<TourPlace> also;  ///< what gets a ring beside it
    KernelFault kernel_fault;     ///< of the kernel on the page compare
    std::string kernel;           ///< on the page inside, and the type of its elements; empty: the page's own
    DType dtype = DType::bf16;
    std::string kernel_break;       ///< on the page inside, what the run goes without; empty: it is sound
    inside::StepQuery instruction;  ///< on the page inside
    std::optional<bool> presenter;  ///< not said: as it is
    std::vector<Line>
        text;      ///< paragraphs; a piece in the face of numbers is a placeholder until it is filled
    Line notes;    ///< for the lecturer alone, with placeholders as in `text`; mostly empty
    int line = 0;  ///< of its heading in the file, from 1
};

/// What a formula of its own line begins with, among the paragraphs of a stop.
inline constexpr const char* formula_indent = "\u00A0\u00A0\u00A0";
inline bool is_formula(const Line& paragraph) {
    return !paragraph.empty() && paragraph.front().text == formula_indent;
}

/// A run of stops that belong together, from `first` (from 0) up to the next chapter.
struct TourChapter {
    std::string name;
    int first = 0;
};

struct TourScript {
    std::string title;
    std::vector<TourStop> stops;             ///< at least one
    std::vector<TourChapter> chapters = {};  ///< none, or the first begins with the first stop
};

/// Where a stop stands in its chapter; all numbers from 1.
struct ChapterPlace {
    std::string name;
    int chapter = 0, chapters = 0;
    int stop = 0, stops = 0;  ///< within the chapter
    bool operator==(const ChapterPlace&) const = default;
};
/// Of stop n, from 0; nothing in a tour without chapters.
std::optional<ChapterPlace> chapter_place(const TourScript& script, int n);
/// "Chapter 3 of 12 · The online softmax", wherever it is named.
std::string chapter_words(const ChapterPlace& place);
/// "Ch. 3 · The online softmax", where those have no room.
std::string chapter_words_in_short(const ChapterPlace& place);
/// The first stop of the chapter after that of stop n, or, for `by` −1, of this chapter, or of the one before
/// where n is its first. In a tour without chapters, and where there is none, stop n itself.
int stop_of_next_chapter(const TourScript& script, int n, int by);

/// What a stop may name that only the window knows.
struct TourNames {
    std::vector<std::string> pages;                          ///< "memory", …
    std::map<std::string, std::vector<std::string>> panels;  ///< by page or lesson: "SRAM"
    std::vector<std::string> buttons;                        ///< "play"
    std::map<std::string, std::vector<DType>> kernels{};     ///< that the page inside knows, and their types
};

/// Which step is meant: the n-th with this op (and tile), from 1.
struct StepQuery {
    std::string op;
    std::optional<int> i, j;
    int n = 1;
};
/// Its index from 0; nothing if the walk has no such step.
std::optional<int> find_step(const Trace& trace, const StepQuery& query);

/// A cell as people write it: "m[0]", "S[0,2]", "P̃[1,0]", "Oi[0,0]". One column may be left out.
struct CellWords {
    std::string slot;  ///< a name of files or the letters on screen
    int row = 0, col = 0;
};
std::optional<CellWords> read_cell(std::string_view text);
/// The cell that these words mean at step k: of the slots that are written alike, the one that this step
/// writes, else reads, else the one written last. Nothing if none of them holds such a cell then.
std::optional<CellRef> find_cell(const Trace& trace, const CellWords& words, int k);

/// Fills one placeholder ("m[0]", "m[0] before", "O[0,0] true", "read", "moved in attention", "tiles", …)
/// with the numbers of step k.
Result<std::string> fill_placeholder(const Trace& trace, int k, std::string_view words);
/// The stop's paragraphs with the numbers of its own step, as numbers are written just now. The stop has been
/// checked: every placeholder can be filled in this walk.
std::vector<Line> filled_text(const TourStop& stop, const Trace& trace);
/// The cells whose numbers its words give, at its step.
std::vector<CellRef> cells_named(const TourStop& stop, const Trace& trace);
/// The same for its notes.
Line filled_notes(const TourStop& stop, const Trace& trace);

}  // namespace tilewalk

// What the pages ask and remember: plain data. What comes of it stands with each page, in app/ui/chapters.
#pragma once

#include "core/base/remembered.h"
#include "core/compare/kernel_trace.h"
#include "core/inside/steps.h"
#include "core/study/memory_study.h"
#include "core/walk/explain.h"
#include "core/walk/playback.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tilewalk::ui {

struct Piecework;

using ProblemPtr = std::shared_ptr<const Problem>;

/// A cell being typed into: its place and the text so far.
struct CellEdit {
    CellRef cell;
    char text[64] = "";
    bool just_opened = true;
    std::string widget;  ///< which view opened it ("hbm0", "panel"); empty: the first one that shows the cell
};

/// The cell that the arrow keys have reached in the matrix that has the focus.
struct KeyCell {
    unsigned matrix = 0;  ///< its id
    int across = 0, down = 0;
    bool wanted = false;  ///< F2 was pressed in this frame
    bool edited = false;  ///< from here; the focus comes back when the field is gone
};

constexpr int most_seed = 999999;

/// The field of a number that may be left out: softcap, slope.
struct LogitField {
    char text[32] = "";
    bool typed = false;  ///< it has the caret
};

/// Fields of the problem panel that are no part of the problem itself.
struct ProblemForm {
    enum Tab { settings, scores, numbers };
    Tab tab = settings;
    std::array<LogitField, 3> logits{};  ///< in the order of logit_changes()
    LogitField lazy;                     ///< τ of lazy rescaling
    int random_N = 8, random_d = 4, seed = 1;
    char path[512] = "";
    char scale[32] = "";
    char words[512] = "";
    bool words_typed = false;  ///< the field of the words has the caret
    Slot matrix = Slot::Q;     ///< the input shown for editing
    int first_row = 0, first_col = 0;
};

/// The map of all heads, and P of each of them.
struct HeadsCard {
    bool open = false;
    ProblemPtr problem;  ///< P is of its heads
    std::vector<Matrix> P;
};

/// The softmax lessons: what is chosen below the three panels, and the walks that stand beside the shown one.
struct SoftmaxPage {
    enum Tab { values, derivation, proof };
    int tab = values;
    int line = 0;        ///< of derivation or proof, from 0
    int component = 0;   ///< the column of V and of the output that is shown
    int split = -1;      ///< the proof cuts the row behind this element; −1: in the middle
    ProblemPtr problem;  ///< the walks are of this problem
    std::array<std::shared_ptr<const Trace>, 4> traces;  ///< by SoftmaxForm
};

/// The lesson of FlashAttention-1: FlashAttention-2's walk on its problem, and how far apart their O are.
struct FlashBeside {
    bool shown = true;  ///< in place of the drawing of the step
    std::shared_ptr<const Trace> first, second;
    double largest_difference = 0;
};

/// The timeline: how much of it is shown, and which part is played in a loop.
struct TimelineView {
    float zoom = 1;      ///< 1: as much as fits
    float offset = -1;   ///< first shown column; −1: follows the current step
    StepRange loop;      ///< played round and round; with `first` alone its end is still to be chosen
    int drag_from = -1;  ///< the step at which a range that is being drawn began; −1: none is

    using OfLane = std::pair<WhichOne<const Trace>, int>;
    /// What the steps of a lane belong to, in words; kept while the lane is drawn.
    mutable Remembered<OfLane, std::vector<std::string>> group_words{};
};

/// What the stage asks in every frame of a step of large matrices, where the answer is a walk through all of
/// their numbers.
struct StageMemory {
    using Walk = WhichOne<const Trace>;
    /// Step, cell, digits of the settings and of the formula
    using OfSum = std::tuple<Walk, int, int, int, Slot, int, bool, std::size_t>;
    Remembered<OfSum, bool> sum_holds{};
    Remembered<std::tuple<Walk, int, Slot>, std::pair<double, double>> extent{};
};

/// Numbers of the user's own, as they stand in their fields.
struct OwnHardware {
    char capacity[24] = "40", bandwidth[24] = "1555", sms[24] = "108", shared[24] = "164", peak[24] = "312";
};

enum class MemoryPlot { roofline, tile_height, kv_cache };

struct MemoryForm {
    int hardware = 0;  ///< index into hardware_list(); its size stands for the user's own numbers
    OwnHardware own;
    std::int64_t N = 16384;
    int d = 64, element_bytes = 2, heads = 16, batch = 1;
    int Br = 128, Bc = 128;  ///< of the tiles, where they are given
    TileRule rule = TileRule::given;
    MemoryPlot plot = MemoryPlot::roofline;  ///< in the panel beside the traffic
    char N_text[16] = "";                    ///< while it is being typed
    bool N_typed = false;                    ///< the field has the caret
    int trips = 3;                           ///< kernels of standard attention that have run, 0 … 3
    bool playing = false;                    ///< they run one after another, once
    float trip_age = 1e9f;                   ///< seconds since the last one began
};

/// What the stage shows of large problems, from left to right.
enum class ScaleSlide { one_length, time, memory, count };

/// The page about large problems.
struct ScaleForm {
    // What will be run
    bool backward = false, causal = false;
    bool decode = false;  ///< forward with `queries` queries, however many keys there are
    int queries = 1;
    int d = 64, heads = 8;
    int kv_heads = 0;  ///< 0: as many as heads
    int threads = 0;   ///< 0: all that the machine has
    bool gpu = false;
    DType on_cpu = DType::f32, on_gpu = DType::bf16;  ///< as what Q, K, V and the results are stored
    DType& type() { return gpu ? on_gpu : on_cpu; }
    DType type() const { return gpu ? on_gpu : on_cpu; }
    int preset = 1;  ///< index into length_presets; its size: the user's own list
    char lengths[128] = "512, 1024, 2048, 4096, 8192";

    // How it is shown
    int measure = 0;                                   ///< time, FLOP/s, share of the peak
    std::array<bool, 3> linear = {false, true, true};  ///< the y axis of each measure, …
    bool linear_memory = false;                        ///< … and of the memory
    int report = 0;                                    ///< of those shown: the one in ladder and table
    std::int64_t N = 0;                                ///< the chosen length; 0: the page chooses
    std::string kernel;                                ///< the chosen kernel; empty: none
    bool card = false;                                 ///< the record of the chosen point is open
    ScaleSlide slide = ScaleSlide::one_length;         ///< presenter mode: what is shown
    char path[512] = "results";
};

/// The page Kernel and CPU.
struct CompareForm {
    // What is run
    std::string kernel = "f5-flash2";
    DType dtype = DType::bf16;
    int device = -1;    ///< 0 emulator, 1 cuda; −1: cuda if there is a GPU
    KernelFault fault;  ///< none, or what is made wrong
    double fault_amount = 1e-3;
    std::vector<KernelFault> undo;  ///< what it was before

    // What is shown
    int i = -1, j = -1;  ///< the chosen tile; −1: the page chooses
    int row = -1;        ///< the chosen query row of the whole problem; −1: the page chooses
    int cell_row = -1, cell_column = -1;  ///< the chosen cell of the heat map; −1: the one furthest off
    std::string map = "O";  ///< what the heat map shows: O, L, dQ, dK, dV, or S, P of the chosen tile
    int measure = 0;        ///< |Δ|, ULP, relative
    int from = -1;          ///< 0 from fp64, 1 from the CPU's; −1: the one that has more to show
    char path[512] = "comparison";
};

/// The page Inside.
struct InsideForm {
    // What is recorded
    std::string kernel = "f5-flash2";
    DType dtype = DType::bf16;
    int block = 0;      ///< whose events are kept
    bool own = false;   ///< the walk's problem is recorded although one tile holds it
    int size = -1;      ///< a random problem of inside_sizes() in its place; −1: as `own` says
    std::string fault;  ///< what the run goes without, by its name; empty: it is sound

    // A kernel of the user's own, in place of one of the ladder
    std::string source;   ///< path of its text; empty: none
    bool agreed = false;  ///< that it runs on this machine, with all that its user may do
    int compiled = 0;     ///< how often it was asked to be

    // Where the walk stands
    int launch = -1;         ///< below 0: the one that does the main work, until the record is there
    int warp = 0, step = 0;  ///< a step of that warp
    int lane = 13;           ///< the chosen lane …
    int cell = 0;            ///< … and the register of C that the formula is of
    int stride = 0;          ///< an inside::Stride
    bool playing = false;
    float elapsed = 0;       ///< seconds since its last step
    bool step_told = false;  ///< with a fault: the panels tell of the step, not of the fault
    bool to_fault = false;   ///< the walk goes where the fault shows as soon as that is known
    bool memory = false;     ///< where one panel has room: memory in place of registers, …
    int memory_of = -1;      ///< … chosen at this step; others have what they are about
    int first_line = -1;     ///< of the source that is scrolled; −1: it follows the step
    int scrolled_at = -1;    ///< the step at which it was
    float zoom = 1;          ///< of the timeline: 1 shows all of it

    /// Where a tour, or the end of one, leads: gone to as soon as the record is there.
    std::optional<inside::StepQuery> wanted;
    int wanted_step = -1;  ///< the step that this was; −1: it is not there yet
    int wanted_launch = 0;

    // Two rungs side by side
    bool ladder = false;
    std::string against;  ///< the other one; empty: the rung before it
};

/// The glossary: what every symbol and term means, and where it is defined.
struct Glossary {
    std::string search;
    std::string card;     ///< id of the chosen card
    int frames = 0;       ///< that it has been shown; the key that opened it is not typed into it
    float scroll = 0;     ///< of the list, in logical px
    bool to_card = true;  ///< the list moves so that the chosen card is in sight
};

/// What the start page leads back to.
struct StartForm {
    bool left = false;  ///< something was left, in this session or in the last one
    int page = 0;       ///< which: a Page
};

/// The palette of commands.
struct Finder {
    std::string text;  ///< typed so far
    int at = 0;        ///< the chosen row of what was found
    int first = 0;     ///< the first row that shows
    int frames = 0;    ///< that it has been shown; the key that opened it is not typed into it
};

/// What is on the screen as a picture, or the whole walk as a hand-out.
enum class SaveFormat { png, svg, html, pdf, markdown, latex };

struct SaveCard {
    enum Size { as_on_screen, full_hd, ultra_hd };
    char path[512] = "";
    int format = static_cast<int>(SaveFormat::svg);
    int size = as_on_screen;
    std::string asked;                ///< the file that is there already and may be replaced
    std::string message;              ///< why nothing was written
    std::shared_ptr<Piecework> work;  ///< the file that is being made; null: none
    std::string work_of;              ///< what it will hold: "all 40 steps"
};

/// Presenter mode: its two lists, and what X breaks again.
struct StageLists {
    bool faults = false, problem = false;  ///< open
    int fault_at = 0, problem_at = 0;      ///< where the arrow keys stand
    Switches switches;                     ///< broken last
    Precision precision;
    Savings savings;
};

/// A step of another lesson's walk to go to, once that walk is there.
struct WalkPlace {
    const char* lesson = nullptr;
    int step = 0, row = 0, column = 0;
};

}  // namespace tilewalk::ui

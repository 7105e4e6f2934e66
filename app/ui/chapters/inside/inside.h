// The page Inside: the run of a kernel, warp by warp, lane by lane. One file for each panel; every number is
// one of the record (core/inside).
#pragma once

#include "app/ui/chapters/inside/page.h"
#include "app/ui/kit/canvas.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/app_state.h"
#include "core/inside/accesses.h"
#include "core/inside/meeting.h"
#include "core/inside/sides.h"
#include "core/inside/words.h"

namespace tilewalk::ui {

/// Everything below the header.
void inside_view(const Canvas& canvas, AppState& state, const Rect& area);
/// The whole window in presenter mode.
void inside_presenter(const Canvas& canvas, AppState& state, float W, float H);

// The panels
void inside_source(const Canvas& canvas, AppState& state, const Rect& area);
void inside_registers(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
void inside_memory(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
void inside_step(const Canvas& canvas, AppState& state, const Rect& area);
void inside_warps(const Canvas& canvas, AppState& state, const Rect& area);
/// In place of all of them: two rungs side by side, here and for the back row.
void inside_ladder(const Canvas& canvas, AppState& state, const Rect& area);
void inside_ladder_presenter(const Canvas& canvas, AppState& state, float W, float H);

// Parts of the panel of the step. Return how high they were; 0: nothing to say, or no room.
/// Where the bridge has led, while the walk stands there.
float inside_arrival(const Canvas& canvas, const AppState& state, const Rect& area, const InsidePlace& at);
/// The same for the back row: "ℓ of row 0" and the sentence; empty where it has not led here.
struct ArrivalWords {
    std::string symbol, sentence;
};
ArrivalWords arrival_words(const AppState& state, const InsidePlace& at);
/// Plain arithmetic with what the lane has read: the line, and the operands that were read for it.
float inside_operands(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// Of an exponential the score and the maximum (or L) that it came from, and x worked out of them.
float inside_exponent(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// The same for the back row: "Lane 13: P̃ of row 3, key 58, x = (19.2 − 25.8) × 0.125 × 1.443 ≈ −1.19.";
/// empty: it is none.
std::string exponent_sentence(AppState& state, const InsidePlace& at);
/// The rule by which the lane's chunk lies where it does, with its numbers.
float inside_swizzle(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// Who uses what the lane's step brought; each leads to its step.
float inside_uses(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// From which lines the function was called that the step stands in, as one line of text.
float inside_called(const Canvas& canvas, AppState& state, float x, float y, float w, const InsidePlace& at);
/// What the step is in the lesson, and the way there.
float inside_crossing(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);

/// Where the panel of the step lies below the header.
Rect inside_step_area(const AppState& state, const Rect& area);

/// Hovering the area says what the term means, in the glossary's words; a click opens its card.
void tip_of_term(const Canvas& canvas, AppState& state, const std::string& id, const Rect& area,
                 const char* card);

// Small parts
/// The longest of these that the room holds; else the last, cut.
void text_that_fits(const Canvas& canvas, float x, float y, float room,
                    std::initializer_list<std::string> all, float size, ImU32 ink, Face face = Face::regular,
                    Align align = Align::left);
/// As much of the hue as lets a number be read on it.
ImU32 legible_fill(const Theme& theme, ImU32 hue, float part);
/// How large letters are, and how thick lines: for a desk or for the back row.
struct InsideLook {
    float small = size::small, number = size::small, line = 1;
    bool far = false;
    bool fixed = false;                      ///< banks as they are, without the choice of another layout
    int ways = 1;                            ///< for which the scale of the banks has room, at least
    int lane = -1;                           ///< whose address is looked at; −1: the chosen one's
    std::uint32_t fed = inside::whole_warp;  ///< lanes whose words are wanted; others are drawn pale
};
/// A × B += C with what the chosen lane holds, and what the chosen cell needs. Below 24 px a row has no
/// letters.
void draw_product(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                  const InsideLook& look);
/// The sums that a step of Hopper is about, all that the warp has of them, and eight columns with their
/// lanes.
void draw_sums(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
               const InsideLook& look);
/// "S of row 67, key 18 = …" of the chosen lane's sum, and the products that it is made of.
Line sum_formula(AppState& state, const InsidePlace& at);
/// "4 products of 16 terms each, from zero"
std::string sums_sentence(AppState& state, const InsidePlace& at);
float inside_sums(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// Two pieces of C that become one fragment of A, where the step packs one of its registers.
bool shows_packing(const InsidePlace& at);
void draw_packing(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                  const InsideLook& look);
/// Of ldmatrix: which lane names each row of the four matrices, and which lanes get its numbers.
bool shows_dealing(const InsidePlace& at);
void draw_dealing(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// "Lane 13 names row 5 of matrix 1; its numbers go to lanes 20–23."
std::string dealing_sentence(const InsidePlace& at);
/// A tile that comes by itself: its box in the matrix, and how its rows lie in shared memory.
void draw_fetched(const Canvas& canvas, const Rect& area, const InsidePlace& at, const InsideLook& look);
/// "One elected lane, lane 0, asks for all 256 sectors of it; …"
std::string fetch_sentence(const InsidePlace& at);
/// A barrier that counts, which the step arrives at, waits for or makes: its state.
void draw_barrier(const Canvas& canvas, const Rect& area, const inside::BarrierState& barrier,
                  const InsideLook& look);
/// Of a fence, a commit or a barrier of the warp what stands before it and behind it; where registers change
/// hands, who has how many.
void draw_sides(const Canvas& canvas, const Rect& area, const inside::Sides& sides, const InsidePlace& at,
                const InsideLook& look);
void draw_shares(const Canvas& canvas, const Rect& area, const inside::RegisterShares& shares,
                 const InsidePlace& at, const InsideLook& look);
/// Of those that take part the first: it speaks for the warp where the chosen one does nothing.
int elected_lane(const inside::Event& event);
/// What lanes took or gave: 8 × 4, so that a quad is a row.
void draw_lanes(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const InsideLook& look);
/// An access to shared memory: who asks which bank, and how often each is asked.
void draw_banks(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const inside::Event& event, const InsideLook& look);
/// For the back row, in the place of the banks: at which places of eight rows the wanted chunks lie, plainly
/// and swizzled. False where nothing is swizzled.
bool far_places(const Canvas& canvas, const AppState& state, const Rect& area, const InsidePlace& at);
/// Shared memory as a space, from top to bottom: whose tile lies where, and `from` … `to` of it at hand.
void draw_space(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const inside::Event* event, const InsideLook& look);
/// What lies in shared memory, in words: of a step that asks for no address.
void draw_contents(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// What the barrier at hand protects, and a sentence on who waits for whom.
void draw_protected(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                    const InsideLook& look);
std::string meeting_sentence(const inside::Meeting& meeting);
/// Of a barrier the first of what it protects, in one sentence.
std::string protected_sentence(const AppState& state, const InsidePlace& at, const inside::Protected& one);
/// An access to device memory: lines of 128 bytes, their sectors, and the words that were asked for.
void draw_sectors(const Canvas& canvas, const AppState& state, const Rect& area, const InsidePlace& at,
                  const inside::Event& event, const InsideLook& look);
/// Of copies above the warps; and of more warps each has a low lane.
constexpr int most_flight_rows = 6, most_high_lanes = 6;
/// Lanes of the warps, copies behind them, barriers; clicking goes there.
Rect draw_warps(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                const InsideLook& look);
/// What its colours mean, in one line for the back row that ends at `right`, where it has room.
void draw_far_hues(const Canvas& c, const InsidePlace& at, float left, float right, float y);
/// What the marks of its copies mean, in one line that ends at the right of `area`, where it has room.
void draw_far_marks(const Canvas& c, AppState& state, const Rect& area);
/// What its colours and marks mean, in two lines for the back row.
void draw_far_legend(const Canvas& c, AppState& state, const InsidePlace& at, const Rect& a);

// With a fault (broken.cpp, crossing.cpp)
/// In place of registers and memory: what the fault does.
void inside_broken(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// In place of the step: what happened, and the way back.
void inside_fault(const Canvas& canvas, AppState& state, const Rect& area);
/// Both orders of the race beside each other; clicking leads to an access. `at`: in the launch of the race.
void draw_crossing(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at,
                   const BrokenWalk& told, const InsideLook& look);
/// The worst number beside the right one, and how many are wrong.
void draw_damage(const Canvas& canvas, const Rect& area, const BrokenWalk& told, const InsidePlace& at,
                 const InsideLook& look);
std::string damage_sentence(const BrokenWalk& told, const inside::Record& record);
/// `wrong`: of the numbers that the kernel writes. Luck is where none is, and where the source makes an
/// order.
std::string race_sentence(const inside::Crossing& crossing, std::int64_t wrong);
/// The place, in the launch that the race is of.
InsidePlace crossing_place(const AppState& state, const InsidePlace& at);
/// The same for the back row.
void far_fault(const Canvas& canvas, AppState& state, const Rect& area, const InsidePlace& at);
/// "Barrier of line 78 off"; of a kernel of the user's own, from which nothing is left out, that.
std::string title_of_fault(const BrokenWalk& told);
/// "Race", "Wrong numbers", "Bank conflicts": what came of it.
const char* title_of_outcome(const BrokenWalk& told, const inside::Record& record);

/// The cell of C that the formula is of.
inside::FragmentCell cell_inside(const AppState& state);
/// What a product's fragments are in their matrices: S = Q Kᵀ (or K Qᵀ, which is Sᵀ), O += P̃ V. −1: not
/// known.
struct NamedProduct {
    inside::Matter A = inside::Matter::none, B = inside::Matter::none, C = inside::Matter::none;
    int row = -1, column = -1;  ///< of the first cell of C
    int k = -1;                 ///< the first term's column of Q and K, or key
    bool known() const { return row >= 0 && column >= 0; }
    bool turned() const { return C == inside::Matter::S && A == inside::Matter::K; }
    /// B is loaded as rows of its matrix: K, whose columns are summed over.
    bool by_rows() const { return C == inside::Matter::S; }
};
NamedProduct named_product(const InsidePlace& at);
/// Row and column of a cell of C in its whole matrix, where that is known; else in its fragment.
bool knows_place_inside(const InsidePlace& at);
inside::FragmentCell index_inside(const InsidePlace& at, inside::FragmentCell cell);
/// The element of device memory, or else the number of the tile that the warps have computed, which lies at
/// an address of shared memory when an event reads it: "K[53, 12]", "S[3, 17] of the tile"; empty: not known.
std::string name_in_shared(const AppState& state, const InsidePlace& at, std::uint32_t event,
                           std::uint32_t address, int bytes);
/// The hue of what an event is about; a quiet grey where that is not known.
ImU32 hue_of(const Theme& theme, inside::Matter matter);
/// "Q", "K" with the letters of formulas, and what stands for a part of a product.
Line matter_line(inside::Matter matter, const char* otherwise);
/// What the panel of memory shows at this step: its own access, or the one that filled the registers.
struct ShownAccess {
    const inside::Event* event = nullptr;
    int steps_ago = 0;
    int lane = 0;  ///< whose address is looked at
    std::uint32_t fed =
        inside::whole_warp;  ///< lanes whose rows a product takes; others were read for another
    inside::Part part =
        inside::Part::C;  ///< of a product, which of its factors; C: the access is the step's own
};
/// `cell`: of C, whose row or column is looked at.
ShownAccess shown_access(const InsidePlace& at, const inside::FragmentCell& cell);
/// What the step is called and does, as far as it is known what its numbers are.
inside::StepWords step_words(const InsidePlace& at);
/// The step is the exponential that gives α of the lanes' rows.
bool makes_alpha(const InsidePlace& at);

}  // namespace tilewalk::ui

// What the parts of the merge view share: the parts of one row, the merge at hand, and two trees over the
// parts.
#pragma once

#include "app/ui/kit/layout.h"
#include "app/ui/parts/matrix.h"
#include "app/ui/state/app_state.h"
#include "core/lessons/merge/merge.h"

namespace tilewalk::ui {

void merge_main(const Canvas& canvas, AppState& state, const Layout& layout);
void merge_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);
bool merge_has_all_digits(const AppState& state, float w, float h);
void split_main(const Canvas& canvas, AppState& state, const Layout& layout);
void split_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);
bool split_has_all_digits(const AppState& state, float w, float h);
void cascade_main(const Canvas& canvas, AppState& state, const Layout& layout);
void cascade_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);
bool cascade_has_all_digits(const AppState& state, float w, float h);
void ring_main(const Canvas& canvas, AppState& state, const Layout& layout);
void ring_presenter(const Canvas& canvas, AppState& state, const Rect& strip, const Rect& body);
/// Which rank has whose keys, small, in the head of a page of presenter mode; its right edge there. Returns
/// what it takes with its name, 0 where the page has it large.
float ring_map(const Canvas& canvas, const AppState& state, float right);
/// The step of a rank to scale (ring_lens.cpp).
void ring_lens(const Canvas& canvas, AppState& state, const Rect& area);
bool has_ring_lens(Op op);

/// The parts and the merge that the current step is about, of `merge`, of `split-kv`, or of one row of
/// `cascade`.
struct MergeNow {
    explicit MergeNow(const AppState& state);

    std::shared_ptr<const Trace> kept;  ///< a button may replace the walk while it is drawn
    const Trace& trace;
    int k;
    std::vector<KeyPart> parts;
    std::vector<MergeNode> plan;
    bool normalised;
    bool splits;    ///< parts are splits, made by workers
    bool shared;    ///< of `cascade`: what the prefix gives, and what the own keys of a sequence
    int node = -1;  ///< of the plan; −1 while the parts are made
    int part = -1;  ///< that is made by this step
    int began = 0;  ///< the first step of this merge
    int row = 0;    ///< of each part and of the result, where they have several
    /// The query that it belongs to, of those that are decoded together.
    int query() const { return trace.problem().options.row + row; }

    bool whole() const { return node + 1 == static_cast<int>(plan.size()); }
    /// Tiles that stand in the table: all parts, or those that are merged.
    std::vector<int> rows() const;
    /// Where the result lies: a tile of parts, or m, ℓ (or L), O of the query.
    Slot result_slot(Slot part_slot) const;
    int result_tile() const { return whole() ? 0 : plan[static_cast<std::size_t>(node)].into; }
    std::string name(int tile) const;
    std::string result_name() const;
    /// One number of a part after step k; nothing while it is not there.
    std::optional<double> number(Slot slot, int tile, int col = 0) const;
    std::optional<double> result(Slot part_slot, int col = 0) const;
    /// What lies there, once this merge has written it: workers used the same place before.
    Held held_result(Slot part_slot) const;
};

/// Where that of all parts lies: m, ℓ, L or O of the query.
Slot whole_slot(Slot part_slot);

/// The column of O that drawings are about: that of the formula.
int merge_column(const AppState& state);
/// Digits with which all numbers of the slot fit a cell; 0: none are shown.
int digits_in(const AppState& state, Slot slot, float cell_w, float text);

// The parts, one file each
/// Scores of the row with handles between its parts; `low`: with less room round it.
void draw_split(const Canvas& canvas, AppState& state, const MergeNow& now, const Rect& area, bool low);
float split_height(bool low);
/// One row for each part, the result below; returns the width.
float draw_parts(const Canvas& canvas, AppState& state, const MergeNow& now, const Rect& area);
/// The table of presenter mode and its drawing beside it. Returns the width of the table, not enlarged.
float parts_presenter(const Canvas& canvas, AppState& state, const MergeNow& now, const Rect& area);
void draw_merge_lens(const Canvas& canvas, AppState& state, const MergeNow& now, const Rect& area);
/// What they leave on stage to the lens.
constexpr float beside_parts = 170;
/// Of a stage of that width: no number of the table is cut to fewer digits than the settings have.
bool parts_have_all_digits(const AppState& state, float stage_w);
enum class TreesPart { both, trees, result };
void draw_trees(const Canvas& canvas, AppState& state, const Rect& area, TreesPart shown = TreesPart::both);

/// A changed choice is a changed problem, and can be undone.
void choose_merge(AppState& state, const Options& options);

}  // namespace tilewalk::ui

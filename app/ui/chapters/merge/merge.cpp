// The lesson about merging: the row and where it is split, its parts and their merge, the step to scale;
// below, two trees over the same parts and what rounding makes of them.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/words.h"
#include "core/lessons/cascade/cascade.h"
#include "core/lessons/merge/split_kv.h"

#include <algorithm>
#include <utility>

namespace tilewalk::ui {

namespace {

constexpr int most_parts = 16;  // that are chosen here; files may have more
// Two parts and their merge below the row they come from; with a row as high as its words like. Two trees of
// four parts; the same of one number each.
constexpr float least_parts_h = 266, roomy_parts_h = 300, least_trees_h = 206, low_trees_h = 166;
// On stage, the row alone and below two parts
constexpr float row_h = 62, least_with_row = 150;

// Returns the left edge of what it took.
float choices(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    Options options = latest_problem(state).options;
    const float y = a.y + space::control_top;
    float right = a.right() - space::control_edge;

    int form = now.normalised;
    const std::vector<std::string> forms = {"ℓ, O", "L, O ÷ ℓ"};
    right -= segmented_width(forms);
    if (segmented(c, "##merge form", right, y, forms, form)) {
        options.parts = static_cast<PartForm>(form);
        choose_merge(state, options);
    }
    int order = static_cast<int>(now.trace.problem().options.merge);
    const std::vector<std::string> orders = {"chain", "pairs", "at once"};
    right -= segmented_width(orders) + 12;
    if (segmented(c, "##merge order", right, y, orders, order)) {
        options.merge = static_cast<MergeOrder>(order);
        choose_merge(state, options);
    }
    int count = static_cast<int>(now.parts.size());
    right -= 122 + 12;
    if (stepper(c, "##merge parts", right, y, 122, count, 1, std::min(most_parts, state.problem->N_kv()))) {
        options.splits = *even_parts(state.problem->N_kv(), count);
        choose_merge(state, options);
    }
    right -= 8;
    right -= c.text(right, y + 16, "parts", size::body, c.theme->t2, Align::right) + 16;
    int row = now.trace.problem().options.row;
    if (right - a.x < 470) return right;
    right -= 122;
    if (stepper(c, "##merge row", right, y, 122, row, 0, state.problem->N() - 1)) {
        choose_row(options, row, state.problem->N());
        choose_merge(state, options);
    }
    right -= 8;
    return right - c.text(right, y + 16, "query", size::body, c.theme->t2, Align::right);
}

void parts_panel(const Canvas& c, AppState& state, const Rect& a, bool low) {
    const Panel panel(c, "Parts", a);
    const MergeNow now(state);
    const float right = choices(c, state, now, a);
    const std::string title = "One query, " + counted(now.parts.size(), "part");
    const float w = c.text_within(a.inner_x(), a.title_y(), right - a.inner_x() - 8, title, size::lead, 0,
                                  Face::semibold);
    const char* hint = "drag a handle, or press S";
    if (text_width(Face::regular, size::body, hint) < right - a.inner_x() - w - 30)
        c.text(a.inner_x() + w + 12, a.title_y(), hint, size::body, c.theme->t3);
    const float top = a.y + 44, wanted = std::max(.52f * a.w, 440.0f) - 24;
    const auto lens_x = [&](float table) {
        return a.inner_x() + std::max(table, std::min(wanted, 420.0f)) + 20;
    };
    const auto right_of = [&](float table, float y) {
        const float x = lens_x(table);
        return Rect{x, y, a.right() - 12 - x, a.bottom() - y - 12};
    };
    // In low windows the row stands above the drawing, not above the table.
    float table = 0, y = top;
    if (low) {
        table = draw_parts(c, state, now, {a.inner_x(), top, wanted, a.bottom() - top - 8});
        draw_split(c, state, now, right_of(table, top), true);
        y += split_height(true);
    } else {
        const bool narrow = a.h < roomy_parts_h;
        const float row = split_height(narrow), x = a.inner_x();
        table = draw_parts(c, state, now, {x, top + row, wanted, a.bottom() - top - row - 8});
        draw_split(c, state, now, {x, top, lens_x(table) - x - 12, row}, narrow);
    }
    const Rect lens = right_of(table, y);
    if (lens.w > 180) draw_merge_lens(c, state, now, lens);
}

}  // namespace

void merge_main(const Canvas& c, AppState& state, const Layout& layout) {
    const Rect& a = layout.main;
    const bool low = a.h < least_parts_h + least_trees_h + 10;
    const float gap = a.h < roomy_parts_h + least_trees_h ? 10.0f : 12.0f;
    const float below = low ? low_trees_h : std::clamp(a.h * .42f, least_trees_h, 330.0f);
    parts_panel(c, state, {a.x, a.y, a.w, a.h - below - gap}, low);
    draw_trees(c, state, {a.x, a.bottom() - below, a.w, below});
}

float parts_presenter(const Canvas& c, AppState& state, const MergeNow& now, const Rect& a) {
    const Op op = op_now(state);
    const float w = a.w / size::far_growth, h = a.h / size::far_growth;
    const bool asked = quiz_waits(state);
    if (!asked) draw_frame_word_over(c, a, words_of_table(op));
    const auto lens_x = [&](float table) { return a.x + (table + 16) * size::far_growth; };
    const auto draw = [&] {
        const Enlarged large(c, {a.x, a.y}, size::far_growth);
        const float table = draw_parts(large.c, state, now, {0, 0, w - beside_parts, h});
        if (w - table >= beside_parts && !asked)
            draw_merge_lens(large.c, state, now, {table + 16, 0, w - table - 16, h});
        return table;
    };
    const float table = draw();
    if (w - table < beside_parts || asked) return table;
    note_part(c, {lens_x(table) - 8, a.y, a.right() - lens_x(table) + 8, a.h}, "Lens");
    draw_frame_word(c, lens_x(table), a.y - frame_up, frame_words(op).operation);
    return table;
}

void merge_presenter(const Canvas& c, AppState& state, const Rect&, const Rect& a) {
    const MergeNow now(state);
    const Rect inner{0, 0, a.w / size::far_growth, a.h / size::far_growth};
    for (const auto& [panel, part] :
         {std::pair{"Trees", TreesPart::trees}, {"Same result?", TreesPart::result}})
        if (points_at(state, panel)) {
            const Enlarged large(c, {a.x, a.y}, size::far_growth);
            return draw_trees(large.c, state, inner, part);
        }
    note_part(c, a, "Parts");
    const float table = parts_presenter(c, state, now, a);
    // While parts are made, the row that they are cut from stands where their merge will.
    if (now.node >= 0 || inner.h < least_with_row) return;
    const Enlarged large(c, {a.x, a.y}, size::far_growth);
    draw_split(large.c, state, now, {0, inner.h - row_h, table, row_h}, true);
}

bool merge_has_all_digits(const AppState& state, float w, float) { return parts_have_all_digits(state, w); }

namespace {

std::vector<KeyPart> parts_of(const Trace& trace, int k) {
    const Problem& p = trace.problem();
    if (&trace.lesson() == &merge_lesson) return merge_parts(p);
    if (&trace.lesson() == &cascade) {
        const SharedPrefix all(p);
        const int sequence = sequence_of(trace, k);
        if (sequence < 0) return {{0, all.prefix}};
        return {{0, all.prefix}, {all.of(sequence).first_key, all.of(sequence).keys}};
    }
    std::vector<KeyPart> out;
    for (const SplitBlocks& split : split_blocks(p)) {
        const int first = std::min(p.N_kv(), split.first * p.Bc);
        out.push_back({first, std::min(p.N_kv(), (split.first + split.count) * p.Bc) - first});
    }
    return out;
}

MergeOrder order_of(const Trace& trace) {
    return &trace.lesson() == &merge_lesson ? trace.problem().options.merge : MergeOrder::at_once;
}

// The row of the step's cell within what the step wrote.
int row_of_cell(const AppState& state) {
    const CellRef cell = state.explanation.target;
    for (const Access& a : state.trace->writes(state.cursor.step)) {
        const Region& at = state.trace->value(a.value).region;
        if (a.slot == cell.slot && at.contains(cell.row, cell.col))
            return is_of_parts(cell.slot) && info(cell.slot).hbm ? cell.row : cell.row - at.row;
    }
    return 0;
}

}  // namespace

MergeNow::MergeNow(const AppState& state)
    : kept(state.trace), trace(*kept), k(state.cursor.step), parts(parts_of(trace, k)),
      plan(merge_plan(static_cast<int>(parts.size()), order_of(trace))),
      normalised(&trace.lesson() != &merge_lesson || trace.problem().options.parts == PartForm::normalised),
      splits(&trace.lesson() == &split_kv), shared(&trace.lesson() == &cascade) {
    if (shared) {
        const Op op = trace.step(k).op;
        row = row_of_cell(state);
        const bool merges = sequence_of(trace, k) >= 0 && op != Op::normalize;
        if (merges) node = 0;
        if (!merges) part = sequence_of(trace, k) < 0 ? shared_part : own_part;
        for (began = k; began > 0 && merges && trace.step(began).op != Op::load;) --began;
        return;
    }
    if (splits) {
        part = split_of(trace, k);
        const Region rows = decoded_queries(trace.problem());
        const CellRef& cell = state.explanation.target;
        if (cell.slot != Slot::count)
            row = is_of_parts(cell.slot) ? cell.row % rows.rows
                                         : std::clamp(cell.row - rows.row, 0, rows.rows - 1);
        if (part < 0) node = 0;
        for (began = k; began > 0 && part < 0 && split_of(trace, began - 1) < 0;) --began;
        return;
    }
    const int phase = trace.step(k).phase, count = static_cast<int>(parts.size());
    if (phase < count)
        part = phase;
    else
        node = phase - count;
}

std::string MergeNow::name(int tile) const {
    if (shared) return tile == shared_part ? "shared" : "own";
    return splits ? part_letter(tile) : merge_name(trace.problem(), tile);
}

std::string MergeNow::result_name() const {
    if (shared) return "both";
    const MergeNode& merge = plan[static_cast<std::size_t>(std::max(0, node))];
    return merged_letters(merge.first, merge.last);
}

std::vector<int> MergeNow::rows() const {
    if (node >= 0) return plan[static_cast<std::size_t>(node)].parts;
    std::vector<int> out;
    for (int n = 0; n < std::ssize(parts); ++n) out.push_back(n);
    return out;
}

Slot MergeNow::result_slot(Slot slot) const { return whole() ? whole_slot(slot) : slot; }

Slot whole_slot(Slot slot) {
    switch (slot) {
    case Slot::m_part: return Slot::m;
    case Slot::l_part: return Slot::l;
    case Slot::L_part: return Slot::Li;
    case Slot::O_part: return Slot::Oi;
    default: return slot;
    }
}

std::optional<double> MergeNow::number(Slot slot, int tile, int col) const {
    const Held held = trace.live(slot, tile, k);
    if (!held) return {};
    const Matrix& data = held.value->data;
    return data(std::min<Eigen::Index>(row, data.rows() - 1), std::min<Eigen::Index>(col, data.cols() - 1));
}

Held MergeNow::held_result(Slot slot) const {
    const Held held = trace.live(result_slot(slot), result_tile(), k);
    return held && held.step >= began ? held : Held{};
}

std::optional<double> MergeNow::result(Slot slot, int col) const {
    if (node < 0 || !held_result(slot)) return {};
    return number(result_slot(slot), result_tile(), col);
}

int merge_column(const AppState& state) {
    const CellRef target = state.explanation.target;
    // The columns of scores and weights are keys.
    if (info(target.slot == Slot::count ? Slot::m : target.slot).role == Role::O)
        return std::min(target.col, state.problem->d() - 1);
    return std::clamp(state.softmax.component, 0, state.problem->d() - 1);
}

void choose_merge(AppState& state, const Options& options) {
    Problem changed = latest_problem(state);
    if (changed.options == options) return;
    changed.options = options;
    set_problem(state, std::move(changed));
}

void move_split(AppState& state, int by) {
    Problem changed = latest_problem(state);
    std::vector<int> sizes;
    for (const KeyPart& part : merge_parts(changed)) sizes.push_back(part.count);
    if (sizes.size() < 2) return;
    // The first cut: its left part gives or takes a key.
    const int moved = std::clamp(by, -sizes[0], sizes[1]);
    sizes[0] += moved, sizes[1] -= moved;
    changed.options.splits = sizes;
    if (moved != 0) set_problem(state, std::move(changed));
}

}  // namespace tilewalk::ui

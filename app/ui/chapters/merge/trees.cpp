// Two trees over the same parts side by side, and what rounding makes of them: the first digit in which they
// differ.
#include "app/ui/chapters/merge/merge.h"

#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/lessons/merge/trees.h"
#include "core/lessons/softmax/softmax.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float least_box_w = 66, least_box_h = 30, least_gap = 7;
// Of boxes with one number
constexpr float brief_box_w = 48, brief_box_h = 18;
// Two trees differ from four parts on: where those have no room, boxes and gaps are as small as the number.
constexpr int least_parts = 4;
constexpr float tight_box_h = 14, tight_gap = 4;

// Parts to begin with: those of the lesson where there are enough and not too many, else single keys or equal
// parts.
struct Leaves {
    std::vector<KeyPart> parts;
    std::string words;
};
Leaves leaves_for(const Problem& p, int most) {
    const std::vector<KeyPart> own = merge_parts(p);
    const int N = p.N_kv();
    if (std::ssize(own) > 2 && std::ssize(own) <= most) return {own, "the parts of this row"};
    Leaves out;
    int first = 0;
    const std::vector<int> sizes = *even_parts(N, std::min(N, most));
    for (const int keys : sizes) out.parts.push_back({first, keys}), first += keys;
    out.words = N <= most ? counted(out.parts.size(), "part") + " of one key each"
                          : counted(out.parts.size(), "part") + " of this row";
    return out;
}

// The numbers of every tile, as one order of merging makes them in one format.
struct Tree {
    std::vector<MergeNode> plan;
    std::vector<PartialResult> tiles;
    PartForm form = PartForm::sums;
    bool sink = false;  ///< counts in the first leaf
    const PartialResult& whole() const { return tiles.back(); }
};
Tree tree_of(const Problem& p, const std::vector<KeyPart>& parts, MergeOrder order, Format format) {
    Tree out{merge_plan(static_cast<int>(parts.size()), order), {}, p.options.parts};
    const Matrix S = softmax_scores(p);
    std::vector<PartialResult> leaves;
    out.sink = p.logits.sink.has_value();
    for (const KeyPart& part : parts)
        leaves.push_back(part_of(S, p.V, part, format,
                                 leaves.empty() ? p.logits.sink.value_or(minus_infinity) : minus_infinity));
    if (out.form == PartForm::normalised)
        for (PartialResult& leaf : leaves) leaf = normalised(leaf, format);
    out.tiles = merged_by(std::move(leaves), out.plan, format, out.form);
    return out;
}

// Where title, trees and table stand.
struct TreesLayout {
    bool roomy, alone;  ///< a title of its own above those of the trees; one of both parts
    float table_w, trees_w, each, title_y, top, h;
    bool brief;        ///< boxes with one number
    float box_h, gap;  ///< at least
    int parts;         ///< that have room, at most
};
TreesLayout layout_of(const Rect& a, TreesPart shown) {
    TreesLayout out{};
    out.roomy = a.h >= 240, out.alone = shown != TreesPart::both;
    out.table_w = out.alone   ? std::min(a.inner_w(), 440.0f)
                  : out.roomy ? std::clamp(a.w * .3f, 270.0f, 360.0f)
                              : 238;
    out.trees_w = out.alone ? a.inner_w() : a.inner_w() - out.table_w - 28;
    out.each = (out.trees_w - 24) / 2;
    out.title_y = out.roomy ? a.y + 48 : a.title_y();
    out.top = out.title_y + 14, out.h = a.bottom() - 6 - out.top;
    out.brief = out.each < 4 * least_box_w || out.h < 16 + 4 * least_box_h + 3 * least_gap;
    const bool tight = out.h < 16 + least_parts * brief_box_h + (least_parts - 1) * least_gap;
    out.box_h = tight ? tight_box_h : out.brief ? brief_box_h : least_box_h;
    out.gap = tight ? tight_gap : least_gap;
    const int by_width = static_cast<int>(out.each / (out.brief ? brief_box_w : least_box_w)),
              by_height = static_cast<int>((out.h - 16 + out.gap) / (out.box_h + out.gap));
    out.parts = std::clamp(std::min(by_width, by_height), 2, out.brief ? least_parts : 8);
    return out;
}

// ---- A tree

struct Box {
    float x = 0;  // its middle
    int level = 0;
};

std::string fitting_number(double v, float room) {
    for (const int digits : {4, 3, 2})
        if (std::string text = format_short(v, digits); text_width(Face::mono, size::small, text) <= room)
            return text;
    return {};
}

void part_of_box(const Canvas& c, const Rect& a, Role role, double v) {
    const Theme& t = *c.theme;
    const ImU32 fill = mix(t.panel, hue(t, role), t.light ? .2f : .24f);
    c.rect(a.x, a.y, a.w, a.h, fill, radius::bar);
    const std::string text = fitting_number(v, a.w - 3);
    c.text(a.x + a.w / 2, a.middle(), text, size::small, ink_on(t, fill), Face::mono, Align::center);
}

// m and ℓ, or L, above O, or O alone
void draw_box(const Canvas& c, const Rect& a, const PartialResult& of, PartForm form, int col, bool last) {
    const Theme& t = *c.theme;
    const double O = of.O[static_cast<std::size_t>(col)];
    c.rect(a.x, a.y, a.w, a.h, t.well, radius::card);
    const float h = (a.h - 3) / 2;
    // m has the room of its number, but never half of the box.
    const float number_w = text_width(Face::mono, size::small, format_short(of.m, 2)) + 5;
    const float m_w = std::round(std::clamp(number_w, a.w * .24f, a.w * .46f));
    if (a.h < least_box_h) {
        part_of_box(c, {a.x + 1, a.y + 1, a.w - 2, a.h - 2}, Role::O, O);
    } else {
        if (form == PartForm::normalised) {
            part_of_box(c, {a.x + 1, a.y + 1, a.w - 2, h}, info(Slot::L).role, of.m);
        } else {
            part_of_box(c, {a.x + 1, a.y + 1, m_w - 1, h}, Role::m, of.m);
            part_of_box(c, {a.x + m_w + 1, a.y + 1, a.w - m_w - 2, h}, Role::l, of.l);
        }
        part_of_box(c, {a.x + 1, a.y + h + 2, a.w - 2, h}, Role::O, O);
    }
    if (last)
        c.frame(a.x - .5f, a.y - .5f, a.w + 1, a.h + 1, t.focus, focus_width(), radius::card);
    else
        c.frame(a.x + .5f, a.y + .5f, a.w - 1, a.h - 1, t.line2, 1, radius::card);
}

void draw_tree(const Canvas& c, const Rect& a, const Tree& tree, const Leaves& leaves, int col,
               const TreesLayout& by) {
    const std::size_t n = leaves.parts.size();
    const float pitch = a.w / px(n), box_w = std::min(pitch - (by.brief ? 4.0f : 6.0f), 92.0f);
    std::vector<Box> boxes;
    for (std::size_t k = 0; k < n; ++k) boxes.push_back({a.x + pitch * (px(k) + .5f), 0});
    for (const MergeNode& node : tree.plan) {
        Box box;
        for (const int tile : node.parts) {
            const Box& from = boxes[static_cast<std::size_t>(tile)];
            box.x += from.x / px(node.parts.size());
            box.level = std::max(box.level, from.level + 1);
        }
        boxes.push_back(box);
    }
    // Both trees have the levels of a chain, so that they can be compared.
    const float names = 16, most_h = by.brief ? 24 : 40, rows = px(n), turns = std::max(1.0f, rows - 1);
    const float gap = std::clamp((a.h - names - rows * most_h) / turns, by.gap, 20.0f);
    const float box_h = std::clamp((a.h - names - turns * gap) / rows, by.box_h, most_h);
    const auto top = [&](const Box& box) { return a.y + names + px(box.level) * (box_h + gap); };
    for (const MergeNode& node : tree.plan) {
        // What is merged comes together on one line, so that one head has the room of a gap.
        const Box& to = boxes[static_cast<std::size_t>(node.into)];
        const float head = std::clamp(gap - 3, 2.0f, 7.0f), turn = top(to) - head - 1.5f;
        const ImU32 line = c.theme->t3;
        for (const int tile : node.parts) {
            const Box& from = boxes[static_cast<std::size_t>(tile)];
            const Point way[] = {{from.x, top(from) + box_h}, {from.x, turn}, {to.x, turn}};
            c.polyline(way, line, 1.4f);
        }
        c.head({to.x, top(to)}, {0, 1}, line, head + 1.5f);
    }
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        const Rect box{boxes[k].x - box_w / 2, top(boxes[k]), box_w, box_h};
        draw_box(c, box, tree.tiles[k], tree.form, col, k + 1 == boxes.size());
        if (k >= n) continue;
        const KeyPart& part = leaves.parts[k];
        const bool sink = k == 0 && tree.sink;
        const std::string keys = part.count == 0           ? sink ? "sink" : "empty"
                                 : sink && part.count == 1 ? "key " + str(part.first) + ", sink"
                                 : part.count == 1         ? "key " + str(part.first)
                                                           : str(part.first) + "–" + str(part.last());
        c.text(boxes[k].x, a.y + 4, keys, size::small, c.theme->t3, Align::center);
    }
}

// ---- The same numbers in a format, digit by digit

constexpr int digits_of(Format format) { return format == Format::fp32 ? 9 : 6; }

std::string all_digits(double v, Format format) {
    if (!std::isfinite(v)) return format_short(v);
    const int whole = v == 0 ? 1 : std::max(1, static_cast<int>(std::floor(std::log10(std::abs(v)))) + 1);
    return format_fixed(v, std::max(0, digits_of(format) - whole));
}

// From the first digit on in which it differs from the other, the number is inverted.
void number_apart(const Canvas& c, float right, float y, const std::string& text, const std::string& other) {
    std::size_t same = 0;
    while (same < text.size() && same < other.size() && text[same] == other[same]) ++same;
    const std::string tail = text.substr(same);
    const float tail_w = text_width(Face::mono, size::small, tail);
    c.text(right - tail_w, y, text.substr(0, same), size::small, c.theme->t2, Face::mono, Align::right);
    if (tail.empty()) return;
    c.rect(right - tail_w - 1, y - 8, tail_w + 3, 16, c.theme->t1, 2);
    c.text(right, y, tail, size::small, c.theme->inv, Face::mono, Align::right);
}

struct Compared {
    Line symbol;
    double chain, pairs;
    std::string chain_text = {}, pairs_text = {};
};
struct ComparedIn {
    Format format;
    std::vector<Compared> rows;
};

ComparedIn compared(const Problem& p, const Leaves& leaves, int col, Format format) {
    const auto c = static_cast<std::size_t>(col);
    const Tree chain = tree_of(p, leaves.parts, MergeOrder::chain, format),
               pairs = tree_of(p, leaves.parts, MergeOrder::pairs, format);
    const PartialResult &a = chain.whole(), &b = pairs.whole();
    const Line O = pieces(symbol("O", Role::O), "[" + str(col) + "]"), l = {symbol("ℓ", Role::l)},
               L = {symbol("L", info(Slot::L).role)};
    ComparedIn out{format, {{l, a.l, b.l}, {O, a.O[c], b.O[c]}}};
    out.rows.push_back({pieces(O, " ÷ ", l), round_to(format, a.output(c)), round_to(format, b.output(c))});
    if (chain.form == PartForm::normalised) out.rows = {{L, a.m, b.m}, {O, a.O[c], b.O[c]}};
    const auto text = [&](double v) {
        return format == Format::fp64 ? format_short(v) : all_digits(v, format);
    };
    for (Compared& one : out.rows) one.chain_text = text(one.chain), one.pairs_text = text(one.pairs);
    return out;
}

constexpr float least_row = 15, format_gap = 6, heads_of_table = 20;

// Without ℓ there is a number less.
int rows_of(const Problem& p) { return p.options.parts == PartForm::normalised ? 2 : 3; }
float least_compared(const Problem& p, int formats) {
    return heads_of_table + px(formats * rows_of(p)) * least_row + px(formats - 1) * format_gap;
}

void draw_compared(const Canvas& c, const Problem& p, const Leaves& leaves, int col, const Rect& a) {
    const Theme& t = *c.theme;
    const bool brief = a.w < 330;
    // Real numbers are equal anyway.
    std::vector<Format> formats = {Format::fp64, Format::fp32, Format::bf16};
    if (a.h < least_compared(p, 3)) formats.erase(formats.begin());
    std::vector<ComparedIn> all;
    float number_w = 0;
    for (const Format format : formats) {
        all.push_back(compared(p, leaves, col, format));
        for (const Compared& one : all.back().rows)
            for (const std::string& text : {one.chain_text, one.pairs_text})
                number_w = std::max(number_w, text_width(Face::mono, size::small, text));
    }
    const float right = a.right(), middle = right - number_w - (brief ? 8.0f : 18.0f);
    c.text(middle, a.y, "chain", size::small, t.t2, Face::medium, Align::right);
    c.text(right, a.y, "pairs", size::small, t.t2, Face::medium, Align::right);
    float y = a.y + heads_of_table;
    const float count = px(formats.size());
    const float row = std::clamp((a.h - heads_of_table - (count - 1) * format_gap) / (px(rows_of(p)) * count),
                                 least_row, 20.0f);
    for (const ComparedIn& some : all) {
        const bool real = some.format == Format::fp64;
        c.text(a.x, y, real ? "real" : name(some.format), size::small, t.t1, Face::medium);
        for (const Compared& one : some.rows) {
            const std::int64_t apart = real ? -1 : steps_apart(one.chain, one.pairs, some.format);
            if (apart >= 0 && !brief)
                c.text(a.x + 44, y, apart == 0 ? "equal" : str(apart) + " ULP", size::small, t.t3);
            c.rich(middle - number_w - 7, y, one.symbol, size::small, Align::right);
            number_apart(c, middle, y, one.chain_text, one.pairs_text);
            number_apart(c, right, y, one.pairs_text, one.chain_text);
            y += row;
        }
        y += format_gap;
    }
}

void draw_trees_title(const Canvas& c, const Rect& a, const Leaves& leaves, bool normalised, const Line& O,
                      float room) {
    const float w = c.text(a.inner_x(), a.title_y(), "Any order, any tree", size::lead, 0, Face::semibold);
    const Line above = normalised ? Line{symbol("L", info(Slot::L).role)}
                                  : pieces(symbol("m", Role::m), " and ", symbol("ℓ", Role::l)),
               what = pieces(leaves.words, ";  a node holds ", above, " above ", O);
    if (rich_width(c, what, size::body) < room - w - 14)
        c.rich(a.inner_x() + w + 14, a.title_y(), what, size::body, Align::left, c.theme->t3);
}

/// A tree, and what it is good for: said as long as there is room.
struct NamedTree {
    const char* name;
    MergeOrder order;
    std::vector<const char*> uses;
};

void draw_named_tree(const Canvas& c, const Problem& p, const NamedTree& tree, const TreesLayout& by, float x,
                     const Leaves& leaves, int col) {
    const float left =
        x + 10 + c.text(x, by.title_y, tree.name, by.roomy ? size::body : size::lead, 0, Face::semibold);
    const auto use = std::ranges::find_if(tree.uses, [&](const char* words) {
        return text_width(Face::regular, size::small, words) < x + by.each - left;
    });
    if (by.brief)
        c.rich(left, by.title_y, pieces("a node holds ", symbol("O", Role::O), "[" + str(col) + "]"),
               size::small, Align::left, c.theme->t3);
    else if (use != tree.uses.end())
        c.text(left, by.title_y, *use, size::small, c.theme->t3);
    draw_tree(c, {x, by.top, by.each, by.h}, tree_of(p, leaves.parts, tree.order, Format::fp64), leaves, col,
              by);
}

void draw_same_result(const Canvas& c, const Problem& p, const TreesLayout& by, const Rect& a, float x,
                      const Leaves& leaves, int col) {
    const float w = by.table_w;
    const PanelPart part(c, "Same result?", {x - 6, a.y, w + 12, a.h});
    const float title = c.text(x, a.title_y(), "Same result?", size::lead, 0, Face::semibold);
    const char* note = "each m, w, ℓ and O rounded once";
    if (by.roomy && text_width(Face::regular, size::small, note) < w - title - 12)
        c.text(x + title + 12, a.title_y(), note, size::small, c.theme->t3);
    // Why it matters is worth more than the numbers that are equal anyway, and said as long as there is room.
    const float heads_y = by.roomy ? a.y + 46 : a.title_y(), table_h = a.bottom() - 8 - heads_y;
    const char* const reasons[] = {
        "Parts of a fixed size keep the tree, and with it every digit. A number of parts that follows the "
        "load changes the tree: the last digits of the same row may differ from batch to batch.",
        "A number of parts that follows the load changes the tree: last digits may differ from batch to "
        "batch.",
        "Other parts, other last digits: a row may depend on its batch."};
    const auto height = [&](const char* why) { return paragraph_height(w, why, size::small) + 4; };
    const auto why = std::ranges::find_if(
        reasons, [&](const char* one) { return table_h - height(one) >= least_compared(p, 2) + 4; });
    const bool room = why != std::end(reasons);
    draw_compared(c, p, leaves, col, {x, heads_y, w, table_h - (room ? height(*why) + 4 : 0)});
    if (room) c.paragraph(x, a.bottom() - 6 - height(*why), w, *why, size::small, c.theme->t2);
}

}  // namespace

void draw_trees(const Canvas& c, AppState& state, const Rect& a, TreesPart shown) {
    const Panel panel(c, "Trees", a);
    const Problem& p = state.trace->problem();
    const TreesLayout by = layout_of(a, shown);
    const Leaves leaves = leaves_for(p, by.parts);
    const int col = merge_column(state);
    if (shown != TreesPart::result) {
        if (by.roomy)
            draw_trees_title(c, a, leaves, p.options.parts == PartForm::normalised,
                             pieces(symbol("O", Role::O), "[" + str(col) + "]"), by.trees_w);
        const NamedTree trees[] = {
            {"Chain",
             MergeOrder::chain,
             {"one after another: flash-forward, a ring", "one after another: a ring", "one after another"}},
            {"Pairs",
             MergeOrder::pairs,
             {"by neighbours: a reduction on many cores", "by neighbours: many cores", "by neighbours"}}};
        float x = a.inner_x();
        for (const NamedTree& tree : trees) {
            draw_named_tree(c, p, tree, by, x, leaves, col);
            x += by.each + 24;
        }
    }
    if (shown == TreesPart::trees) return;
    const float x = by.alone ? a.inner_x() + (a.inner_w() - by.table_w) / 2 : a.inner_right() - by.table_w;
    if (!by.alone) c.line({x - 14, a.y + 14}, {x - 14, a.bottom() - 14}, c.theme->line);
    draw_same_result(c, p, by, a, x, leaves, col);
}

}  // namespace tilewalk::ui

// What a step's number is made of where the record has no step for it: plain arithmetic between two reads,
// and the score behind an exponential.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/chapters/inside/ways.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"
#include "core/walk/formula.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace tilewalk::ui {

namespace {

using inside::Op;

constexpr float row_h = 19;

/// A read of the chosen lane: its value, and the element that it is.
struct ReadNumber {
    float value = 0;
    std::string element;
};

/// The lane's last reads in a line up to the step: those that stand one behind the other.
std::vector<ReadNumber> last_reads(const InsidePlace& at, const std::string& file, int line) {
    std::vector<ReadNumber> out;
    const auto& steps = at.steps();
    constexpr int reach = 128, most = 8;
    bool found = false;
    for (int k = at.k; k >= std::max(0, at.k - reach) && out.size() < most; --k) {
        const std::uint32_t n = steps.event(at.warp, k);
        const inside::Event& event = at.block().events[n];
        const inside::Place& place = at.record().places[event.place];
        const bool here = place.line == line && place.file == file;
        if (found && !here) break;
        if (!here || event.op != Op::load || event.bytes != 4 || !event.has(at.lane)) continue;
        found = true;
        const auto words = at.block().words_of(event, at.lane);
        const auto from =
            inside::is_shared(words[0]) ? at.origins().global_source(words[0], n) : std::optional(words[0]);
        out.insert(out.begin(), {std::bit_cast<float>(words[1]),
                                 from ? inside::short_address(at.record(), *from) : std::string()});
    }
    return out;
}

void draw_operand(const Canvas& c, const Rect& a, const std::string& name,
                  const std::vector<ReadNumber>& reads) {
    const Theme& t = *c.theme;
    const float w = c.text(a.x, a.y + 8, name, size::small, t.t1, Face::mono);
    const std::string where = reads.empty() || reads.front().element.empty() ? ""
                              : reads.size() == 1                            ? reads.front().element
                                                                             : reads.front().element + " …";
    const float where_w = where.empty() ? 0 : text_width(Face::regular, size::small, where) + 10,
                room = a.w - w - 10 - where_w;
    // As many as have room
    std::string values;
    for (std::size_t n = 0; n < reads.size(); ++n) {
        const std::string more = values + (n == 0 ? "" : list_separator()) + format_short(reads[n].value);
        const std::string dots = n + 1 < reads.size() ? " …" : "";
        if (n > 0 && text_width(Face::mono, size::small, more + dots) > room) {
            values += " …";
            break;
        }
        values = more;
    }
    c.text_within(a.x + w + 10, a.y + 8, room, values.empty() ? "not read yet" : values, size::small, t.t1,
                  Face::mono);
    if (!where.empty()) c.text(a.right(), a.y + 8, where, size::small, t.t3, Align::right);
}

// Without the loop that stands before it in its line.
std::string statement_of(std::string_view line) {
    const std::size_t loop = line.find("for ("), adds = line.find(" += ");
    const std::size_t end = loop == line.npos ? loop : line.rfind(") ", adds);
    if (end != line.npos && end > loop) line = line.substr(end + 2);
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == line.npos ? std::string() : std::string(line.substr(begin));
}

}  // namespace

float inside_operands(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    if (at.event->op != Op::load || a.h < 24 + 2 * row_h) return 0;
    const inside::Place& place = at.place();
    const inside::SourceText* source = source_of(state, place.file);
    const auto product = source ? inside::plain_product(*source, place.line) : std::nullopt;
    if (!product) return 0;
    const Theme& t = *c.theme;
    float y = a.y;
    c.text(a.x, y + 8, "Multiplied in line " + str(product->line), size::body, t.t2, Face::semibold);
    y += 22;
    c.text_within(a.x, y + 8, a.w, statement_of(source->line(product->line)), size::small, t.t1, Face::mono);
    y += row_h + 2;
    for (const auto& [name, line] :
         {std::pair{product->left, product->left_line}, {product->right, product->right_line}}) {
        if (line == 0 || y + row_h > a.bottom()) continue;
        // What is read further down in the loop is still that of the pass before.
        const auto reads = line > place.line ? std::vector<ReadNumber>() : last_reads(at, place.file, line);
        draw_operand(c, {a.x, y, a.w, row_h}, name, reads);
        y += row_h;
    }
    const float room = a.bottom() - y;
    if (room > 2 * row_h)
        y += c.paragraph(a.x, y, a.w, "Plain arithmetic is not written down; its factors were read.",
                         size::small, t.t3, 2);
    return y - a.y + 8;
}

namespace {

/// A number that x came from, and where the lane, or another one, has it.
struct ExponentTerm {
    std::string name;  ///< "S[3, 58]"
    float value = 0;
    int warp = 0, step = 0, lane = 0, word = -1;
};
/// What the lane's exponential is, and the numbers that x came from.
struct Exponent {
    std::string of;       ///< "P̃ of row 3, key 58"
    std::string formula;  ///< "(S − m) · scale · log₂ e"
    std::vector<ExponentTerm> terms;
    Expr worked;  ///< the formula with its numbers
};

std::string indexed(const std::string& name, int row, int column = -1) {
    return name + "[" + str(row) + (column < 0 ? "" : list_separator() + str(column)) + "]";
}

// Behind the exponential of a power of two log₂ e is a factor.
Expr times_scale(Expr a, double scale, bool power_of_two) {
    return power_of_two ? product({std::move(a), num(scale), num(std::numbers::log2e)})
                        : product({std::move(a), num(scale)});
}

// Of the forward pass: two numbers that the kernel's twin writes down, both without the scale.
Exponent forward_exponent(const InsidePlace& at, double scale) {
    using inside::Quantity;
    Exponent out;
    if (!at.bridge) return out;
    for (const auto& entry : at.bridge->at(at.launch_number(), at.warp, at.k, at.lane, 1)) {
        const inside::Number& n = entry.number;
        const bool weight = n.quantity == Quantity::P;
        if (!weight && n.quantity != Quantity::alpha) continue;
        const inside::Number first = weight ? inside::Number{Quantity::S, n.row, n.column, n.tile}
                                            : inside::Number{Quantity::m, n.row, 0, n.tile - 1};
        out.of = weight ? "P̃ of row " + str(n.row) + ", key " + str(n.column) : "α of row " + str(n.row);
        for (const inside::Number& from : {first, inside::Number{Quantity::m, n.row, 0, n.tile}}) {
            const auto held = at.bridge->find(from);
            if (!held || held->launch != at.launch_number()) continue;
            const bool before = from.tile < n.tile;
            out.terms.push_back({from.quantity == Quantity::S
                                     ? indexed("S", from.row, from.column)
                                     : indexed("m", from.row) + (before ? ", before" : ""),
                                 held->value, held->warp, held->step, held->lane, held->word});
        }
        const bool two = at.event->op == Op::exp2;
        out.formula =
            std::string(weight ? "(S − m)" : "(m before − m)") + " · scale" + (two ? " · log₂ e" : "");
        if (out.terms.size() == 2)
            out.worked = times_scale(
                difference(num(out.terms[0].value, weight ? Role::S : Role::none), num(out.terms[1].value)),
                scale, two);
        return out;
    }
    return out;
}

// The query and the key of a score that a step of this warp gives.
std::optional<inside::FragmentCell> place_of_score(const InsidePlace& at, int step, int word) {
    InsidePlace there = at;
    there.k = step, there.n = at.steps().event(at.warp, step), there.event = &at.block().events[there.n];
    there.words = at.block().words_of(*there.event);
    const int reg = word - inside::first_sum(there.event->op);
    inside::FragmentCell cell;
    bool turned = false;
    if (there.event->op == Op::multiply_add) {
        const NamedProduct named = named_product(there);
        if (!named.known()) return std::nullopt;
        cell = index_inside(there, inside::cell_of_register(at.lane, reg)), turned = named.turned();
    } else {
        const auto named = named_sums(at.record(), at.block(), at.steps(), at.origins(), at.warp, step);
        if (!named.known()) return std::nullopt;
        cell = inside::TileSums::cell(at.lane, reg);
        cell.row += named.row, cell.column += named.column, turned = named.A == inside::Matter::K;
    }
    if (turned) std::swap(cell.row, cell.column);
    return cell;
}

// Of the backward pass: the score that the lane has summed up, and L that it has read.
Exponent backward_exponent(AppState& state, const InsidePlace& at, double scale) {
    Exponent out;
    const auto& found = inside_ways(state, at).score;
    if (!found) return out;
    const auto cell = place_of_score(at, found->S_step, found->S_word);
    out.of = "P" + (cell ? " of query " + str(cell->row) + ", key " + str(cell->column) : std::string());
    const std::uint32_t n = at.steps().event(at.warp, found->L_step);
    const std::uint32_t address = at.block().words_of(at.block().events[n], at.lane)[0];
    std::string L = inside::is_shared(address) ? name_in_shared(state, at, n, address, 4)
                                               : inside::short_address(at.record(), address);
    if (L.empty()) L = "L";
    out.terms = {{cell ? indexed("S", cell->row, cell->column) : "S", found->S, at.warp, found->S_step,
                  at.lane, found->S_word},
                 {L + (found->has_factor ? " · log₂ e" : ""), found->L, at.warp, found->L_step, at.lane, 1}};
    out.formula = "S · scale · log₂ e − L · log₂ e";
    const Expr own = num(found->L);
    out.worked = difference(times_scale(num(found->S, Role::S), scale, true),
                            found->has_factor ? own : product({own, num(std::numbers::log2e)}));
    return out;
}

Exponent exponent_at(AppState& state, const InsidePlace& at) {
    if (at.event->op != Op::exp2 && at.event->op != Op::exp) return {};
    if (!at.event->has(at.lane) || !at.walk->own_text.empty()) return {};
    const double scale = recorded_problem(state).softmax_scale();
    return at.origins().is_backward() ? backward_exponent(state, at, scale) : forward_exponent(at, scale);
}

// "(19.2 − 25.8) × 0.125 × 1.443 ≈ −1.19"; empty: a number is not known, or x is made of something else.
std::string worked_text(const Exponent& exponent, const InsidePlace& at) {
    if (exponent.terms.size() != 2) return "";
    const double x = std::bit_cast<float>(at.block().words_of(*at.event, at.lane)[0]);
    const double comes = evaluate(exponent.worked);
    const bool same = comes == x || std::abs(comes - x) <= 1e-3 * std::max(1.0, std::abs(x));
    if (!same) return "";
    const NumberLine numbers = write(exponent.worked, x);
    const std::string shown = format_short(x);
    return plain(numbers) + " " + sign_before(numbers, shown) + " " + shown;
}

}  // namespace

std::string exponent_sentence(AppState& state, const InsidePlace& at) {
    const Exponent exponent = exponent_at(state, at);
    if (exponent.terms.empty()) return "";
    const std::string worked = worked_text(exponent, at), begin = "Lane " + str(at.lane) + ": " + exponent.of;
    if (!worked.empty()) return begin + ", x = " + worked + ".";
    std::string names;
    for (const ExponentTerm& term : exponent.terms)
        names += (names.empty() ? "" : " and ") + term.name + " = " + format_short(term.value);
    return begin + "; x comes from " + names + ".";
}

float inside_exponent(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    if (a.h < 24 + row_h) return 0;
    const Theme& t = *c.theme;
    const Exponent exponent = exponent_at(state, at);
    float y = a.y;
    for (const ExponentTerm& term : exponent.terms) {
        if (y + row_h > a.bottom()) continue;
        if (y == a.y) c.text(a.x, y + 8, "Where x comes from", size::body, t.t2, Face::semibold), y += 22;
        const Rect box{a.x - 6, y - 1, a.w + 12, row_h};
        const Hot hot = hot_area(c, "##exponent " + term.name, box.x, box.y, box.w, box.h);
        if (hot.hovered) c.rect(box.x, box.y, box.w, box.h, t.raised, radius::cell);
        const std::string value =
            format_short(term.value) + ", " + counted(at.k - term.step, "step") + " ago";
        const float w = text_width(Face::regular, size::small, value);
        c.text_within(a.x, y + 8, a.w - w - 10, term.name, size::small, t.t2);
        c.text(a.right(), y + 8, value, size::small, t.t1, Align::right);
        if (hot.clicked) go_to_word(state, term.warp, term.step, term.lane, term.word);
        y += row_h;
    }
    if (y == a.y) return 0;
    const std::string worked = worked_text(exponent, at);
    for (const std::string& line : {"x = " + exponent.formula, "= " + worked}) {
        const float h = paragraph_height(a.w, line, size::small, 2);
        if (worked.empty() || y + h > a.bottom()) break;
        y += 2 + c.paragraph(a.x, y, a.w, line, size::small, t.t1, 2);
    }
    return y - a.y + 8;
}

}  // namespace tilewalk::ui

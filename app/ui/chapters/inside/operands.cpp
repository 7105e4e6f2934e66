// What a step's number is made of where the record has no step for it: plain arithmetic between two reads,
// and the score behind an exponential.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/words.h"

#include <algorithm>
#include <bit>

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

/// What the lane's exponential is: a weight or α, and the numbers that x came from.
struct Exponent {
    std::optional<inside::Number> of;
    std::vector<inside::Number> from;
};
Exponent exponent_at(const InsidePlace& at) {
    using inside::Quantity;
    Exponent out;
    if ((at.event->op != Op::exp2 && at.event->op != Op::exp) || !at.bridge) return out;
    for (const auto& entry : at.bridge->at(at.launch_number(), at.warp, at.k, at.lane, 1)) {
        const inside::Number& n = entry.number;
        if (n.quantity == Quantity::P)
            out.from = {{Quantity::S, n.row, n.column, n.tile}, {Quantity::m, n.row, 0, n.tile}};
        if (n.quantity == Quantity::alpha)
            out.from = {{Quantity::m, n.row, 0, n.tile - 1}, {Quantity::m, n.row, 0, n.tile}};
        if (!out.from.empty()) return out.of = n, out;
    }
    return out;
}

// "S[3, 58]"; of α's first m that of the tile before.
std::string name_in_exponent(const Exponent& exponent, const inside::Number& n) {
    using inside::Quantity;
    const bool before = n.quantity == Quantity::m && &n == &exponent.from.front();
    return std::string(info(n.quantity).name) + "[" + str(n.row) +
           (n.quantity == Quantity::S ? list_separator() + str(n.column) : "") + "]" +
           (before ? ", before" : "");
}

}  // namespace

std::string exponent_sentence(const InsidePlace& at) {
    const Exponent exponent = exponent_at(at);
    if (!exponent.of) return "";
    const bool weight = exponent.of->quantity == inside::Quantity::P;
    std::string text = "Lane " + str(at.lane) + ": " + (weight ? "P̃" : "α") + " of row " +
                       str(exponent.of->row) + (weight ? ", key " + str(exponent.of->column) : "") +
                       "; x comes from ";
    bool any = false;
    for (const inside::Number& n : exponent.from) {
        const auto held = at.bridge->find(n);
        if (!held) continue;
        text += (any ? " and " : "") + name_in_exponent(exponent, n) + " = " + format_short(held->value);
        any = true;
    }
    return any ? text + "." : "";
}

float inside_exponent(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    if (a.h < 24 + row_h) return 0;
    const Theme& t = *c.theme;
    const Exponent exponent = exponent_at(at);
    float y = a.y;
    for (const inside::Number& n : exponent.from) {
        const auto held = at.bridge->find(n);
        if (!held || y + row_h > a.bottom() || held->launch != at.launch_number()) continue;
        if (y == a.y) c.text(a.x, y + 8, "Where x comes from", size::body, t.t2, Face::semibold), y += 22;
        const Rect box{a.x - 6, y - 1, a.w + 12, row_h};
        const Hot hot = hot_area(c, "##exponent " + number_text(n), box.x, box.y, box.w, box.h);
        if (hot.hovered) c.rect(box.x, box.y, box.w, box.h, t.raised, radius::cell);
        const std::string name = name_in_exponent(exponent, n);
        const std::string value =
            format_short(held->value) + ", " + counted(at.k - held->step, "step") + " ago";
        const float w = text_width(Face::regular, size::small, value);
        c.text_within(a.x, y + 8, a.w - w - 10, name, size::small, t.t2);
        c.text(a.right(), y + 8, value, size::small, t.t1, Align::right);
        if (hot.clicked) {
            go_to_word(state, held->warp, held->step, held->lane, held->word);
        }
        y += row_h;
    }
    return y == a.y ? 0 : y - a.y + 8;
}

}  // namespace tilewalk::ui

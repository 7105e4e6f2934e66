// Questions with a number: a cell of what the step computes, bytes, operations.
#include "core/class/questions.h"

#include "core/base/words.h"
#include "core/class/questions_parts.h"
#include "core/lessons/shared/parts.h"
#include "core/problem/logits.h"
#include "core/problem/shared_prefix.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace tilewalk {

std::uint64_t mixed(std::uint64_t seed, std::uint64_t n) {
    std::uint64_t x = seed + 0x9e3779b97f4a7c15u * (n + 1);  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

namespace quiz {

std::string step_title(const Trace& trace, int k, const Explanation& e) {
    return trace.step(k).op == Op::new_max ? title(Op::new_max) : e.title;
}

std::string shown(double v) {
    const double size = std::abs(v);
    if (v == 0 || size >= 1) return format_short(v, 4);
    if (size < 1e-3) return format_fixed(v, 3);  // times a power of ten
    if (std::string text = format_full(v); text.size() <= 6) return text;
    const int decimals = size >= 0.1 ? 4 : size >= 0.01 ? 5 : 6;
    std::string text = format_fixed(v, decimals);
    // 0.42 that came out as 0.42000000000000004 is 0.42 for people.
    const double unit = std::pow(10, decimals);
    if (std::abs(std::round(v * unit) / unit - v) > 1e-12 * size) return text;
    text.resize(text.find_last_not_of('0') + 1);
    if (text.ends_with('.') || text.ends_with(',')) text.pop_back();
    return text;
}

std::string letter(const Trace& trace, Slot slot) {
    // Without the block or the element: a slot of which nothing is known when it is given.
    return plain(trace.lesson().symbol(trace, slot, -1, -1));
}

std::string form_of_part(const Trace& trace, int k, Slot slot) {
    const bool chosen = trace.lesson().uses(chooses_part_form);
    if (!chosen || trace.step(k).op != Op::part || slot != Slot::O_part) return {};
    return std::string(trace.problem().options.parts == PartForm::normalised ? "" : "not ") +
           "divided by the sum of its weights";
}

namespace {

constexpr std::size_t most_sources = 14;  // more than that nobody works out in the head or on paper
constexpr std::size_t most_given = 28;    // the same for several numbers
constexpr std::size_t longest_text = 400;
constexpr int most_beside = 4;  // gaps, and below each other

// The values of a cell that the step reads: two where it needs it before and after an update (m for α).
std::vector<double> values_read(const Asked& a, const CellRef& cell) {
    std::vector<double> out;
    for (const Access& access : a.trace.reads(a.k)) {
        const Value& tile = a.trace.value(access.value);
        if (access.slot == cell.slot && tile.region.contains(cell.row, cell.col))
            out.push_back(value_at(tile, cell));
    }
    return out;
}

double written(const Asked& a, const CellRef& cell) {
    for (const Access& access : a.trace.writes(a.k))
        if (access.slot == cell.slot && a.trace.value(access.value).region.contains(cell.row, cell.col))
            return value_at(a.trace.value(access.value), cell);
    return std::nan("");
}

// Cells of one slot that fill a rectangle, row by row.
struct Block {
    Slot slot;
    Region at;
    std::vector<std::vector<double>> values = {};  // of each cell
};

// Below each other and equally wide. Parts have names of their own: m₀ and m₁ stay two numbers.
bool continues(const Block& above, const Block& row) {
    return !is_of_parts(row.slot) && above.slot == row.slot && above.at.row + above.at.rows == row.at.row &&
           above.at.col == row.at.col && above.at.cols == row.at.cols;
}

// Slot by slot as the formula has them; a masked key parts a row in two.
std::vector<Block> blocks(const Asked& a, std::vector<CellRef> cells) {
    std::vector<Slot> order;
    for (const CellRef& cell : cells)
        if (std::ranges::count(order, cell.slot) == 0) order.push_back(cell.slot);
    std::ranges::sort(cells, {}, [&](const CellRef& cell) {
        return std::tuple(std::ranges::find(order, cell.slot), cell.row, cell.col);
    });
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());

    std::vector<Block> rows;
    for (const CellRef& cell : cells) {
        const bool beside = !rows.empty() && rows.back().slot == cell.slot &&
                            rows.back().at.row == cell.row &&
                            rows.back().at.col + rows.back().at.cols == cell.col;
        if (!beside) rows.push_back({cell.slot, {cell.row, cell.col, 1, 0}});
        ++rows.back().at.cols;
        rows.back().values.push_back(values_read(a, cell));
    }
    std::vector<Block> out;
    for (Block& row : rows) {
        const auto above = std::ranges::find_if(out, [&](const Block& b) { return continues(b, row); });
        if (above == out.end()) {
            out.push_back(std::move(row));
            continue;
        }
        ++above->at.rows;
        above->values.insert(above->values.end(), row.values.begin(), row.values.end());
    }
    return out;
}

// The step that put there what lies in these cells when the step of the question is done.
int made_at(const Asked& a, Slot slot, const Region& at) {
    return holding(a.trace, {slot, at.row, at.col}, a.k).step;
}

// "[0]" of a column, "[0,2…3]" of a matrix, nothing for the single numbers of a softmax lesson.
std::string place_of(const Asked& a, Slot slot, const Region& at) {
    const bool row_lesson = a.trace.lesson().chapter == ChapterId::softmax;
    const bool of_columns = slot == Slot::Oi || slot == Slot::Vj || slot == Slot::V;
    if (row_lesson) return of_columns ? "[" + range_text(at.col, at.col + at.cols - 1) + "]" : "";
    return index_text(a.trace, slot, at, made_at(a, slot, at));
}

// "ℓ[0]"; of a part as formulas write it: "m₀", "O_0–1[2]", "m_old[0]", "O₃[1,2]"
std::string name_of(const Asked& a, Slot slot, const Region& at, std::span<const Access> accesses,
                    const char* age = "") {
    const auto it = std::ranges::find_if(accesses, [&](const Access& access) {
        const Region& all = a.trace.value(access.value).region;
        return access.slot == slot && all.contains(at.row, at.col) &&
               all.contains(at.row + at.rows - 1, at.col + at.cols - 1);
    });
    // Elements of the one row of a softmax lesson count from 1 everywhere: V₃[0] is the value of the third.
    const bool element = a.trace.lesson().chapter == ChapterId::softmax && slot == Slot::Vj;
    if (element && at.rows == 1)
        return plain(a.trace.lesson().symbol(a.trace, slot, a.k, -1)) + place_of(a, slot, at);
    if (!is_of_parts(slot) || it == accesses.end())
        return letter(a.trace, slot) + age + place_of(a, slot, at);
    const std::string symbol = plain(a.trace.lesson().symbol(a.trace, slot, a.k, it->tile));
    const Region& all = a.trace.value(it->value).region;
    if (a.trace.lesson().uses(chooses_ranks)) return symbol + place_of(a, slot, at);
    Region local = at;
    local.row -= all.row;
    if (all.rows > 1 || a.trace.lesson().uses(parts_of_rows))
        return symbol + index_text(a.trace, slot, local, a.k);
    return symbol + (one_column(slot) ? "" : "[" + range_text(at.col, at.col + at.cols - 1) + "]");
}

// "0.3679", "(1; 0.1353)", "(1; 0.1353 | 0.1353; 1)"
std::string values_text(const Block& block, std::size_t nth) {
    std::string out;
    const std::string space = block.values.size() > 4 ? " " : "\u00A0";  // many may break into lines
    for (std::size_t n = 0; n < block.values.size(); ++n) {
        const bool row_ends = block.at.cols > 1 && n % static_cast<std::size_t>(block.at.cols) == 0;
        if (n > 0) out += row_ends ? "\u00A0|" + space : ";" + space;
        out += shown(block.values[n][nth]);
    }
    return block.values.size() == 1 ? out : "(" + out + ")";
}

// What the step replaces would have the name of what is asked for.
bool is_replaced(const Asked& a, Slot slot) {
    return !is_of_parts(slot) && std::ranges::any_of(a.trace.writes(a.k), [&](const Access& access) {
        return letter(a.trace, access.slot) == letter(a.trace, slot);
    });
}

// "α[0] = 0.3679", "m_old[0] = 1", "m[0] = 1 before and 2 now"
std::string given(const Asked& a, const Block& block) {
    const char* const age = is_replaced(a, block.slot) ? "_old" : "";
    const std::string name = name_of(a, block.slot, block.at, a.trace.reads(a.k), age) + "\u00A0=\u00A0";
    if (block.values[0].size() < 2) return name + values_text(block, 0);
    return name + values_text(block, 0) + " before and " + values_text(block, 1) + " now";
}

// Constants that the formula names, as words and as numbers.
void add_constants(const Asked& a, const Explanation& e, std::vector<std::string>& words,
                   std::vector<double>& numbers) {
    const std::string formula = plain(e.formula);
    const auto add = [&](const char* name, double value) {
        if (formula.find(name) == std::string::npos) return;
        words.push_back(name + std::string("\u00A0=\u00A0") + shown(value));
        numbers.push_back(value);
    };
    add("scale", a.problem.softmax_scale());
    if (a.problem.logits.softcap) add("cap", *a.problem.logits.softcap);
    if (a.problem.logits.alibi) {
        add("slope", *a.problem.logits.alibi);
        add("distance", e.distance);
    }
    add("η", a.problem.options.learning_rate);
}

bool is_maximum(Op op) {
    return op == Op::new_max || op == Op::row_max || op == Op::tile_max || op == Op::merge_max;
}

double largest_of(const std::vector<double>& numbers) {
    double out = 1;
    for (double v : numbers)
        if (std::isfinite(v)) out = std::max(out, std::abs(v));
    return out;
}

// Can be worked out to three digits from four digits of what is given.
bool worth_asking(const Asked& a, double expected, const std::vector<double>& from, const Line& arithmetic) {
    if (std::ranges::any_of(from, [](double v) { return !std::isfinite(v) && v != minus_infinity; }))
        return false;
    const bool maximum = is_maximum(a.step.op);
    if (!std::isfinite(expected)) return expected == minus_infinity && maximum;
    const double size = std::abs(expected);
    if (size >= 1e6 || (expected != 0 && size < 0.01) || largest_of(from) >= 1e6) return false;
    // One of the numbers itself; and where all is masked, or too small for exp, digits do not matter.
    if (maximum || (expected == 0 && (a.step.op == Op::exponentials || a.step.op == Op::correction)))
        return true;
    const std::optional<double> error = error_of_shown(arithmetic, from);
    return error && *error <= forgiven(expected) / 2;  // the other half is for rounding on the way
}

// "ℓ[0]", "d′₃" of the result "ℓ[0] = 1.639"
std::string target_of(const Explanation& e) {
    std::string out = plain(Line(e.result.begin(), std::prev(e.result.end())));
    for (const std::string_view end : {" ", "=", "≈", " "})
        if (out.ends_with(end)) out.erase(out.size() - end.size());
    return out;
}

// A row of the identity picks one number of the other factor: the answer would stand in the question.
bool is_picked(Op op, const std::vector<Operand>& factors) {
    if (op != Op::project && op != Op::weight_gradient) return false;
    return std::ranges::any_of(factors, [](const Operand& one) {
        const auto zeros = std::ranges::count(one.values, 0.0), ones = std::ranges::count(one.values, 1.0);
        return one.values.size() > 1 && ones == 1 && zeros + 1 == std::ssize(one.values);
    });
}

// What a question gives, and in which words.
struct Given {
    std::vector<std::string> words;
    std::vector<double> numbers;
    std::vector<Operand> operands;  // in the order of the formula
};

// Nothing where a number lies elsewhere by now, or would look as if nothing had changed.
std::optional<Given> given_for(const Asked& a, const Explanation& e, const std::vector<CellRef>& sources) {
    Given out;
    for (const Block& block : blocks(a, sources)) {
        // The pieces of a slot belong together: S[0,0] and S[0,2…3] beside a masked key.
        if (out.operands.empty() || out.operands.back().slot != block.slot)
            out.operands.push_back({block.slot, {}, {}});
        Operand& operand = out.operands.back();
        for (const std::vector<double>& v : block.values) {
            const bool twins = v.size() > 1 && v[0] != v[1] && shown(v[0]) == shown(v[1]);
            if (v.empty() || twins) return {};
            operand.values.push_back(v[0]);
            if (v.size() > 1) operand.now.push_back(v[1]);
            out.numbers.insert(out.numbers.end(), v.begin(), v.end());
        }
        out.words.push_back(given(a, block));
    }
    add_constants(a, e, out.words, out.numbers);
    return out;
}

std::string asks_for(const Asked& a, const Given& given, Slot slot, const std::string& target) {
    const std::string form = form_of_part(a.trace, a.k, slot);
    return a.next() + " With " + listed(given.words, "and") + ", what will " + target + " be" +
           (form.empty() ? "?" : ", " + form + "?");
}

std::optional<Question> about_cell(const Asked& a, const CellRef& cell) {
    const Explanation e = explain(a.trace, a.k, cell);
    const bool about_it = e.target == cell && !e.numbers.empty() && !e.result.empty() && !e.sources.empty() &&
                          e.result.front().face == Span::Face::symbol;
    if (!about_it || e.sources.size() > most_sources) return {};
    const std::optional<Given> given = given_for(a, e, e.sources);
    const double expected = written(a, cell);
    if (!given || is_picked(a.step.op, given->operands)) return {};
    if (!worth_asking(a, expected, given->numbers, e.numbers)) return {};
    Question q = a.question(Question::Kind::value, asks_for(a, *given, cell.slot, target_of(e)));
    q.expected = expected;
    q.noise = 1e-9 * largest_of(given->numbers);
    q.target = target_of(e);
    q.explanation = e;
    add_wrong(q, mistakes_with(a, cell, given->operands));
    return q;
}

// All cells of this part of what the step writes; nothing if one of them cannot be asked about.
std::optional<Question> about_region(const Asked& a, Slot slot, const Region& at) {
    if (at.rows * at.cols == 1) return about_cell(a, {slot, at.row, at.col});
    if (a.step.op == Op::bias) return {};  // each cell has a distance of its own
    Question q = a.question(Question::Kind::gaps, "");
    std::vector<CellRef> sources;
    for (int r = at.row; r < at.row + at.rows; ++r)
        for (int c = at.col; c < at.col + at.cols; ++c) {
            std::optional<Question> gap = about_cell(a, {slot, r, c});
            if (!gap) return {};
            const std::vector<CellRef>& from = gap->explanation.sources;
            sources.insert(sources.end(), from.begin(), from.end());
            q.gaps.push_back(std::move(*gap));
        }
    q.explanation = q.gaps.front().explanation;
    const std::optional<Given> given = given_for(a, q.explanation, sources);
    if (!given || given->numbers.size() > most_given) return {};
    q.target = name_of(a, slot, at, a.trace.writes(a.k));
    q.text = asks_for(a, *given, slot, q.target);
    if (q.text.size() > longest_text) return {};
    q.across = at.cols > 1 ? at.cols : at.rows;  // what has one column is written as a row
    return q;
}

// So many cells of `all` that lie beside each other, chosen by chance; none if there would be too many.
Region part_of(const Asked& a, const Region& all, Gaps size, std::uint64_t nth) {
    const bool column = all.cols == 1;
    const int length = column ? all.rows : all.cols, few = std::min(length, 2 + a.any(2, 70 + nth));
    Region at = all;
    if (size != Gaps::tile) {
        const int wanted = size == Gaps::one ? 1 : size == Gaps::few ? few : length;
        (column ? at.rows : at.cols) = wanted;
        if (!column) at.rows = 1;
    }
    at.row += a.any(all.rows - at.rows + 1, 10 + nth);
    at.col += a.any(all.cols - at.cols + 1, 20 + nth);
    const bool too_many = at.rows > most_beside || at.cols > most_beside ||
                          static_cast<std::size_t>(at.rows * at.cols) > most_gaps;
    return too_many ? Region{} : at;
}

// What the step moves between HBM and the chip.
struct Moved {
    std::vector<std::string> tiles;  // "K (2 × 4)"
    std::vector<Expr> terms;
    std::vector<std::string> fp32;  // those with 4 bytes each where the others have fewer or more
    std::int64_t bytes = 0, numbers = 0;
    bool elements = false;  // some have element_bytes
};

Moved moved(const Asked& a, std::span<const Access> accesses) {
    Moved out;
    for (const Access& access : accesses) {
        const SlotInfo& slot = info(access.slot);
        if (!slot.hbm) continue;
        const Region at = a.trace.value(access.value).region;
        const auto each = static_cast<int>(a.trace.element_bytes(access.slot));
        const bool as_elements =
            slot.counts_elements && each == a.problem.element_bytes;  // else a sum in fp32
        out.tiles.push_back(letter(a.trace, access.slot) + "\u00A0(" + str(at.rows) + "\u00A0×\u00A0" +
                            str(at.cols) + ")");
        out.terms.push_back(product({num(at.rows), num(at.cols), num(each)}));
        out.bytes += std::int64_t{at.rows} * at.cols * each;
        out.numbers += std::int64_t{at.rows} * at.cols;
        if (!as_elements) out.fp32.push_back(letter(a.trace, access.slot));
        out.elements |= as_elements;
    }
    return out;
}

// "4 bytes a number", "2 bytes a number, 4 bytes for m and ℓ"
std::string sizes(const Asked& a, const Moved& m) {
    if (!m.elements || a.problem.element_bytes == 4 || m.fp32.empty())
        return count(m.elements ? a.problem.element_bytes : 4, "byte") + " a number";
    return count(a.problem.element_bytes, "byte") + " a number, but 4 for those of " + listed(m.fp32, "and");
}

Question byte_question(const Asked& a, Question::Kind kind, std::string text, std::int64_t bytes,
                       Line numbers, const char* what) {
    Question q = a.question(kind, std::move(text));
    q.expected = static_cast<double>(bytes);
    q.exact = q.bytes = true;
    q.target = what;
    q.explanation.numbers = std::move(numbers);
    q.explanation.result = {word(what), word(" = "), strong_number(str(bytes))};
    return q;
}

// So many sequences share the keys that the step loads; 1: nobody does.
int sharing(const Asked& a) {
    const bool shared =
        a.trace.lesson().uses(chooses_sequences) && a.step.op == Op::load_kv && a.step.phase == 0;
    return shared ? SharedPrefix(a.problem).count() : 1;
}

// The plain way: each of them reads the keys for itself.
Question ask_alone(const Asked& a, const Moved& m, int readers) {
    const std::int64_t bytes = readers * m.bytes;
    Question q = byte_question(
        a, Question::Kind::bytes_read,
        a.next() + " How many bytes would " + str(readers) + " sequences read from HBM for " +
            listed(m.tiles, "and") + ", " + sizes(a, m) + ", if each read them for itself?",
        bytes, write(product({num(readers), sum(m.terms)}), static_cast<double>(bytes)), "bytes read alone");
    add_wrong(q, {{num(static_cast<double>(m.bytes)),
                   "This is what they read together: alone, each of them would read these keys."}});
    return q;
}

constexpr const char* not_bytes =
    "These are numbers, not bytes: each of them takes as many bytes as the question says.";

}  // namespace

bool easily_guessed(const Question& q) {
    return std::ranges::all_of(q.numbers(),
                               [](const Question& one) { return one.expected == 0 || one.expected == 1; });
}

// The cells are chosen at random; among three choices the first that is not easily guessed. Where there are
// not so many that can be asked about, fewer.
void ask_value(const Asked& a, std::vector<Question>& out) {
    if (a.trace.writes(a.k).empty() || breaks(a.trace.lesson(), a.problem)) return;
    const Region region = step_region(a.trace, a.k);
    std::optional<Question> best;
    for (int size = static_cast<int>(a.gaps); size >= 0 && !best; --size)
        for (std::uint64_t n = 0; n < 3; ++n) {
            const Region at = part_of(a, region, static_cast<Gaps>(size), n);
            std::optional<Question> q =
                at.rows > 0 ? about_region(a, a.e.target.slot, at) : std::optional<Question>{};
            if (!q) continue;
            const bool easy = easily_guessed(*q);
            if (!best || !easy) best = std::move(q);
            if (!easy) break;
        }
    if (best) out.push_back(std::move(*best));
}

std::int64_t bytes_in_hbm(const Asked& a, std::span<const Access> accesses) {
    return moved(a, accesses).bytes;
}

void ask_bytes(const Asked& a, std::vector<Question>& out) {
    const auto ask = [&](bool read) {
        const std::int64_t bytes = read ? a.step.traffic.hbm_read - a.before.hbm_read
                                        : a.step.traffic.hbm_write - a.before.hbm_write;
        const Moved m = moved(a, read ? a.trace.reads(a.k) : a.trace.writes(a.k));
        if (bytes == 0 || m.bytes != bytes) return;  // some of it was on chip, or is counted otherwise
        // Of keys that are shared either way may be asked for.
        const int readers = read ? sharing(a) : 1;
        if (readers > 1 && a.any(2, 80) == 0) return out.push_back(ask_alone(a, m, readers));
        const std::string what = listed(m.tiles, "and"), each = sizes(a, m);
        const Line numbers = write(sum(m.terms), static_cast<double>(bytes));
        out.push_back(byte_question(a, read ? Question::Kind::bytes_read : Question::Kind::bytes_written,
                                    a.next() + " How many bytes does it " +
                                        (read ? "read from" : "write to") + " HBM for " + what + ", " + each +
                                        "?",
                                    bytes, numbers, read ? "bytes read" : "bytes written"));
        add_wrong(out.back(), {{num(static_cast<double>(m.numbers)), not_bytes}});
        if (!read || a.before.hbm_read == 0) return;
        std::vector<Expr> all{num(static_cast<double>(a.before.hbm_read))};
        all.insert(all.end(), m.terms.begin(), m.terms.end());
        const std::int64_t total = a.step.traffic.hbm_read;
        out.push_back(byte_question(a, Question::Kind::total_read,
                                    a.next() + " HBM has given " + str(a.before.hbm_read) +
                                        " bytes so far; how many will it be with " + what + ", " + each + "?",
                                    total, write(sum(std::move(all)), static_cast<double>(total)),
                                    "bytes read so far"));
        add_wrong(out.back(), {{num(static_cast<double>(bytes)),
                                "This is what the step alone reads; what HBM has given before "
                                "counts as well."},
                               {num(static_cast<double>(a.before.hbm_read + m.numbers)), not_bytes}});
    };
    ask(true);
    ask(false);
}

void ask_flops(const Asked& a, std::vector<Question>& out) {
    if (a.step.op != Op::scores && a.step.op != Op::dp) return;
    const Region at = step_region(a.trace, a.k);
    const std::int64_t flops = a.step.traffic.flops - a.before.flops, cells = std::int64_t{at.rows} * at.cols;
    const int d = a.problem.d(), each = static_cast<int>(flops / cells);
    if (each != 2 * d && each != 2 * d + 1) return;
    const bool scaled = each > 2 * d;
    Question q =
        a.question(Question::Kind::flops,
                   a.next() + " Each of the " + str(at.rows) + " × " + str(at.cols) + " numbers takes " +
                       count(d, "multiplication") + " and " + count(d, "addition") + " (the first to 0)" +
                       (scaled ? " and one multiplication by the scale" : "") + "; how many FLOPs is that?");
    q.expected = static_cast<double>(flops);
    q.exact = true;
    q.target = "FLOPs";
    const Expr one = product({num(2), num(d)});
    q.explanation.numbers =
        write(product({num(at.rows), num(at.cols), scaled ? sum({one, num(1)}) : one}), q.expected);
    q.explanation.result = {word("FLOPs"), word(" = "), strong_number(str(flops))};
    add_wrong(q, {{num(static_cast<double>(cells * (each - d))),
                   "Multiplications and additions both count: a product with its addition is two."},
                  {num(each), "This is for one number; the tile has " + str(cells) + "."}});
    out.push_back(std::move(q));
}

}  // namespace quiz

std::vector<Question> questions_before(const Trace& trace, int step, std::uint64_t seed, Gaps gaps) {
    std::vector<Question> out;
    if (step < 1 || step >= trace.size()) return out;  // before the first step there is no screen
    const quiz::Asked asked{trace, step, seed, gaps, explain(trace, step)};
    quiz::ask_value(asked, out);
    quiz::ask_bytes(asked, out);
    quiz::ask_flops(asked, out);
    quiz::ask_choices(asked, out);
    return out;
}

// Every second time the numbers that the step computes, or the tiles that are skipped, which can be asked
// seldom; otherwise any of the rest.
std::optional<Question> question_before(const Trace& trace, int step, std::uint64_t seed, Gaps gaps) {
    std::vector<Question> all = questions_before(trace, step, seed, gaps);
    if (all.empty()) return {};
    const std::uint64_t n = mixed(mixed(seed, static_cast<std::uint64_t>(step)), 1);
    const auto first = std::ranges::find_if(all, [](const Question& q) {
        return quiz::about_cells(q) || q.kind == Question::Kind::skipped_tiles;
    });
    if (first != all.end() && (n & 1) == 0) return *first;
    return all[(n >> 8) % all.size()];
}

}  // namespace tilewalk

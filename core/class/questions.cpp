// Questions with a number: a cell of what the step computes, bytes, operations.
#include "core/class/questions.h"

#include "core/base/words.h"
#include "core/class/questions_parts.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tilewalk {

std::uint64_t mixed(std::uint64_t seed, std::uint64_t n) {
    std::uint64_t x = seed + 0x9e3779b97f4a7c15u * (n + 1);  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

namespace quiz {

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

namespace {

constexpr std::size_t most_sources = 14;  // more than that nobody works out in the head or on paper

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

// Cells of one slot beside or below each other.
struct Run {
    CellRef first, last;
    std::vector<std::vector<double>> values;  // of each cell
};

std::vector<Run> runs(const Asked& a, const std::vector<CellRef>& cells) {
    std::vector<Run> out;
    for (const CellRef& cell : cells) {
        const auto same = [&](const Run& run) { return run.first == cell || run.last == cell; };
        if (std::ranges::any_of(out, same)) continue;
        const bool open = !out.empty() && out.back().first.slot == cell.slot;
        const auto follows = [&](int down, int right) {
            const CellRef &first = out.back().first, &last = out.back().last;
            const bool straight = down ? first.col == last.col : first.row == last.row;
            return straight && cell.row == last.row + down && cell.col == last.col + right;
        };
        if (!open || (!follows(0, 1) && !follows(1, 0))) out.push_back({cell, cell, {}});
        out.back().last = cell;
        out.back().values.push_back(values_read(a, cell));
    }
    return out;
}

// "[0]" of a column, "[0,2…3]" of a matrix, nothing for the single numbers of a softmax lesson.
std::string place_of(const Asked& a, const Run& run) {
    const Slot slot = run.first.slot;
    const bool row_lesson = a.trace.lesson().one_row;
    if (row_lesson && slot != Slot::Oi && slot != Slot::Vj && slot != Slot::V) return {};
    if (row_lesson && slot == Slot::Oi) return "[" + range_text(run.first.col, run.last.col) + "]";
    const std::string rows = range_text(run.first.row, run.last.row);
    return one_column(slot) ? "[" + rows + "]"
                            : "[" + rows + "," + range_text(run.first.col, run.last.col) + "]";
}

std::string values_text(const Run& run, std::size_t nth) {
    std::string out;
    for (const std::vector<double>& v : run.values) out += (out.empty() ? "" : ";\u00A0") + shown(v[nth]);
    return run.values.size() == 1 ? out : "(" + out + ")";
}

// "α[0] = 0.3679", "m[0] = 1 before and 2 now"
std::string given(const Asked& a, const Run& run) {
    const std::string name = letter(a.trace, run.first.slot) + place_of(a, run) + "\u00A0=\u00A0";
    if (run.values[0].size() < 2) return name + values_text(run, 0);
    return name + values_text(run, 0) + " before and " + values_text(run, 1) + " now";
}

// The runs of a slot that follow each other belong together: S[0,0] and S[0,2…3] beside a masked key.
std::vector<Operand> operands_of(const std::vector<Run>& all) {
    std::vector<Operand> out;
    for (const Run& run : all) {
        if (out.empty() || out.back().slot != run.first.slot) out.push_back({run.first.slot, {}, {}});
        for (const std::vector<double>& v : run.values) {
            out.back().values.push_back(v[0]);
            if (v.size() > 1) out.back().now.push_back(v[1]);
        }
    }
    return out;
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
    add("η", a.problem.options.learning_rate);
}

bool is_maximum(Op op) { return op == Op::new_max || op == Op::row_max || op == Op::tile_max; }

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
    for (const std::string_view end : {" ", "=", " "})
        if (out.ends_with(end)) out.erase(out.size() - end.size());
    return out;
}

std::optional<Question> about_cell(const Asked& a, const CellRef& cell) {
    const Explanation e = explain(a.trace, a.k, cell);
    const bool about_it = e.target == cell && !e.numbers.empty() && !e.result.empty() && !e.sources.empty() &&
                          e.result.front().face == Span::Face::symbol;
    if (!about_it || e.sources.size() > most_sources) return {};
    const std::vector<Run> from = runs(a, e.sources);
    std::vector<double> numbers;
    std::vector<std::string> words;
    for (const Run& run : from) {
        for (const std::vector<double>& v : run.values) {
            if (v.empty()) return {};  // lies elsewhere by now
            const bool twins = v.size() > 1 && v[0] != v[1] && shown(v[0]) == shown(v[1]);
            if (twins) return {};  // "0.7071 before and 0.7071 now" would look as if nothing had changed
            numbers.insert(numbers.end(), v.begin(), v.end());
        }
        words.push_back(given(a, run));
    }
    const double expected = written(a, cell);
    add_constants(a, e, words, numbers);
    if (!worth_asking(a, expected, numbers, e.numbers)) return {};
    Question q = a.question(Question::Kind::value, a.next() + " With " + listed(words, "and") +
                                                       ", what will " + target_of(e) + " be?");
    q.expected = expected;
    q.noise = 1e-9 * largest_of(numbers);
    q.target = target_of(e);
    q.explanation = e;
    add_wrong(q, wrong_answers(a, cell.row, operands_of(from)));
    return q;
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
        const int each = slot.counts_elements ? a.problem.element_bytes : 4;
        out.tiles.push_back(letter(a.trace, access.slot) + "\u00A0(" + str(at.rows) + "\u00A0×\u00A0" +
                            str(at.cols) + ")");
        out.terms.push_back(product({num(at.rows), num(at.cols), num(each)}));
        out.bytes += std::int64_t{at.rows} * at.cols * each;
        out.numbers += std::int64_t{at.rows} * at.cols;
        if (!slot.counts_elements) out.fp32.push_back(letter(a.trace, access.slot));
        out.elements |= slot.counts_elements;
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

constexpr const char* not_bytes =
    "These are numbers, not bytes: each of them takes as many bytes as the question says.";

}  // namespace

// The cell is chosen at random; among three the first that is neither 0 nor 1, which are easily guessed.
void ask_value(const Asked& a, std::vector<Question>& out) {
    if (a.trace.writes(a.k).empty() || breaks(a.trace.lesson(), a.problem)) return;
    const Region region = step_region(a.trace, a.k);
    std::optional<Question> best;
    for (std::uint64_t n = 0; n < 3; ++n) {
        const CellRef cell = {a.e.target.slot, region.row + a.any(region.rows, 10 + n),
                              region.col + a.any(region.cols, 20 + n)};
        std::optional<Question> q = about_cell(a, cell);
        if (!q) continue;
        const bool plain_one = q->expected == 0 || q->expected == 1;
        if (!best || !plain_one) best = std::move(q);
        if (!plain_one) break;
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
        const std::string what = listed(m.tiles, "and"), each = sizes(a, m);
        const Line numbers = write(sum(m.terms), static_cast<double>(bytes));
        out.push_back(byte_question(a, read ? Question::Kind::bytes_read : Question::Kind::bytes_written,
                                    a.next() + " How many bytes does it " +
                                        (read ? "read from" : "write to") + " HBM for " + what + ", " + each +
                                        "?",
                                    bytes, numbers, read ? "bytes read" : "bytes written"));
        add_wrong(out.back(), {{static_cast<double>(m.numbers), not_bytes}});
        if (!read || a.before.hbm_read == 0) return;
        std::vector<Expr> all{num(static_cast<double>(a.before.hbm_read))};
        all.insert(all.end(), m.terms.begin(), m.terms.end());
        const std::int64_t total = a.step.traffic.hbm_read;
        out.push_back(byte_question(a, Question::Kind::total_read,
                                    a.next() + " HBM has given " + str(a.before.hbm_read) +
                                        " bytes so far; how many will it be with " + what + ", " + each + "?",
                                    total, write(sum(std::move(all)), static_cast<double>(total)),
                                    "bytes read so far"));
        add_wrong(out.back(), {{static_cast<double>(bytes),
                                "This is what the step alone reads; what HBM has given before "
                                "counts as well."},
                               {static_cast<double>(a.before.hbm_read + m.numbers), not_bytes}});
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
    add_wrong(q, {{static_cast<double>(cells * (each - d)),
                   "Multiplications and additions both count: a product with its addition is two."},
                  {static_cast<double>(each), "This is for one number; the tile has " + str(cells) + "."}});
    out.push_back(std::move(q));
}

}  // namespace quiz

std::vector<Question> questions_before(const Trace& trace, int step, std::uint64_t seed) {
    std::vector<Question> out;
    if (step < 1 || step >= trace.size()) return out;  // before the first step there is no screen
    const quiz::Asked asked{trace, step, seed, explain(trace, step)};
    quiz::ask_value(asked, out);
    quiz::ask_bytes(asked, out);
    quiz::ask_flops(asked, out);
    quiz::ask_choices(asked, out);
    return out;
}

// Every second time the number that the step computes, or the tiles that are skipped, which can be asked
// seldom; otherwise any of the rest.
std::optional<Question> question_before(const Trace& trace, int step, std::uint64_t seed) {
    std::vector<Question> all = questions_before(trace, step, seed);
    if (all.empty()) return {};
    const std::uint64_t n = mixed(mixed(seed, static_cast<std::uint64_t>(step)), 1);
    const auto first = std::ranges::find_if(all, [](const Question& q) {
        return q.kind == Question::Kind::value || q.kind == Question::Kind::skipped_tiles;
    });
    if (first != all.end() && (n & 1) == 0) return *first;
    return all[(n >> 8) % all.size()];
}

}  // namespace tilewalk

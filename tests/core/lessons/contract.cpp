#include "tests/core/lessons/contract.h"

#include "core/base/numbers.h"
#include "core/class/glossary.h"
#include "core/class/spoken.h"
#include "core/lessons/softmax/softmax.h"
#include "core/walk/playback.h"
#include "tests/contains.h"
#include "tests/core/expression.h"
#include "tests/core/lessons/dense_checks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

// An op that is not held to anything does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace tilewalk::test {

namespace {

// One cell of a step, what is stored there and what is said of it.
struct Told {
    const Trace& trace;
    int k;
    Explanation e;
    const Step& step = trace.step(k);
    const Problem& problem = trace.problem();
    const Lesson& lesson = trace.lesson();
    CellRef cell = e.target;

    void fail(const std::string& what) const {
        FAIL_CHECK(what, ": ", where(trace, k, cell), ": ", plain(e.numbers), " | ", plain(e.result), " | ",
                   e.why);
    }

    bool broken() const { return breaks(lesson, problem); }
    std::optional<double> value(const CellRef& of, int at) const {
        const Held held = holding(trace, of, at);
        if (!held) return {};
        return value_at(*held.value, of);
    }
    double stored() const {
        for (const Access& a : trace.writes(k))
            if (a.slot == cell.slot && trace.value(a.value).region.contains(cell.row, cell.col))
                return value_at(trace.value(a.value), cell);
        return NAN;
    }
    // A part that has seen no key.
    bool saw_no_key() const {
        return std::ranges::any_of(trace.writes(k), [&](const Access& a) {
            return a.slot == Slot::L_part && trace.value(a.value).data(0, 0) == -INFINITY;
        });
    }
    // A sum of weights that is 0 divides nothing.
    bool divides_by_nothing() const {
        if (const Held l = trace.live(Slot::l, k); l && cell.slot == Slot::O_part && step.op == Op::normalize)
            for (const Access& a : trace.writes(k))
                if (a.slot == cell.slot && trace.value(a.value).region.contains(cell.row, cell.col))
                    return l.value->data(cell.row - trace.value(a.value).region.row, 0) == 0;
        return value({Slot::l, cell.row, 0}, k) == 0.0 || value({Slot::l, cell.row, 0}, k - 1) == 0.0;
    }
};

// The sums that grow in HBM, by the order of the loops, or from rank to rank, have 4 bytes for each element
// whatever the problem says.
bool grows_in_hbm(const Trace& trace, Slot slot) {
    if (trace.lesson().uses(chooses_ranks)) return slot == Slot::dK || slot == Slot::dV;
    if (!trace.lesson().uses(chooses_order)) return false;
    const bool keys_outside = trace.problem().options.order == BackwardOrder::key_outer;
    return keys_outside ? slot == Slot::dQ : slot == Slot::dK || slot == Slot::dV;
}

// Bytes that a step wrote, or that came to it from another rank.
std::int64_t bytes_written(const Trace& trace, int k, bool between_ranks) {
    std::int64_t bytes = 0;
    const Op op = trace.step(k).op;
    if ((op == Op::exchange || op == Op::exchange_gradients) != between_ranks) return 0;
    for (const Access& a : trace.writes(k)) {
        if (!info(a.slot).hbm) continue;
        const bool element = info(a.slot).counts_elements && !grows_in_hbm(trace, a.slot);
        bytes += trace.value(a.value).data.size() * (element ? trace.problem().element_bytes : 4);
    }
    return bytes;
}

// ---- The shown result is the stored number, or the bytes that the recorder counted

std::optional<double> moved_bytes(const Told& t) {
    if (t.e.result.empty()) return {};
    const Traffic now = t.step.traffic, before = t.k > 0 ? t.trace.step(t.k - 1).traffic : Traffic{};
    const std::string& what = t.e.result.front().text;
    if (what == "bytes read") return static_cast<double>(now.hbm_read - before.hbm_read);
    if (what == "bytes written") return static_cast<double>(now.hbm_write - before.hbm_write);
    if (what == "bytes received") return static_cast<double>(bytes_written(t.trace, t.k, true));
    return {};
}

std::string sign_in(const Line& result) {
    return sign_of_result(plain({result.begin(), std::prev(result.end())}));
}

// Whoever works out the shown numbers comes to the shown result, if that takes no more than three decimals
// more than the settings say.
void check_recalculation(const Told& t, const Printed& shown, double meant) {
    const long double fine = std::pow(10.0L, 1 - number_style().digits), finest = 1.001e-3L * fine;
    const auto formula = evaluate(plain(t.e.numbers));
    if (!formula || !std::isfinite(static_cast<double>(formula->value)) || !std::isfinite(meant)) return;
    const bool exact = std::abs(shown.value - meant) <= 1e-12L * std::abs(meant);
    const long double unit = exact ? std::min(fine, shown.unit) : shown.unit,
                      off = std::abs(formula->value - shown.value);
    const bool most = std::ranges::any_of(formula->numbers, [&](const Printed& one) {
        return one.power || (one.unit > 0 && one.unit <= finest);
    });
    const long double noise = formula->grain + 1e-14L * formula->terms;
    if (off > .5L * unit * 1.000001L + noise && !most)
        t.fail("the shown numbers come to " + std::to_string(static_cast<double>(formula->value)));
}

int check_result(const Told& t) {
    if (t.e.result.empty()) return t.fail("no result"), 0;
    const auto bytes = moved_bytes(t);
    if (is_load(t.step.op) && !bytes) t.fail("a load does not tell its bytes");
    const double meant = bytes.value_or(t.stored());
    const auto shown = read_number(t.e.result.back().text);
    if (!shown) return t.fail("the result is no number"), 0;
    if (!(std::isnan(meant) && std::isnan(shown->value)) && !rounds(*shown, meant))
        t.fail("the result is not " + std::to_string(meant));
    if (t.e.numbers.empty()) return 0;
    const std::string fault =
        fault_of(plain(t.e.numbers), sign_in(t.e.result), *shown, meant == std::round(meant));
    if (!fault.empty()) t.fail(fault);
    check_recalculation(t, *shown, meant);
    return 1;
}

// Nothing is computed by a start value, a mask, a copy, a sum too long to print, or a division by nothing.
void check_numbers_are_there(const Told& t) {
    const Op op = t.step.op;
    const bool none = op == Op::init || op == Op::mask || op == Op::store || op == Op::preprocess ||
                      t.e.sources.size() >= 256 || t.divides_by_nothing() || t.saw_no_key() ||
                      (op == Op::new_max && t.problem.switches.no_max) ||
                      ((op == Op::part || op == Op::merge_max) && t.problem.switches.no_max) ||
                      (op == Op::merge_weights && t.problem.switches.no_weights) ||
                      (op == Op::normalize && t.problem.switches.no_division) ||
                      (op == Op::correction && t.broken());
    if (t.e.numbers.empty() && !none) t.fail("no numbers");
}

int check_asides(const Told& t) {
    for (const Aside& aside : t.e.asides) {
        const auto shown = aside.result.empty() ? std::nullopt : read_number(aside.result.back().text);
        if (aside.label.empty() || aside.formula.empty() || !shown) t.fail("half an aside");
        if (!shown) continue;
        const std::string fault = fault_of(plain(aside.numbers), sign_in(aside.result), *shown, false);
        if (!fault.empty()) t.fail("beside it, " + fault);
    }
    return static_cast<int>(t.e.asides.size());
}

// ---- Sources are what the step read, and what is printed

void check_sources(const Told& t) {
    const auto reads = t.trace.reads(t.k);
    for (const CellRef& source : t.e.sources) {
        const bool read = std::ranges::any_of(reads, [&](const Access& a) {
            return a.slot == source.slot && t.trace.value(a.value).region.contains(source.row, source.col);
        });
        if (!read) t.fail(std::string("a source that the step did not read, ") + info(source.slot).name);
    }
    const Op op = t.step.op;
    const bool starts = op == Op::init || op == Op::preprocess || op == Op::skip;
    if (t.e.sources.empty() && !starts) t.fail("no sources");
    // A load copies one cell.
    const bool copies = is_load(op) && op != Op::load;
    if (copies && (t.e.sources.size() != 1 || t.value(t.e.sources[0], t.k) != t.stored()))
        if (!std::isnan(t.stored())) t.fail("not the cell that was loaded");
}

// Positions between the query and the key of a score: on a ring the rows are those of two shards.
int apart(const Told& t) {
    const int N = t.problem.N();
    int query = t.cell.row % N, key = t.cell.col;  // of heads below each other each begins anew
    const int M = t.problem.N_kv(), ranks = t.trace.workers();
    if (t.step.op == Op::bias && t.trace.lesson().uses(chooses_sequences))
        return static_cast<int>(std::llabs(ahead_in_sequence(t.problem, query, key)));
    if (t.step.op == Op::bias && t.trace.lesson().uses(chooses_ranks)) {
        query = positions_of_rank(t.problem, N, ranks, t.step.i)[static_cast<std::size_t>(query)];
        key = positions_of_rank(t.problem, M, ranks, t.step.j)[static_cast<std::size_t>(key)];
    }
    return std::abs((key - M) - (query - N));
}

// Values that a step may print beside its sources: older versions that it read, and constants of the problem.
std::vector<double> beside_sources(const Told& t) {
    std::vector<double> out{t.problem.softmax_scale()};
    if (t.step.op == Op::update) out.push_back(t.problem.options.learning_rate);
    if (t.step.op == Op::sink_gradient) out.insert(out.end(), {0, 1});
    if (t.problem.logits.softcap) out.insert(out.end(), {*t.problem.logits.softcap, 1});
    if (t.problem.logits.alibi) {
        out.insert(out.end(), {*t.problem.logits.alibi, 1.0 * apart(t)});
    }
    for (const Access& a : t.trace.reads(t.k)) {
        const Value& old = t.trace.value(a.value);
        if (&old == t.trace.live(a.slot, a.tile, t.k - 1).value) continue;
        const CellRef cell{a.slot, t.cell.row, one_column(a.slot) ? old.region.col : t.cell.col};
        if (old.region.contains(cell.row, cell.col)) out.push_back(value_at(old, cell));
    }
    return out;
}

void check_operands(const Told& t) {
    if (t.e.numbers.empty() || moved_bytes(t) || t.broken()) return;
    const auto formula = evaluate(plain(t.e.numbers));
    if (!formula) return;  // told already
    std::vector<double> values, allowed = beside_sources(t);
    for (const CellRef& cell : t.e.sources)
        if (const auto value = t.value(cell, t.k - 1)) values.push_back(*value);
    allowed.insert(allowed.end(), values.begin(), values.end());
    // 0 stands in for a maximum of −∞.
    if (std::ranges::count(allowed, -INFINITY) > 0) allowed.push_back(0);
    for (const Printed& n : formula->numbers)
        if (std::ranges::none_of(
                allowed, [&](double v) { return rounds(n, v) || (std::isnan(v) && std::isnan(n.value)); }))
            t.fail("a number from nowhere, " + std::to_string(static_cast<double>(n.value)));
    for (double v : values)
        if (std::isfinite(v) &&
            std::ranges::none_of(formula->numbers, [&](const Printed& n) { return rounds(n, v); }))
            t.fail("a source that is not printed, " + std::to_string(v));
}

// ---- Words, code and symbols

// A part of the line of pseudocode that belongs to the op, in one lesson or another.
std::vector<const char*> code_of(Op op) {
    switch (op) {
    case Op::load_q: return {"load Qᵢ"};
    case Op::init: return {"← 0", "← −∞", ", 0"};
    case Op::exchange: return {"hand on K, V"};
    case Op::exchange_gradients: return {"hand on dKⱼ, dVⱼ"};
    case Op::load_kv: return {"load Kⱼ, Vⱼ"};
    case Op::load_state: return {"load Oᵢ, m, ℓ"};
    case Op::preprocess: return {"for all i:", "dKⱼ ← 0", "rowsum(dOᵢ ⊙ Oᵢ)"};
    case Op::load: return {"load "};
    case Op::load_x: return {"load xᵢ"};
    case Op::project: return {"X W_Q"};
    case Op::scores: return {"Qᵢ Kⱼᵀ", "Q Kᵀ"};
    case Op::scale: return {"scale · S"};
    case Op::softcap: return {"cap · tanh(S ÷ cap)"};
    case Op::bias: return {"S − slope · distance"};
    case Op::mask: return {"where masked"};
    case Op::row_max:
    case Op::tile_max: return {"rowmax(S)"};
    case Op::new_max: return {"max(m, "};
    case Op::correction: return {"exp(m_old − m)"};
    case Op::exponentials: return {"exp(S − m)", "p ← exp(xᵢ − m)", "p ← exp(xᵢ)"};
    case Op::row_sum: return {"rowsum(P̃)", "+ p"};
    case Op::divide: return {"P̃ ⊘ ℓ", "a ← exp(xᵢ − m) / ", "a ← exp(xᵢ) / "};
    case Op::output: return {"P̃ Vⱼ", "P V", "a Vᵢ", "p Vᵢ", "Vᵢ p"};
    case Op::normalize: return {"O ⊘ ℓ", " / "};
    case Op::part: return {"Oᵢ ← its", "Oⱼ ← its"};
    case Op::merge_max: return {"max mᵢ", "max(m_old, mⱼ)"};
    case Op::merge_lse: return {"ln Σ exp Lᵢ"};
    case Op::merge_weights: return {"exp(mᵢ − m)", "exp(Lᵢ − L)", "exp(mⱼ − m)"};
    case Op::merge_sum: return {"Σ wᵢ ℓᵢ", "wⱼ ℓⱼ"};
    case Op::merge_output: return {"Σ wᵢ Oᵢ", "wⱼ Oⱼ"};
    case Op::recompute: return {"exp(S − Lᵢ)"};
    case Op::loss: return {"sum(dO ⊙ O)", "a smaller loss?"};
    case Op::dv: return {"Pᵀ dO"};
    case Op::dp: return {"dOᵢ Vⱼᵀ", "dO Vᵀ"};
    case Op::row_dot: return {"rowsum(P ⊙ dP)"};
    case Op::sink_gradient: return {"dsink ← −Σ ", "− Σ exp(sink − Lᵢ)"};
    case Op::ds: return {"P ⊙ (dP − D"};
    case Op::cap_gradient: return {"÷ cap)²"};
    case Op::dq: return {"dS K"};
    case Op::dk: return {"dSᵀ Q"};
    case Op::add_share: return {"+ ΔKⱼ"};
    case Op::weight_gradient: return {"dW ← Xᵀ dQ"};
    case Op::update: return {"W − η dW"};
    case Op::store_state: return {"store Oᵢ, m, ℓ"};
    case Op::store: return {"store "};
    case Op::skip: return {"for "};
    case Op::count: break;
    }
    return {};
}

// A fault puts another text into a line of the sound kernel; the line stays.
void check_code(const Told& t) {
    Problem sound = t.problem;
    sound.switches = {};
    sound.savings = {};
    const auto code = t.lesson.code(sound);
    REQUIRE(t.lesson.code(t.problem).size() == code.size());
    if (t.e.code_line < 0 || t.e.code_line >= static_cast<int>(code.size())) return t.fail("no such line");
    const std::string line = code[static_cast<std::size_t>(t.e.code_line)].text;
    const auto parts = code_of(t.step.op);
    if (std::ranges::none_of(parts, [&](const char* part) { return contains(line, part); }))
        t.fail("the line '" + line + "' is not of this op");
}

void check_words(const Told& t) {
    const Explanation& e = t.e;
    if (e.title.empty() || e.place.empty() || plain(e.formula).empty() || e.why.empty())
        return t.fail("a part is missing");
    if (e.why.back() != '.' && e.why.back() != '?') t.fail("not a sentence");
    // Without a fault the maximum is subtracted, and no exponential overflows.
    const bool safe = !t.broken() && t.lesson.id != std::string("softmax-dense") &&
                      std::max(t.problem.Q.cwiseAbs().maxCoeff(), t.problem.K.cwiseAbs().maxCoeff()) < 1e50;
    if (safe && contains(e.why, "is more than the largest number of fp64")) t.fail("it does not overflow");
    for (const std::string& text :
         {e.title, e.place, e.why, plain(e.numbers), plain(e.result), plain(e.formula)})
        for (const char* bad : {"nan", "inf", "-0", "-1", "−0 ", "−−", "+ −", "− −", "  .", "$", "tutorial"})
            if (contains(text, bad)) t.fail(std::string("'") + bad + "' in it");
}

// Whatever the numbers come from has its letter in the formula.
void check_letters(const Told& t) {
    if (t.broken()) return;  // the formula of a fault leaves letters out
    const std::string formula = plain(t.e.formula);
    for (const CellRef& source : t.e.sources) {
        const Held held = holding(t.trace, source, t.k - 1);
        const Line symbol = slot_symbol(t.trace, source.slot, held ? held.step : -1);
        if (symbol.empty() || !contains(formula, symbol.front().text))
            t.fail(std::string("no ") + info(source.slot).name + " in the formula " + formula);
    }
}

std::int64_t letters(std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

// What the online softmax does is told with its number; 1 and 0 are numbers as well.
bool tells_its_number(const Told& t) {
    if (t.broken() || t.divides_by_nothing()) return false;
    switch (t.step.op) {
    case Op::tile_max:
    case Op::correction:
    case Op::exponentials: return true;
    case Op::new_max: return std::isfinite(t.stored());
    default: return false;
    }
}

// Where the maximum rises by less than the shown digits, old and new are told apart by as many as it takes:
// two finer numbers that both are the shown one when rounded to it, and one of them is the stored number.
bool told_apart(const std::string& said, const std::string& shown, double stored) {
    const auto coarse = read_number(shown);
    std::istringstream words(said);
    int alike = 0, own = 0;
    for (std::string word; coarse && words >> word;) {
        while (!word.empty() && (word.back() == '.' || word.back() == ',')) word.pop_back();
        const auto number = read_number(word);
        if (!number || !(number->unit < coarse->unit) || !rounds(*coarse, static_cast<double>(number->value)))
            continue;
        ++alike, own += rounds(*number, stored);
    }
    return alike == 2 && own == 1;
}

void check_spoken(const Told& t) {
    const std::string said = spoken(t.trace, t.k, t.e);
    if (letters(said) <= 10 || letters(said) > spoken_letters || !said.ends_with("."))
        t.fail("not one short sentence, '" + said + "'");
    const std::string shown = t.e.result.empty() ? "" : t.e.result.back().text;
    const bool finer = t.step.op == Op::new_max && told_apart(said, shown, t.stored());
    if (tells_its_number(t) && !contains(said, shown) && !finer)
        t.fail("the number is not spoken, '" + said + "'");
}

void check_card(const Told& t) {
    const GlossaryCard* card = card_of_step(t.trace, t.k);
    if (!card || card->term.empty() || !*card->text) return t.fail("no card in the glossary");
    for (const auto& accesses : {t.trace.reads(t.k), t.trace.writes(t.k)})
        for (const Access& a : accesses)
            if (!card_of(a.slot)) t.fail(std::string("no card for ") + info(a.slot).name);
    if (plain(step_symbol(t.step.op)).empty() || std::string(title(t.step.op)).empty()) t.fail("no symbol");
}

int check_cell(const Told& t) {
    check_words(t);
    check_code(t);
    check_sources(t);
    check_letters(t);
    check_numbers_are_there(t);
    check_operands(t);
    return check_result(t) + check_asides(t);
}

}  // namespace

int check_explanations(const Trace& trace, int most_cells) {
    int formulas = 0;
    for (int k = 0; k < trace.size(); ++k) {
        const Told whole{trace, k, explain(trace, k)};
        check_words(whole);
        check_code(whole);
        check_spoken(whole);
        check_card(whole);
        for (const Access& a : trace.writes(k)) {
            const Region at = trace.value(a.value).region;
            const int cells = at.rows * at.cols, stride = std::max(1, cells / most_cells);
            for (int n = 0; n < cells; n += stride) {
                const CellRef cell{a.slot, at.row + n / at.cols, at.col + n % at.cols};
                const Told t{trace, k, explain(trace, k, cell)};
                if (t.cell != cell) t.fail("it speaks of another cell");
                formulas += check_cell(t);
            }
        }
    }
    return formulas;
}

// ---- Bytes, operations and memory

namespace {

bool leaves(const Lesson& lesson, Slot slot) { return std::ranges::count(lesson.results, slot) > 0; }

bool step_writes(const Trace& trace, int k, Slot slot) {
    return std::ranges::count(trace.writes(k), slot, &Access::slot) > 0;
}
bool step_reads(const Trace& trace, int k, Slot slot) {
    return std::ranges::count(trace.reads(k), slot, &Access::slot) > 0;
}

// One row without a maximum: the textbook's softmax, where nothing is subtracted before exp.
bool is_textbook(const Lesson& lesson) {
    return lesson.chapter == ChapterId::softmax && !leaves(lesson, Slot::m);
}

// The product with the scale is a step of its own.
bool scales_apart(const Trace& trace) {
    return std::ranges::any_of(trace.lesson().code(trace.problem()),
                               [](const CodeLine& line) { return line.op == Op::scale; });
}

bool makes_L(const Trace& trace, int k) {
    const bool reads_sum = std::ranges::count(trace.reads(k), Slot::l, &Access::slot) > 0;
    return reads_sum && (step_writes(trace, k, Slot::L) || step_writes(trace, k, Slot::L_parts));
}

// A rank of a ring may hold its rows in several places.
std::int64_t rows_of_L(const Trace& trace, int k) {
    std::int64_t rows = 0;
    for (const Access& a : trace.writes(k))
        if (a.slot == Slot::L || a.slot == Slot::L_parts) rows += trace.value(a.value).data.rows();
    return rows;
}

// How many parts a merge reads, or keys a part.
std::int64_t parts_read(const Trace& trace, int k) {
    const auto reads = trace.reads(k);
    if (trace.step(k).op == Op::part) return trace.value(reads.front().value).data.cols();
    return std::ssize(reads);
}

std::int64_t rows_of_rank(const Trace& trace, int N, int rank) {
    return std::ssize(positions_of_rank(trace.problem(), N, trace.workers(), rank));
}

// Those of making parts and merging them; −1: another step.
std::int64_t operations_on_parts(const Trace& trace, int k) {
    if (trace.writes(k).empty()) return -1;
    const Matrix& out = trace.value(trace.writes(k).back().value).data;
    const std::int64_t rows = out.rows(), d = trace.problem().d(), n = parts_read(trace, k);
    switch (trace.step(k).op) {
    // Of a part of n keys: its maximum, n exponentials of differences, their sum, and the values by them;
    // where parts are normalised also their quotient, and L. A sink is in the maximum and in the sum.
    case Op::part:
        return rows *
               ((n - 1) + 2 * n + (n - 1) + 2 * n * d + (step_writes(trace, k, Slot::L_part) ? d + 2 : 0) +
                (step_reads(trace, k, Slot::sink) ? 1 + 2 + 1 : 0));
    case Op::merge_max: return rows * (n - 1);
    case Op::merge_lse: return rows * 4 * n;
    case Op::merge_weights: return rows * 2 * (n - 1);
    case Op::merge_sum:
    case Op::merge_output: return out.size() * (2 * (n / 2) - 1);
    default: return -1;
    }
}

/// What a step computes on.
struct Sizes {
    int passes = 0;  ///< of the softmax lessons; 0: another lesson
    bool tiled = false;
    std::int64_t cells = 0, rows = 0;  ///< of what it writes
    std::int64_t d = 0, keys = 0, queries = 0;
    std::int64_t scaled = 0;  ///< 1: the scale is a factor
};
Sizes sizes_of(const Trace& trace, int k) {
    const Problem& p = trace.walked();
    const Step& step = trace.step(k);
    const Lesson& lesson = trace.lesson();
    const Matrix& out = trace.value(trace.writes(k).back().value).data;
    const bool on_ring = lesson.uses(chooses_ranks), in_blocks = lesson.uses(chooses_sequences);
    Sizes s;
    s.passes = lesson.chapter == ChapterId::softmax ? softmax_passes(softmax_form(trace)) : 0;
    s.tiled = step.j >= 0 && s.passes == 0;
    s.cells = out.size(), s.rows = out.rows(), s.d = p.d();
    s.keys = !s.tiled    ? p.N_kv()
             : on_ring   ? rows_of_rank(trace, p.N_kv(), step.j)
             : in_blocks ? blocks_of_sequences(p)[static_cast<std::size_t>(step.j)].second
                         : keys_of(p, step.j);
    s.queries = lesson.one_row ? 1
                : !s.tiled     ? p.N()
                : on_ring      ? rows_of_rank(trace, p.N(), step.i)
                               : rows_of(p, step.i);
    s.scaled = p.softmax_scale() != 1.0;
    return s;
}

// The sum of a row, the division by it, and the output, which depend on the lesson's passes.
std::int64_t operations_of_sum(const Problem& p, const Sizes& s, bool textbook) {
    if (s.passes > 0) return s.passes == 3 || textbook ? 1 : 2;
    if (s.tiled) return s.rows * (s.keys + 1);
    return s.rows * (p.logits.sink ? s.keys + 2 : s.keys - 1);
}
std::int64_t operations_of_division(const Trace& trace, int k, const Sizes& s, bool textbook) {
    const Problem& p = trace.walked();
    if (textbook) return 2;
    if (s.passes > 0) return 3;
    return p.N() * p.N_kv() + (step_writes(trace, k, Slot::L) ? 2 * p.N() : 0);
}
std::int64_t operations_of_output(const Trace& trace, const Sizes& s) {
    if (s.passes > 1) return 2 * s.d;
    if (s.passes > 0) return trace.walked().options.normalised ? 3 + 3 * s.d : 3 * s.d;
    if (!s.tiled) return s.cells * 2 * s.keys;
    return trace.lesson().division == Division::at_the_end ? s.cells * (1 + 2 * s.keys)
                                                           : s.rows + s.cells * (2 + 2 * s.keys);
}

// Operations of one step, from the sizes of what it reads and writes: a product and its sum count two.
std::int64_t operations(const Trace& trace, int k) {
    if (trace.writes(k).empty()) return 0;
    const Problem& p = trace.walked();
    const Step& step = trace.step(k);
    const Sizes s = sizes_of(trace, k);
    const auto& [passes, tiled, cells, rows, d, keys, queries, scaled] = s;
    const bool textbook = is_textbook(trace.lesson());
    switch (step.op) {
    case Op::scores: return cells * (2 * d + (scales_apart(trace) ? 0 : scaled));
    case Op::scale: return cells;
    case Op::softcap: return 3 * cells;  // ÷, tanh, ×
    case Op::bias: return 2 * cells;     // ×, −
    case Op::cap_gradient: return 4 * cells;
    case Op::row_max: return rows * (keys - (p.logits.sink ? 0 : 1));
    case Op::tile_max: return rows * (keys - 1);
    case Op::new_max: return rows;
    case Op::correction: return 2 * rows;
    case Op::exponentials: return textbook ? 1 : 2 * cells;
    case Op::recompute:
    case Op::ds:
    case Op::loss:
    case Op::update: return 2 * (step.op == Op::loss ? queries * d : cells);
    case Op::row_sum: return operations_of_sum(p, s, textbook);
    case Op::divide: return operations_of_division(trace, k, s, textbook);
    case Op::output: return operations_of_output(trace, s);
    case Op::normalize: return cells + (step_writes(trace, k, Slot::L_part) ? 2 * rows : 0);
    case Op::sink_gradient:
        if (trace.lesson().uses(chooses_ranks))
            return 4 * rows_of_rank(trace, p.N(), step.i) + step_reads(trace, k, Slot::dsink_in);
        return 4LL * p.N();
    case Op::row_dot: return 2 * rows * keys;
    case Op::add_share: return 2 * keys * d;  // to dK and to dV
    case Op::dv:
    case Op::dp: return 2 * queries * keys * d;
    case Op::dq:
    case Op::dk: return 2 * queries * keys * d + scaled * (tiled ? queries * keys : cells);
    case Op::store: return makes_L(trace, k) ? 2 * rows_of_L(trace, k) : 0;  // L = m + ln ℓ
    case Op::part:
    case Op::merge_max:
    case Op::merge_lse:
    case Op::merge_weights:
    case Op::merge_sum:
    case Op::merge_output: return operations_on_parts(trace, k);
    case Op::load_q:
    case Op::init:
    case Op::exchange:
    case Op::exchange_gradients:
    case Op::load_kv:
    case Op::load_state:
    case Op::load:
    case Op::load_x:
    case Op::mask:
    case Op::store_state:
    case Op::skip: return 0;
    case Op::preprocess:
    case Op::project:
    case Op::weight_gradient:  // not held here
    case Op::count: break;
    }
    return -1;
}

// A tile of the largest size is walked through: a mask can leave ragged ones alone.
bool has_full_tile(const Problem& p) {
    for (int i = 0; i < p.Tr(); ++i)
        for (int j = 0; j < p.Tc(); ++j)
            if (rows_of(p, i) == std::min(p.Br, p.N()) && keys_of(p, j) == std::min(p.Bc, p.N_kv()) &&
                tile_is_needed(p, i, j))
                return true;
    return false;
}

bool seen_by_some(const Problem& p, int c) {
    for (int r = p.options.row; r < p.options.row + p.options.queries; ++r)
        if (sees(p, r, c)) return true;
    return false;
}

// The same for the keys of one query, or of those that are decoded together.
bool has_full_keys(const Problem& p) {
    for (int j = 0; j < p.Tc(); ++j)
        for (int c = j * p.Bc; c < j * p.Bc + keys_of(p, j); ++c)
            if (keys_of(p, j) == std::min(p.Bc, p.N_kv()) && seen_by_some(p, c)) return true;
    return false;
}

}  // namespace

// Between ranks counts what has arrived by the clock, at the last step all.
static void check_messages(const Trace& trace) {
    const auto arrived = [&](int until) {
        std::int64_t bytes = 0;
        for (int k = 0; k < trace.size(); ++k)
            if (trace.step(k).when.end <= until) bytes += bytes_written(trace, k, true);
        return bytes;
    };
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).traffic.sent !=
            arrived(k + 1 < trace.size() ? trace.step(k).when.end : trace.ticks()))
            FAIL_CHECK("not the bytes that came: ", where(trace, k));
}

bool check_costs(const Trace& trace) {
    const Lesson& lesson = trace.lesson();
    INFO(std::string(lesson.id), ", ", describe(trace.problem()));
    Traffic before;
    std::int64_t peak = 0;
    for (int k = 0; k < trace.size(); ++k) {
        const Traffic& now = trace.step(k).traffic;
        if (now.hbm_read < before.hbm_read) FAIL_CHECK("bytes come back: ", where(trace, k));
        if (now.hbm_write - before.hbm_write != bytes_written(trace, k, false))
            FAIL_CHECK("not the bytes written: ", where(trace, k));
        const std::int64_t flops = now.flops - before.flops, expected = operations(trace, k);
        if (flops < 0 || (expected >= 0 && flops != expected))
            FAIL_CHECK(flops, " operations, not ", expected, ": ", where(trace, k));
        peak = std::max(peak, now.sram_live);
        before = now;
    }
    const TrafficModel model = lesson.model(trace.problem());
    CHECK(before.hbm_read == model.hbm_read);
    CHECK(before.hbm_write == model.hbm_write);
    CHECK(before.sent == model.sent);
    if (lesson.uses(chooses_ranks)) check_messages(trace);
    CHECK(peak <= model.sram_peak);
    // What is reserved is used where a largest tile comes by; one row has no tiles.
    const bool in_tiles = trace.tiles(Slot::K) > 0;
    const bool whole = !in_tiles        ? lesson.one_row || has_full_tile(trace.problem())
                       : lesson.one_row ? has_full_keys(trace.problem())
                                        : has_full_tile(trace.problem());
    if (whole) CHECK(peak == model.sram_peak);
    const auto real = static_cast<std::int64_t>(trace.bytes()), said = lesson.estimate(trace.problem());
    CHECK(real <= said);
    if (lesson.by_cell && real > 100000) CHECK(said <= 4 * real);
    return whole;
}

// ---- The walk itself

namespace {

// Of work that is done side by side: another worker, with an SRAM of its own, or its next kernel.
bool begins_alone(const Trace& trace, int k) {
    return trace.workers() > 0 && k > 0 && trace.step(k).when.worker != trace.step(k - 1).when.worker;
}

bool begins_kernel(const Trace& trace, int k) {
    const bool of_kernels = trace.workers() > 0 || trace.lesson().uses(chooses_sequences);
    return of_kernels && k > 0 && trace.step(k).phase != trace.step(k - 1).phase;
}

void check_state(const Trace& trace) {
    for (int s = 0; s < slot_count; ++s) {
        const Slot slot = static_cast<Slot>(s);
        for (int tile = 0; tile < trace.tiles(slot); ++tile) {
            Held before = trace.live(slot, tile, -1);
            for (int k = 0; k < trace.size(); ++k) {
                const Value* written = nullptr;
                for (const Access& a : trace.writes(k))
                    if (a.slot == slot && a.tile == tile) written = &trace.value(a.value);
                const Held now = trace.live(slot, tile, k);
                const bool same = now.value == before.value && now.step == before.step;
                const bool right = written                  ? now.value == written && now.step == k
                                   : info(slot).hbm         ? same
                                   : begins_alone(trace, k) ? !now
                                                            : same || (begins_kernel(trace, k) && !now);
                if (!right) {
                    FAIL_CHECK(where(trace, k, {slot, 0, 0}));
                    break;
                }
                before = now;
            }
        }
    }
}

// Any way to step k shows the same state: a cursor is all there is.
void check_moves(const Trace& trace) {
    for (Level level : {Level::micro, Level::step, Level::tile, Level::block}) {
        Cursor at = first(trace);
        int presses = 0;
        while (!at_end(trace, at)) {
            const Cursor next = forward(trace, at, level);
            if (next == at || ++presses > 1000000) {
                FAIL_CHECK(std::string(trace.lesson().id), " does not reach its end");
                break;
            }
            at = next;
        }
        while (at != first(trace) && presses-- > -10) at = backward(trace, at, level);
        CHECK(at.step == 0);
    }
}

// "Query block 2" holds the steps of query block 2.
void check_lanes(const Trace& trace) {
    const Lesson& lesson = trace.lesson();
    std::set<std::string> names;
    int before = 0;
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        const std::string lane = lesson.lane(trace.problem(), step.phase);
        const bool ahead = step.op == Op::preprocess || step.op == Op::sink_gradient ||
                           step.op == Op::init;  // of all blocks, in the first lane
        const int block = ahead                             ? -1
                          : lane.starts_with("Query block") ? step.i
                          : lane.starts_with("Key block")   ? step.j
                                                            : -1;
        const bool right = !lane.empty() && step.phase >= before && step.phase <= before + 1 &&
                           (block < 0 || lane.ends_with(" " + std::to_string(block)));
        if (!right) FAIL_CHECK(std::string(lesson.id), ", step ", k + 1, " lies in the lane '", lane, "'");
        names.insert(lane);
        before = step.phase;
    }
    CHECK(names.size() == static_cast<std::size_t>(before) + 1);
}

}  // namespace

void check_walk(const Trace& trace) {
    check_state(trace);
    check_moves(trace);
    check_lanes(trace);
}

// ---- Results

namespace {

struct Expected {
    const Trace& trace;
    const Problem& p = trace.problem();
    bool shared = trace.lesson().uses(chooses_sequences);
    Dense dense =
        dense_attention(p, shared ? sees_in_sequence : test::sees, shared ? ahead_in_sequence : nullptr);
    int first = trace.lesson().one_row ? p.options.row : 0;  ///< a lesson of one row has that row alone

    void check(Slot slot, const Matrix& got) const {
        const Dense::Table slack_P =
            dense.P.array().colwise() * (1e-12L + 16 * 2.3e-16L * dense.size.array()) + 1e-300L;
        const auto& [all, slack] =
            slot == Slot::O
                ? std::pair<Dense::Table, Dense::Table>(dense.O, 4 * tolerance_O(dense).array() + 1e-300L)
            : slot == Slot::P_hbm ? std::pair(dense.P, slack_P)
                                  : std::pair(Dense::Table(dense.L), tolerance_L(dense));
        CHECK(far_off(got, all.middleRows(first, got.rows()), slack.middleRows(first, got.rows())) == "");
    }
};

// L from the maximum and the sum, which some lessons leave in its place.
Matrix log_sum(const Matrix& m, const Matrix& l) { return m.array() + l.array().log(); }

void check_gradients(const Trace& trace) {
    const Problem& p = trace.problem();
    const DenseGradients g = dense_gradients(p, p.dO ? *p.dO : Matrix::Ones(p.N(), p.d()));
    CHECK(close_to(trace.result(Slot::dQ), g.dQ, g.size_dQ, g.precision));
    CHECK(close_to(trace.result(Slot::dK), g.dK, g.size_dK, g.precision));
    CHECK(close_to(trace.result(Slot::dV), g.dV, g.size_dV, g.precision));
    CHECK((trace.tiles(Slot::dsink) > 0) == p.logits.sink.has_value());
    if (p.logits.sink)
        CHECK(std::abs(trace.result(Slot::dsink)(0, 0) - g.dsink) <=
              (1e-12L + g.precision) * g.size_dsink + 1e-290L);
    if (trace.tiles(Slot::dS_hbm) > 0)
        CHECK(close_to(trace.result(Slot::dS_hbm), g.dS, g.size_dS, g.precision));
}

}  // namespace

Problem as_taken(const Lesson& lesson, Problem p) {
    if (!lesson.uses(takes_sink)) p.logits.sink.reset();
    if (!lesson.uses(takes_logits)) p.logits = {};
    return p;
}

int check_results(const Trace& trace) {
    const Lesson& lesson = trace.lesson();
    INFO(std::string(lesson.id), ", ", describe(trace.problem()));
    REQUIRE_FALSE(lesson.results.empty());
    // The textbook's softmax has no results where exp cannot hold a score.
    if (is_textbook(lesson)) {
        const double largest = softmax_scores(trace.problem()).maxCoeff();
        if (largest > 700 || (largest < -600 && std::isfinite(largest))) return 0;
    }
    const Expected expected{trace};
    const bool updates = leaves(lesson, Slot::W_Q);
    int compared = 0;
    const auto hold = [&](Slot as, const Matrix& got) { expected.check(as, got), ++compared; };
    for (const Slot slot : lesson.results) {
        INFO(std::string(info(slot).name));
        const Matrix got = trace.result(slot);
        REQUIRE(got.size() > 0);
        if (slot == Slot::O && updates) continue;  // of the second pass, with the new weights
        if (slot == Slot::O || slot == Slot::L || slot == Slot::P_hbm) hold(slot, got);
        // Without a maximum the sum is measured from 0.
        if (slot == Slot::l)
            hold(Slot::L, log_sum(is_textbook(lesson) ? Matrix::Zero(1, 1) : trace.result(Slot::m), got));
        if (slot == Slot::l_hbm) hold(Slot::L, log_sum(trace.result(Slot::m_hbm), got));
        if (slot == Slot::dQ) check_gradients(trace), ++compared;
    }
    return compared;
}

}  // namespace tilewalk::test
#pragma GCC diagnostic pop

#include "app/io/link_parts.h"

#include "app/io/text.h"
#include "app/settings/pages.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "core/problem/heads.h"
#include "core/problem/logits.h"
#include "core/problem/precision.h"

#include <algorithm>
#include <utility>

namespace tilewalk::linked {
namespace {

constexpr int largest_count = 1000000000;

using Names = std::vector<std::string>;

using Value = std::optional<std::string>;

template <class T> Value unless(const T& now, const T& before, auto text) {
    return now == before ? Value() : Value(text(now));
}

Key whole(const char* name, const char* expected, auto place, int least, int most = largest_count) {
    return {name, expected,
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base), [](int n) { return str(n); });
            },
            [=](LinkedPlace& into, const std::string& value) {
                const auto n = number_in<int>(value);
                if (!n || *n < least || *n > most) return false;
                place(into) = *n;
                return true;
            }};
}

Key whole_or_none(const char* name, const char* expected, auto place) {
    return {name, expected,
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base),
                              [](const auto& n) { return n ? str(*n) : std::string("none"); });
            },
            [=](LinkedPlace& into, const std::string& value) {
                auto& n = place(into);
                n = number_in<typename std::remove_cvref_t<decltype(n)>::value_type>(value);
                return value == "none" || (n && std::cmp_greater_equal(*n, 0));
            }};
}

// None: as many as the lesson has without being told, which an option holds as 0.
Key counted_or_none(const char* name, auto place) {
    return {name, "a whole number from 1, or none",
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base),
                              [](int n) { return n > 0 ? str(n) : std::string("none"); });
            },
            [=](LinkedPlace& into, const std::string& value) {
                const auto n = value == "none" ? 0 : number_in<int>(value);
                const bool known = value == "none" || (n && *n >= 1 && *n <= largest_count);
                if (known) place(into) = *n;
                return known;
            }};
}

Key number_or_none(const char* name, auto place) {
    return {name, "a number or none",
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base), [](const auto& number) {
                    return number ? shortest(*number) : std::string("none");
                });
            },
            [=](LinkedPlace& into, const std::string& value) {
                place(into) = finite(value);
                return value == "none" || place(into).has_value();
            }};
}

Key yes_or_no(const char* name, auto place) {
    return {name, "yes or no",
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base), [](bool on) { return on ? "yes" : "no"; });
            },
            [=](LinkedPlace& into, const std::string& value) {
                place(into) = value == "yes";
                return value == "yes" || value == "no";
            }};
}

Key one_of(const char* name, const char* expected, const Names& names, auto place) {
    return {name, expected,
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base),
                              [&](auto choice) { return names[static_cast<std::size_t>(choice)]; });
            },
            [=](LinkedPlace& into, const std::string& value) {
                const auto found = std::ranges::find(names, value);
                if (found == names.end()) return false;
                using Choice = std::remove_cvref_t<decltype(place(into))>;
                place(into) = static_cast<Choice>(found - names.begin());
                return true;
            }};
}

Key words(const char* name, const Names& allowed, const char* expected, auto place) {
    return {name, expected,
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base),
                              [](const std::string& text) { return escaped(without_controls(text)); });
            },
            [=](LinkedPlace& into, const std::string& value) {
                place(into) = value;
                return allowed.empty() || std::ranges::count(allowed, value) > 0;
            }};
}

Key matrix_key(const Given& one) {
    return {one.name, "ROWSxCOLUMNS:number,number,…",
            [=](const LinkedPlace& of, const LinkedPlace& base) -> Value {
                const Matrix *now = matrix(one, of.problem), *before = matrix(one, base.problem);
                if (!now || same_shape(now, before)) return {};  // elements that differ are named one by one
                return written(*now);
            },
            [=](LinkedPlace& into, const std::string& value) {
                auto A = read_matrix(value);
                if (A) *make(one, into.problem) = std::move(*A);
                return A.has_value();
            }};
}

Value write_list(const Names& now, const Names& before) {
    if (now == before) return {};
    return now.empty() ? "none" : joined(now, ",");
}

Names fault_names(const Problem& p) {
    Names out;
    for (const Fault& fault : all_faults())
        if (p.switches.*fault.on) out.emplace_back(fault.name);
    return out;
}

Names rounded_stages(const Problem& p) {
    Names out;
    for (const Stage& stage : stages())
        if (p.precision.*stage.format != Format::fp64)
            out.push_back(std::string(stage.name) + ":" + name(p.precision.*stage.format));
    return out;
}

// "none", or items with commas between them; false if `take` refuses one.
template <class Take> bool read_list(const std::string& value, Take take) {
    return value == "none" || std::ranges::all_of(split(value, ","), take);
}

Key whole_numbers(const char* name, std::vector<int> Options::*list) {
    const auto items = [list](const Problem& p) {
        Names out;
        for (const int n : p.options.*list) out.push_back(str(n));
        return out;
    };
    return {name, "whole numbers, or none",
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return write_list(items(of.problem), items(base.problem));
            },
            [=](LinkedPlace& into, const std::string& value) {
                std::vector<int>& all = into.problem.options.*list;
                all = {};
                return read_list(value, [&](const std::string& one) {
                    const auto n = number_in<int>(one);
                    if (n) all.push_back(*n);
                    return n && *n >= 0;
                });
            }};
}

Value write_changes(const LinkedPlace& of, const LinkedPlace& base) {
    const std::string text = changed_elements(of.problem, base.problem);
    return text.empty() ? Value() : Value(text);
}

bool read_changes(LinkedPlace& into, const std::string& value) {
    return std::ranges::all_of(split(value, ","),
                               [&](const std::string& one) { return set_element(into.problem, one); });
}

Value write_faults(const LinkedPlace& of, const LinkedPlace& base) {
    return write_list(fault_names(of.problem), fault_names(base.problem));
}

bool read_faults(LinkedPlace& into, const std::string& value) {
    into.problem.switches = {};
    return read_list(value, [&](const std::string& one) {
        const Fault* fault = find_fault(one);
        if (fault) into.problem.switches.*fault->on = true;
        return fault != nullptr;
    });
}

Value write_precision(const LinkedPlace& of, const LinkedPlace& base) {
    return write_list(rounded_stages(of.problem), rounded_stages(base.problem));
}

bool read_precision(LinkedPlace& into, const std::string& value) {
    into.problem.precision = {};
    return read_list(value, [&](const std::string& one) {
        const std::size_t colon = std::min(one.find(':'), one.size());
        const auto stage = std::ranges::find(stages(), one.substr(0, colon), &Stage::name);
        const auto format = colon < one.size() ? find_format(one.substr(colon + 1)) : std::nullopt;
        const bool known = stage != stages().end() && format;
        if (known) into.problem.precision.*stage->format = *format;
        return known;
    });
}

Value write_scale(const LinkedPlace& of, const LinkedPlace& base) {
    const Scale &now = of.problem.scale, &before = base.problem.scale;
    const bool is_number = now.kind == Scale::Kind::number;
    if (now.kind == before.kind && (!is_number || now.number == before.number)) return {};
    return is_number ? shortest(now.number) : now.kind == Scale::Kind::sqrt ? "sqrt" : "none";
}

bool read_scale(LinkedPlace& into, const std::string& value) {
    if (value == "none" || value == "sqrt") {
        into.problem.scale = {value == "sqrt" ? Scale::Kind::sqrt : Scale::Kind::none, 1.0};
        return true;
    }
    const auto number = finite(value);
    if (number) into.problem.scale = {Scale::Kind::number, *number};
    return number.has_value();
}

Value write_tokens(const LinkedPlace& of, const LinkedPlace& base) {
    const auto items = [](const Names& tokens) {
        Names out;
        for (const std::string& token : tokens) out.push_back(":" + escaped(without_controls(token)));
        return out;
    };
    return write_list(items(of.problem.tokens), items(base.problem.tokens));
}

// Each behind a colon, so that none of them is "none". They were unescaped with the whole value, but for
// commas.
bool read_tokens(LinkedPlace& into, const std::string& value) {
    into.problem.tokens.clear();
    return read_list(value, [&](const std::string& one) {
        const auto token = one.starts_with(':') ? unescaped(one.substr(1)) : std::nullopt;
        if (token) into.problem.tokens.push_back(*token);
        return token.has_value();
    });
}

Value write_cell(const LinkedPlace& of, const LinkedPlace& base) {
    if (of.row == base.row && of.col == base.col) return {};
    return str(of.row) + (of.col < 0 ? "" : "." + str(of.col));
}

bool read_cell(LinkedPlace& into, const std::string& value) {
    const std::vector<std::string> parts = split(value, ".");
    const auto row = number_in<int>(parts[0]),
               col = parts.size() > 1 ? number_in<int>(parts[1]) : std::optional(-1);
    if (parts.size() > 2 || !row || !col || *row < 0 || *col < (parts.size() > 1 ? 0 : -1)) return false;
    into.row = *row, into.col = *col;
    return true;
}

Value write_rate(const LinkedPlace& of, const LinkedPlace& base) {
    return unless(of.problem.options.learning_rate, base.problem.options.learning_rate, shortest);
}

bool read_rate(LinkedPlace& into, const std::string& value) {
    const auto rate = finite(value);
    if (rate) into.problem.options.learning_rate = *rate;
    return rate.has_value();
}

// What an example has and the problem has not: only "none" can be said of it.
Key left_out(const char* name, auto part) {
    return {name, "none",
            [=](const LinkedPlace& of, const LinkedPlace& base) -> Value {
                return !part(of.problem) && part(base.problem) ? Value("none") : Value();
            },
            [=](LinkedPlace& into, const std::string& value) {
                part(into.problem).reset();
                return value == "none";
            }};
}

// "4.2.1.once": query heads, key heads, the shown one, how K and V are loaded.
Value write_heads(const LinkedPlace& of, const LinkedPlace&) {
    const Problem& p = of.problem;
    if (!p.heads) return {};
    return str(query_heads(p)) + "." + str(key_heads(p)) + "." + str(shown_head(p)) + "." +
           (p.heads->once ? "once" : "again");
}

bool read_heads(LinkedPlace& into, const std::string& value) {
    const std::vector<std::string> parts = split(value, ".");
    if (parts.size() != 4 || (parts[3] != "once" && parts[3] != "again")) return false;
    const auto H = number_in<int>(parts[0]), H_kv = number_in<int>(parts[1]),
               shown = number_in<int>(parts[2]);
    if (!H || !H_kv || !shown || *H < 1 || *H_kv < 1 || *H > most_heads || *H_kv > most_heads) return false;
    Heads& heads = into.problem.heads.emplace();
    heads.Q.resize(static_cast<std::size_t>(*H));
    heads.K.resize(static_cast<std::size_t>(*H_kv));
    heads.V.resize(static_cast<std::size_t>(*H_kv));
    heads.shown = *shown, heads.once = parts[3] == "once";
    return true;
}

// Matrices of all heads behind each other.
Key head_matrices(const char* name, std::vector<Matrix> Heads::*of_heads) {
    return {name, "matrices with _ between them",
            [=](const LinkedPlace& of, const LinkedPlace&) -> Value {
                if (!of.problem.heads || ((*of.problem.heads).*of_heads).empty()) return {};
                Problem kept = of.problem;
                show_head(kept, shown_head(kept));  // what was changed in it goes among the others
                std::string out;
                for (const Matrix& A : (*kept.heads).*of_heads) out += (out.empty() ? "" : "_") + written(A);
                return out;
            },
            [=](LinkedPlace& into, const std::string& value) {
                if (!into.problem.heads) return false;
                std::vector<Matrix>& all = (*into.problem.heads).*of_heads;
                all.clear();
                return std::ranges::all_of(split(value, "_"), [&](const std::string& one) {
                    auto A = read_matrix(one);
                    if (A) all.push_back(std::move(*A));
                    return A.has_value();
                });
            }};
}

auto in_place(auto member) {
    return [=](auto& place) -> auto& { return place.*member; };
}
auto in_problem(auto member) {
    return [=](auto& place) -> auto& { return place.problem.*member; };
}
auto in_logits(auto member) {
    return [=](auto& place) -> auto& { return place.problem.logits.*member; };
}
auto in_savings(auto member) {
    return [=](auto& place) -> auto& { return place.problem.savings.*member; };
}
auto in_options(auto member) {
    return [=](auto& place) -> auto& { return place.problem.options.*member; };
}

std::vector<Key> matrix_keys() {
    std::vector<Key> out{left_out(
                             "without-input", [](auto& p) -> auto& { return p.projection; }),
                         left_out(
                             "without-do", [](auto& p) -> auto& { return p.dO; })};
    for (const Given& one : given()) out.push_back(matrix_key(one));
    out.push_back({"set", "MATRIX.ROW.COLUMN:number,…", write_changes, read_changes});
    return out;
}

std::vector<Key> head_keys() {
    return {{"heads", "H.H_KV.SHOWN.again or once", write_heads, read_heads},
            head_matrices("heads-q", &Heads::Q),
            head_matrices("heads-k", &Heads::K),
            head_matrices("heads-v", &Heads::V),
            head_matrices("heads-do", &Heads::dO)};
}

std::vector<Key> problem_keys() {
    return {words("title", {}, "text", in_problem(&Problem::title)),
            words("watch", {}, "text", in_problem(&Problem::watch)),
            whole_or_none("seed", "a whole number or none", in_problem(&Problem::seed)),
            whole("br", "a whole number from 1", in_problem(&Problem::Br), 1),
            whole("bc", "a whole number from 1", in_problem(&Problem::Bc), 1),
            yes_or_no("causal", in_problem(&Problem::causal)),
            whole_or_none("window", "a whole number from 0, or none", in_problem(&Problem::window)),
            {"scale", "none, sqrt or a number", write_scale, read_scale},
            number_or_none("softcap", in_logits(&Logits::softcap)),
            number_or_none("alibi", in_logits(&Logits::alibi)),
            number_or_none("sink", in_logits(&Logits::sink)),
            whole("element-bytes", "1, 2, 4 or 8", in_problem(&Problem::element_bytes), 1),
            {"tokens", "words with a colon before each", write_tokens, read_tokens}};
}

// Choices of single lessons, and what is broken or rounded on purpose.
std::vector<Key> choice_keys() {
    return {whole("row", "a whole number from 0", in_options(&Options::row), 0),
            whole("queries", "a whole number from 1", in_options(&Options::queries), 1),
            one_of("notation", "l_O, d_o or delta_omega", {"l_O", "d_o", "delta_omega"},
                   in_options(&Options::notation)),
            yes_or_no("normalised", in_options(&Options::normalised)),
            one_of("order", "key_outer or query_outer", {"key_outer", "query_outer"},
                   in_options(&Options::order)),
            {"learning-rate", "a number", write_rate, read_rate},
            whole_numbers("splits", &Options::splits),
            one_of("merge", "chain, pairs or at_once", {"chain", "pairs", "at_once"},
                   in_options(&Options::merge)),
            one_of("parts", "sums or normalised", {"sums", "normalised"}, in_options(&Options::parts)),
            whole("workers", "a whole number from 1", in_options(&Options::workers), 1),
            counted_or_none("ranks", in_options(&Options::ranks)),
            one_of("shards", "contiguous, zigzag or striped", {"contiguous", "zigzag", "striped"},
                   in_options(&Options::shards)),
            whole_or_none("prefix", "a whole number from 0, or none", in_options(&Options::prefix)),
            whole("sequences", "a whole number from 0", in_options(&Options::sequences), 0),
            whole("pages", "a whole number from 0", in_options(&Options::pages), 0),
            whole_numbers("page-table", &Options::page_table),
            {"break", "names of faults, or none", write_faults, read_faults},
            {"precision", "STAGE:FORMAT,… or none", write_precision, read_precision},
            number_or_none("lazy-rescale", in_savings(&Savings::lazy)),
            one_of("exp2", "exact or cubic", {"exact", "cubic"}, in_savings(&Savings::cubic))};
}

// A problem, an option or a saving with one member more does not compile until it is named here; whoever
// names it gives it its key above, or leaves it out of links on purpose; tests/app/io/test_every_member.cpp
// finds out.
[[maybe_unused]] void every_member_has_a_key(const Problem& p) {
    [[maybe_unused]] const auto& [name, title, watch, seed, Q, K, V, dO, Br, Bc, causal, window, scale,
                                  logits, heads, packed, tokens, projection, options, switches, precision,
                                  savings, element_bytes] = p;
    [[maybe_unused]] const auto& [row, queries, notation, normalised, order, learning_rate, splits, merge,
                                  parts, workers, ranks, shards, prefix, sequences, pages, page_table] =
        options;
    [[maybe_unused]] const auto& [lazy, cubic] = savings;
}

Names pages() { return {ui::page_names.begin(), ui::page_names.end()}; }

std::vector<Key> place_keys() {
    static const std::string expected_page = listed(pages());
    return {words("lesson", names_of(lessons(), &Lesson::id), "one of 'tilewalk lessons'",
                  in_place(&LinkedPlace::lesson)),
            whole("step", "a whole number from 1", in_place(&LinkedPlace::step), 1),
            {"at", "ROW or ROW.COLUMN", write_cell, read_cell},
            words("page", pages(), expected_page.c_str(), in_place(&LinkedPlace::page)),
            words("panel", {"explanation", "problem", "break"}, "explanation, problem or break",
                  in_place(&LinkedPlace::panel)),
            yes_or_no("presenter", in_place(&LinkedPlace::presenter))};
}

std::vector<Key> inside_keys() {
    return {words("kernel", {}, "text", in_place(&LinkedPlace::kernel)),
            words("type", {"f32", "f16", "bf16"}, "f32, f16 or bf16", in_place(&LinkedPlace::type)),
            whole("block", "a whole number from 0", in_place(&LinkedPlace::block), 0),
            whole("launch", "a whole number from 1", in_place(&LinkedPlace::launch), 1),
            whole("warp", "a whole number from 0", in_place(&LinkedPlace::warp), 0),
            whole("instruction", "a whole number from 1", in_place(&LinkedPlace::instruction), 1),
            whole("lane", "a whole number from 0 to 31", in_place(&LinkedPlace::lane), 0, 31),
            words("without", {}, "text", in_place(&LinkedPlace::without)),
            words("size", {}, "text", in_place(&LinkedPlace::size)),
            yes_or_no("own", in_place(&LinkedPlace::own))};
}

std::vector<Key> all_keys() {
    std::vector<Key> out = matrix_keys();
    for (const auto& more : {head_keys(), problem_keys(), choice_keys(), place_keys(), inside_keys()})
        out.insert(out.end(), more.begin(), more.end());
    return out;
}

}  // namespace

const std::vector<Key>& keys() {
    static const std::vector<Key> table = all_keys();
    return table;
}

}  // namespace tilewalk::linked

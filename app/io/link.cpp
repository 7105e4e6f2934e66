#include "app/io/link.h"

#include "app/io/examples.h"
#include "app/io/text.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "core/problem/precision.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

namespace tilewalk {
namespace {

constexpr std::string_view scheme = "tilewalk:";
constexpr int largest_count = 1000000000;
constexpr std::int64_t most_random = 1 << 18;  // elements of Q of a random problem: drawn in no time
constexpr int most_elements = 1024;            // of matrices that are written out

// ---- Letters

bool is_plain(char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    // A comma parts the items of a list, and must not stand in one.
    return letter || std::string_view("-._:").find(c) != std::string_view::npos;
}

std::string escaped(std::string_view text) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const unsigned byte = static_cast<unsigned char>(c);
        if (is_plain(c))
            out += c;
        else
            out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return out;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        if (text[n] != '%') {
            out += text[n];
            continue;
        }
        const int high = n + 2 < text.size() ? hex_digit(text[n + 1]) : -1,
                  low = n + 2 < text.size() ? hex_digit(text[n + 2]) : -1;
        if (high < 0 || low < 0) return {};
        out += static_cast<char>(high * 16 + low);
        n += 2;
    }
    const bool text_only = is_utf8(out) && without_controls(out, '\0').find('\0') == std::string::npos;
    return text_only ? std::optional(out) : std::nullopt;
}

// Four digits at the end, so that a link that was cut off leads nowhere rather than to another place
// (FNV-1a).
const std::string sum_mark = "&sum=";
std::string sum_of(std::string_view text) {
    std::uint32_t sum = 2166136261u;
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
    char digits[8];
    std::snprintf(digits, sizeof digits, "%04x", (sum >> 16) ^ (sum & 0xffffu));
    return digits;
}

// ---- Numbers and matrices

std::string shortest(double v) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, v == 0 ? 0.0 : v).ptr};
}

std::optional<double> finite(std::string_view text) {
    const auto value = number_in<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string written(const Matrix& A) {
    std::string out = str(A.rows()) + "x" + str(A.cols()) + ":";
    for (Eigen::Index r = 0; r < A.rows(); ++r)
        for (Eigen::Index c = 0; c < A.cols(); ++c) out += (r + c ? "," : "") + shortest(A(r, c));
    return out;
}

// "4x3:1,0,-0.5,…"
std::optional<Matrix> read_matrix(const std::string& text) {
    const std::size_t x = text.find('x'), colon = text.find(':');
    if (x == text.npos || colon == text.npos || colon < x) return {};
    const auto rows = number_in<int>(text.substr(0, x)),
               cols = number_in<int>(text.substr(x + 1, colon - x - 1));
    const std::vector<std::string> numbers = split(text.substr(colon + 1), ",");
    if (!rows || !cols || *rows < 1 || *cols < 1 || *rows > most_elements || *cols > most_elements) return {};
    if (static_cast<int>(numbers.size()) != *rows * *cols) return {};
    Matrix A(*rows, *cols);
    for (int n = 0; n < *rows * *cols; ++n) {
        const auto value = finite(numbers[static_cast<std::size_t>(n)]);
        if (!value) return {};
        A(n / *cols, n % *cols) = *value;
    }
    return A;
}

bool same_shape(const Matrix* a, const Matrix* b) {
    return a && b && a->rows() == b->rows() && a->cols() == b->cols();
}

// The matrices that a problem is given by, by their names in files; null where it has none.
struct Given {
    const char* name;
    Matrix* (*of)(Problem&);
};
Matrix* factor(Problem& p, Matrix Projection::*part) {
    return p.projection ? &((*p.projection).*part) : nullptr;
}
constexpr Given given[] = {{"q", [](Problem& p) { return p.projection ? nullptr : &p.Q; }},
                           {"k", [](Problem& p) { return p.projection ? nullptr : &p.K; }},
                           {"v", [](Problem& p) { return p.projection ? nullptr : &p.V; }},
                           {"do", [](Problem& p) { return p.dO ? &*p.dO : nullptr; }},
                           {"x", [](Problem& p) { return factor(p, &Projection::X); }},
                           {"wq", [](Problem& p) { return factor(p, &Projection::W_Q); }},
                           {"wk", [](Problem& p) { return factor(p, &Projection::W_K); }},
                           {"wv", [](Problem& p) { return factor(p, &Projection::W_V); }}};

const Matrix* matrix(const Given& one, const Problem& p) { return one.of(const_cast<Problem&>(p)); }

// Makes room for a matrix that is written out.
Matrix* make(const Given& one, Problem& p) {
    const std::string name = one.name;
    if (name == "do" && !p.dO) p.dO.emplace();
    if ((name == "x" || name.starts_with('w')) && !p.projection) p.projection.emplace();
    if (name == "q" || name == "k" || name == "v") p.projection.reset();
    return one.of(p);
}

// "q.0.2:1.5": elements that differ from those of the example.
std::string changed_elements(const Problem& p, const Problem& base) {
    std::string out;
    for (const Given& one : given) {
        const Matrix *now = matrix(one, p), *before = matrix(one, base);
        if (!same_shape(now, before)) continue;
        for (Eigen::Index r = 0; r < now->rows(); ++r)
            for (Eigen::Index c = 0; c < now->cols(); ++c)
                if ((*now)(r, c) != (*before)(r, c))
                    out += (out.empty() ? "" : ",") + std::string(one.name) + "." + str(r) + "." + str(c) +
                           ":" + shortest((*now)(r, c));
    }
    return out;
}

bool set_element(Problem& p, const std::string& text) {
    const std::vector<std::string> parts = split(text.substr(0, text.find(':')), ".");
    const auto value = text.find(':') == text.npos ? std::nullopt : finite(text.substr(text.find(':') + 1));
    if (parts.size() != 3 || !value) return false;
    const auto row = number_in<int>(parts[1]), col = number_in<int>(parts[2]);
    for (const Given& one : given) {
        Matrix* A = parts[0] == one.name ? one.of(p) : nullptr;
        if (!A || !row || !col || *row < 0 || *col < 0 || *row >= A->rows() || *col >= A->cols()) continue;
        (*A)(*row, *col) = *value;
        return true;
    }
    return false;
}

// ---- Keys

using Names = std::vector<std::string>;

// A key of a link: what it says of a place (nothing where that is what its base has), and how it is read. A
// value that is read wrongly leaves false.
struct Key {
    const char* name;
    const char* expected;
    std::function<std::optional<std::string>(const LinkedPlace& of, const LinkedPlace& base)> write;
    std::function<bool(LinkedPlace& into, const std::string& value)> read;
};

using Value = std::optional<std::string>;

template <class T> Value unless(const T& now, const T& before, auto text) {
    return now == before ? Value() : Value(text(now));
}

Key whole(const char* name, const char* expected, auto place, int least) {
    return {name, expected,
            [=](const LinkedPlace& of, const LinkedPlace& base) {
                return unless(place(of), place(base), [](int n) { return str(n); });
            },
            [=](LinkedPlace& into, const std::string& value) {
                const auto n = number_in<int>(value);
                if (!n || *n < least || *n > largest_count) return false;
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

Key matrix_key(std::size_t n) {
    const Given one = given[n];
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

bool read_faults(LinkedPlace& into, const std::string& value) {
    into.problem.switches = {};
    return read_list(value, [&](const std::string& one) {
        const Fault* fault = find_fault(one);
        if (fault) into.problem.switches.*fault->on = true;
        return fault != nullptr;
    });
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

auto in_place(auto member) {
    return [=](auto& place) -> auto& { return place.*member; };
}
auto in_problem(auto member) {
    return [=](auto& place) -> auto& { return place.problem.*member; };
}
auto in_options(auto member) {
    return [=](auto& place) -> auto& { return place.problem.options.*member; };
}

// In the order in which they are written and read; the base of the problem, "example" or "random", comes
// first.
const std::vector<Key>& keys() {
    static const std::vector<Key> table = {
        left_out(
            "without-input", [](auto& p) -> auto& { return p.projection; }),
        left_out(
            "without-do", [](auto& p) -> auto& { return p.dO; }),
        matrix_key(0),
        matrix_key(1),
        matrix_key(2),
        matrix_key(3),
        matrix_key(4),
        matrix_key(5),
        matrix_key(6),
        matrix_key(7),
        {"set", "MATRIX.ROW.COLUMN:number,…",
         [](const LinkedPlace& of, const LinkedPlace& base) -> Value {
             const std::string text = changed_elements(of.problem, base.problem);
             return text.empty() ? Value() : Value(text);
         },
         [](LinkedPlace& into, const std::string& value) {
             return std::ranges::all_of(
                 split(value, ","), [&](const std::string& one) { return set_element(into.problem, one); });
         }},
        words("title", {}, "text", in_problem(&Problem::title)),
        words("watch", {}, "text", in_problem(&Problem::watch)),
        whole_or_none("seed", "a whole number or none", in_problem(&Problem::seed)),
        whole("br", "a whole number from 1", in_problem(&Problem::Br), 1),
        whole("bc", "a whole number from 1", in_problem(&Problem::Bc), 1),
        yes_or_no("causal", in_problem(&Problem::causal)),
        whole_or_none("window", "a whole number from 0, or none", in_problem(&Problem::window)),
        {"scale", "none, sqrt or a number", write_scale, read_scale},
        whole("element-bytes", "1, 2, 4 or 8", in_problem(&Problem::element_bytes), 1),
        {"tokens", "words with a colon before each", write_tokens, read_tokens},
        whole("row", "a whole number from 0", in_options(&Options::row), 0),
        one_of("notation", "l_O, d_o or delta_omega", {"l_O", "d_o", "delta_omega"},
               in_options(&Options::notation)),
        yes_or_no("normalised", in_options(&Options::normalised)),
        one_of("order", "key_outer or query_outer", {"key_outer", "query_outer"},
               in_options(&Options::order)),
        {"learning-rate", "a number", write_rate, read_rate},
        {"break", "names of faults, or none",
         [](const LinkedPlace& of, const LinkedPlace& base) {
             return write_list(fault_names(of.problem), fault_names(base.problem));
         },
         read_faults},
        {"precision", "STAGE:FORMAT,… or none",
         [](const LinkedPlace& of, const LinkedPlace& base) {
             return write_list(rounded_stages(of.problem), rounded_stages(base.problem));
         },
         read_precision},
        words("lesson", names_of(lessons(), &Lesson::id), "one of 'tilewalk lessons'",
              in_place(&LinkedPlace::lesson)),
        whole("step", "a whole number from 1", in_place(&LinkedPlace::step), 1),
        {"at", "ROW or ROW.COLUMN", write_cell, read_cell},
        words("page", {"walk", "memory", "scale", "compare", "start"},
              "walk, memory, scale, compare or start", in_place(&LinkedPlace::page)),
        words("panel", {"explanation", "problem", "break"}, "explanation, problem or break",
              in_place(&LinkedPlace::panel)),
        yes_or_no("presenter", in_place(&LinkedPlace::presenter)),
    };
    return table;
}

// ---- Where the problem begins

struct Base {
    std::string said;  ///< "example=worked-4x4"; empty: its own numbers
    Problem problem;
};

std::optional<Problem> random_base(int N, int d, std::uint64_t seed) {
    if (N < 1 || d < 1 || std::int64_t{N} * d > most_random) return {};
    auto made = random_problem(N, d, seed);
    return made ? std::optional(std::move(*made)) : std::nullopt;
}

// "64x16.7": rows, columns, seed.
std::optional<Problem> read_random(const std::string& value) {
    const std::size_t x = value.find('x'), dot = value.find('.');
    if (x == value.npos || dot == value.npos || dot < x) return {};
    const auto N = number_in<int>(value.substr(0, x)), d = number_in<int>(value.substr(x + 1, dot - x - 1));
    const auto seed = number_in<std::uint64_t>(value.substr(dot + 1));
    return N && d && seed ? random_base(*N, *d, *seed) : std::nullopt;
}

std::vector<Base> bases_for(const Problem& p) {
    std::vector<Base> out;
    for (const Problem& example : examples()) {
        const bool alike = example.N() == p.N() && example.N_kv() == p.N_kv() && example.d() == p.d();
        if (alike || example.name == p.name) out.push_back({"example=" + escaped(example.name), example});
    }
    if (p.seed)
        if (auto drawn = random_base(p.N(), p.d(), *p.seed))
            out.push_back(
                {"random=" + str(p.N()) + "x" + str(p.d()) + "." + str(*p.seed), std::move(*drawn)});
    if (p.Q.size() + p.K.size() + p.V.size() <= most_elements) out.push_back({"", {}});  // all is said
    return out;
}

// What differs from this beginning, and from the title that the beginning brings with it.
std::string written_from(const LinkedPlace& place, const Base& from) {
    LinkedPlace base;
    base.problem = from.problem;
    if (!from.said.empty() && place.problem.name != from.problem.name) {
        // An example that was changed is no longer called one.
        mark_changed(base.problem);
        base.problem.name.clear();
    }
    std::string out = from.said;
    if (base.problem.name != from.problem.name) out += "&changed=yes";
    for (const Key& key : keys())
        if (const Value value = key.write(place, base))
            out += (out.empty() ? "" : "&") + std::string(key.name) + "=" + *value;
    return std::string(scheme) + out;
}

// ---- Reading

using Said = std::map<std::string, std::string, std::less<>>;

Failure wrong(const std::string& key, const std::string& value, const std::string& expected) {
    return {"The link says " + key + "=" + in_quotes(value) + ", expected " + expected + "."};
}

bool is_known(std::string_view name) {
    if (name == "example" || name == "random" || name == "changed") return true;
    return std::ranges::any_of(keys(), [&](const Key& key) { return name == key.name; });
}

Result<Said> read_pairs(std::string_view text) {
    Said out;
    for (const std::string& part : split(text, "&")) {
        const std::size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        if (equals == part.npos) return Failure{"The link has " + in_quotes(part) + ", expected KEY=VALUE."};
        if (!is_known(name))
            return Failure{"The link has the key " + in_quotes(name) + ", which is unknown."};
        const auto value = unescaped(part.substr(equals + 1));
        if (!value)
            return Failure{"The value of " + name +
                           " in the link is broken: " + in_quotes(part.substr(equals + 1)) + "."};
        // Tokens are unescaped one by one, because one of them may hold a comma.
        if (!out.emplace(name, name == "tokens" ? part.substr(equals + 1) : *value).second)
            return Failure{"The link says " + name + " twice."};
    }
    return out;
}

Result<Problem> read_base(const Said& said) {
    const auto example = said.find("example"), random = said.find("random"), changed = said.find("changed");
    if (example != said.end() && random != said.end())
        return Failure{"The link names an example and a random problem."};
    Problem out;  // without matrices; what is not said is as in a new problem
    if (example != said.end()) {
        const Problem* found = find_example(example->second);
        if (!found)
            return Failure{"The link names the example " + in_quotes(example->second) +
                           ", which this program does not have."};
        out = *found;
    }
    if (random != said.end()) {
        auto drawn = read_random(random->second);
        if (!drawn) return wrong("random", random->second, "ROWSxCOLUMNS.SEED");
        out = std::move(*drawn);
    }
    if (changed == said.end()) return out;
    if (changed->second != "yes") return wrong("changed", changed->second, "yes");
    mark_changed(out);
    return out;
}

}  // namespace

Result<std::string> link_to(const LinkedPlace& place) {
    std::string best;
    for (const Base& base : bases_for(place.problem)) {
        const bool other_example = !place.problem.name.empty() && base.problem.name != place.problem.name;
        if (other_example) continue;
        std::string text = written_from(place, base);
        if (best.empty() || text.size() < best.size()) best = std::move(text);
    }
    if (!best.empty()) best += sum_mark + sum_of(best);
    if (!best.empty() && best.size() <= most_link_letters && place_of_link(best)) return best;
    return Failure{"This problem is too large for a link of " + str(most_link_letters) +
                   " letters; save it as a file in the problem panel (I)."};
}

Result<LinkedPlace> place_of_link(std::string_view link) {
    // What a mail or a terminal put around it.
    link.remove_prefix(std::min(link.find_first_not_of(" \t\r\n"), link.size()));
    link = link.substr(0, link.find_last_not_of(" \t\r\n") + 1);
    if (!link.starts_with(scheme))
        return Failure{"A link begins with \"tilewalk:\", but this is " + in_quotes(link.substr(0, 64)) +
                       "."};
    if (link.size() > most_link_letters)
        return Failure{"The link has " + str(link.size()) + " letters, expected at most " +
                       str(most_link_letters) + "."};
    const std::size_t sum = link.rfind(sum_mark);
    if (sum == link.npos || link.substr(sum + sum_mark.size()) != sum_of(link.substr(0, sum)))
        return Failure{"The link is damaged or was cut off: the check at its end does not fit."};
    const auto said = read_pairs(link.substr(scheme.size(), sum - scheme.size()));
    if (!said) return Failure{said.error};
    auto base = read_base(*said);
    if (!base) return Failure{base.error};
    LinkedPlace place;
    place.problem = std::move(*base);
    for (const Key& key : keys()) {
        const auto value = said->find(key.name);
        if (value != said->end() && !key.read(place, value->second))
            return wrong(key.name, value->second, key.expected);
    }
    const auto fits = [&](const Projection& w) {
        return w.W_Q.rows() == w.X.cols() && w.W_K.rows() == w.X.cols() && w.W_V.rows() == w.X.cols();
    };
    if (place.problem.projection && !fits(*place.problem.projection))
        return Failure{"The weights in the link do not fit its input X."};
    project(place.problem);
    if (auto sentence = validate(place.problem)) return Failure{"The link does not work: " + *sentence};
    return place;
}

}  // namespace tilewalk

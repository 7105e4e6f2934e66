// Every member of a problem goes into files and into links, and comes back. A member more does not compile
// until it stands here; then a problem here must have another value of it than the usual one, and that must
// come back.
#include "app/io/link.h"
#include "app/io/problem_json.h"
#include "tests/core/problems.h"
#include "tests/good.h"

#include <doctest/doctest.h>

#include <tuple>

using namespace tilewalk::test;

namespace {

// One list for the members and for what is compared: none can be named and then left out.
#define TILEWALK_MEMBERS(Type, ...)                                                                          \
    auto members_of(const Type& whole) {                                                                     \
        const auto& [__VA_ARGS__] = whole;                                                                   \
        return std::tie(__VA_ARGS__);                                                                        \
    }                                                                                                        \
    std::string names_of_members(const Type&) { return #__VA_ARGS__; }
TILEWALK_MEMBERS(Logits, softcap, alibi, sink)
TILEWALK_MEMBERS(Heads, Q, K, V, dO, shown, once)
TILEWALK_MEMBERS(Projection, X, W_Q, W_K, W_V)
TILEWALK_MEMBERS(Savings, lazy, cubic)
TILEWALK_MEMBERS(Options, row, queries, notation, normalised, order, learning_rate, splits, merge, parts,
                 workers, ranks, shards, prefix, sequences, pages, page_table)
TILEWALK_MEMBERS(Problem, name, title, watch, seed, Q, K, V, dO, Br, Bc, causal, window, scale, logits, heads,
                 packed, tokens, projection, options, switches, precision, savings, element_bytes)
#undef TILEWALK_MEMBERS

// The name of an example is what a link begins with, and heads are packed by the lesson that does so.
const std::vector<std::string> stand_nowhere = {"Problem.name", "Problem.packed"};

template <class T>
concept HasMembers = requires(const T& whole) {
    members_of(whole);
};

bool same(const Matrix& a, const Matrix& b) { return a.rows() == b.rows() && a.cols() == b.cols() && a == b; }
template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b);
template <class T> bool same(const std::optional<T>& a, const std::optional<T>& b);
template <HasMembers T> bool same(const T& a, const T& b);
template <class T> bool same(const T& a, const T& b) { return a == b; }
template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}
template <class T> bool same(const std::optional<T>& a, const std::optional<T>& b) {
    return a && b ? same(*a, *b) : a.has_value() == b.has_value();
}

// look(name, a's, b's) for each member, down to those that have none
template <HasMembers T> void each_member(const std::string& of, const T& a, const T& b, const auto& look) {
    std::istringstream names(names_of_members(a));
    const auto one = [&](const auto& x, const auto& y) {
        std::string name;
        std::getline(names >> std::ws, name, ',');
        name = of + "." + name;
        look(name, !same(x, y));
        if constexpr (HasMembers<std::remove_cvref_t<decltype(x)>>) each_member(name, x, y, look);
    };
    [&]<std::size_t... n>(std::index_sequence<n...>, const auto& of_a, const auto& of_b) {
        (one(std::get<n>(of_a), std::get<n>(of_b)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(members_of(a))>>(), members_of(a), members_of(b));
}
template <HasMembers T> bool same(const T& a, const T& b) {
    bool all = true;
    each_member("", a, b, [&](const std::string&, bool differs) { all &= !differs; });
    return all;
}

Problem with_everything() {
    Problem p = good(random_problem(4, 4, 7));
    p.title = "Own", p.watch = "What changes.";
    p.dO = Matrix::Constant(4, 4, .5);
    p.Br = 3, p.Bc = 1, p.causal = true, p.window = 2;
    p.scale = {Scale::Kind::number, .25};
    p.logits = {2.5, .0625, -1.5};
    p.tokens = {"The", "cat", "sat", "on"};
    p.options = {.row = 1,
                 .queries = 2,
                 .notation = Notation::delta_omega,
                 .normalised = false,
                 .order = BackwardOrder::query_outer,
                 .learning_rate = .25,
                 .splits = {3, 1},
                 .merge = MergeOrder::pairs,
                 .parts = PartForm::normalised,
                 .workers = 7,
                 .ranks = 2,
                 .shards = ShardKind::zigzag,
                 .prefix = 0,
                 .sequences = 2,
                 .pages = 2,
                 .page_table = {1, 0}};
    p.switches.no_correction = true;
    p.precision.inputs = Format::bf16;
    p.savings = {.lazy = .75, .cubic = true};
    p.element_bytes = 2;
    return p;
}
Problem with_heads() {
    Problem p = worked_example();
    p.heads = Heads{{-p.Q, p.Q}, {p.K}, {p.V}, {-p.V, p.V}, 1, true};
    p.dO = p.V;
    return p;
}
Problem with_projection() {
    Problem p = worked_example();
    p.projection = Projection{Matrix::Identity(4, 4) * .5, p.Q, p.K, p.V};
    project(p);
    return p;
}
std::vector<Problem> samples() { return {with_everything(), with_heads(), with_projection()}; }

bool stands_nowhere(const std::string& name) {
    return std::ranges::find(stand_nowhere, name) != stand_nowhere.end();
}

}  // namespace

TEST_CASE("every member of a problem has another value than the usual one in some problem here") {
    std::vector<std::string> names, other;
    const auto note = [&](const std::string& name, bool differs) {
        names.push_back(name);
        if (differs) other.push_back(name);
    };
    for (const Problem& p : samples()) {
        REQUIRE_FALSE(validate(p));
        each_member("Problem", Problem{}, p, note);
        if (p.heads) each_member("Heads", Heads{}, *p.heads, note);
        if (p.projection) each_member("Projection", Projection{}, *p.projection, note);
    }
    CHECK(names.size() == samples().size() * (23 + 3 + 16 + 2) + 6 + 4);
    for (const std::string& name : names)
        if (!stands_nowhere(name)) CHECK_MESSAGE(std::ranges::find(other, name) != other.end(), name);
}

TEST_CASE("every member of a problem comes back from a file and from a link") {
    for (const Problem& p : samples()) {
        const auto check = [&](const Problem& back) {
            each_member("Problem", p, back, [&](const std::string& name, bool differs) {
                if (!stands_nowhere(name)) CHECK_MESSAGE(!differs, name);
            });
        };
        check(good(problem_from_json(problem_to_json(p), "p.json")));
        check(good(place_of_link(good(link_to({.problem = p, .lesson = "flash-forward"})))).problem);
    }
}

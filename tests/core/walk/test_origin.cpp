// Where a value comes from, through the whole walk: only from what was given, from all that can change it,
// and back again to what it feeds.
#include "core/walk/origin.h"

#include "tests/core/lessons/broken.h"
#include "tests/core/lessons/dense_checks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace tilewalk::test;

namespace {

using Places = std::set<Place>;

std::string text(const Trace& trace, const Place& p) { return where(trace, p.step, p.cell); }

template <class Look> void every_place(const Trace& trace, Look look) {
    every_written_cell(trace, [&](const CellRef& cell, int k) { look(Place{cell, k}); });
}

// The given cells that every place comes from, worked out forwards, step after step.
std::map<Place, Places> all_inputs(const Trace& trace) {
    std::map<Place, Places> out;
    every_place(trace, [&](const Place& place) {
        Places& mine = out[place];
        for (const Place& source : sources(trace, place)) {
            if (source.step < 0)
                mine.insert(source);
            else
                mine.insert(out.at(source).begin(), out.at(source).end());
        }
    });
    return out;
}

// The examples of these names in small: values do not matter here, shapes and masks do.
Problem shaped(int N, int N_kv, int d, int Br, int Bc, bool causal, std::optional<int> window) {
    Random random(11);
    Problem p;
    const auto draw = [&](int rows, int cols) {
        Matrix A(rows, cols);
        for (int n = 0; n < rows * cols; ++n) A.data()[n] = pick(random, -20, 20) / 8.0;
        return A;
    };
    p.Q = draw(N, d), p.K = draw(N_kv, d), p.V = draw(N_kv, d);
    p.Br = Br, p.Bc = Bc, p.causal = causal, p.window = window;
    return p;
}

std::vector<Problem> shown_problems() {
    return {worked_example(),
            tutorial_backward(),
            shaped(8, 8, 2, 2, 2, true, {}),
            shaped(7, 5, 3, 3, 2, false, {}),
            shaped(12, 12, 2, 4, 3, false, 2),
            shaped(5, 3, 2, 2, 2, true, {})};
}

template <class Look> void every_walk(Look look) {
    for (Problem p : shown_problems())
        for (BackwardOrder order : {BackwardOrder::key_outer, BackwardOrder::query_outer})
            for (const Lesson& lesson : lessons()) {
                p.options.order = order;
                if (order == BackwardOrder::query_outer && std::string(lesson.id) != "flash-backward")
                    continue;
                if (const auto trace = build_trace(lesson, p)) look(lesson, **trace);
            }
}

bool given(const Trace& trace, const Place& place) {
    const auto at = place_of(trace, place.cell, -1);
    return at && *at == place;
}

// The step may start it with 0 or −∞; a masked score is −∞ whatever was there.
bool may_be_constant(const Trace& trace, const Place& place) {
    const double value = value_of(trace, place);
    return value == 0 || value == -std::numeric_limits<double>::infinity();
}

Places cells(const Trace& trace, Slot slot, auto wanted) {
    Places out;
    for (int tile = 0; tile < trace.tiles(slot); ++tile)
        if (const Held held = trace.live(slot, tile, -1))
            every_cell(slot, held.value->region, [&](const CellRef& cell) {
                if (wanted(cell.row, cell.col)) out.insert({cell, -1});
            });
    return out;
}

Places together(std::initializer_list<Places> all) {
    Places out;
    for (const Places& some : all) out.insert(some.begin(), some.end());
    return out;
}

Places inputs(const Trace& trace, Slot slot, int row, int col) {
    const auto place = place_of(trace, {slot, row, col}, trace.size());
    REQUIRE(place);
    const auto found = inputs_of(trace, *place);
    return Places(found->begin(), found->end());
}

// Given cells whose values differ.
Places changed_inputs(const Trace& a, const Trace& b) {
    Places out;
    for (int s = 0; s < slot_count; ++s) {
        const Slot slot = static_cast<Slot>(s);
        const Places all = cells(a, slot, [](int, int) { return true; });
        for (const Place& p : all)
            if (value_of(a, p) != value_of(b, p)) out.insert(p);
    }
    return out;
}

// Every value that differs between two walks reaches one of the given cells that differ.
int check_changes(const Trace& a, const Trace& b) {
    REQUIRE(a.size() == b.size());
    const Places changed = changed_inputs(a, b);
    const std::map<Place, Places> reach = all_inputs(a);
    int count = 0;
    every_place(a, [&](const Place& place) {
        if (same_number(value_of(a, place), value_of(b, place))) return;
        ++count;
        const bool reached =
            std::ranges::any_of(reach.at(place), [&](const Place& p) { return changed.contains(p); });
        INFO(text(a, place));
        CHECK(reached);
    });
    return count;
}

// Every value comes from earlier ones, from what was given, or is a start value. Returns how many given cells
// were met.
int check_ends(const Trace& trace) {
    int ends = 0;
    every_place(trace, [&](const Place& place) {
        const std::vector<Place> from = sources(trace, place);
        bool sound = !from.empty() || may_be_constant(trace, place);
        for (const Place& source : from) {
            sound &= source.step < place.step;  // nothing goes round in a circle
            if (source.step < 0) sound &= given(trace, source), ++ends;
        }
        INFO(text(trace, place));
        CHECK(sound);
    });
    return ends;
}

}  // namespace

TEST_SUITE("origin") {
    TEST_CASE("every cell of every lesson leads back to what was given, and to nothing else") {
        int walks = 0, ends = 0;
        every_walk([&](const Lesson&, const Trace& trace) {
            ++walks;
            ends += check_ends(trace);
        });
        CHECK(walks > 40);
        CHECK(ends > 1000);
    }

    TEST_CASE("so does every cell of a broken walk") {
        int ends = 0;
        for (bool Switches::*off : {&Switches::no_max, &Switches::no_correction, &Switches::no_division,
                                    &Switches::wrong_mask_edge, &Switches::stale_max, &Switches::no_lse})
            for (const Lesson& lesson : lessons()) {
                Problem p = with(shaped(6, 6, 2, 2, 3, true, {}), off);
                p.precision.softmax = Format::fp16;
                if (const auto trace = build_trace(lesson, p)) ends += check_ends(**trace);
            }
        CHECK(ends > 1000);
    }

    TEST_CASE("what is given is Q, K, V and what a lesson says it starts from") {
        const std::map<std::string, std::set<Slot>> allowed = {
            {"flash-forward", {Slot::Q, Slot::K, Slot::V}},
            {"flash-forward-v1", {Slot::Q, Slot::K, Slot::V}},
            {"attention", {Slot::Q, Slot::K, Slot::V}},
            {"softmax-dense", {Slot::x, Slot::V}},
            {"merge", {Slot::x, Slot::V}},
            {"split-kv", {Slot::Q, Slot::K, Slot::V}},
            {"cascade", {Slot::Q, Slot::K, Slot::V}},
            {"ring", {Slot::Q, Slot::K, Slot::V}},
            {"ring-backward", {Slot::Q, Slot::K, Slot::V, Slot::dO, Slot::O, Slot::L}},
            {"softmax-3pass", {Slot::x, Slot::V}},
            {"softmax-2pass", {Slot::x, Slot::V}},
            {"softmax-1pass", {Slot::x, Slot::V}},
            {"backward", {Slot::Q, Slot::K, Slot::V, Slot::dO, Slot::O, Slot::P_hbm}},
            {"flash-backward", {Slot::Q, Slot::K, Slot::V, Slot::dO, Slot::O, Slot::L}},
            {"training-step", {Slot::X, Slot::X_kv, Slot::W_Q, Slot::W_K, Slot::W_V, Slot::dO}}};
        every_walk([&](const Lesson& lesson, const Trace& trace) {
            INFO(lesson.id);
            REQUIRE(allowed.contains(lesson.id));
            for (const auto& reached : all_inputs(trace))
                for (const Place& input : reached.second) {
                    INFO(text(trace, reached.first) << " reaches " << text(trace, input));
                    CHECK(allowed.at(lesson.id).contains(input.cell.slot));
                }
        });
    }

    TEST_CASE("what a step reads is a source of something that it wrote") {
        every_walk([&](const Lesson&, const Trace& trace) {
            std::set<std::tuple<int, Slot, int>> named;  // reader, slot, the step that made it
            every_place(trace, [&](const Place& place) {
                for (const Place& source : sources(trace, place))
                    named.insert({place.step, source.cell.slot, source.step});
            });
            for (int k = 0; k < trace.size(); ++k)
                for (const Access& a : trace.reads(k)) {
                    if (trace.step(k).op == Op::load) continue;  // fetched for the steps that follow
                    const bool seen = std::ranges::any_of(named, [&](const auto& n) {
                        return std::get<0>(n) == k && std::get<1>(n) == a.slot;
                    });
                    INFO(text(trace, {{a.slot, 0, 0}, k}));
                    CHECK(seen);
                }
        });
    }

    TEST_CASE("O depends on its row of Q, on the keys that it sees, and on its column of V") {
        for (const char* id : {"flash-forward", "flash-forward-v1", "attention"})
            for (const Problem& p : shown_problems()) {
                const auto trace = walk_of(id, p);
                for (int i = 0; i < p.N(); ++i)
                    for (int c = 0; c < p.d(); ++c) {
                        const auto sees_key = [&](int r, int) { return sees(p, i, r); };
                        // V of a hidden key takes part, times 0, where its tile is computed.
                        const bool dense = std::string(id) == "attention";
                        const auto in_tile = [&](int r, int col) {
                            return col == c && (dense || tile_is_needed(p, i / p.Br, r / p.Bc));
                        };
                        Places expected =
                            together({cells(*trace, Slot::K, sees_key), cells(*trace, Slot::V, in_tile)});
                        if (!cells(*trace, Slot::K, sees_key).empty())
                            expected = together(
                                {expected, cells(*trace, Slot::Q, [&](int r, int) { return r == i; })});
                        INFO(id << " " << describe(p) << " O[" << i << "," << c << "]");
                        CHECK(inputs(*trace, Slot::O, i, c) == expected);
                    }
            }
    }

    TEST_CASE("gradients depend on what their formulas say") {
        const auto all = [](int, int) { return true; };
        for (BackwardOrder order : {BackwardOrder::key_outer, BackwardOrder::query_outer}) {
            Problem q = tutorial_backward();
            q.options.order = order;
            const auto trace = walk_of("flash-backward", q);
            const auto get = [&](Slot slot, auto wanted) { return cells(*trace, slot, wanted); };
            const auto row = [](int n) { return [n](int r, int) { return r == n; }; };
            // dQ[1,2] = Σ P (dP − D) K[·,2]: the row of Q, O, dO and L, all of K and V
            CHECK(inputs(*trace, Slot::dQ, 1, 2) ==
                  together({get(Slot::Q, row(1)), get(Slot::K, all), get(Slot::V, all), get(Slot::dO, row(1)),
                            get(Slot::O, row(1)), get(Slot::L, row(1))}));
            // dK[1,2] = Σ dS[·,1] Q[·,2]: every row of Q, O, dO, L; key and value 1 alone
            CHECK(inputs(*trace, Slot::dK, 1, 2) ==
                  together({get(Slot::Q, all), get(Slot::K, row(1)), get(Slot::V, row(1)), get(Slot::dO, all),
                            get(Slot::O, all), get(Slot::L, all)}));
            // dV[1,2] = Σ P[·,1] dO[·,2]
            CHECK(inputs(*trace, Slot::dV, 1, 2) ==
                  together({get(Slot::Q, all), get(Slot::K, row(1)), get(Slot::L, all),
                            get(Slot::dO, [](int, int c) { return c == 2; })}));
        }
    }

    TEST_CASE("the set found backwards is the one found forwards") {
        every_walk([&](const Lesson& lesson, const Trace& trace) {
            const std::map<Place, Places> reach = all_inputs(trace);
            for (Slot slot : lesson.results)
                for (int tile = 0; tile < trace.tiles(slot); ++tile) {
                    const Held held = trace.live(slot, tile, trace.size());
                    if (held.step < 0) continue;
                    const Place corner{{slot, held.value->region.row, held.value->region.col}, held.step};
                    const auto found = inputs_of(trace, corner);
                    CHECK(Places(found->begin(), found->end()) == reach.at(corner));
                    if (!found->empty()) CHECK(!inputs_of(trace, corner, 1));
                }
        });
    }

    TEST_CASE("what changes with an input reaches that input") {
        Random random(5);
        int changes = 0;
        for (int n = 0; n < 40; ++n) {
            const Problem p = n % 3 == 0   ? projected_problem(random, 4)
                              : n % 3 == 1 ? gradient_problem(random, 5)
                                           : any_problem(random, 6);
            Problem q = p;
            Matrix& A =
                q.projection
                    ? (n % 2 ? q.projection->W_K : q.projection->X)
                    : *std::initializer_list<Matrix*>{&q.Q, &q.K, &q.V}.begin()[n % 3 == 1 ? n % 2 : 2];
            A.data()[pick(random, 0, static_cast<int>(A.size()) - 1)] += 0.75;
            if (q.projection) project(q);
            for (const Lesson& lesson : lessons()) {
                const auto a = build_trace(lesson, p), b = build_trace(lesson, q);
                if (a && b) changes += check_changes(**a, **b);
            }
        }
        CHECK(changes > 2000);
    }

    TEST_CASE("what a cell feeds is what names it as a source") {
        every_walk([&](const Lesson&, const Trace& trace) {
            const std::shared_ptr<const Trace> shared(&trace, [](const Trace*) {});
            const Readers readers(shared);
            std::map<Place, Places> fed;
            every_place(trace, [&](const Place& place) {
                for (const Place& source : sources(trace, place)) fed[source].insert(place);
            });
            const auto check = [&](const Place& place) {
                Places found;
                for (const Patch& patch : readers.fed_by(place))
                    every_cell(patch.slot, patch.cells, [&](const CellRef& cell) {
                        found.insert({cell, patch.step});
                    });
                INFO(text(trace, place));
                CHECK(found == fed[place]);
            };
            every_place(trace, check);
            for (int s = 0; s < slot_count; ++s)
                for (const Place& p : cells(trace, static_cast<Slot>(s), [](int, int) { return true; }))
                    check(p);
        });
    }

    TEST_CASE("neighbours become one patch") {
        const std::vector<Place> row = {{{Slot::Q, 1, 0}, -1},
                                        {{Slot::Q, 1, 1}, -1},
                                        {{Slot::K, 0, 0}, 3},
                                        {{Slot::K, 1, 0}, 3},
                                        {{Slot::K, 2, 0}, 4}};
        const std::vector<Patch> expected = {
            {Slot::Q, -1, {1, 0, 1, 2}}, {Slot::K, 3, {0, 0, 2, 1}}, {Slot::K, 4, {2, 0, 1, 1}}};
        CHECK(patches(row) == expected);
        std::vector<Place> block;
        for (int r = 0; r < 3; ++r)
            for (Slot slot : {Slot::dO, Slot::O})
                for (int c = 0; c < 2; ++c) block.push_back({{slot, r, c}, -1});
        CHECK(patches(block) ==
              std::vector<Patch>{{Slot::dO, -1, {0, 0, 3, 2}}, {Slot::O, -1, {0, 0, 3, 2}}});
        CHECK(patches({}).empty());
    }

    TEST_CASE("of a cell that is read and overwritten the version before is the source") {
        const auto trace = walk_of("flash-forward", worked_example());
        for (const int k : steps_of(*trace, Op::correction)) {
            // α comes from m before this tile and m after it.
            const Place alpha{{Slot::alpha, trace->step(k).i * 2, 0}, k};
            const std::vector<Place> from = sources(*trace, alpha);
            REQUIRE(from.size() == 2);
            CHECK(from[0].cell == from[1].cell);
            CHECK(from[0].step < from[1].step);
            CHECK(place_of(*trace, from[1].cell, k) == from[1]);
            CHECK(place_of(*trace, from[0].cell, k) != from[0]);
        }
    }
}

// What the cells of a ring are called. A rank's tiles count from 0 on chip; whoever reads words, labels and
// questions sees the rows and columns of the whole problem. The witness: the number in a cell is that of the
// whole problem's matrix at the row and column of its name, worked out without any rank.
#include "core/class/questions.h"
#include "core/distributed/shards.h"
#include "core/lessons/ring/ring.h"
#include "core/lessons/table.h"
#include "tests/core/lessons/dense_checks.h"
#include "tests/core/lessons/ring_problems.h"

#include <cmath>
#include <doctest/doctest.h>
#include <regex>

using namespace tilewalk::test;

namespace {

// The matrices of the whole problem, and who has which position.
struct Whole {
    const Problem& p;
    Matrix dO = output_gradient(p);
    Dense dense = dense_attention(p);
    DenseGradients gradients = dense_gradients(p, dO);
    std::vector<int> query_owner = owners(p.N()), key_owner = owners(p.N_kv());

    std::vector<int> owners(int rows) const {
        std::vector<int> out(static_cast<std::size_t>(rows), -1);
        for (int rank = 0; rank < p.options.ranks; ++rank)
            for (const ring::Run& run :
                 ring::runs_of(static_cast<ring::Shards>(p.options.shards), rows, p.options.ranks, rank))
                for (std::int64_t n = 0; n < run.count; ++n)
                    out[static_cast<std::size_t>(run.position(n))] = rank;
        return out;
    }
    double score(int r, int c) const { return p.softmax_scale() * p.Q.row(r).dot(p.K.row(c)); }
    bool masked(int r, int c) const { return std::isinf(static_cast<double>(dense.S(r, c))); }

    // What `rank` adds to dK or dV of key r: a sum over its own queries.
    double share(int rank, int r, int c, bool of_values) const {
        double out = 0;
        for (int q = 0; q < p.N(); ++q)
            if (query_owner[static_cast<std::size_t>(q)] == rank)
                out += static_cast<double>(of_values
                                               ? dense.P(q, r) * static_cast<long double>(dO(q, c))
                                               : gradients.dS(q, r) * static_cast<long double>(p.Q(q, c))) *
                       (of_values ? 1 : p.softmax_scale());
        return out;
    }
    // The largest score of query r with the keys of `owner`.
    double maximum(int r, int owner) const {
        double out = minus_infinity;
        for (int c = 0; c < p.N_kv(); ++c)
            if (key_owner[static_cast<std::size_t>(c)] == owner)
                out = std::max(out, static_cast<double>(dense.S(r, c)));
        return out;
    }
};

std::optional<double> in_whole(const Whole& w, const Step& step, Slot slot, int r, int c) {
    const bool masks = step.op == Op::mask;
    switch (slot) {
    case Slot::Q:
    case Slot::Qi: return w.p.Q(r, c);
    case Slot::K:
    case Slot::K_in:
    case Slot::Kj: return w.p.K(r, c);
    case Slot::V:
    case Slot::V_in:
    case Slot::Vj: return w.p.V(r, c);
    case Slot::dOi: return w.dO(r, c);
    case Slot::Li: return static_cast<double>(w.dense.L(r));
    case Slot::Di: return static_cast<double>(w.gradients.D(r));
    case Slot::S: return masks && w.masked(r, c) ? minus_infinity : w.score(r, c);
    case Slot::Prob: return static_cast<double>(w.dense.P(r, c));
    case Slot::dP: return static_cast<double>(w.gradients.dP(r, c));
    case Slot::dS: return static_cast<double>(w.gradients.dS(r, c));
    case Slot::dVj:
    case Slot::dV_part: return w.share(step.when.worker, r, c, true);
    case Slot::dKj:
    case Slot::dK_part: return w.share(step.when.worker, r, c, false);
    case Slot::m_part: return step.op == Op::part ? std::optional(w.maximum(r, step.j)) : std::nullopt;
    case Slot::m: return w.dense.S.row(r).maxCoeff();
    case Slot::Oi:
        return step.op == Op::normalize ? std::optional(static_cast<double>(w.dense.O(r, c))) : std::nullopt;
    case Slot::O: return static_cast<double>(w.dense.O(r, c));
    case Slot::L: return static_cast<double>(w.dense.L(r));
    case Slot::dQ: return static_cast<double>(w.gradients.dQ(r, c));
    case Slot::dK: return static_cast<double>(w.gradients.dK(r, c));
    case Slot::dV: return static_cast<double>(w.gradients.dV(r, c));
    default: return {};
    }
}

bool near(double a, double b) {
    return a == b || std::abs(a - b) <= 1e-11 * std::max({1.0, std::abs(a), std::abs(b)});
}

// "[4,2]" at the end of "S[4,2] = 1.5", or of the name alone.
std::string index_of(std::string text) {
    text = text.substr(0, text.find(" = "));
    const auto open = text.find('[');
    return open == std::string::npos ? "" : text.substr(open, text.find(']') - open + 1);
}

template <class Look> void each_ring(const Look& look) {
    for (const Lesson* lesson : {&ring_attention, &ring_backward})
        for (const ShardKind kind : shard_kinds)
            for (const int ranks : {1, 2, 3, 4})
                for (const bool is_causal : {false, true}) {
                    const Problem p = ring_of(ranks == 3 ? 13 : 8, ranks, kind, is_causal);
                    INFO(lesson->id, ", ", ring::name_of(static_cast<ring::Shards>(kind)), ", ", ranks,
                         " ranks");
                    look(*lesson->build(p), Whole{p});
                }
}

}  // namespace

TEST_SUITE("ring lesson") {

    TEST_CASE("the name of a cell is that of the whole problem's cell with its number, in every slot") {
        std::array<int, slot_count> seen{};
        each_ring([&](const Trace& trace, const Whole& w) {
            for (int k = 0; k < trace.size(); ++k)
                for (const Access& a : trace.writes(k)) {
                    const Value& tile = trace.value(a.value);
                    const Indices told = indices(trace, a.slot, tile.region, k);
                    for (int r = 0; r < tile.region.rows; ++r)
                        for (int c = 0; c < tile.region.cols; ++c) {
                            const int row = told.rows[static_cast<std::size_t>(r)],
                                      col = told.cols[static_cast<std::size_t>(c)];
                            const auto expected = in_whole(w, trace.step(k), a.slot, row, col);
                            if (!expected) continue;
                            INFO("step ", k + 1, ", ", info(a.slot).name, " ", row, " ", col);
                            CHECK(near(tile.data(r, c), *expected));
                            ++seen[static_cast<std::size_t>(a.slot)];
                        }
                }
        });
        for (const Slot slot :
             {Slot::Qi,  Slot::Kj,      Slot::Vj,      Slot::S,    Slot::m_part, Slot::m,  Slot::Oi,
              Slot::dOi, Slot::Li,      Slot::Di,      Slot::Prob, Slot::dP,     Slot::dS, Slot::dKj,
              Slot::dVj, Slot::dK_part, Slot::dV_part, Slot::K_in, Slot::O,      Slot::dQ})
            CHECK_MESSAGE(seen[static_cast<std::size_t>(slot)] > 50, info(slot).name);
    }

    TEST_CASE("explanation and label have one name for a cell, and the name finds the cell") {
        int named = 0;
        each_ring([&](const Trace& trace, const Whole&) {
            for (int k = 0; k < trace.size(); ++k)
                for (const Access& a : trace.writes(k)) {
                    const Region& at = trace.value(a.value).region;
                    const CellRef cell{a.slot, at.row + at.rows - 1, at.col + at.cols - 1};
                    const Explanation e = explain(trace, k, cell);
                    const std::string label = cell_text(trace, cell, k), result = index_of(plain(e.result));
                    if (e.target != cell || result.empty()) continue;
                    INFO("step ", k + 1, ": ", label, " and ", plain(e.result));
                    CHECK(result == index_of(label));
                    const Indices told = indices(trace, a.slot, {cell.row, cell.col, 1, 1}, k);
                    // Of two parts with one letter either is found.
                    const auto found = cell_called(trace, a.slot, told.rows.front(), told.cols.front(), k);
                    REQUIRE(found);
                    CHECK(
                        (*found == cell || (a.slot == Slot::w_part && cell_text(trace, *found, k) == label)));
                    ++named;
                }
        });
        CHECK(named > 1000);
    }

    TEST_CASE("questions ask for a cell by that name, and give numbers of the whole problem under theirs") {
        static const std::regex given("(^|[ (])(Q|K|V|S|P|dO|dP|dS|D|L)\\[(\\d+)(?:,(\\d+))?\\]\u00A0=\u00A0"
                                      "(−?[0-9.]+)(?=[,;. ]|$)");
        int targets = 0, numbers = 0;
        each_ring([&](const Trace& trace, const Whole& w) {
            for (int k = 1; k < trace.size(); ++k)
                for (const Question& q : questions_before(trace, k, static_cast<std::uint64_t>(k))) {
                    if (q.kind != Question::Kind::value) continue;
                    INFO("step ", k + 1, ": ", q.text);
                    CHECK(index_of(q.target) == index_of(cell_text(trace, q.explanation.target, k)));
                    ++targets;
                    for (auto it = std::sregex_iterator(q.text.begin(), q.text.end(), given);
                         it != std::sregex_iterator(); ++it) {
                        const auto slot = std::ranges::find_if(trace.reads(k), [&](const Access& a) {
                            return plain(slot_symbol(a.slot)) == (*it)[2].str();
                        });
                        if (slot == trace.reads(k).end()) continue;
                        const int col = (*it)[4].matched ? std::stoi((*it)[4]) : 0;
                        Step then = trace.step(k);
                        then.op = Op::mask;  // S as it is by then
                        const auto expected = in_whole(w, then, slot->slot, std::stoi((*it)[3]), col);
                        std::string number = (*it)[5];
                        if (number.starts_with("−")) number.replace(0, std::string("−").size(), "-");
                        REQUIRE(expected);
                        CHECK(std::stod(number) == doctest::Approx(*expected).epsilon(2e-3));
                        ++numbers;
                    }
                }
        });
        CHECK(targets > 300);
        CHECK(numbers > 100);
    }

    TEST_CASE("rows that do not follow each other are told in runs") {
        const auto text = [](ShardKind kind) {
            const auto trace = ring_attention(ring_of(16, 2, kind));
            for (int k = 0; k < trace->size(); ++k)
                if (trace->step(k).op == Op::scores && trace->step(k).when.worker == 0 &&
                    trace->step(k).j == 1)
                    return cell_text(*trace, {Slot::S, 5, 1}, k) +
                           index_text(*trace, Slot::S, {0, 0, 8, 8}, k);
            return std::string();
        };
        CHECK(text(ShardKind::contiguous) == "S[5,9][0…7,8…15]");
        CHECK(text(ShardKind::zigzag) == "S[13,5][0…3\u00A012…15,4…11]");
        CHECK(text(ShardKind::striped) == "S[10,3][0\u00A02\u00A0…\u00A014,1\u00A03\u00A0…\u00A015]");
    }
}

TEST_CASE(
    "ring names: the sink's gradient comes from all ranks before, each named, and is whole with the last") {
    Problem p = *random_problem(8, 4, 3);
    p.logits.sink = .5, p.options.ranks = 4;
    const auto walk = *build_trace(*find_lesson("ring-backward"), p);
    std::vector<std::string> came;
    int whole = 0;
    for (int k = 0; k < walk->size(); ++k) {
        const Explanation e = explain(*walk, k);
        if (e.title == "Hand on dsink") came.push_back(e.why.substr(0, e.why.find(" say of the sink")));
        if (walk->step(k).op != Op::sink_gradient) continue;
        const bool last = walk->step(k).when.worker == 3;
        CHECK((e.why.find("is whole") != std::string::npos) == last);
        whole += last;
    }
    CHECK(whole == 1);
    const std::string begin = "One number travels: what the queries of ";
    CHECK(came == std::vector<std::string>{begin + "rank 0", begin + "ranks 0–1", begin + "ranks 0–2"});
}

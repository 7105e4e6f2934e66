// What each fault and each format does to the numbers of a walk.
#include "core/lessons/table.h"
#include "core/walk/compare.h"
#include "tests/contains.h"
#include "tests/core/lessons/broken.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

using namespace tilewalk::test;

namespace {

bool same_result(const Problem& p, Slot slot) {
    return same_bits(forward().build(p)->result(slot), forward().build(without_faults(p))->result(slot));
}

std::string name_of(const Broken& broken) {
    const bool keys_outside = broken.order == BackwardOrder::key_outer;
    return std::string(broken.lesson.id) + (keys_outside ? "" : ", queries outside");
}

std::string name_of(Slot slot) { return info(slot).name; }

using StageFormat = Format Precision::*;

// The stage whose format a step of this op leaves in the slot; null: nobody has said so yet. What is loaded
// lies on chip as it lay in HBM.
StageFormat stage_of(const Lesson& lesson, const Problem& p, Slot slot, Op op) {
    const bool keys_outside = p.options.order == BackwardOrder::key_outer, ring = lesson.uses(chooses_ranks);
    switch (slot) {
    case Slot::Q:
    case Slot::K:
    case Slot::V:
    case Slot::dO:
    case Slot::Qi:
    case Slot::Kj:
    case Slot::Vj:
    case Slot::dOi:
    case Slot::K_in:
    case Slot::V_in: return &Precision::inputs;
    case Slot::x:
    case Slot::S:
    case Slot::dP: return &Precision::scores;
    case Slot::m_tile:
    case Slot::m:
    case Slot::alpha:
    case Slot::P:
    case Slot::l:
    case Slot::L:
    case Slot::m_hbm:
    case Slot::l_hbm:
    case Slot::D:
    case Slot::Li:
    case Slot::Di:
    case Slot::Prob:
    case Slot::dS:
    case Slot::m_part:
    case Slot::w_part:
    case Slot::l_part:
    case Slot::L_part:
    case Slot::L_parts: return &Precision::softmax;
    case Slot::Oi: return is_load(op) ? &Precision::output : &Precision::accumulator;
    case Slot::dQi:
    case Slot::dKj:
    case Slot::dVj:
    case Slot::O_part:
    case Slot::O_parts:
    case Slot::dK_part:
    case Slot::dV_part:
    case Slot::dK_in:
    case Slot::dV_in: return &Precision::accumulator;
    case Slot::O: return &Precision::output;
    // The sums that grow in HBM stay in the format of the accumulators.
    case Slot::dQ: return keys_outside && !ring ? &Precision::accumulator : &Precision::output;
    case Slot::dK:
    case Slot::dV: return keys_outside && !ring ? &Precision::output : &Precision::accumulator;
    default: return nullptr;
    }
}

std::string name_of(StageFormat format) {
    for (const Stage& stage : stages())
        if (stage.format == format) return stage.name;
    return "no stage";
}

// Where a result lies on chip before it is stored.
Slot on_chip(Slot slot) {
    switch (slot) {
    case Slot::O: return Slot::Oi;
    case Slot::dQ: return Slot::dQi;
    case Slot::dK: return Slot::dKj;
    case Slot::dV: return Slot::dVj;
    default: return Slot::count;
    }
}

// The weights are rounded on their way into these products and stand nowhere.
bool takes_weights(Op op) { return op == Op::output || op == Op::dv || op == Op::dq || op == Op::dk; }

// Step k of both walks starts from the same numbers.
bool same_reads(const Trace& a, const Trace& b, int k) {
    const auto x = a.reads(k), y = b.reads(k);
    REQUIRE(x.size() == y.size());
    for (std::size_t n = 0; n < x.size(); ++n)
        if (!same_bits(a.value(x[n].value).data, b.value(y[n].value).data)) return false;
    return true;
}

using SlotCounts = std::map<Slot, int>;

// Every number that a walk writes, or is given, is one of its stage's format; counts them slot by slot.
void check_rounded(const Trace& trace, SlotCounts& held) {
    const Problem& p = trace.problem();
    const auto check = [&](Slot slot, Op op, const Matrix& A, int k) {
        const StageFormat stage = stage_of(trace.lesson(), p, slot, op);
        ++held[slot];
        if (stage && same_bits(A, round_to(p.precision.*stage, A))) return;
        FAIL_CHECK(name_of(slot), " belongs to ", name_of(stage), ", not in its format, step ", k + 1);
    };
    for (int s = 0; s < slot_count; ++s)
        if (const Slot slot = static_cast<Slot>(s); info(slot).hbm)
            if (const Matrix A = trace.given(slot); A.size() > 0) check(slot, Op::count, A, -1);
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) check(a.slot, trace.step(k).op, trace.value(a.value).data, k);
}

// What lies on chip of these rows of the whole matrix. The rows of a rank are those of its shard.
Matrix rows_of(const Trace& trace, int k, Slot chip, const Region& rows) {
    const Matrix& all = trace.live(chip, k).value->data;
    if (!trace.lesson().uses(chooses_ranks)) return all;
    const Problem& p = trace.problem();
    const bool keys = chip == Slot::dKj || chip == Slot::dVj;
    const auto own = positions_of_rank(p, keys ? p.N_kv() : p.N(), trace.workers(),
                                       keys ? trace.step(k).j : trace.step(k).when.worker);
    const auto first = std::ranges::find(own, rows.row);
    REQUIRE(first != own.end());
    return all.middleRows(first - own.begin(), rows.rows);
}

// What is stored is what stands on chip, rounded once; counts, slot by slot, where that made a difference.
void check_stores(const Trace& trace, SlotCounts& changed) {
    const Problem& p = trace.problem();
    for (int k = 0; k < trace.size(); ++k) {
        if (!is_store(trace.step(k).op)) continue;
        for (const Access& a : trace.writes(k)) {
            if (on_chip(a.slot) == Slot::count ||
                stage_of(trace.lesson(), p, a.slot, Op::store) != &Precision::output)
                continue;
            const Matrix& stored = trace.value(a.value).data;
            const Matrix chip = rows_of(trace, k, on_chip(a.slot), trace.value(a.value).region);
            CHECK_MESSAGE(same_bits(stored, round_to(p.precision.output, chip)), name_of(a.slot), ", step ",
                          k + 1);
            changed[a.slot] += !same_bits(stored, chip);
        }
    }
}

// A number before it is rounded, and how large its terms are.
struct Exact {
    double value, size;
};

// D, P or dS of a backward pass at row r, column c of its tile, number by number from what step k read.
Exact exact_softmax(const Trace& trace, int k, Slot slot, Eigen::Index r, Eigen::Index c) {
    const auto at = [&](Slot of, Eigen::Index col, int tile = 0) {
        return trace.live(of, tile, k).value->data(r, col);
    };
    if (slot == Slot::Prob) {
        const double value = std::exp(at(Slot::S, c) - at(Slot::Li, 0));
        return {value, value};
    }
    if (slot == Slot::dS) {
        const double P = at(Slot::Prob, c), dP = at(Slot::dP, c), D = at(Slot::Di, 0);
        return {P * (dP - D), std::abs(P) * (std::abs(dP) + std::abs(D))};
    }
    Exact sum{0, 0};
    for (int n = 0; n < trace.problem().d(); ++n) {
        const double term = at(Slot::dO, n, trace.step(k).i) * at(Slot::O, n, trace.step(k).i);
        sum.value += term, sum.size += std::abs(term);
    }
    return sum;
}

// D, P and dS are rounded from the exact numbers; counts, slot by slot, where that made a difference.
void check_backward_softmax(const Trace& trace, SlotCounts& changed) {
    const Format format = trace.problem().precision.softmax;
    for (int k = 0; k < trace.size(); ++k)
        for (const Access& a : trace.writes(k)) {
            if (a.slot != Slot::D && a.slot != Slot::Prob && a.slot != Slot::dS) continue;
            const Matrix& A = trace.value(a.value).data;
            for (Eigen::Index r = 0; r < A.rows(); ++r)
                for (Eigen::Index c = 0; c < A.cols(); ++c) {
                    const auto exact = exact_softmax(trace, k, a.slot, r, c);
                    const double value = exact.value, size = exact.size;
                    if (!std::isfinite(value) || !std::isfinite(size)) continue;
                    const double slack = 1e-14 * size;
                    const bool right = A(r, c) >= round_to(format, value - slack) &&
                                       A(r, c) <= round_to(format, value + slack);
                    CHECK_MESSAGE(right, name_of(a.slot), " is ", A(r, c), ", from ", value, ", step ",
                                  k + 1);
                    changed[a.slot] += std::abs(A(r, c) - value) > slack;
                }
        }
}

// A number that comes from a sum of terms: of these it may be the rounded one of either side of a tie.
bool is_rounded(double got, Format format, double exact, double size) {
    if (!std::isfinite(exact) || !std::isfinite(size)) return true;
    const double slack = 1e-14 * size;
    return got >= round_to(format, exact - slack) && got <= round_to(format, exact + slack);
}

// What a part found in one step is what a tile would be: m, P̃, ℓ and O, each rounded in turn, number by
// number from the scores and values that the step read.
void check_parts(const Trace& trace, SlotCounts& checked) {
    const Problem& p = trace.problem();
    const Precision& f = p.precision;
    for (int k = 0; k < trace.size(); ++k) {
        if (trace.step(k).op != Op::part) continue;
        const Matrix &S = trace.value(trace.reads(k)[0].value).data,
                     &V = trace.value(trace.reads(k)[1].value).data;
        for (const Access& a : trace.writes(k))
            for (Eigen::Index r = 0; r < S.rows(); ++r)
                for (Eigen::Index c = 0; c < trace.value(a.value).data.cols(); ++c) {
                    const double m = round_to(f.softmax, S.row(r).maxCoeff()),
                                 base = std::isinf(m) && m < 0 ? 0 : m;
                    double l = 0, O = 0, size = 0;
                    for (Eigen::Index j = 0; j < S.cols(); ++j) {
                        const double w = round_to(f.softmax, std::exp(S(r, j) - base));
                        l += w, O += round_to(f.weights, w) * V(j, c), size += std::abs(w * V(j, c));
                    }
                    const double got = trace.value(a.value).data(r, c);
                    ++checked[a.slot];
                    bool right = true;
                    switch (a.slot) {
                    case Slot::m:
                    case Slot::m_part: right = got == m; break;
                    case Slot::l:
                    case Slot::l_part: right = is_rounded(got, f.softmax, l, l); break;
                    case Slot::Oi:
                    case Slot::O_part:
                        if (p.options.parts == PartForm::sums || trace.lesson().uses(chooses_ranks))
                            right = is_rounded(got, f.accumulator, O, size);
                        break;
                    default: break;
                    }
                    CHECK_MESSAGE(right, name_of(a.slot), " is ", got, ", step ", k + 1);
                }
    }
}

// One stage alone is rounded: a step that starts from the numbers of the true walk leaves its numbers,
// rounded if they belong to the stage. Counts, slot by slot, the values of the stage that were not in the
// format already.
void check_against_truth(const Trace& trace, const Trace& truth, StageFormat stage, SlotCounts& changed) {
    const Problem& p = trace.problem();
    REQUIRE(trace.size() == truth.size());
    for (const Slot slot : {Slot::Q, Slot::K, Slot::V, Slot::dO, Slot::O, Slot::x}) {
        const Matrix got = trace.given(slot), exact = truth.given(slot);
        if (got.size() == 0 || stage_of(trace.lesson(), p, slot, Op::count) != stage) continue;
        CHECK_MESSAGE(same_bits(got, round_to(p.precision.*stage, exact)), name_of(slot), " as given");
        changed[slot] += !same_bits(got, exact);
    }
    for (int k = 0; k < trace.size(); ++k) {
        if (!same_reads(trace, truth, k)) continue;
        const Op op = trace.step(k).op;
        const auto writes = trace.writes(k), sound = truth.writes(k);
        REQUIRE(writes.size() == sound.size());
        for (std::size_t n = 0; n < writes.size(); ++n) {
            const Slot slot = writes[n].slot;
            const Matrix &got = trace.value(writes[n].value).data, &exact = truth.value(sound[n].value).data;
            const bool same = same_bits(got, exact);
            // A part rounds on its way: check_parts.
            if ((stage == &Precision::weights && takes_weights(op)) || op == Op::part) {
                changed[slot] += !same;
                continue;
            }
            const bool here = stage_of(trace.lesson(), p, slot, op) == stage;
            CHECK_MESSAGE(same_bits(got, here ? round_to(p.precision.*stage, exact) : exact), name_of(slot),
                          ", step ", k + 1, " ", std::string(name(op)));
            changed[slot] += here && !same;
        }
    }
}

}  // namespace

TEST_SUITE("what a fault does") {
    TEST_CASE("without the correction O and ℓ are wrong exactly where a maximum rises after the first keys") {
        Problem p = with(worked_example(), &Switches::no_correction);
        const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
        const Matrix O = truth->result(Slot::O), wrong = broken->result(Slot::O);
        // In the example the maxima of queries 0 and 1 rise from 1 to 2; those of 2 and 3 stay.
        CHECK(std::abs(O(0, 0) - wrong(0, 0)) > 0.5);
        CHECK(std::abs(O(1, 0) - wrong(1, 0)) > 0.5);
        CHECK(O.bottomRows(2) == wrong.bottomRows(2));
        const double l = std::exp(truth->result(Slot::L)(0, 0) - 2),
                     l_wrong = std::exp(broken->result(Slot::L)(0, 0) - 2);
        CHECK(l == doctest::Approx(std::exp(-1) * (1 + std::exp(-1)) + 1 + std::exp(-2)));
        CHECK(l_wrong == doctest::Approx(1 + std::exp(-1) + 1 + std::exp(-2)));
    }
    TEST_CASE("without the maximum O and L are the same as long as nothing overflows") {
        Problem p = with(worked_example(), &Switches::no_max);
        const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
        CHECK(broken->result(Slot::O).isApprox(truth->result(Slot::O), 1e-14));
        CHECK(broken->result(Slot::L).isApprox(truth->result(Slot::L), 1e-14));
        CHECK_FALSE(same_bits(broken->live(Slot::P, 8).value->data, truth->live(Slot::P, 8).value->data));
        p.scale = {Scale::Kind::number, 360};  // scores up to 720: exp overflows beyond 709.78
        CHECK(forward().build(p)->result(Slot::O).hasNaN());
        CHECK_FALSE(forward().build(without_faults(p))->result(Slot::O).hasNaN());
        p.scale = {Scale::Kind::number, 6};  // 12: too much for fp16, whose exp overflows beyond 11.09
        CHECK_FALSE(forward().build(p)->result(Slot::O).hasNaN());
        p.precision.softmax = Format::fp16;
        CHECK_FALSE(forward().build(p)->result(Slot::O).allFinite());
    }
    TEST_CASE("without the division O is ℓ times too large and L is right") {
        const Problem p = with(worked_example(), &Switches::no_division);
        const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
        for (int r = 0; r < 4; ++r) {
            const int k = broken->size() - 1;
            const double l = broken->live(Slot::l, r < 2 ? k / 2 : k).value->data(r % 2, 0);
            CHECK(l > 1.3);
            for (int c = 0; c < 4; ++c)
                CHECK(broken->result(Slot::O)(r, c) ==
                      doctest::Approx(l * truth->result(Slot::O)(r, c)).epsilon(1e-14));
        }
        CHECK(same_result(p, Slot::L));
    }
    TEST_CASE("the old maximum makes ∞ at the first tile and NaN of it") {
        const auto broken = forward().build(with(worked_example(), &Switches::stale_max));
        CHECK((broken->live(Slot::P, 7).value->data.array() == INFINITY).all());
        CHECK(broken->result(Slot::O).array().isNaN().all());
    }
    TEST_CASE("with the mask edge one too far each query of a cut tile sees the key after its last") {
        Problem p = with(worked_example(), &Switches::wrong_mask_edge);
        CHECK(same_result(p, Slot::O));  // no mask, no edge
        for (bool causal : {true, false}) {
            p.causal = causal;
            p.window = causal ? std::nullopt : std::optional(0);
            const auto truth = forward().build(without_faults(p)), broken = forward().build(p);
            int more = 0;
            for (const int k : steps_of(*truth, Op::mask)) {
                const Value &a = *truth->live(Slot::S, k).value, &b = *broken->live(Slot::S, k).value;
                for (int r = 0; r < a.region.rows; ++r)
                    for (int c = 0; c < a.region.cols; ++c) {
                        const bool one_more = a.region.col + c == a.region.row + r + 1;
                        CHECK(std::isinf(a.data(r, c)) ==
                              (a.region.col + c > a.region.row + r ||
                               (!causal && a.region.col + c != a.region.row + r)));
                        CHECK(std::isinf(b.data(r, c)) == (std::isinf(a.data(r, c)) && !one_more));
                        more += one_more;
                    }
            }
            CHECK(more ==
                  2);  // queries 0 and 2; the next keys of 1 and 3 lie in tiles that are skipped or not there
            CHECK_FALSE(same_result(p, Slot::O));
        }
    }
    TEST_CASE("a fault of the backward pass leaves the forward pass alone") {
        CHECK(same_result(with(worked_example(), &Switches::no_lse), Slot::O));
    }
    TEST_CASE("a stage that must hold −∞ refuses a format without it") {
        for (Format Precision::*stage : {&Precision::scores, &Precision::softmax, &Precision::accumulator}) {
            Problem p = worked_example();
            p.precision.*stage = Format::e4m3;
            REQUIRE(validate(p));
            CHECK(validate(p)->find("no ∞") != std::string::npos);
            p.precision.*stage = Format::fp16;
            CHECK_FALSE(validate(p));
        }
    }
    TEST_CASE("without L the weights of the backward pass are exp(S), and the forward results stay true") {
        for (BackwardOrder order : {BackwardOrder::key_outer, BackwardOrder::query_outer}) {
            Problem p = with(worked_example(), &Switches::no_lse);
            p.options.order = order;
            const Lesson& backward = *find_lesson("flash-backward");
            const auto truth = backward.build(without_faults(p)), broken = backward.build(p);
            const std::vector<int> recomputed = steps_of(*broken, Op::recompute);
            CHECK(recomputed.size() == 4);
            for (const int k : recomputed) {
                const Value &S = *broken->live(Slot::S, k).value, &P = *broken->live(Slot::Prob, k).value;
                for (Eigen::Index n = 0; n < P.data.size(); ++n)
                    CHECK(P.data.data()[n] == std::exp(S.data.data()[n]));
            }
            for (Slot slot : {Slot::O, Slot::L, Slot::D})
                CHECK(same_bits(truth->result(slot), broken->result(slot)));
            for (Slot slot : {Slot::dQ, Slot::dK, Slot::dV})
                CHECK_FALSE(same_bits(truth->result(slot), broken->result(slot)));
        }
    }
    TEST_CASE("a row of the backward pass that sees one key too many has weights above 1 together") {
        const auto broken =
            walk_of("flash-backward", with(causal(worked_example()), &Switches::wrong_mask_edge));
        double most = 0;
        for (const int k : steps_of(*broken, Op::recompute))
            most = std::max(most, broken->live(Slot::Prob, k).value->data.rowwise().sum().maxCoeff());
        CHECK(most > 1.1);
    }
    TEST_CASE(
        "both forward lessons agree about a fault of the mask and differ where the division is left out") {
        const Lesson& first = *find_lesson("flash-forward-v1");
        Problem p = with(causal(worked_example()), &Switches::wrong_mask_edge);
        CHECK(first.build(p)->result(Slot::O).isApprox(forward().build(p)->result(Slot::O), 1e-12));
        CHECK_FALSE(
            first.build(p)->result(Slot::O).isApprox(first.build(without_faults(p))->result(Slot::O), 1e-3));
        p = with(worked_example(), &Switches::no_division);
        CHECK_FALSE(first.build(p)->result(Slot::O).isApprox(forward().build(p)->result(Slot::O), 1e-3));
    }
    TEST_CASE("every stage rounds what it writes, and the inputs lie rounded in HBM") {
        SlotCounts in_all;
        for (const Broken& broken : breakable()) {
            INFO(name_of(broken));
            Random random(66);
            SlotCounts held, stored, rounded;
            for (int n = 0; n < 60; ++n) {
                const Problem p = broken.of(random_precision(random, any_problem(random, 6)));
                const auto trace = broken.lesson.build(p);
                check_rounded(*trace, held);
                check_stores(*trace, stored);
                check_backward_softmax(*trace, rounded);
                for (const auto& [slot, given] : {std::pair(Slot::Q, p.Q),
                                                  {Slot::K, p.K},
                                                  {Slot::V, p.V},
                                                  {Slot::dO, output_gradient(p)}}) {
                    const Matrix A = trace->given(slot);
                    const bool one_query = slot == Slot::Q && broken.lesson.one_row;
                    if (A.size() == 0) continue;
                    const Matrix all = one_query ? given.middleRows(p.options.row, A.rows()) : given;
                    CHECK(same_bits(A, round_to(p.precision.inputs, all)));
                }
            }
            for (const Slot slot : broken.lesson.results) {
                CHECK_MESSAGE(held[slot] >= 60, name_of(slot));
                if (stage_of(broken.lesson, broken.of({}), slot, Op::store) == &Precision::output)
                    CHECK_MESSAGE(stored[slot] >= 10, name_of(slot));
            }
            for (const Slot slot : {Slot::D, Slot::Prob, Slot::dS})
                if (held[slot] > 0) CHECK_MESSAGE(rounded[slot] >= 10, name_of(slot));
            for (const auto& [slot, count] : held) in_all[slot] += count;
        }
        // Every slot that belongs to a stage was met.
        for (int s = 0; s < slot_count; ++s)
            if (stage_of(forward(), {}, static_cast<Slot>(s), Op::init))
                CHECK_MESSAGE(in_all[static_cast<Slot>(s)] >= 60, name_of(static_cast<Slot>(s)));
    }
    TEST_CASE(
        "a stage that alone is rounded leaves the true numbers rounded, and others than the true ones") {
        for (const Broken& broken : breakable())
            for (const Stage& stage : stages()) {
                INFO(name_of(broken), ", ", std::string(stage.name));
                SlotCounts changed, parts;
                for (std::uint64_t seed = 1; seed <= 10; ++seed) {
                    Problem p = broken.of(*random_problem(6, 3, seed));
                    p.Br = 2, p.Bc = 4, p.causal = seed % 2 == 0;
                    const auto truth = broken.lesson.build(p);
                    p.precision.*stage.format = Format::bf16;
                    const auto trace = broken.lesson.build(p);
                    check_against_truth(*trace, *truth, stage.format, changed);
                    check_parts(*trace, parts);
                    check_backward_softmax(*trace, changed);
                }
                int in_all = 0;
                for (const auto& [slot, count] : changed) in_all += count;
                CHECK(in_all >= 10);
            }
    }
    TEST_CASE("the weights are rounded on their way into the product, not in the sum") {
        Problem p = worked_example();
        p.precision.weights = Format::e4m3;
        const auto broken = forward().build(p), truth = forward().build(without_faults(p));
        CHECK(same_result(p, Slot::L));
        CHECK_FALSE(same_result(p, Slot::O));
        const int k = 9;  // output of tile (0, 0)
        REQUIRE(broken->step(k).op == Op::output);
        CHECK(broken->live(Slot::Oi, k).value->data(0, 0) == 1 * 1 + 0.375 * 5);  // exp(−1) in e4m3 is 0.375
        CHECK(same_bits(broken->live(Slot::P, k).value->data, truth->live(Slot::P, k).value->data));
    }
    TEST_CASE("fp16 scores overflow to −∞ and ∞, and the sentences say so") {
        Problem p = worked_example();
        p.Q *= 300;
        p.K *= -300;
        p.precision.scores = Format::fp16;
        const auto low = forward().build(p);
        int lost = 0;
        every_written_cell(*low, [&](const CellRef& cell, int k) {
            if (low->step(k).op != Op::exponentials || low->live(Slot::S, k).value->data.maxCoeff() > 0)
                return;
            const double S = value_at(*holding(*low, {Slot::S, cell.row, cell.col}, k).value,
                                      {Slot::S, cell.row, cell.col});
            if (!std::isinf(S)) return;
            ++lost;
            CHECK(explain(*low, k, cell).why.find("overflowed") != std::string::npos);
        });
        CHECK(lost > 0);
        p.K *= -1;
        CHECK(forward().build(p)->result(Slot::O).hasNaN());
        CHECK_FALSE(forward().build(without_faults(p))->result(Slot::O).hasNaN());
    }
}

// ---- Partial results

namespace {

// Where the walks first write other numbers, and of which op that step is.
Op first_wrong_op(const Lesson& lesson, const Problem& p) {
    const auto truth = lesson.build(without_faults(p)), broken = lesson.build(p);
    const int first = next_difference(compare(*truth, *broken), -1);
    return first < 0 ? Op::count : broken->step(first).op;
}

Matrix output_of(const Lesson& lesson, const Problem& p) { return lesson.build(p)->result(Slot::O); }

// Three parts of three, two and three keys, whose maxima differ.
Problem three_parts(PartForm form) {
    Problem p = *random_problem(8, 3, 5);
    p.options.splits = {3, 2, 3}, p.options.parts = form;
    return p;
}

// Σ Oᵢ ÷ Σ ℓᵢ of parts that are each measured from their own maximum, by hand.
Matrix added_as_they_are(const Problem& p) {
    const Dense dense = dense_attention(p);
    const int R = p.options.row;
    Matrix O = Matrix::Zero(1, p.d());
    double sum = 0;
    int key = 0;
    for (const int keys : p.options.splits) {
        const Matrix S = dense.S.row(R).segment(key, keys).cast<double>();
        const double m = S.maxCoeff();
        for (int c = 0; c < keys; ++c) {
            const double w = std::exp(S(0, c) - m);
            sum += w, O += w * p.V.row(key + c);
        }
        key += keys;
    }
    return O / sum;
}

}  // namespace

TEST_SUITE("what a fault does to partial results") {
    TEST_CASE("merged without weights parts keep the base they were measured from") {
        const Lesson& merge = *find_lesson("merge");
        for (const MergeOrder order : {MergeOrder::chain, MergeOrder::pairs, MergeOrder::at_once}) {
            Problem p = with(three_parts(PartForm::sums), &Switches::no_weights);
            p.options.merge = order;
            CHECK(first_wrong_op(merge, p) == Op::merge_weights);
            CHECK(output_of(merge, p).isApprox(added_as_they_are(p), 1e-12));
            CHECK_FALSE(output_of(merge, p).isApprox(output_of(merge, without_faults(p)), 1e-2));
        }
        // Divided parts are added, not averaged: three averages of ones are three.
        Problem p = with(three_parts(PartForm::normalised), &Switches::no_weights);
        p.V.setOnes();
        CHECK(output_of(merge, p).isApprox(Matrix::Constant(1, 3, 3.0), 1e-12));
        // Parts with one maximum weigh 1 anyway.
        p = with(three_parts(PartForm::sums), &Switches::no_weights);
        p.K.setOnes();
        CHECK(first_wrong_op(merge, p) == Op::count);
    }
    TEST_CASE("without ln ℓ in L a part weighs as its largest key alone") {
        Problem p = with(three_parts(PartForm::normalised), &Switches::no_log_sum);
        p.K.setZero();  // all scores are 0: each part has as much weight as keys, and by its maximum alone
                        // one
        p.V.setZero(), p.V.topRows(3).setOnes();
        const Lesson& merge = *find_lesson("merge");
        CHECK(first_wrong_op(merge, p) == Op::part);
        CHECK(output_of(merge, without_faults(p)).isApprox(Matrix::Constant(1, 3, 3.0 / 8), 1e-12));
        CHECK(output_of(merge, p).isApprox(Matrix::Constant(1, 3, 1.0 / 3), 1e-12));
        p.Bc = 1, p.options.workers = 3;
        CHECK(first_wrong_op(*find_lesson("split-kv"), p) == Op::store);
        CHECK(output_of(*find_lesson("split-kv"), p).isApprox(Matrix::Constant(1, 3, 1.0 / 3), 1e-12));
        // Where sums are merged O does not need L.
        p = with(three_parts(PartForm::sums), &Switches::no_log_sum);
        CHECK(first_wrong_op(merge, p) == Op::store);
        CHECK(same_bits(output_of(merge, p), output_of(merge, without_faults(p))));
    }
    TEST_CASE("without the maximum parts are plain sums, the same until exp overflows") {
        for (const char* id : {"merge", "split-kv", "cascade", "ring"}) {
            const Lesson& lesson = *find_lesson(id);
            Problem p = with(worked_example(), &Switches::no_max);
            CHECK(output_of(lesson, p).isApprox(output_of(lesson, without_faults(p)), 1e-14));
            p.scale = {Scale::Kind::number, 360};  // scores up to 720
            CHECK_MESSAGE(output_of(lesson, p).hasNaN(), std::string(id));
            CHECK_FALSE(output_of(lesson, without_faults(p)).hasNaN());
        }
    }
    TEST_CASE("without the maximum ln ℓ holds below the normal numbers as well") {
        Problem p;
        p.Q = Matrix::Constant(4, 1, -720);  // exp(−720) is 2 · 10⁻³¹³
        p.K = p.V = Matrix::Ones(1, 1);
        p.Br = 4, p.Bc = 1;
        int held = 0;
        for (const Lesson& lesson : lessons()) {
            const auto trace = lesson.build(with(p, &Switches::no_max));
            every_write(*trace, [&](Slot slot, const Value& value, int) {
                // A part without keys has −∞.
                if ((slot != Slot::L && slot != Slot::L_part) || std::isinf(value.data(0, 0))) return;
                CHECK_MESSAGE(((value.data.array() + 720).abs() < 1e-9).all(), std::string(lesson.id));
                ++held;
            });
        }
        CHECK(held > 6);
    }
    TEST_CASE("the faults of a tile are those of flash-forward: one split of all keys has the same numbers") {
        Random random(81);
        int finite = 0;
        for (const Fault& fault : forward_faults())
            for (int n = 0; n < 30; ++n) {
                Problem p = with(any_problem(random, 7), fault.on);
                p.Br = 1, p.options.splits = {p.N_kv()}, p.options.row = pick(random, 0, p.N() - 1);
                // The merge of one part comes before O is rounded to be stored.
                if (n % 2 == 1) p.precision = presets()[3].precision, p.precision.output = Format::fp64;
                const Matrix O = output_of(*find_lesson("split-kv"), p),
                             flash = output_of(forward(), p).row(p.options.row);
                CHECK(O.allFinite() == flash.allFinite());
                if (!flash.allFinite()) continue;
                ++finite;
                CHECK_MESSAGE(O.isApprox(flash, 1e-14), std::string(fault.name), " ", describe(p));
            }
        CHECK(finite > 90);
    }
    TEST_CASE("every fault of the merging lessons shows, and first where its line of code is") {
        for (const char* id : {"merge", "split-kv", "cascade", "ring"}) {
            const Lesson& lesson = *find_lesson(id);
            for (const Fault& fault : lesson.faults()) {
                INFO(std::string(id), " ", std::string(fault.name));
                Problem p = with(*random_problem(8, 3, 9), fault.on);
                p.Bc = 2, p.causal = fault.on == &Switches::wrong_mask_edge, p.options.splits = {4, 4};
                int shown = 0, wrong = 0;
                for (p.options.row = 4; p.options.row < 8; ++p.options.row) {
                    const auto truth = lesson.build(without_faults(p)), broken = lesson.build(p);
                    const Comparison found = compare(*truth, *broken);
                    CHECK(found.mismatch.empty());
                    const double off = distance(found.worst.truth, found.worst.broken);
                    const bool is_wrong = found.not_finite > 0 || off > 1e-3;
                    wrong += is_wrong;
                    CHECK(!found.sentence.empty());
                    if (is_wrong) CHECK(contains(found.sentence, " step "));
                    const int first = next_difference(found, -1);
                    if (first < 0) continue;
                    ++shown;
                    const auto line = static_cast<std::size_t>(code_line(*broken, first));
                    CHECK(std::string(lesson.code(p)[line].text) !=
                          lesson.code(without_faults(p))[line].text);
                }
                CHECK(shown > 0);
                const bool sums = lesson.id == std::string_view("merge");
                const bool harmless =
                    fault.on == &Switches::no_max || (sums && fault.on == &Switches::no_log_sum);
                CHECK((wrong > 0) != harmless);
            }
        }
    }
    TEST_CASE("in a rounded format two trees over the same parts differ, and exact they do not") {
        const Lesson& merge = *find_lesson("merge");
        int apart = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Problem p = *random_problem(8, 3, seed);
            p.options.splits = std::vector<int>(8, 1);
            Problem pairs = p;
            pairs.options.merge = MergeOrder::pairs;
            CHECK(output_of(merge, p).isApprox(output_of(merge, pairs), 1e-13));
            p.precision.softmax = p.precision.accumulator = Format::bf16;
            pairs.precision = p.precision;
            const Matrix a = output_of(merge, p), b = output_of(merge, pairs);
            CHECK(a.isApprox(b, .1));
            apart += !same_bits(a, b);
        }
        CHECK(apart > 15);
    }
    TEST_CASE("a fault that a lesson does not know changes nothing in it") {
        for (const Lesson& lesson : lessons())
            for (const Fault& fault : all_faults()) {
                const bool known = std::ranges::any_of(lesson.faults(),
                                                       [&](const Fault& one) { return one.on == fault.on; });
                if (known) continue;
                INFO(std::string(lesson.id), " ", std::string(fault.name));
                const Problem p = causal(tutorial_backward());
                const auto truth = lesson.build(p), other = lesson.build(with(p, fault.on));
                CHECK_FALSE(compare(*truth, *other).differs());
                for (int k = 0; k < truth->size(); ++k)
                    CHECK(explain(*truth, k).why == explain(*other, k).why);
            }
    }
}

TEST_CASE("a fault that changes nothing says why, in every lesson and with every switch") {
    // All scores 0: nothing rises. With one key besides, every sum is 1 and every L is 0.
    Problem still = worked_example();
    still.Q.setZero(), still.K.setZero();
    Problem one = still;
    keep_keys(one, 1);
    one.Br = one.Bc = 1;
    std::map<std::string, int> told;
    int unchanged = 0;
    for (const Broken& broken : breakable())
        for (const PartForm parts : {PartForm::sums, PartForm::normalised})
            for (Problem p : {still, one, worked_example(), causal(worked_example())}) {
                p = broken.of(p);
                p.options.parts = parts;
                if (p.N_kv() == 1) p.options.row = 0, p.options.ranks = 1;
                const auto truth = build_trace(broken.lesson, p);
                if (!truth) continue;
                for (const Fault& fault : broken.lesson.faults()) {
                    Problem q = p;
                    q.switches.*fault.on = true;
                    const auto walk = build_trace(broken.lesson, q);
                    REQUIRE(walk);
                    const Comparison compared = compare(**truth, **walk);
                    CAPTURE(std::string(broken.lesson.id));
                    CAPTURE(compared.sentence);
                    REQUIRE(!compared.sentence.empty());
                    CHECK(compared.sentence.back() == '.');
                    if (compared.differs()) continue;
                    ++unchanged;
                    ++told[compared.sentence];
                    CHECK_FALSE(contains(compared.sentence, "instead of"));
                }
            }
    CHECK(unchanged > 20);
    CHECK(told.size() >= 6);  // kinds of reasons
}

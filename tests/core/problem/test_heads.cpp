// Query heads that share key heads: which goes with which, what is refused, and the gradients of a group.
#include "core/problem/heads.h"

#include "core/lessons/backward/backward.h"
#include "core/lessons/dense/dense.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/merge/split_kv.h"
#include "core/lessons/ring/ring.h"
#include "core/lessons/shared/heads_ledger.h"
#include "tests/contains.h"
#include "tests/core/lessons/dense_checks.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem with_heads(Problem p, int H, int H_kv) {
    give_heads(p, H, H_kv);
    return p;
}

// The loss of all query heads together, each with the keys and values of its group.
double loss_of_heads(const Problem& p) {
    double out = 0;
    for (int h = 0; h < query_heads(p); ++h) {
        const Problem alone = head_alone(p, h);
        out += loss_of(alone, output_gradient(alone));
    }
    return out;
}

// The gradient of the K or V of a group: each of its query heads adds its own.
Matrix group_gradient(const Lesson& lesson, const Problem& p, int g, Slot slot) {
    Matrix out = Matrix::Zero(p.N_kv(), p.d());
    for (int h = 0; h < query_heads(p); ++h)
        if (key_head(p, h) == g) out += lesson.build(head_alone(p, h))->result(slot);
    return out;
}

void check_group_differences(const Problem& p, int g, const Matrix& dK, const Matrix& dV) {
    for (const auto& [moved_part, gradient] : {std::pair(&Heads::K, &dK), {&Heads::V, &dV}})
        for (Eigen::Index n = 0; n < gradient->size(); ++n) {
            Problem moved = p;
            show_head(moved, 0);
            const double h = 1e-5;
            const auto loss = [&, part = moved_part](double by) {
                Problem q = moved;
                ((*q.heads).*part)[static_cast<std::size_t>(g)].data()[n] += by;
                q.K = q.heads->K[0], q.V = q.heads->V[0];
                return loss_of_heads(q);
            };
            const double slope = (loss(h) - loss(-h)) / (2 * h);
            CHECK_MESSAGE(std::abs(gradient->data()[n] - slope) <= 1e-6 * (1 + std::abs(slope)), describe(p));
        }
}

}  // namespace

TEST_SUITE("heads") {
    TEST_CASE("neighbouring query heads share a key head") {
        const Problem p = with_heads(tutorial_backward(), 6, 2);
        REQUIRE_FALSE(validate(p));
        CHECK(query_heads(p) == 6);
        CHECK(key_heads(p) == 2);
        for (int h = 0; h < 6; ++h) {
            CHECK(key_head(p, h) == h / 3);
            CHECK(head_alone(p, h).K == p.heads->K[static_cast<std::size_t>(h / 3)]);
            CHECK(head_alone(p, h).Q == p.heads->Q[static_cast<std::size_t>(h)]);
            CHECK_FALSE(head_alone(p, h).heads);
        }
        CHECK(query_heads(worked_example()) == 1);
        CHECK(key_heads(worked_example()) == 1);
    }
    TEST_CASE(
        "made-up key heads say something else to one query, and it is no other order of the same keys") {
        for (const Problem& p : {worked_example(), *random_problem(7, 5, 3)}) {
            const Problem both = with_heads(p, 2, 2);
            Problem other = head_alone(both, 0);
            other.K = both.heads->K[1], other.V = both.heads->V[1];
            const Dense::Table first = dense_attention(head_alone(both, 0)).O,
                               second = dense_attention(other).O;
            CHECK((first - second).cwiseAbs().maxCoeff() > .01);
        }
    }

    TEST_CASE("what is changed in the shown head stays with it") {
        Problem p = with_heads(worked_example(), 4, 2);
        const Matrix first = p.Q;
        show_head(p, 3);
        CHECK(p.Q != first);
        p.Q(0, 0) = 7, p.K(0, 0) = 9;
        show_head(p, 2);
        CHECK(p.K(0, 0) == 9);  // of the same group
        CHECK(p.Q(0, 0) != 7);
        show_head(p, 3);
        CHECK(p.Q(0, 0) == 7);
        show_head(p, 0);
        CHECK(p.Q == first);
        give_heads(p, 1, 1);
        CHECK_FALSE(p.heads);
        CHECK(p.Q == first);
    }
    TEST_CASE("heads that do not fit are refused with a sentence") {
        const auto refused = [](auto spoil, const char* part) {
            Problem p = with_heads(tutorial_backward(), 4, 2);
            spoil(p);
            const auto sentence = validate(p);
            REQUIRE(sentence);
            check_contains(*sentence, {part});
        };
        refused([](Problem& p) { p.heads->K.resize(3), p.heads->V.resize(3); }, "cannot share 3 key heads");
        refused([](Problem& p) { p.heads->V.resize(1); }, "V of 1");
        refused([](Problem& p) { p.heads->dO.resize(1); }, "dO of 1 head;");
        refused([](Problem& p) { p.heads->shown = 4; }, "The shown head is 4");
        refused([](Problem& p) { p.heads->shown = -1; }, "The shown head is -1; there are the heads 0 to 3");
        refused(
            [](Problem& p) {
                give_heads(p, 1, 1), p.heads.emplace();
                p.heads->Q = {p.Q}, p.heads->K = {p.K}, p.heads->V = {p.V}, p.heads->dO = {*p.dO};
                p.heads->shown = 1;
            },
            "there is head 0 alone");
        refused([](Problem& p) { p.heads->K.clear(), p.heads->V.clear(); }, "0 key heads");
        refused([](Problem& p) { give_heads(p, most_heads + 1, 1); }, "there may be 1 to");
        refused(
            [](Problem& p) {
                p.projection = Projection{Matrix::Identity(4, 4), p.Q, p.K, p.V};
            },
            "With an input X there is one head");
        refused([](Problem& p) { p.heads->K[1].resize(4, 3); }, "K of head 1");
        refused([](Problem& p) { p.heads->dO[2](0, 0) = INFINITY; }, "dO of head 2");
        refused([](Problem& p) { p.heads->Q[1].resize(3, 4); }, "Q of head 1");
        refused([](Problem& p) { p.heads->V[1](0, 0) = NAN; }, "V of head 1");
        refused([](Problem& p) { p.heads->Q.clear(); }, "0 query heads");
        CHECK_FALSE(refuse(flash_forward, with_heads(tutorial_backward(), 4, 2)));
        CHECK_FALSE(refuse(training_step, with_heads(tutorial_backward(), 4, 2)));
        Problem far = with_heads(tutorial_backward(), 4, 2);
        far.heads->dO[1] *= 1e150, far.options.learning_rate = 1e6;  // of the head beside the shown one
        check_contains(*refuse(training_step, far), {"could overflow"});
    }
    TEST_CASE(
        "500 random problems: the gradients of a group are central differences of the loss of all heads") {
        Random random(91);
        for (int n = 0; n < 500; ++n) {
            Problem p = gradient_problem(random, 3);
            const int H_kv = pick(random, 1, 2), size = pick(random, 1, 3), g = pick(random, 0, H_kv - 1);
            p = with_heads(p, H_kv * size, H_kv);
            if (n % 3 == 0) p.logits = any_logits(random);
            if (validate(p) || !p.heads) continue;
            p.options.order = static_cast<BackwardOrder>(n % 2);
            const Matrix dK = group_gradient(flash_backward, p, g, Slot::dK),
                         dV = group_gradient(flash_backward, p, g, Slot::dV);
            const double size_K = 1 + dK.cwiseAbs().maxCoeff(), size_V = 1 + dV.cwiseAbs().maxCoeff();
            CHECK((dK - group_gradient(attention_backward, p, g, Slot::dK)).cwiseAbs().maxCoeff() <
                  1e-12 * size_K);
            CHECK((dV - group_gradient(attention_backward, p, g, Slot::dV)).cwiseAbs().maxCoeff() <
                  1e-12 * size_V);
            if (n % 5 == 0) check_group_differences(p, g, dK, dV);
        }
    }
    TEST_CASE("the ledger: K and V again for every head, or once for a group") {
        const Problem p = with_heads(*random_problem(8, 4, 1), 6, 2);
        const std::int64_t e = p.element_bytes, rows = 8 * 4 * e, L = 4 * 8;
        const std::int64_t keys = 2 * p.Tr() * rows;  // K and V for every query block
        const HeadsLedger l = heads_ledger(*flash_forward(p));
        CHECK(l.one == 2 * rows + L + keys);
        CHECK(l.keys == keys);
        CHECK(l.again == 6 * (2 * rows + L + keys));
        CHECK(l.once == 6 * (2 * rows + L) + 2 * keys);
        CHECK(l.sums == 0);
        CHECK(l.all() == l.again);
        // Standard attention reads K and V once.
        CHECK(heads_ledger(*attention(p)).keys == 2 * rows);
        // Six dK and dV are read, two written.
        const HeadsLedger back = heads_ledger(*flash_backward(p));
        CHECK(back.sums == (6 + 2) * 2 * rows);
        CHECK(back.again == 6 * back.one + (6 + 2) * 2 * rows);
        // Once: dK and dV of a group stay on chip until they are whole.
        CHECK(back.once == 6 * (back.one - back.keys - 2 * rows) + 2 * (back.keys + 2 * rows));
        // With queries outside they begin as zeros in HBM and come and go for every query block.
        Problem outside = p;
        outside.options.order = BackwardOrder::query_outer;
        const HeadsLedger there = heads_ledger(*flash_backward(outside));
        const std::int64_t gradients = 2 * rows * (1 + 2 * p.Tr());
        CHECK(there.once == 6 * (there.one - there.keys - gradients) + 2 * (there.keys + gradients));
        CHECK(key_value_cache(p, 2) == 2 * 2 * rows);
        // A training step takes a group at once: K is read for S, dQ and S again, V for O, dP and O again.
        // Head by head the two others of a group would read them, too, and each would write its dK and dV.
        const HeadsLedger step = heads_ledger(*training_step(p));
        CHECK(step.keys == 6 * rows);
        CHECK(step.once == 2 * step.one);
        CHECK(step.again == step.once + (6 - 2) * 6 * rows + 2 * 6 * 2 * rows);
    }
    TEST_CASE("the ledger of gradients that grow in HBM counts them with 4 bytes, whatever the problem has") {
        for (const int element : {1, 2, 4, 8}) {
            Problem p = with_heads(tutorial_backward(), 4, 2);
            p.element_bytes = element, p.options.order = BackwardOrder::query_outer;
            const HeadsLedger l = heads_ledger(*flash_backward(p));
            // dK and dV of 4 × 4 begin as zeros, and come and go for each of two query blocks.
            const std::int64_t gradients = 2 * 16 * 4 * (1 + 2 * 2), keys = 2 * 16 * element * 2;
            CHECK(l.keys == keys);
            CHECK(l.once == 4 * l.one - 2 * (keys + gradients));
            CHECK(l.sums == (4 + 2) * 2 * 16 * 4);
            CHECK(l.again == 4 * l.one + l.sums);
        }
    }
    TEST_CASE("the ledger of a ring: every rank loads each shard once, and only key heads go round") {
        for (const int ranks : {1, 2, 4}) {
            Problem p = with_heads(tutorial_backward(), 4, 2);
            p.element_bytes = 2, p.options.ranks = ranks;
            const std::int64_t all = 2 * 16 * 2,
                               keys = ranks * all;  // K and V of a head; every rank sees them
            const HeadsLedger l = heads_ledger(*ring_attention.build(p));
            CHECK(l.keys == keys);
            CHECK(l.once == 4 * l.one - 2 * keys);
            CHECK(l.again == 4 * l.one);
            CHECK(l.sent_one == (ranks - 1) * all);
            CHECK(l.sent == 2 * (ranks - 1) * all);
            CHECK(l.sent_ungrouped == 4 * (ranks - 1) * all);

            p.logits.sink = 1;
            const HeadsLedger back = heads_ledger(*ring_backward.build(p));
            // Each rank leaves a share of all dK and dV; on their way each is read, its share too, and
            // written R − 1 times.
            const std::int64_t sums = 2 * 16 * 4, shares = ranks * sums, on_way = 3 * (ranks - 1) * sums;
            CHECK(back.keys == keys);
            CHECK(back.once == 4 * back.one - 2 * (keys + shares + on_way));
            CHECK(back.sums == (4 + 2) * shares);
            CHECK(back.again == 4 * back.one - 2 * on_way + back.sums);
            // The sink's gradient is of a query head.
            const std::int64_t round = ranks == 1 ? 0 : (ranks - 1) * all + ranks * sums,
                               sink = 4 * (ranks - 1);
            CHECK(back.sent_one == round + sink);
            CHECK(back.sent == 2 * round + 4 * sink);
            CHECK(back.sent_ungrouped == 4 * (round + sink));
        }
    }
    TEST_CASE("what a walk loads together is a tile, a shard, or what is decoded") {
        Problem p = with_heads(worked_example(), 4, 2);
        p.options.ranks = 4;
        const auto ring = ring_attention.build(p);
        const auto loads = key_loads(*ring);
        REQUIRE(loads.size() == 4);
        for (int key = 0; key < 4; ++key) {
            CHECK(loads[static_cast<std::size_t>(key)].keys == std::vector{key});
            CHECK(loads[static_cast<std::size_t>(key)].bytes == 2 * 4 * 4);
        }
        int at = 0;
        while (ring->step(at).op != Op::part || ring->step(at).i != 2 || ring->step(at).j != 1) ++at;
        CHECK(loaded_tile(*ring, at).queries == std::vector{2});
        CHECK(loaded_tile(*ring, at).keys == std::vector{1});

        p.options.shards = ShardKind::striped, p.options.ranks = 2;
        CHECK(key_loads(*ring_attention.build(p)).back().keys == std::vector{1, 3});

        const auto flash = flash_forward(p);
        CHECK(key_loads(*flash).size() == 2);
        const LoadedTile tile = loaded_tile(*flash, find_step(*flash, Op::scores, 1, 0));
        CHECK(tile.queries == std::vector{2, 3});
        CHECK(tile.keys == std::vector{0, 1});

        p.options.row = 2;
        const auto decode = split_kv.build(p);
        CHECK(loaded_tile(*decode, find_step(*decode, Op::scores, 1, 0)).queries == std::vector{2});
        CHECK(key_loads(*attention(p)).front().bytes == 2 * 4 * 4 * 4);  // K in one step, V in another
        CHECK(loaded_tile(*flash, 0).keys.empty());
    }
    TEST_CASE("a load says what it is to the other heads") {
        Problem p = with_heads(worked_example(), 4, 2);
        const auto trace = flash_forward(p);
        const int load = find_step(*trace, Op::load_kv, 0, 0);
        check_contains(explain(*trace, load).why, {"2\u00A0heads share them", "again"});
        p.heads->once = true;
        check_contains(explain(*flash_forward(p), load).why, {"once for all of them"});
        const auto back = flash_backward(p);
        check_contains(explain(*back, back->size() - 1).why, {"share of head 0", "2 heads of its group"});
        p = with_heads(worked_example(), 4, 4);
        CHECK_FALSE(contains(explain(*flash_forward(p), load).why, "share them"));
    }
}

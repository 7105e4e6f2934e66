// Which row of a large tile is told when nobody has chosen one.
#include "core/lessons/table.h"
#include "core/walk/explain.h"
#include "core/walk/telling_row.h"
#include "tests/core/problems.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace tilewalk::test;

namespace {

Problem random_tiles(int N, int tile) {
    Problem p = *random_problem(N, 16, 5);
    p.Br = p.Bc = tile;
    return p;
}

// How far the largest score of a row rises above all before, when it comes to key block j; from nothing: 0.
double rise(const Problem& p, int row, int j) {
    const Matrix S = p.Q * p.K.transpose() * p.softmax_scale();
    double before = -INFINITY, now = -INFINITY;
    for (int key = 0; key < p.N_kv() && key < (j + 1) * p.Bc; ++key) {
        if (key < j * p.Bc) before = std::max(before, S(row, key));
        now = std::max(now, S(row, key));
    }
    return std::isinf(before) ? 0 : now - before;
}

// The most of them in the row block that begins at `top`.
double most_rise(const Problem& p, int top, int j) {
    double out = 0;
    for (int r = 0; r < p.Br; ++r) out = std::max(out, rise(p, top + r, j));
    return out;
}

}  // namespace

TEST_CASE("telling row: of a large tile the one whose maximum rises most in it") {
    const Problem p = random_tiles(64, 16);
    const auto trace = *build_trace(*find_lesson("flash-forward"), p);
    int risen = 0;
    for (int k = 0; k < trace->size(); ++k) {
        const Step& step = trace->step(k);
        if (info(step.op).kind != OpKind::compute || step.j < 1) continue;
        const int top = step_region(*trace, k).row, row = telling_row(*trace, k);
        const double most = most_rise(p, top, step.j);
        CAPTURE(k);
        if (most > 0) CHECK(rise(p, top + row, step.j) == doctest::Approx(most));
        risen += most > 0 && row > 0;
    }
    CHECK(risen > 20);
}

TEST_CASE("telling row: in the first tile of a lane the row that rises in the second; a tile has one row") {
    const auto trace = *build_trace(*find_lesson("flash-forward"), random_tiles(64, 16));
    for (int k = 0; k < trace->size(); ++k)
        for (int other = 0; other < trace->size(); ++other) {
            const Step &a = trace->step(k), &b = trace->step(other);
            const bool compute =
                info(a.op).kind == OpKind::compute && info(b.op).kind == OpKind::compute && a.i == b.i;
            if (!compute || a.j < 0 || b.j < 0) continue;
            if (a.j == b.j || (a.j == 0 && b.j == 1))
                CHECK(telling_row(*trace, k) == telling_row(*trace, other));
        }
}

TEST_CASE("telling row: small tiles and transfers have the first one, rows of zeros are passed over") {
    const auto small = *build_trace(*find_lesson("flash-forward"), worked_example());
    for (int k = 0; k < small->size(); ++k) {
        CHECK(telling_row(*small, k) == 0);
        CHECK(telling_col(*small, k, 0) == -1);
    }
    Problem p = random_tiles(32, 16);
    p.Q.topRows(3).setZero();
    p.K.row(0).setZero();
    const auto dense = *build_trace(*find_lesson("attention"), p);
    for (int k = 0; k < dense->size(); ++k) {
        const Op op = dense->step(k).op;
        if (op == Op::load || op == Op::store) CHECK(telling_row(*dense, k) == 0);
        if (op != Op::scores) continue;
        CHECK(telling_row(*dense, k) == 3);
        CHECK(telling_col(*dense, k, 3) == 1);
        CHECK(telling_col(*dense, k, 0) == -1);
    }
}

TEST_CASE("telling row: of what is left of a lane, the row of the last tile in which one rises") {
    const Problem p = random_tiles(64, 16);
    const auto trace = *build_trace(*find_lesson("flash-forward"), p);
    int told = 0;
    for (int k = 0; k < trace->size(); ++k) {
        const Step& step = trace->step(k);
        if (info(step.op).kind != OpKind::compute || step.i < 0 || step.j >= 0) continue;
        const int top = step_region(*trace, k).row, row = telling_row(*trace, k);
        for (int j = p.Tc() - 1; j > 0; --j) {
            const double most = most_rise(p, top, j);
            if (most == 0) continue;
            CAPTURE(k);
            CHECK(rise(p, top + row, j) == doctest::Approx(most));
            ++told;
            break;
        }
    }
    CHECK(told >= p.Tr());
}

TEST_CASE("telling row: where no maximum rises, the first row with numbers that can be seen") {
    Problem p = random_tiles(48, 16);
    p.K.setZero();  // all scores are 0, all weights 1
    const auto even = *build_trace(*find_lesson("flash-forward"), p);
    for (int k = 0; k < even->size(); ++k) CHECK(telling_row(*even, k) == 0);
    p.V.setZero(), p.Q.setZero();
    p.V.col(2).setConstant(3);
    const auto column = *build_trace(*find_lesson("flash-forward"), p);
    for (int k = 0; k < column->size(); ++k) {
        if (column->step(k).op != Op::output && column->step(k).op != Op::normalize) continue;
        CHECK(telling_row(*column, k) == 0);
        CHECK(telling_col(*column, k, 0) == 2);
        CHECK(telling_col(*column, k, -1) == -1);
        CHECK(telling_col(*column, k, 16) == -1);
    }
    // Beside a large number a small one is not seen, nor one that is none.
    Problem far = random_tiles(32, 16);
    far.causal = true;
    far.Q.topRows(5) *= 1e-3;
    const auto walk = *build_trace(*find_lesson("attention"), far);
    for (int k = 0; k < walk->size(); ++k)
        if (walk->step(k).op == Op::scores) CHECK(telling_row(*walk, k) >= 5);
}

// Kernels that record: what they write down is what the definition says, tile by tile, and a fault that they
// are told to make shows where it should.
#include "cuda/host/emulator.h"
#include "tests/cuda/attention_case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace tilewalk;
using namespace tilewalk::gpu;
using namespace tilewalk::test;
using Quantity = TraceWindow::Quantity;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The arrays of a window that holds all tiles of the heads 1 and 2.
struct Records {
    Records(const Shape& shape, const Tile& tile) {
        window.first_head = 1, window.heads = 2;
        window.Br = tile.Br, window.Bc = tile.Bc, window.d = shape.d;
        window.tiles_i = (shape.N_q + tile.Br - 1) / tile.Br;
        window.tiles_j = (shape.N_kv + tile.Bc - 1) / tile.Bc;
        const auto slots = static_cast<std::size_t>(window.heads * window.tiles_i * window.tiles_j);
        const auto rows = slots * static_cast<std::size_t>(tile.Br);
        for (auto* const column : {&m, &l, &alpha}) column->assign(rows, NAN);
        for (auto* const matrix : {&S, &P}) matrix->assign(rows * static_cast<std::size_t>(tile.Bc), NAN);
        O.assign(rows * static_cast<std::size_t>(shape.d), NAN);
        window.m = m.data(), window.l = l.data(), window.alpha = alpha.data();
        window.S = S.data(), window.P = P.data(), window.O = O.data();
    }
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    /// Row of a tile, counted over all that the window holds.
    std::size_t row(int head, int i, int j, int r) const {
        const int slot = ((head - window.first_head) * window.tiles_i + i) * window.tiles_j + j;
        return static_cast<std::size_t>(slot * window.Br + r);
    }
    static float at(const std::vector<float>& values, std::size_t row, int width, int column) {
        return values[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)];
    }

    TraceWindow window;
    std::vector<float> m, l, alpha, S, P, O;
};

struct Recording {
    const char* rung;
    DType type;
    int d;
    double P_error;  ///< of P as the type holds it
};
constexpr Recording recordings[] = {{"f2-tiled-fp32", DType::f32, 32, 0x1p-20},
                                    {"f3-warp-rows", DType::f32, 64, 0x1p-20},
                                    {"f4-tensor-core", DType::f16, 32, 0x1p-11},
                                    {"f5-flash2", DType::bf16, 64, 0x1p-8}};
Shape shape_of(const Recording& r) {
    return {.type = r.type,
            .heads = 4,
            .kv_heads = 2,
            .N_q = 140,
            .N_kv = 190,
            .d = r.d,
            .before = 70,
            .after = 3};
}

/// Walks over the tiles of one query in double and compares what was recorded of it. Returns the tiles that
/// it saw.
int check_query(const AttentionCase& attention, const Shape& shape, const Records& records, int head,
                int query, double P_error) {
    const TraceWindow& w = records.window;
    const double scale = attention.arguments.scale;
    const Numbers S = attention.scores(head, query);
    const int kv_head = head / (shape.heads / shape.kv_heads);
    double m = -infinity, l = 0;
    Numbers O(static_cast<std::size_t>(shape.d));
    int seen = 0;
    for (int j = 0; j < w.tiles_j; ++j) {
        const std::size_t row = records.row(head, query / w.Br, j, query % w.Br);
        if (std::isnan(records.m[row])) continue;  // the mask removed the tile
        ++seen;
        const int j0 = j * w.Bc, j1 = std::min(shape.N_kv, j0 + w.Bc);
        const double before = m;
        for (int key = j0; key < j1; ++key) m = std::max(m, S[static_cast<std::size_t>(key)]);
        const double base = m == -infinity ? 0 : m, alpha = std::exp(scale * (before - base));
        l *= alpha;
        for (double& o : O) o *= alpha;
        double wrong_S = 0, wrong_P = 0;
        for (int key = j0; key < j0 + w.Bc; ++key) {
            const double s = key < j1 ? S[static_cast<std::size_t>(key)] : -infinity;
            const double p = std::exp(scale * (s - base));
            const double got_s = Records::at(records.S, row, w.Bc, key - j0);
            if (got_s != s) wrong_S = std::max(wrong_S, std::abs(got_s - s));
            wrong_P = std::max(wrong_P, std::abs(Records::at(records.P, row, w.Bc, key - j0) - p));
            l += p;
            for (int c = 0; key < j1 && c < shape.d; ++c)
                O[static_cast<std::size_t>(c)] +=
                    p * attention.V[static_cast<std::size_t>((kv_head * shape.N_kv + key) * shape.d + c)];
        }
        double wrong_O = 0;
        for (int c = 0; c < shape.d; ++c)
            wrong_O = std::max(
                wrong_O, std::abs(Records::at(records.O, row, shape.d, c) - O[static_cast<std::size_t>(c)]));
        CHECK(wrong_S < 1e-4);
        CHECK((records.m[row] == m || std::abs(records.m[row] - m) < 1e-4));
        CHECK(std::abs(records.alpha[row] - alpha) < 1e-4);
        CHECK(wrong_P <= P_error);
        CHECK(std::abs(records.l[row] - l) < 1e-4 * (1 + l));
        CHECK(wrong_O <= 4 * P_error * (1 + l) + 1e-4);
    }
    return seen;
}

/// Runs with a window and returns the outputs.
Outputs run_recorded(AttentionCase& attention, const Rung& rung, const TraceWindow& window) {
    attention.arguments.trace = window;
    return attention.run(rung);
}

bool same_row(const Numbers& a, const Numbers& b, int row, int d) {
    const auto at = static_cast<std::ptrdiff_t>(row) * d;
    return std::equal(a.begin() + at, a.begin() + at + d, b.begin() + at);
}

}  // namespace

TEST_SUITE("cuda/records") {
    TEST_CASE("what a kernel records is what its tiles are by definition") {
        for (const Recording& r : recordings) {
            CAPTURE(r.rung);
            const auto device = open_emulator();
            const Rung& rung = rung_of(*device, r.rung);
            const Shape shape = shape_of(r);
            AttentionCase attention(*device, shape);
            Records records(shape, rung.tile(attention.arguments, r.type, device->chip));
            run_recorded(attention, rung, records.window);
            REQUIRE(device->failure() == "");
            int seen = 0;
            for (int head = 1; head <= 2; ++head)
                for (int query = 0; query < shape.N_q; ++query) {
                    CAPTURE(head);
                    CAPTURE(query);
                    seen += check_query(attention, shape, records, head, query, r.P_error);
                }
            CHECK(seen >= 2 * 2 * shape.N_q / 2);
            CHECK(seen < 2 * shape.N_q * records.window.tiles_j);
        }
    }

    TEST_CASE("a kernel that records computes the same as one that does not") {
        for (const Recording& r : recordings) {
            CAPTURE(r.rung);
            const auto device = open_emulator();
            const Rung& rung = rung_of(*device, r.rung);
            AttentionCase attention(*device, shape_of(r));
            const Outputs plain = attention.run(rung);
            Records records(shape_of(r), rung.tile(attention.arguments, r.type, device->chip));
            const Outputs recorded = run_recorded(attention, rung, records.window);
            CHECK(plain.O == recorded.O);
            CHECK(plain.L == recorded.L);
        }
    }

    TEST_CASE("a fault changes its query and no other, and is recorded") {
        for (const Recording& r : recordings)
            for (const Quantity quantity :
                 {Quantity::S, Quantity::m, Quantity::alpha, Quantity::P, Quantity::l, Quantity::O}) {
                CAPTURE(r.rung);
                CAPTURE(static_cast<int>(quantity));
                const auto device = open_emulator();
                const Rung& rung = rung_of(*device, r.rung);
                const Shape shape = shape_of(r);
                AttentionCase attention(*device, shape);
                Records records(shape, rung.tile(attention.arguments, r.type, device->chip));
                const Outputs right = run_recorded(attention, rung, records.window);

                // The last of its tiles that has its first key in the window and an α
                TraceWindow w = records.window;
                const int query = 60;
                int j = w.tiles_j - 1;
                while (std::isnan(records.m[records.row(1, 0, j, query)]) ||
                       records.alpha[records.row(1, 0, j, query)] == 0 ||
                       Records::at(records.P, records.row(1, 0, j, query), w.Bc, 0) == 0)
                    REQUIRE(--j >= 0);
                const std::size_t row = records.row(1, 0, j, query);
                const bool cell =
                    quantity == Quantity::S || quantity == Quantity::P || quantity == Quantity::O;
                w.fault = quantity;
                w.fault_head = 1, w.fault_i = 0, w.fault_j = j, w.fault_row = query;
                w.fault_column = cell ? 0 : -1;
                w.fault_amount = 0.5f;
                const auto value = [&] {
                    switch (quantity) {
                    case Quantity::S: return Records::at(records.S, row, w.Bc, 0);
                    case Quantity::P: return Records::at(records.P, row, w.Bc, 0);
                    case Quantity::O: return Records::at(records.O, row, w.d, 0);
                    case Quantity::m: return records.m[row];
                    case Quantity::alpha: return records.alpha[row];
                    default: return records.l[row];
                    }
                };
                const float before = value();
                const Outputs wrong = run_recorded(attention, rung, w);
                REQUIRE(device->failure() == "");
                CHECK(value() == doctest::Approx(1.5 * before).epsilon(1e-5));
                for (int head = 0; head < shape.heads; ++head)
                    for (int other = 0; other < shape.N_q; ++other) {
                        const bool same = same_row(right.O, wrong.O, head * shape.N_q + other, shape.d);
                        if (same == (head == 1 && other == query))
                            FAIL_CHECK("head ", head, ", query ", other);
                    }
            }
    }
}

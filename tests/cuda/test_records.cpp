// Kernels that record: what they write down is what the definition says, tile by tile, and a fault that they
// are told to make shows where it should.
#include "core/base/matrix.h"
#include "cuda/host/arguments_of.h"
#include "tests/cuda/kernel_cases.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tilewalk;
using namespace tilewalk::gpu;
using Quantity = TraceWindow::Quantity;

namespace {

/// The arrays of a window that holds all tiles of the heads 1 and 2.
struct Records {
    explicit Records(const KernelCase& c) {
        const auto device = open_emulator();
        const Arguments a = arguments_of(c.w, {});
        const Tile tile = rung_called(*device, c.kernel).tile(a, c.w.dtype, device->chip);
        window.first_head = 1, window.heads = 2;
        window.Br = tile.Br, window.Bc = tile.Bc, window.d = a.d;
        window.tiles_i = (a.N_q + tile.Br - 1) / tile.Br;
        window.tiles_j = (a.N_kv + tile.Bc - 1) / tile.Bc;
        const auto slots = static_cast<std::size_t>(window.heads * window.tiles_i * window.tiles_j);
        const auto rows = slots * static_cast<std::size_t>(tile.Br);
        for (auto* const column : {&m, &l, &alpha}) column->assign(rows, NAN);
        for (auto* const matrix : {&S, &P}) matrix->assign(rows * static_cast<std::size_t>(tile.Bc), NAN);
        O.assign(rows * static_cast<std::size_t>(a.d), NAN);
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
                                    {"f5-flash2", DType::bf16, 64, 0x1p-8},
                                    {"f6-split", DType::bf16, 64, 0x1p-8}};
/// Keys that a query sees
struct Sight {
    int before = 70, after = 3;
};
KernelCase case_of(const Recording& r) {
    return {r.rung, {.dtype = r.type, .heads = 4, .kv_heads = 2, .N_q = 140, .N_kv = 260, .d = r.d}};
}

/// Walks over the tiles of one query in double and compares what was recorded of it. Returns the tiles that
/// it saw. With `split_blocks` m, ℓ and O begin anew after so many key blocks.
int check_query(const KernelCase& c, const Tensors& in, const Records& records, int head, int query,
                double P_error, Sight sight = {}, int split_blocks = 0) {
    const TraceWindow& w = records.window;
    const double scale = 1 / std::sqrt(static_cast<float>(c.w.d));
    const int N_kv = static_cast<int>(c.w.N_kv), d = w.d;
    const std::vector<double> S = scores_of(c.w, in, head, query, sight.before, sight.after);
    const float* const V = &in.V[static_cast<std::size_t>(head / 2 * N_kv * d)];
    double m = -infinity, l = 0;
    std::vector<double> O(static_cast<std::size_t>(d));
    int seen = 0;
    for (int j = 0; j < w.tiles_j; ++j) {
        const std::size_t row = records.row(head, query / w.Br, j, query % w.Br);
        if (std::isnan(records.m[row])) continue;  // the mask removed the tile
        ++seen;
        if (split_blocks > 0 && j % split_blocks == 0) {
            m = -infinity, l = 0;
            std::fill(O.begin(), O.end(), 0.0);
        }
        const int j0 = j * w.Bc, j1 = std::min(N_kv, j0 + w.Bc);
        const double m_old = m;
        for (int key = j0; key < j1; ++key) m = std::max(m, S[static_cast<std::size_t>(key)]);
        const double base = m == -infinity ? 0 : m, alpha = std::exp(scale * (m_old - base));
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
            for (int column = 0; key < j1 && column < d; ++column)
                O[static_cast<std::size_t>(column)] += p * V[key * d + column];
        }
        double wrong_O = 0;
        for (int column = 0; column < d; ++column)
            wrong_O = std::max(wrong_O, std::abs(Records::at(records.O, row, d, column) -
                                                 O[static_cast<std::size_t>(column)]));
        CHECK(wrong_S < 1e-4);
        CHECK((records.m[row] == m || std::abs(records.m[row] - m) < 1e-4));
        CHECK(std::abs(records.alpha[row] - alpha) < 1e-4);
        // exp of numbers that are not positive: what S and m are off by, P is at most
        const double wrong_m = records.m[row] == m ? 0 : std::abs(records.m[row] - m);
        CHECK(wrong_P <= P_error + scale * (wrong_S + wrong_m));
        CHECK(std::abs(records.l[row] - l) < 1e-4 * (1 + l));
        CHECK(wrong_O <= 4 * P_error * (1 + l) + 1e-4);
    }
    return seen;
}

Tensors run_recorded(const KernelCase& c, const Tensors& in, const TraceWindow& window, Sight sight = {}) {
    std::string wrong;
    Tensors out = run_case(c, in, wrong, {}, [&](Arguments& a, const Rung&) {
        a.before = sight.before, a.after = sight.after;
        a.trace = window;
    });
    REQUIRE(wrong == "");
    return out;
}

bool same_row(const std::vector<float>& a, const std::vector<float>& b, std::int64_t row, std::int64_t d) {
    return std::equal(a.begin() + row * d, a.begin() + (row + 1) * d, b.begin() + row * d);
}

}  // namespace

TEST_SUITE("cuda/records") {
    TEST_CASE("what a kernel records is what its tiles are by definition") {
        for (const Recording& r : recordings) {
            CAPTURE(r.rung);
            const KernelCase c = case_of(r);
            const Tensors in = inputs_of(c);
            const Records records(c);
            run_recorded(c, in, records.window);
            int seen = 0;
            for (int head = 1; head <= 2; ++head)
                for (int query = 0; query < c.w.N_q; ++query) {
                    CAPTURE(head);
                    CAPTURE(query);
                    seen += check_query(c, in, records, head, query, r.P_error);
                }
            CHECK(seen >= 2 * 2 * c.w.N_q / 2);
            CHECK(seen < 2 * c.w.N_q * records.window.tiles_j);
        }
    }

    TEST_CASE(
        "rows of several heads and splits of the keys: each head records its own, each split begins anew") {
        const KernelCase c{"f6-split",
                           {.dtype = DType::f16, .heads = 4, .kv_heads = 2, .N_q = 5, .N_kv = 700, .d = 64}};
        const Tensors in = inputs_of(c);
        const Records records(c);
        const Sight all{Arguments::unlimited, Arguments::unlimited};
        const Tensors plain = run_recorded(c, in, {}, all);
        const Tensors recorded = run_recorded(c, in, records.window, all);
        CHECK(plain.O == recorded.O);
        CHECK(plain.L == recorded.L);
        const Arguments a = arguments_of(c.w, {});
        const int split_blocks = rung_called(*open_emulator(), c.kernel).split_blocks(a);
        CHECK(split_blocks == 2);
        for (int head = 1; head <= 2; ++head)
            for (int query = 0; query < c.w.N_q; ++query)
                CHECK(check_query(c, in, records, head, query, 0x1p-11, all, split_blocks) ==
                      records.window.tiles_j);
    }

    TEST_CASE("a kernel that records computes the same as one that does not") {
        for (const Recording& r : recordings) {
            CAPTURE(r.rung);
            const KernelCase c = case_of(r);
            const Tensors in = inputs_of(c), plain = run_recorded(c, in, {});
            const Records records(c);
            const Tensors recorded = run_recorded(c, in, records.window);
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
                const KernelCase c = case_of(r);
                const Tensors in = inputs_of(c);
                const Records records(c);
                const Tensors right = run_recorded(c, in, records.window);

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
                const float unharmed = value();
                const Tensors wrong = run_recorded(c, in, w);
                CHECK(value() == doctest::Approx(1.5 * unharmed).epsilon(1e-5));
                for (int head = 0; head < c.w.heads; ++head)
                    for (int other = 0; other < c.w.N_q; ++other) {
                        const bool same = same_row(right.O, wrong.O, head * c.w.N_q + other, c.w.d);
                        if (same == (head == 1 && other == query))
                            FAIL_CHECK("head ", head, ", query ", other);
                    }
            }
    }
}

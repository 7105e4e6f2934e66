// What f2 … f6 ask of HBM and of the banks, in closed form over (N, d, Br, Bc): bytes, sectors, accesses to
// shared memory and the turns that they take, for ragged lengths and causal masks. The formulas are read off
// the kernels' loops, the sums of the record are held against them.
#include "cuda/host/gpu.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace tilewalk::inside {

namespace {

using Int = std::int64_t;

Int up(Int n, Int of) { return (n + of - 1) / of; }

/// Which tiles a kernel walks through: queries stand at the end of the keys.
struct Walk {
    Int N_q, N_kv, d, Br, Bc;
    bool causal;

    Int blocks() const { return up(N_q, Br); }
    /// f(tiles, keys in them) for each block of queries.
    template <class F> void each(F&& f) const {
        for (Int i = 0; i < blocks(); ++i) {
            const Int last_query = std::min((i + 1) * Br, N_q) - 1,
                      last_key = causal ? last_query + N_kv - N_q : N_kv - 1;
            const Int tiles = last_key / Bc + 1;
            f(tiles, std::min(tiles * Bc, N_kv));
        }
    }
    Int tiles() const {
        Int all = 0;
        each([&](Int of_block, Int) { all += of_block; });
        return all;
    }
    /// Rows of K that are read, as many of V.
    Int keys() const {
        Int all = 0;
        each([&](Int, Int of_block) { all += of_block; });
        return all;
    }
    /// Rows of Q, K and V that come to shared memory, zeros behind the ends included.
    Int shared_rows() const { return blocks() * Br + 2 * tiles() * Bc; }
    /// Those of them that are read.
    Int read_rows() const { return N_q + 2 * keys(); }
};

/// What is asked of both memories.
struct Asked {
    Int bytes = 0, sectors = 0, needed = 0;           ///< of HBM
    Int shared_bytes = 0, turns = 0, free_turns = 0;  ///< free: without conflicts

    Asked& operator+=(const Asked& other) {
        bytes += other.bytes, sectors += other.sectors, needed += other.needed;
        shared_bytes += other.shared_bytes, turns += other.turns, free_turns += other.free_turns;
        return *this;
    }
    friend Asked operator+(Asked a, const Asked& b) { return a += b; }
    bool operator==(const Asked&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Asked& a) {
        return out << a.bytes << " bytes, " << a.sectors << " sectors, " << a.needed << " needed; shared "
                   << a.shared_bytes << " bytes, " << a.turns << " turns, " << a.free_turns
                   << " without conflict";
    }
};
/// So many bytes of HBM that fill their sectors.
Asked whole(Int bytes) { return {bytes, bytes / 32, bytes / 32}; }
/// Accesses of whole warps to shared memory, so many bytes each lane, without a conflict: a turn for each 4.
Asked free_of_conflicts(Int accesses, Int bytes) {
    const Int turns = accesses * bytes / 4;
    return {0, 0, 0, accesses * 32 * bytes, turns, turns};
}

Asked asked_by(const Record& record, Op op, std::size_t launch = 0) {
    Asked all;
    for (const Counts& c : record.launches.at(launch).counts)
        if (c.op == op)
            all +=
                {c.global_bytes, c.sectors, c.sectors_least, c.shared_bytes, c.shared_turns, c.shared_least};
    return all;
}

// ---- What the kernels have in common

/// L, a number for each row, from one lane in `lanes_of_row` of warps that have a multiple of eight rows.
Asked stored_L(const Walk& w) { return {4 * w.N_q, up(w.N_q, 8), up(w.N_q, 8)}; }

/// O in 16 bits out of fragments: eight rows at a time, of each 16 bytes, which is half of a sector.
Asked stored_O_of_fragments(const Walk& w) {
    const Int pieces = w.d / 8, rest = w.N_q % 8;
    return {2 * w.N_q * w.d, w.N_q * pieces, (w.N_q / 8 * 4 + up(rest, 2)) * pieces};
}

/// Fragments by ldmatrix, for each tile and warp: Q for each of its bands and K, for each 16 columns of d.
Asked fragments_of_QK(const Walk& w, Int warps, Int bands) {
    return free_of_conflicts(w.tiles() * warps * (w.d / 16) * (bands + w.Bc / 16), 16);
}
/// V for each 16 keys and each 16 columns, once for all bands.
Asked fragments_of_V(const Walk& w, Int warps) {
    return free_of_conflicts(w.tiles() * warps * (w.Bc / 16) * (w.d / 16), 16);
}

/// Rows of 16-bit numbers that cp.async brings, in 16 bytes each lane. Eight lanes that stand in one row, or
/// in rows that lie behind each other, take one turn.
Asked copied(const Walk& w, Int turns_of_row_times_8) {
    const Int row = 2 * w.d, turns = w.shared_rows() * turns_of_row_times_8 / 8;
    return whole(w.read_rows() * row) + Asked{0, 0, 0, w.shared_rows() * row, turns, turns};
}

// ---- The kernels

struct Shape {
    int N_q, N_kv, d;
    bool causal;
};

Record record_of(const std::string& kernel, const Shape& s) {
    gpu::RecordRequest request;
    request.kernel = kernel;
    for (const auto& known : gpu::traceable_kernels())
        if (known.name == kernel) request.dtype = known.types.front();
    request.problem = *random_problem(s.N_kv, s.d, 1);
    request.problem.Q = request.problem.Q.topRows(s.N_q).eval();
    request.problem.dO.reset();
    request.problem.causal = s.causal;
    auto record = gpu::record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}

Walk walk_of(const Record& record, const Shape& s) {
    return {s.N_q, s.N_kv, s.d, record.Br, record.Bc, s.causal};
}

/// f(record, its tiles) for shapes that fill their tiles and shapes that do not.
template <class F>
void over_shapes(const std::string& kernel, std::initializer_list<int> head_dims, const F& check) {
    int n = 0;
    for (const int d : head_dims)
        for (const Shape& s : {Shape{1, 1, d, false},
                               {64, 64, d, true},
                               {61, 61, d, false},
                               {130, 130, d, true},
                               {128, 128, d, false},
                               {37, 150, d, true},
                               {201, 201, d, false},
                               {256, 256, d, true}}) {
            if (!test::in_full && ++n % 4 != 0) continue;
            CAPTURE(kernel);
            CAPTURE(s.N_q);
            CAPTURE(s.N_kv);
            CAPTURE(s.d);
            CAPTURE(s.causal);
            const Record record = record_of(kernel, s);
            check(record, walk_of(record, s));
        }
}

// ---- f2: 128 threads, 16 of them along the keys; a row of S is shared by 128 / B of them

struct F2 {
    const Walk& w;
    Int B = w.Br, warps = 4;
    Int rows = B / 8, keys = B / 16, columns = w.d / 16;  ///< of a thread
    Int owners = 128 / B;                                 ///< of a row of S

    /// How often warps come to the output of a row and a column of threads: a warp has two of the eight
    /// groups of rows, and comes as long as one of them has rows.
    Int outputs() const {
        Int all = 0;
        for (Int i = 0; i < w.blocks(); ++i)
            for (Int warp = 0; warp < warps; ++warp)
                all += std::clamp(std::min(B, w.N_q - i * B) - 2 * warp * rows, Int(0), rows) * columns;
        return all;
    }
    Asked loads() const {
        const Int of_scores = w.d * (rows + keys), of_softmax = 2 * B / owners,
                  of_output = rows * columns + B * (rows + columns);
        Asked all = whole(4 * w.read_rows() * w.d);
        all += free_of_conflicts(w.tiles() * warps * (of_scores + of_softmax + of_output), 4);
        // Rows beyond the last query have no lanes here.
        all += {0, 0, 0, 4 * w.N_q * w.d, outputs(), outputs()};
        return all;
    }
    Asked stores() const {
        Asked all = whole(4 * w.N_q * w.d) + stored_L(w);
        all += free_of_conflicts(w.shared_rows() * w.d / 32, 4);                      // Q, K, V
        all += free_of_conflicts(w.tiles() * warps * (rows * keys + B / owners), 4);  // S, P̃
        const Int factors = (w.tiles() + w.blocks()) * warps;                         // α, then 1 / ℓ
        all += {0, 0, 0, factors * 32 / owners * 4, factors, factors};
        return all;
    }
};

}  // namespace

TEST_SUITE("inside closed forms") {
    TEST_CASE("f2: bytes, sectors and turns of the banks") {
        over_shapes("f2-tiled-fp32", {32, 64, 96, 128}, [](const Record& record, const Walk& w) {
            CHECK(w.Br == w.Bc);
            const F2 f2{w};
            CHECK(asked_by(record, Op::load) == f2.loads());
            CHECK(asked_by(record, Op::store) == f2.stores());
        });
    }

    TEST_CASE(
        "f2: each line is counted as often as its source says it is done, also where loops are written out") {
        for (const int d : {32, 64}) {
            CAPTURE(d);
            const Record record = record_of("f2-tiled-fp32", {64, 64, d, false});
            const Int warps = 4, rows = 8, columns = d / 16;
            int found = 0;
            for (const Counts& c : record.launches[0].counts) {
                const Place& at = record.places[c.place];
                // O ← α ⊙ O and O ⊘ ℓ: each thread reads its factor for each of its numbers.
                std::string_view line;
                for (const EmbeddedFile& file : gpu::kernel_sources())
                    if (at.file.ends_with(file.name)) {
                        std::string_view text = file.text;
                        for (int n = 1; n < at.line; ++n) text.remove_prefix(text.find('\n') + 1);
                        line = text.substr(0, text.find('\n'));
                    }
                if (c.op != Op::load || line.find("factor[row0 + r]") == line.npos) continue;
                ++found;
                CHECK(c.warps == warps * rows * columns);
            }
            CHECK(found == 2);
        }
    }

    TEST_CASE("f3: bytes, sectors and turns of the banks") {
        over_shapes("f3-warp-rows", {32, 64, 96, 128}, [](const Record& record, const Walk& w) {
            const Int warps = w.Br / 32, lane_rows = 4;
            Asked loads = whole(4 * w.read_rows() * w.d);
            // Q and K for each four columns, four rows of the one and a quarter of the keys of the other; V
            // of each key for each 16 columns
            loads += free_of_conflicts(
                w.tiles() * warps * (w.d / 4 * (lane_rows + w.Bc / 4) + w.Bc * (w.d / 16)), 16);
            CHECK(asked_by(record, Op::load) == loads);
            Asked stores = whole(4 * w.N_q * w.d) + stored_L(w);
            stores += free_of_conflicts(w.shared_rows() * w.d / (32 * 4), 16);
            CHECK(asked_by(record, Op::store) == stores);
        });
    }

    TEST_CASE("f4: bytes, sectors and turns of the banks, and the conflicts of its padded rows") {
        over_shapes("f4-tensor-core", {32, 64, 96, 128}, [](const Record& record, const Walk& w) {
            const Int warps = 4, row = 2 * w.d;
            CHECK(asked_by(record, Op::load) == whole(w.read_rows() * row));
            CHECK(asked_by(record, Op::load_matrices) == fragments_of_QK(w, warps, 1));
            CHECK(asked_by(record, Op::load_transposed) == fragments_of_V(w, warps));
            // Eight lanes store 128 bytes. Where these end one row and begin the next, the 16 bytes between
            // them put the last four banks onto the first: always at d = 32, once in three times at d = 96.
            const Int free_turns = w.shared_rows() * row / 128, turns = w.d == 32   ? 2 * free_turns
                                                                        : w.d == 96 ? free_turns * 4 / 3
                                                                                    : free_turns;
            Asked stores = stored_O_of_fragments(w) + stored_L(w);
            stores += {0, 0, 0, w.shared_rows() * row, turns, free_turns};
            CHECK(asked_by(record, Op::store) == stores);
        });
    }

    TEST_CASE("f4b: as f4, but what comes from HBM is copied in the background") {
        over_shapes("f4b-copies-ahead", {64, 128}, [](const Record& record, const Walk& w) {
            CHECK(asked_by(record, Op::copy_issued) == copied(w, w.d / 8));
            CHECK(asked_by(record, Op::load) == Asked{});
            CHECK(asked_by(record, Op::load_matrices) == fragments_of_QK(w, 4, 1));
            CHECK(asked_by(record, Op::load_transposed) == fragments_of_V(w, 4));
            CHECK(asked_by(record, Op::store) == stored_O_of_fragments(w) + stored_L(w));
        });
    }

    TEST_CASE("f5: a fragment of K and V serves two bands; eight threads copy a row, or begin one") {
        over_shapes("f5-flash2", {64, 96, 128}, [](const Record& record, const Walk& w) {
            const Int warps = 4, bands = 2;
            CHECK(w.Br == 16 * warps * bands);
            // At d = 96 the last four of sixteen threads have nothing to copy: a row takes two turns,
            // not 1.5.
            CHECK(asked_by(record, Op::copy_issued) == copied(w, 8 * up(w.d, 64)));
            CHECK(asked_by(record, Op::load_matrices) == fragments_of_QK(w, warps, bands));
            CHECK(asked_by(record, Op::load_transposed) == fragments_of_V(w, warps));
            CHECK(asked_by(record, Op::store) == stored_O_of_fragments(w) + stored_L(w));
        });
    }

    TEST_CASE("f6 with many queries: as f4b, in swizzled rows") {
        over_shapes("f6-split", {64, 96, 128}, [](const Record& record, const Walk& w) {
            if (record.split_blocks > 0) return;
            CHECK(record.launches.size() == 1);
            CHECK(asked_by(record, Op::copy_issued) == copied(w, w.d / 8));
            CHECK(asked_by(record, Op::load_matrices) == fragments_of_QK(w, w.Br / 16, 1));
            CHECK(asked_by(record, Op::load_transposed) == fragments_of_V(w, w.Br / 16));
            CHECK(asked_by(record, Op::store) == stored_O_of_fragments(w) + stored_L(w));
        });
    }
}

// ---- f6 with few queries: splits of two blocks of keys, and a launch that combines them

namespace {

/// The sectors that numbers of 4 bytes beside each other touch.
Int sectors_of(Int first, Int count) { return count == 0 ? 0 : (first + count - 1) / 8 - first / 8 + 1; }

/// Where the parts lie in the workspace, counted in numbers of 4 bytes.
struct Parts {
    Int N_q, d, splits;
    Int m = splits * N_q * d, l = m + splits * N_q;

    /// m or ℓ of the rows of all splits, eight rows at once.
    Asked stored(Int begin) const {
        Asked all;
        for (Int split = 0; split < splits; ++split)
            for (Int row = 0; row < N_q; row += 8) {
                const Int rows = std::min(Int(8), N_q - row);
                all += {4 * rows, sectors_of(begin + split * N_q + row, rows), 1};
            }
        return all;
    }
    /// O, eight rows at once, of each every other one of eight numbers.
    Asked stored_O() const {
        const Int accesses = splits * (d / 8) * 2;
        return {4 * splits * N_q * d, accesses * N_q, accesses * (N_q / 8 * 4 + up(N_q % 8, 2))};
    }
    /// m or ℓ of one row in all splits, a lane each.
    Asked loaded(Int begin) const {
        Asked all;
        for (Int row = 0; row < N_q; ++row) {
            Int sectors = 0, before = -1;
            for (Int split = 0; split < splits; ++split) {
                const Int sector = (begin + split * N_q + row) / 8;
                sectors += sector != before, before = sector;
            }
            all += {4 * splits, sectors, up(4 * splits, 32)};
        }
        return all;
    }
};

}  // namespace

TEST_SUITE("inside closed forms") {
    TEST_CASE("f6 with few queries: the parts of the splits, and what combines them") {
        int split = 0;
        for (const Shape& s : {Shape{1, 256, 64, false},
                               {5, 200, 64, true},
                               {16, 129, 96, false},
                               {17, 256, 128, false},
                               {64, 193, 64, true},
                               {3, 150, 96, false}}) {
            CAPTURE(s.N_q);
            CAPTURE(s.N_kv);
            CAPTURE(s.d);
            CAPTURE(s.causal);
            const Record record = record_of("f6-split", s);
            const Walk w = walk_of(record, s);
            REQUIRE(w.blocks() == 1);
            CHECK(record.split_blocks == 2);
            const Int warps = w.Br / 16, blocks = up(s.N_kv, 64), splits = up(blocks, 2);
            CHECK(warps == (s.N_q <= 16 ? 1 : 4));
            REQUIRE(record.launches.size() == 2);
            ++split;

            // Each split has Q, and its share of K and V.
            const Int row = 2 * w.d, shared_rows = splits * w.Br + 2 * w.tiles() * 64;
            Asked copies = whole((splits * w.N_q + 2 * w.keys()) * row);
            copies += free_of_conflicts(shared_rows * row / (32 * 16), 16);
            CHECK(asked_by(record, Op::copy_issued) == copies);
            CHECK(asked_by(record, Op::load_matrices) == fragments_of_QK(w, warps, 1));
            CHECK(asked_by(record, Op::load_transposed) == fragments_of_V(w, warps));
            const Parts parts{w.N_q, w.d, splits};
            CHECK(asked_by(record, Op::store) ==
                  parts.stored_O() + parts.stored(parts.m) + parts.stored(parts.l));

            // A warp for each row: all parts of O, 32 columns at once, m and ℓ; O in 16 bits, and L
            Asked loads = whole(4 * splits * w.N_q * w.d) + parts.loaded(parts.m);
            loads += parts.loaded(parts.l);
            CHECK(asked_by(record, Op::load, 1) == loads);
            CHECK(asked_by(record, Op::store, 1) == whole(2 * w.N_q * w.d) + Asked{4 * w.N_q, w.N_q, w.N_q});
        }
        CHECK(split == 6);
    }
}

}  // namespace tilewalk::inside

// Runs without a barrier, a wait, the swizzle, the guard of the edge, with registers swapped: what the table
// of faults says of them comes true. Which barriers and waits there are is read from the kernels' text.
#include "core/base/float16.h"
#include "core/inside/crossing.h"
#include "core/inside/faults.h"
#include "core/inside/meeting.h"
#include "core/inside/source.h"
#include "core/inside/words.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/cuda/inside_kernels.h"
#include "tests/part.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <regex>
#include <set>

namespace tilewalk::inside {

using test::contains;

namespace {

gpu::RecordRequest request_for(const std::string& kernel, int N, int d) {
    gpu::RecordRequest request;
    request.kernel = kernel, request.problem = *random_problem(N, d, 1), request.blocks = {0};
    for (const auto& known : gpu::traceable_kernels())
        if (known.name == kernel) request.dtype = known.types.front();
    return request;
}
Record recorded(const gpu::RecordRequest& request) {
    auto record = gpu::record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}
Record recorded_with(gpu::RecordRequest request, const Fault& fault) {
    request.fault = fault;
    return recorded(request);
}

/// So many keys that every kernel goes through a second tile, and f7 through each of its buffers twice: tiles
/// of the backward kernels are larger.
gpu::RecordRequest of_two_tiles(const std::string& kernel) {
    return request_for(kernel, kernel == "f7-hopper" || kernel[0] == 'b' ? 256 : 128, 64);
}

std::string text_at(const Fault& fault) {
    for (const EmbeddedFile& file : gpu::kernel_sources())
        if (fault.file == std::string("cuda/kernels/") + file.name)
            return std::string(source_text(fault.file, file.text).line(fault.line));
    return "";
}

// A block of keys that no query sees would end with copies under way (tests/cuda/prover/deletions.txt).
bool may_be_silent(const Fault& fault) { return contains(text_at(fault), "keys that no query sees"); }

/// Lines of a file that wait, as its text has them.
std::vector<int> waiting_lines(const std::string& file_name) {
    static const std::regex waits(
        R"(^\s*(if (constexpr )?\(.*\) )?(DEVICE void \w+\(\) const \{ )?(sync_block|sync_warp|sync_named|wait_(copies|products)<[^>]*>|wait_for)\(.*\);.*)");
    std::vector<int> lines;
    for (const EmbeddedFile& file : gpu::kernel_sources()) {
        if (file.name != file_name) continue;
        const SourceText source = source_text(file_name, file.text);
        for (int n = 1; n <= source.count(); ++n)
            if (std::regex_match(std::string(source.line(n)), waits)) lines.push_back(n);
    }
    return lines;
}

bool is_kind(const Fault& fault, std::initializer_list<FaultKind> kinds) {
    return std::ranges::find(kinds, fault.kind) != kinds.end();
}

Fault first_of(const std::vector<Fault>& all, FaultKind kind) {
    const auto found = std::ranges::find(all, kind, &Fault::kind);
    REQUIRE(found != all.end());
    return *found;
}

std::optional<Crossing> crossing_in(const Record& broken, const Record& sound) {
    const auto block_of = [](const Record& record) -> const BlockRecord& {
        return record.launches[0].blocks[0];
    };
    const Steps of_broken(broken, broken.launches[0], block_of(broken)),
        of_sound(sound, sound.launches[0], block_of(sound));
    return crossing_of({broken, broken.launches[0], block_of(broken), of_broken, 0},
                       {sound, sound.launches[0], block_of(sound), of_sound, 0});
}

// ---- Which race a fault makes

/// What shared memory has in a block at d = 64, in its order, as the kernels' sources lay it out.
struct Buffer {
    const char* name;
    int rows, row_bytes;
};
std::vector<Buffer> buffers_of(const std::string& kernel) {
    const auto rows = [](int row_bytes, int of_Q, int of_K) {
        return std::vector<Buffer>{{"Q", of_Q, row_bytes}, {"K", of_K, row_bytes}, {"V", of_K, row_bytes}};
    };
    if (kernel == "f2-tiled-fp32")
        return {{"Q", 64, 65 * 4}, {"KV", 64, 65 * 4}, {"S", 64, 66 * 4}, {"factor", 64, 4}};
    if (kernel == "f3-warp-rows") return rows(68 * 4, 128, 32);
    if (kernel == "f5-flash2") return rows(128, 128, 64);
    return kernel == "f6-split" ? rows(128, 64, 64) : rows(144, 64, 64);
}

/// A number of shared memory: its buffer, its row and column there.
struct Spot {
    Buffer buffer;
    int row, column;
};
Spot spot_at(const Record& record, std::uint32_t address) {
    int at = static_cast<int>(address);
    for (const Buffer& buffer : buffers_of(record.kernel)) {
        if (at >= buffer.rows * buffer.row_bytes) {
            at -= buffer.rows * buffer.row_bytes;
            continue;
        }
        const int row = at / buffer.row_bytes, byte = at % buffer.row_bytes;
        const bool swizzled = buffer.row_bytes == 128;  // f5, f6: chunks of 16 bytes
        const int in_row = swizzled ? (byte / 16 ^ (row & 7)) * 16 + byte % 16 : byte;
        return {buffer, row, in_row / static_cast<int>(bytes_of(record.dtype))};
    }
    FAIL("beyond the buffers");
    return {};
}

float rounded_to(DType type, double x) {
    using namespace gpu::emulator;
    const float value = static_cast<float>(x);
    return type == DType::f32   ? value
           : type == DType::f16 ? to_float(from_float<f16>(value))
                                : to_float(from_float<bf16>(value));
}

/// The row of a matrix that the number is, among those that can lie in this place; "nothing" where it is NaN,
/// else "a number".
struct Named {
    std::string matrix;
    int row = 0;
};
Named named(const Record& record, const Problem& p, const Spot& spot, const Content& content) {
    const float value =
        content.bytes == 2 ? number16(content.word, 0, record.dtype) : std::bit_cast<float>(content.word);
    if (std::isnan(value)) return {"nothing"};
    for (const auto& [name, A] : {std::pair("Q", &p.Q), {"K", &p.K}, {"V", &p.V}}) {
        if (std::string(spot.buffer.name).find(name) == std::string::npos) continue;
        for (int row = spot.row; row < A->rows(); row += spot.buffer.rows)
            if (rounded_to(record.dtype, (*A)(row, spot.column)) == value) return {name, row};
    }
    return {"a number"};
}
std::string further(const Named& than, const Named& it) {
    const int rows = than.matrix.size() == 1 && it.matrix.size() == 1 ? it.row - than.row : 0;
    return it.matrix + (rows > 0 ? "+" : "") + (rows != 0 ? std::to_string(rows) : "");
}

/// One race as it is told: both lines in the order that the source makes, where, and what the reader gets in
/// place of what: "K+64" is 64 rows further.
struct Seen {
    std::string first, second;  ///< the op, and the text of the line
    std::string buffer, should, gets;
    bool row_of_reader = false;  ///< a number of O is wrong in a row of the warp that reads

    std::string text() const {
        return first + " | " + second + " | " + buffer + " | " + should + " | " + gets;
    }
};

int rows_of_warp(const std::string& kernel) {
    return kernel == "f3-warp-rows" || kernel == "f5-flash2" ? 32 : 16;
}

Seen seen_in(const gpu::BrokenRun& broken, const Record& sound, const Problem& p) {
    const Record& record = broken.record;
    const auto crossing = crossing_in(record, sound);
    if (!crossing) return {};
    const auto line = [&](const CrossingSide& side) {
        const Place& at = record.places[side.place];
        const std::string text = text_at({FaultKind::barrier, at.file, at.line});
        return std::string(info(side.op).name) + " " + text.substr(text.find_first_not_of(' '));
    };
    const CrossingSide& reader = crossing->first.writes ? crossing->second : crossing->first;
    const Spot spot = spot_at(record, crossing->address);
    const Named should = named(record, p, spot, reader.sound), gets = named(record, p, spot, reader.content);
    Seen seen{line(crossing->first), line(crossing->second), spot.buffer.name, should.matrix,
              further(should, gets)};
    const Output &right = sound.outputs[0], &now = record.outputs[0];
    const int rows = rows_of_warp(record.kernel);
    for (int n = rows * reader.warp * right.columns; n < rows * (reader.warp + 1) * right.columns; ++n)
        seen.row_of_reader |= std::bit_cast<std::uint32_t>(right.values[static_cast<std::size_t>(n)]) !=
                              std::bit_cast<std::uint32_t>(now.values[static_cast<std::size_t>(n)]);
    return seen;
}

/// What the comments of the sources say of each barrier and wait, as the race without it.
struct Expected {
    const char* kernel;
    int nth;                     ///< of the barriers and waits of the kernel's own file, from 1
    const char *first, *second;  ///< op and a part of the line
    const char *buffer, *should, *gets;

    bool is(const Seen& seen) const {
        const auto is_line = [](const std::string& line, const std::string& op_and_part) {
            const std::size_t space = op_and_part.find(' ');
            return line.starts_with(op_and_part.substr(0, space + 1)) &&
                   contains(line, op_and_part.substr(space + 1));
        };
        return is_line(seen.first, first) && is_line(seen.second, second) && seen.buffer == buffer &&
               seen.should == should && seen.gets == gets;
    }
};

// Fragments are read in fragments.h: of A, of B transposed, of B.
constexpr const char *load_Q = "load_matrices load_matrices(a,", *load_K = "load_matrices load_matrices(b,",
                     *load_V = "load_transposed load_transposed(b,",
                     *copies = "copy_async copy_async(to.chunk(r", *f2_stores = "store to[row * (d + 1) + c]";
const Expected expected_races[] = {
    // All are done with V_{j−1}; K_j is there; all are done with K_j; α is there; … and with α; 1 / ℓ is
    // there
    {"f2-tiled-fp32", 1, "load v[c] = KV[", f2_stores, "KV", "V", "K+64"},
    {"f2-tiled-fp32", 2, f2_stores, "load k[n] = Kj[", "KV", "K", "nothing"},
    {"f2-tiled-fp32", 3, "load k[n] = Kj[", f2_stores, "KV", "K", "V"},
    {"f2-tiled-fp32", 4, "store factor[own_row] = alpha", "load O[r][c] *= factor[", "factor", "a number",
     "a number"},
    {"f2-tiled-fp32", 5, "load O[r][c] *= factor[", "store factor[own_row] = own.l", "factor", "a number",
     "a number"},
    {"f2-tiled-fp32", 6, "store factor[own_row] = own.l", "load O[r][c] * factor[", "factor", "a number",
     "a number"},
    // All warps are done with the tile before; the next one is there
    {"f3-warp-rows", 1, "load v = load4(v_row", "store store4(to + row", "V", "V", "V+32"},
    {"f3-warp-rows", 2, "store store4(to + row", "load k = load4(Kj", "K", "K", "K-32"},
    {"f4-tensor-core", 1, load_K, "store store4(", "K", "K", "K+64"},
    {"f4-tensor-core", 2, "store store4(", load_K, "K", "K", "K-64"},
    // Q and K_0 are here; all copies of K_j are here; V_j is here; all are done with K_j
    {"f4b-copies-ahead", 1, copies, load_Q, "Q", "Q", "nothing"},
    {"f4b-copies-ahead", 2, copies, load_K, "K", "K", "K-64"},
    {"f4b-copies-ahead", 3, copies, load_V, "V", "V", "nothing"},
    {"f4b-copies-ahead", 4, load_K, copies, "K", "K", "K+64"},
    {"f5-flash2", 1, copies, load_Q, "Q", "Q", "nothing"},
    {"f5-flash2", 2, copies, load_K, "K", "K", "K-64"},
    {"f5-flash2", 3, copies, load_V, "V", "V", "nothing"},
    {"f5-flash2", 4, load_K, copies, "K", "K", "K+64"},
    {"f6-split", 1, "copy_async head_of<const T>(a.Q", load_Q, "Q", "Q", "nothing"},
    {"f6-split", 2, copies, load_K, "K", "K", "K-64"},
    {"f6-split", 3, copies, load_V, "V", "V", "nothing"},
    {"f6-split", 4, load_K, copies, "K", "K", "K+64"},
};

// ---- Which race of tiles

/// The launch in which most happens, whose race the page tells.
std::optional<Crossing> crossing_of_most(const Record& broken, const Record& sound) {
    const auto steps_of = [](const Launch& launch) { return launch.blocks.empty() ? 0 : launch.steps(); };
    const auto most = std::ranges::max_element(sound.launches, {}, steps_of);
    const auto n = static_cast<std::size_t>(most - sound.launches.begin());
    const BlockRecord &now = broken.launches[n].blocks[0], &then = most->blocks[0];
    const Steps of_broken(broken, broken.launches[n], now), of_sound(sound, *most, then);
    return crossing_of({broken, broken.launches[n], now, of_broken, 0}, {sound, *most, then, of_sound, 0});
}

/// A race without a wait of f7 or b4: who comes first, who second, and of which matrix.
struct ExpectedOfTiles {
    const char* kernel;
    const char* waits;  ///< a part of the line that waits
    int nth;            ///< of such lines
    bool writes_first;
    Op writer, reader;
    const char* matrix;
};
constexpr bool tile_first = true, product_first = false;
// Without waiting for W to be free b4 does not come to its end.
const ExpectedOfTiles expected_of_tiles[] = {
    {"f7-hopper", "K_free(turn", 1, product_first, Op::fetch_tile, Op::multiply_async, "K["},
    {"f7-hopper", "V_free(turn", 1, product_first, Op::fetch_tile, Op::multiply_async, "V["},
    {"f7-hopper", "Q_full()", 1, tile_first, Op::fetch_tile, Op::multiply_async, "Q["},
    {"f7-hopper", "K_full(0)", 1, tile_first, Op::fetch_tile, Op::multiply_async, "K["},
    {"f7-hopper", "K_full(now", 1, tile_first, Op::fetch_tile, Op::multiply_async, "K["},
    {"f7-hopper", "V_full(before", 1, tile_first, Op::fetch_tile, Op::multiply_async, "V["},
    {"f7-hopper", "V_full(last", 1, tile_first, Op::fetch_tile, Op::multiply_async, "V["},
    {"b4-hopper", "U_free(turn", 1, product_first, Op::fetch_tile, Op::multiply_async, "Q["},
    {"b4-hopper", "X_Y_full()", 1, tile_first, Op::fetch_tile, Op::multiply_async, "K["},
    {"b4-hopper", "U_full(now", 1, tile_first, Op::fetch_tile, Op::multiply_async, "Q["},
    {"b4-hopper", "W_full(now", 1, tile_first, Op::fetch_tile, Op::multiply_async, "dO["},
};

// ---- Which race of sums, and of turns

/// A race without a wait for products, or without the turn: what a step takes that was not there.
struct ExpectedOfSums {
    const char* kernel;
    const char* waits;  ///< a part of the line that waits
    Op first, second;
    const char* address;
};
const ExpectedOfSums expected_of_sums[] = {
    {"f7-hopper", "wait_products<1>(S)", Op::multiply_async, Op::exp2, "of the product's sums"},
    {"f7-hopper", "take_turn() const", Op::arrive_named, Op::arrive_named, "barrier "},
    {"b4-hopper", "wait_products<1>(P)", Op::multiply_async, Op::exp2, "of the product's sums"},
    {"b4-hopper", "? 1 : 0>(dS)", Op::multiply_async, Op::pack, "of the product's sums"},
};

const Race* race_of(const Record& record, const ExpectedOfSums& e) {
    for (const Launch& launch : record.launches)
        for (const Race& race : launch.races)
            if (race.first.op == e.first && race.second.op == e.second &&
                contains(address_text(record, race.address), e.address))
                return &race;
    return nullptr;
}

// ---- Attention with a mistake, dense and in double

Matrix softmax_of(const Matrix& S) {
    Matrix P = (S.colwise() - S.rowwise().maxCoeff()).array().exp().matrix();
    return P.array().colwise() / P.rowwise().sum().array();
}
Matrix attention_of(const Problem& p, const Matrix& Q, const Matrix& K, const Matrix& V) {
    return softmax_of(p.softmax_scale() * Q * K.transpose()) * V;
}
Matrix padded(const Matrix& A, Eigen::Index rows) {
    Matrix out = Matrix::Zero(rows, A.cols());
    out.topRows(A.rows()) = A;
    return out;
}
/// Zeros behind K and V are read as keys.
Matrix with_zero_keys(const Problem& p, Eigen::Index keys) {
    return attention_of(p, p.Q, padded(p.K, keys), padded(p.V, keys));
}
/// Of each 16 the eights change places.
Eigen::Index other_eight(Eigen::Index n) { return n ^ 8; }
/// b0 holds rows 0–7 of B, b1 rows 8–15.
Matrix with_swapped_B(const Problem& p, Eigen::Index keys) {
    Matrix K = padded(p.K, keys), V = padded(p.V, keys);
    for (Eigen::Index c = 0; c < K.cols(); ++c) K.col(c).head(p.K.rows()) = p.K.col(other_eight(c));
    for (Eigen::Index r = 0; r < keys; ++r) V.row(r) = padded(p.V, keys).row(other_eight(r));
    Matrix S = p.softmax_scale() * p.Q * K.transpose();
    S.rightCols(keys - p.K.rows()).setConstant(-INFINITY);
    return softmax_of(S) * V;
}
/// a[1] holds rows 8–15 of columns 0–7, a[2] rows 0–7 of columns 8–15.
Matrix swapped_A(const Matrix& A) {
    Matrix out = A;
    for (Eigen::Index r = 0; r < A.rows(); ++r)
        for (Eigen::Index c = 0; c < A.cols(); ++c)
            if ((r & 8) != (c & 8)) out(r, c) = A(other_eight(r), other_eight(c));
    return out;
}
/// One tile holds it.
Matrix with_swapped_A(const Problem& p, Eigen::Index rows) {
    Matrix S = p.softmax_scale() * swapped_A(padded(p.Q, rows)) * padded(p.K, rows).transpose();
    S.rightCols(rows - p.K.rows()).setConstant(-INFINITY);
    const Matrix P = (S.colwise() - S.rowwise().maxCoeff()).array().exp().matrix();
    const Matrix O = (swapped_A(P) * padded(p.V, rows)).array().colwise() / P.rowwise().sum().array();
    return O.topRows(p.Q.rows());
}
/// How far off O is at most.
double off(const Record& record, const Matrix& O) {
    double most = 0;
    for (Eigen::Index r = 0; r < O.rows(); ++r)
        for (Eigen::Index c = 0; c < O.cols(); ++c)
            most = std::max(
                most,
                std::abs(O(r, c) - record.outputs[0].values[static_cast<std::size_t>(r * O.cols() + c)]));
    return most;
}

// ---- What a barrier orders in the sound run

/// Both accesses by file, line and op, in no order.
using Pair = std::set<std::string>;

std::string access_text(const Record& record, std::uint32_t place, Op op) {
    return place_text(record, place) + " " + info(op == Op::copy_arrived ? Op::copy_issued : op).name;
}

void add_orders(const Record& sound, const Launch& launch,
                std::map<std::pair<std::string, int>, std::set<Pair>>& ordered) {
    const BlockRecord& block = launch.blocks[0];
    const Steps steps(sound, launch, block);
    const Origins origins(sound, block, steps);
    for (int k = 0; k < steps.count(0); ++k) {
        const auto meeting = meeting_at(block, steps, origins, 0, k);
        if (!meeting) continue;
        const Place& at = sound.places[block.events[steps.event(0, k)].place];
        for (const Protected& p : meeting->orders)
            ordered[{at.file, at.line}].insert({access_text(sound, p.first_place, p.first_op),
                                                access_text(sound, p.second_place, p.second_op)});
    }
}

std::set<Pair> racing_pairs(const Record& broken) {
    std::set<Pair> all;
    for (const Launch& launch : broken.launches)
        for (const Race& race : launch.races)
            all.insert({access_text(broken, race.first.place, race.first.op),
                        access_text(broken, race.second.place, race.second.op)});
    return all;
}

/// The barriers and waits of the kernel's own file, in its order.
std::vector<Fault> waits_of(const Record& sound) {
    std::vector<Fault> all;
    std::string file = sound.kernel;
    std::ranges::replace(file, '-', '_');
    for (const Fault& fault : faults_of(sound))
        if (fault.file == "cuda/kernels/" + file + ".cu") all.push_back(fault);
    return all;
}

}  // namespace

TEST_SUITE("inside faults") {
    TEST_CASE("each barrier and each wait of each kernel, left out, is reported in one run") {
        int reported = 0, silent = 0, stopped = 0;
        test::Part part("TILEWALK_KERNELS", 3);
        for (const auto& kernel : gpu::traceable_kernels()) {
            CAPTURE(kernel.name);
            const gpu::RecordRequest request = of_two_tiles(kernel.name);
            const Record sound = recorded(request);
            CHECK(sound.races() == 0);
            for (const Fault& fault : faults_of(sound)) {
                if (!is_kind(fault, {FaultKind::barrier, FaultKind::wait}) || !part.takes()) continue;
                CAPTURE(name_of(fault));
                gpu::RecordRequest with_fault = request;
                with_fault.fault = fault;
                const auto run = gpu::record_kernel(with_fault);
                if (!run && kernel.name.ends_with("-hopper")) {
                    // Barriers that count phases are used before they are made, or fall two phases behind.
                    CHECK((contains(run.error, "nobody had made") || contains(run.error, "would hang, too")));
                    ++stopped;
                    continue;
                }
                REQUIRE_MESSAGE(run, run.error);
                const Record& broken = *run;
                if (may_be_silent(fault)) {
                    ++silent;
                    continue;
                }
                ++reported;
                REQUIRE(broken.races() > 0);
                for (const Launch& launch : broken.launches)
                    for (const Race& race : launch.races) {
                        CHECK(race.first.lanes != 0);
                        CHECK(race.second.lanes != 0);
                        CHECK(race.first.place < broken.places.size());
                        CHECK(race.second.place < broken.places.size());
                    }
            }
        }
        MESSAGE(reported << " reported, " << silent << " may be silent");
        CHECK(reported >= (part.whole() ? 40 : 12));
        CHECK(silent <= 2);
        CHECK(stopped <= 2);
    }

    TEST_CASE("each barrier and wait of f2 to f6, left out, makes its own race and no other one's") {
        test::Part part("TILEWALK_KERNELS", 2);
        for (const char* kernel : {"f2-tiled-fp32", "f3-warp-rows", "f4-tensor-core", "f4b-copies-ahead",
                                   "f5-flash2", "f6-split"}) {
            if (!part.takes()) continue;
            CAPTURE(kernel);
            const gpu::RecordRequest request = of_two_tiles(kernel);
            const Record sound = recorded(request);
            std::vector<Seen> seen;
            for (const Fault& fault : waits_of(sound)) {
                gpu::RecordRequest with_fault = request;
                with_fault.fault = fault;
                const auto broken = gpu::break_kernel(with_fault, sound);
                REQUIRE_MESSAGE(broken, broken.error);
                seen.push_back(seen_in(*broken, sound, request.problem));
                CHECK_MESSAGE(seen.back().row_of_reader, name_of(fault));
            }
            int rows = 0;
            for (const Expected& e : expected_races) {
                if (e.kernel != std::string(kernel)) continue;
                ++rows;
                REQUIRE(e.nth <= static_cast<int>(seen.size()));
                for (int n = 1; n <= static_cast<int>(seen.size()); ++n) {
                    CAPTURE(e.nth);
                    CAPTURE(n);
                    const Seen& one = seen[static_cast<std::size_t>(n - 1)];
                    CHECK_MESSAGE(e.is(one) == (n == e.nth), one.text());
                }
            }
            CHECK(rows == static_cast<int>(seen.size()));
        }
    }

    TEST_CASE("each wait of f7 and b4 for a tile, left out: the tile writes, the product reads") {
        test::Part part("TILEWALK_KERNELS", 3);
        for (const char* kernel : {"f7-hopper", "b4-hopper"}) {
            const gpu::RecordRequest request = of_two_tiles(kernel);
            const Record sound = recorded(request);
            std::map<std::string, int> seen;
            int crossed = 0;  // where it is another block whose numbers are wrong, this one kept the order
            for (const Fault& fault : waits_of(sound)) {
                const std::string text = text_at(fault);
                for (const ExpectedOfTiles& e : expected_of_tiles) {
                    if (e.kernel != std::string(kernel) || !contains(text, e.waits)) continue;
                    if (++seen[std::string(e.waits) + std::to_string(e.nth)] != e.nth) continue;
                    if (!part.takes()) continue;
                    CAPTURE(name_of(fault));
                    gpu::RecordRequest with_fault = request;
                    with_fault.fault = fault;
                    const auto broken = gpu::break_kernel(with_fault, sound);
                    REQUIRE_MESSAGE(broken, broken.error);
                    const auto crossing = crossing_of_most(broken->record, sound);
                    REQUIRE(crossing);
                    const CrossingSide &writer = e.writes_first ? crossing->first : crossing->second,
                                       &reader = e.writes_first ? crossing->second : crossing->first;
                    CHECK(writer.writes);
                    CHECK_FALSE(reader.writes);
                    CHECK(writer.op == e.writer);
                    CHECK(reader.op == e.reader);
                    CHECK(crossing->ordered);
                    CHECK(writer.warp < 4);  // the group that asks for tiles
                    CHECK(reader.warp >= 4);
                    const auto shown = [&](const Content& content) {
                        return content_text(broken->record, content);
                    };
                    CHECK((shown(reader.content) != shown(reader.sound)) == crossing->crossed);
                    crossed += crossing->crossed;
                    CHECK(shown(writer.content) == shown(e.writes_first ? reader.sound : writer.content));
                    REQUIRE(writer.content.from);
                    CHECK(short_address(broken->record, *writer.content.from).starts_with(e.matrix));
                    if (reader.sound.from)
                        CHECK(short_address(broken->record, *reader.sound.from).starts_with(e.matrix));
                }
            }
            if (part.whole()) CHECK(crossed >= (kernel == std::string("f7-hopper") ? 6 : 2));
            for (const ExpectedOfTiles& e : expected_of_tiles)
                if (e.kernel == std::string(kernel))
                    CHECK_MESSAGE(seen[std::string(e.waits) + std::to_string(e.nth)] >= e.nth, e.waits);
        }
    }

    TEST_CASE("each wait for products, and the turn, left out: who takes what is not there, and where") {
        for (const char* kernel : {"f7-hopper", "b4-hopper"}) {
            const gpu::RecordRequest request = of_two_tiles(kernel);
            const Record sound = recorded(request);
            CHECK(sound.races() == 0);
            for (const ExpectedOfSums& e : expected_of_sums) {
                if (e.kernel != std::string(kernel)) continue;
                CAPTURE(e.waits);
                const auto all = waits_of(sound);
                const auto fault =
                    std::ranges::find_if(all, [&](const Fault& f) { return contains(text_at(f), e.waits); });
                REQUIRE(fault != all.end());
                const Record broken = recorded_with(request, *fault);  // one run
                const Race* const race = race_of(broken, e);
                REQUIRE(race);
                CHECK(race->first.lanes == whole_warp);
                CHECK(race->second.lanes == whole_warp);
                CHECK(race->first.warp >= 4);  // of those that compute
                CHECK(race->second.warp >= 4);
                if (is_numbered_barrier(race->address)) {
                    CHECK(broken.lost_turns() > 0);
                    CHECK(damage_of(sound, broken).wrong == 0);
                    continue;
                }
                CHECK(broken.lost_turns() == 0);
                CHECK(race->first.warp == race->second.warp);
                const auto crossing = crossing_of_most(broken, sound);
                REQUIRE(crossing);
            }
        }
    }

    TEST_CASE("a sum that is taken before it is there, as two orders: the product's number, and none") {
        const gpu::RecordRequest request = of_two_tiles("f7-hopper");
        const Record sound = recorded(request);
        for (const Fault& fault : waits_of(sound)) {
            if (!contains(text_at(fault), "wait_products<1>(S)")) continue;
            const auto crossing = crossing_of_most(recorded_with(request, fault), sound);
            REQUIRE(crossing);
            CHECK(is_register(crossing->address));
            CHECK(crossing->first.writes);
            CHECK(crossing->first.lane == crossing->second.lane);
            CHECK(crossing->ordered);
            CHECK(crossing->crossed);
            CHECK(std::isnan(std::bit_cast<float>(crossing->second.content.word)));
            // x of 2 to the power of x: the scores are scaled, and the row's maximum is off
            const float sum = std::bit_cast<float>(crossing->first.content.word),
                        x = std::bit_cast<float>(crossing->second.sound.word);
            CHECK(std::isfinite(sum));
            CHECK(x <= 0);
        }
    }

    TEST_CASE("what races without a barrier of the block is what the sound run says that it orders") {
        int barriers = 0;
        test::Part part("TILEWALK_KERNELS", 3);
        for (const auto& kernel : gpu::traceable_kernels()) {
            if (kernel.name.ends_with("-hopper") || !part.takes()) continue;
            const gpu::RecordRequest request = of_two_tiles(kernel.name);
            const Record sound = recorded(request);
            std::map<std::pair<std::string, int>, std::set<Pair>> ordered;
            for (const Launch& launch : sound.launches)
                if (!launch.blocks.empty()) add_orders(sound, launch, ordered);
            for (const Fault& fault : faults_of(sound)) {
                const auto expected = ordered.find({fault.file, fault.line});
                if (fault.kind != FaultKind::barrier || expected == ordered.end()) continue;
                CAPTURE(kernel.name);
                CAPTURE(name_of(fault));
                ++barriers;
                CHECK(racing_pairs(recorded_with(request, fault)) == expected->second);
            }
        }
        CHECK(barriers >= (part.whole() ? 20 : 3));
    }

    TEST_CASE("the list has every barrier and wait of the kernel's own file") {
        for (const auto& [the_kernel, the_file] : std::initializer_list<std::pair<const char*, const char*>>{
                 {"f2-tiled-fp32", "f2_tiled_fp32.cu"},
                 {"f3-warp-rows", "f3_warp_rows.cu"},
                 {"f4-tensor-core", "f4_tensor_core.cu"},
                 {"f4b-copies-ahead", "f4b_copies_ahead.cu"},
                 {"f5-flash2", "f5_flash2.cu"},
                 {"f6-split", "f6_split.cu"},
                 {"f7-hopper", "f7_hopper.cu"},
                 {"b4-hopper", "b4_hopper.cu"}}) {
            const auto& kernel = the_kernel;
            const auto& file = the_file;
            CAPTURE(kernel);
            const std::vector<Fault> all = faults_of(recorded(of_two_tiles(kernel)));
            const std::vector<int> lines = waiting_lines(file);
            CHECK(!lines.empty());
            for (const int line : lines) {
                CAPTURE(line);
                CHECK(std::ranges::any_of(all, [&](const Fault& f) {
                    return f.line == line && f.file == std::string("cuda/kernels/") + file;
                }));
            }
        }
    }

    TEST_CASE("the other faults do to numbers and banks what their table says, and race if it says so") {
        test::Part part("TILEWALK_KERNELS", 3);
        for (const auto& kernel : gpu::traceable_kernels()) {
            if (!part.takes()) continue;
            CAPTURE(kernel.name);
            const gpu::RecordRequest request = request_for(kernel.name, 100, 64);
            const Record sound = recorded(request);
            for (const Fault& fault : faults_of(sound)) {
                if (is_kind(fault, {FaultKind::barrier, FaultKind::wait})) continue;
                CAPTURE(name_of(fault));
                const FaultInfo& says = info(fault.kind);
                const Record broken = recorded_with(request, fault);
                const Damage damage = damage_of(sound, broken);
                CHECK((damage.wrong > 0) == says.differs);
                CHECK((bank_totals(broken).ways > bank_totals(sound).ways) == says.conflicts);
                CHECK((broken.races() > 0) == says.races);
            }
        }
    }

    TEST_CASE("without the swizzle f5 asks a bank eight times, and no bit of O changes") {
        const gpu::RecordRequest request = request_for("f5-flash2", 128, 64);
        const Record sound = recorded(request), broken = recorded_with(request, {FaultKind::swizzle});
        CHECK(bank_totals(sound).ways == 1);
        CHECK(bank_totals(broken).ways == 8);
        CHECK(bank_totals(broken).least == bank_totals(sound).least);
        CHECK(damage_of(sound, broken).wrong == 0);
    }

    TEST_CASE("without the guard O is that of more keys: all that lie in the tile") {
        // Rows of K and V behind the 100 that there are: first memory that is nobody's, zeros, then other
        // rows.
        const gpu::RecordRequest request = request_for("f2-tiled-fp32", 100, 64);
        const Record sound = recorded(request);
        CHECK(sound.open_keys == 28);
        const Record broken = recorded_with(request, {FaultKind::guard});
        const auto reads_of = [](const Record& record) {
            std::int64_t lanes = 0;
            for (const Counts& c : record.launches[0].counts)
                if (c.op == Op::load && c.global_bytes > 0) lanes += c.lanes;
            return lanes;
        };
        // 28 rows of K and of V more, for each of the two blocks of queries
        CHECK(reads_of(broken) - reads_of(sound) == 2 * 2 * 28 * 64);
        CHECK(!faults_of(recorded(request_for("f2-tiled-fp32", 128, 64))).empty());
        CHECK(
            contains(fault_lacks(recorded(request_for("f2-tiled-fp32", 128, 64)), FaultKind::guard), "full"));
    }

    TEST_CASE("a wrong number is looked for in several orders, and is a number where one can be") {
        const gpu::RecordRequest request = request_for("f5-flash2", 128, 64);
        const Record sound = recorded(request);
        int finite = 0;
        for (const Fault& fault : faults_of(sound)) {
            if (fault.kind != FaultKind::barrier) continue;
            gpu::RecordRequest with_fault = request;
            with_fault.fault = fault;
            const auto broken = gpu::break_kernel(with_fault, sound);
            REQUIRE_MESSAGE(broken, broken.error);
            CHECK(broken->record.races() > 0);
            CHECK(broken->damage.wrong > 0);
            finite += broken->damage.finite();
            REQUIRE(broken->damage.worst);
            const WrongCell& worst = *broken->damage.worst;
            const auto at = static_cast<std::size_t>(worst.row * 64 + worst.column);
            CHECK(sound.outputs[0].values[at] == worst.sound);
            if (broken->damage.finite()) CHECK(broken->record.outputs[0].values[at] == worst.broken);
        }
        CHECK(finite > 0);
    }

    TEST_CASE("a race as two orders: who has to come first, and what each gets") {
        std::string wrong;
        const Record sound = test::record_small("has barrier", wrong);
        const std::vector<Fault> all = faults_of(sound);
        REQUIRE(all.size() == 1);
        CHECK(all[0].kind == FaultKind::barrier);
        gpu::RecordOptions options{.blocks = {0, 1}};
        options.fault = all[0];
        const Record broken = test::record_small("has barrier", wrong, options);
        CHECK(wrong.empty());
        const auto crossing = crossing_in(broken, sound);
        REQUIRE(crossing);
        CHECK(crossing->ordered);
        CHECK(crossing->first.op == Op::store);
        CHECK(crossing->second.op == Op::load);
        CHECK(crossing->first.warp != crossing->second.warp);
        CHECK(crossing->second.lane == crossing->first.lane);
        // The kernel stores the thread's number at 4 times this number. One warp comes first, and reads NaN.
        const float number = static_cast<float>(crossing->address / 4);
        CHECK(std::bit_cast<float>(crossing->first.content.word) == number);
        CHECK(std::bit_cast<float>(crossing->second.sound.word) == number);
        CHECK(crossing->crossed);
        CHECK(std::isnan(std::bit_cast<float>(crossing->second.content.word)));
        CHECK(std::ranges::count(broken.launches[0].blocks[0].events, Op::left_out, &Event::op) == 2);
    }

    TEST_CASE("an own copy that nobody waits for is read as NaN where it comes late") {
        std::string wrong;
        const Record sound = test::record_small("copies in order", wrong);
        gpu::RecordOptions options{.blocks = {0, 1}};
        options.fault = first_of(faults_of(sound), FaultKind::wait);
        for (const bool early : {false, true}) {
            options.schedule.early = early;
            const Record broken = test::record_small("copies in order", wrong, options);
            const auto crossing = crossing_in(broken, sound);
            REQUIRE(crossing);
            CHECK(crossing->ordered);
            CHECK(crossing->first.op == Op::copy_issued);
            CHECK(crossing->crossed == !early);
            CHECK(std::isnan(std::bit_cast<float>(crossing->second.content.word)) == !early);
        }
    }

    TEST_CASE("what a warp reads too late in f5 is the key of the next tile, in the same place") {
        const gpu::RecordRequest request = request_for("f5-flash2", 128, 64);
        const Record sound = recorded(request);
        // The last barrier: all warps are done with K_j
        gpu::RecordRequest with_fault = request;
        with_fault.fault = waits_of(sound).back();
        REQUIRE(with_fault.fault->kind == FaultKind::barrier);
        const auto broken = gpu::break_kernel(with_fault, sound);
        REQUIRE(broken);
        const auto crossing = crossing_in(broken->record, sound);
        REQUIRE(crossing);
        CHECK(crossing->crossed);
        // Keys of the next tile, 64 rows further, lie where this tile's lay.
        const CrossingSide& reader = crossing->first.writes ? crossing->second : crossing->first;
        REQUIRE(reader.sound.from);
        REQUIRE(reader.content.from);
        CHECK(*reader.content.from - *reader.sound.from == 64 * 64 * 2);
    }

    TEST_CASE(
        "without the guard, and with swapped registers, O is just what attention with that mistake gives") {
        const gpu::RecordRequest request =
            request_for("f4-tensor-core", 60, 64);  // one tile, four keys short
        const Problem& p = request.problem;
        const Record sound = recorded(request);
        const std::map<FaultKind, Matrix> expected{{FaultKind::guard, with_zero_keys(p, 64)},
                                                   {FaultKind::swapped_A, with_swapped_A(p, 64)},
                                                   {FaultKind::swapped_B, with_swapped_B(p, 64)}};
        const Matrix right = attention_of(p, p.Q, p.K, p.V);
        CHECK(off(sound, right) < .02);
        for (const auto& [the_kind, wanted] : expected) {
            const auto& kind = the_kind;
            CAPTURE(info(kind).id);
            CHECK(off(sound, wanted) > .03);  // it shows
            for (const auto& [other, unused] : expected)
                CHECK((off(recorded_with(request, {other}), wanted) < .02) == (other == kind));
        }
    }

    TEST_CASE("faults have names that lead back, and others are refused with those that there are") {
        const Record f5 = recorded(request_for("f5-flash2", 128, 64));
        for (const Fault& fault : faults_of(f5)) {
            const auto found = fault_named(f5, name_of(fault));
            REQUIRE(found);
            CHECK(*found == fault);
        }
        CHECK(contains(fault_named(f5, "f5_flash2.cu:1").error, "swizzle, swap-a, swap-b"));
        CHECK(contains(fault_named(f5, "guard").error, "Every tile of keys is full"));
        const Record f2 = recorded(request_for("f2-tiled-fp32", 64, 32));
        CHECK(contains(fault_named(f2, "swap-a").error, "without fragments"));
        CHECK(contains(fault_named(f2, "swizzle").error, "no swizzle"));
    }

    TEST_CASE(
        "what only a larger problem comes to is listed with the reason, and every fault has its title") {
        int lacking = 0;
        for (const char* kernel : {"f2-tiled-fp32", "f5-flash2", "f7-hopper"}) {
            CAPTURE(std::string(kernel));
            const Record small = recorded(request_for(kernel, 16, 64)),
                         large = recorded(of_two_tiles(kernel));
            const auto known = known_faults(small, large);
            const std::vector<Fault> here = faults_of(small), there = faults_of(large);
            // Each of either run once, in the order of the source, those without a line behind them.
            CHECK(known.size() >= std::max(here.size(), there.size()));
            std::set<std::string> names;
            int last_line = 0;
            for (const KnownFault& one : known) {
                CHECK(names.insert(name_of(one.fault)).second);
                const bool in_small = std::ranges::find(here, one.fault) != here.end();
                CHECK(one.lacks.empty() == in_small);
                CHECK((in_small || std::ranges::find(there, one.fault) != there.end()));
                lacking += !in_small;
                if (!in_small) CHECK(one.lacks.ends_with('.'));
                if (!in_small && one.fault.line > 0)
                    CHECK(contains(one.lacks, "line " + std::to_string(one.fault.line) + " "));
                const std::string title = title_of(one.fault);
                CHECK(title.ends_with(one.fault.line > 0
                                          ? " of line " + std::to_string(one.fault.line) + " off"
                                          : std::string(info(one.fault.kind).title)));
                if (one.fault.line > 0 && one.fault.file == known.front().fault.file) {
                    CHECK(one.fault.line >= last_line);
                    last_line = one.fault.line;
                }
            }
        }
        CHECK(lacking > 0);
    }

    TEST_CASE("the order of a run is told: when copies arrive, and whether warps stand still") {
        Schedule turns;
        CHECK(schedule_text(turns) == "copies arrive when they are waited for, warps take turns");
        turns.early = true;
        CHECK(schedule_text(turns) == "copies arrive at once, warps take turns");
        turns.stalls = true, turns.seed = 7;
        CHECK(schedule_text(turns) ==
              "copies arrive at once, single warps stand still for a while (order 7)");
    }
}

}  // namespace tilewalk::inside

// Records a kernel on the shown head of a lesson's problem, or on all of its heads.
#include "core/inside/bridge.h"

#include "core/base/words.h"
#include "core/problem/heads.h"
#include "core/problem/logits.h"
#include "core/problem/mask.h"
#include "cuda/host/problem_on_device.h"
#include "cuda/host/record_rung.h"

namespace tilewalk::gpu {

namespace {

void name_memory(RecordingDevice& device, const Arguments& a, const Rung& rung, DType type) {
    const auto of_heads = [&](const char* name, const void* data, int heads, std::int64_t rows,
                              std::int64_t head_bytes, std::int64_t row_bytes, std::int64_t element) {
        for (int h = 0; h < heads && data; ++h)
            device.name(name, static_cast<const unsigned char*>(data) + h * head_bytes, rows * row_bytes,
                        row_bytes, element, a.heads > 1 ? h : -1);
    };
    const std::int64_t element = bytes_of(type), row_of_sums = 4, sums = row_of_sums * a.N_q;
    const auto tensor = [&](const char* name, const Tensor& t, bool of_keys) {
        of_heads(name, t.data, of_keys ? a.kv_heads : a.heads, of_keys ? a.N_kv : a.N_q, t.head * element,
                 t.row * element, element);
    };
    tensor("Q", a.Q, false), tensor("K", a.K, true), tensor("V", a.V, true), tensor("O", a.O, false);
    tensor("dO", a.dO, false), tensor("dQ", a.dQ, false), tensor("dK", a.dK, true), tensor("dV", a.dV, true);
    of_heads("L", a.L, a.heads, a.N_q, sums, row_of_sums, row_of_sums);
    // BackwardSums (backward_parts.h): D comes first.
    if (rung.direction == Direction::backward && !rung.materialises)
        of_heads("D", a.workspace, a.heads, a.N_q, sums, row_of_sums, row_of_sums);
    device.name("workspace", a.workspace, rung.workspace(a, type), 0, 0);
}

// What the twin writes down, of one head and all tiles.
class TwinOnDevice : public ProblemOnDevice {
public:
    using ProblemOnDevice::ProblemOnDevice;

    void open_window(const Tile& tile) {
        TraceWindow& w = a.trace;
        w.heads = 1;
        w.tiles_i = (a.N_q + tile.Br - 1) / tile.Br, w.tiles_j = (a.N_kv + tile.Bc - 1) / tile.Bc;
        w.Br = tile.Br, w.Bc = tile.Bc, w.d = a.d;
        const std::int64_t rows = std::int64_t(w.tiles_i) * w.tiles_j * w.Br;
        w.m = take_floats(rows), w.l = take_floats(rows), w.alpha = take_floats(rows);
        w.S = take_floats(rows * w.Bc), w.P = take_floats(rows * w.Bc), w.O = take_floats(rows * w.d);
    }
    void name_window(RecordingDevice& to) const {
        const TraceWindow& w = a.trace;
        if (w.tiles_i == 0) return;
        const std::int64_t rows = std::int64_t(w.tiles_i) * w.tiles_j * w.Br;
        using Quantity = KernelFault::Quantity;
        const auto array = [&](Quantity quantity, const float* from, int width) {
            to.name(inside::twin_region(quantity).c_str(), from, rows * width * 4, width * 4, 4);
        };
        array(Quantity::S, w.S, w.Bc), array(Quantity::m, w.m, 1), array(Quantity::alpha, w.alpha, 1);
        array(Quantity::P, w.P, w.Bc), array(Quantity::l, w.l, 1), array(Quantity::O, w.O, w.d);
    }
};

int tiles_of(Problem p, const Tile& tile) {
    if (tile.Br == 0) return 0;
    p.Br = tile.Br, p.Bc = tile.Bc;
    int tiles = 0;
    for (int i = 0; i < p.Tr(); ++i)
        for (int j = 0; j < p.Tc(); ++j) tiles += tile_cover(p, i, j) != TileCover::none;
    return tiles;
}

int open_keys(int keys, int Bc) { return Bc > 0 ? (Bc - keys % Bc) % Bc : 0; }

void take_outputs(inside::Record& record, ProblemOnDevice& placed, const Problem& p) {
    for (ProblemOnDevice::Written& one : placed.outputs(p))
        record.outputs.push_back({one.name + inside::head_text(record.heads > 1 ? one.head : -1), one.rows,
                                  static_cast<int>(p.d()), std::move(one.values)});
}

}  // namespace

Result<inside::Record> record_rung(const std::shared_ptr<RecordingDevice>& device, const Rung& rung,
                                   const RecordRequest& request, TraceFailed& of) {
    of = TraceFailed::input;
    const Problem& p = request.problem;
    if (const auto lacking = kernels_lack(p)) return Failure{*lacking};
    if (std::max(p.N(), p.N_kv()) > most_recorded_N || p.d() > most_recorded_d)
        return Failure{"N = " + std::to_string(std::max(p.N(), p.N_kv())) + ", d = " + std::to_string(p.d()) +
                       " is too large to be recorded; up to N = " + std::to_string(most_recorded_N) +
                       ", d = " + std::to_string(most_recorded_d) + " are."};
    if (request.all_heads && query_heads(p) > most_recorded_heads)
        return Failure{std::to_string(query_heads(p)) + " heads are too many to be recorded; up to " +
                       std::to_string(most_recorded_heads) + " are."};
    const Result<Arguments> sizes =
        fitting(rung, p, request.dtype, device->chip, {.all_heads = request.all_heads});
    if (!sizes) return Failure{sizes.error};
    if (request.twin && !rung.traced) return Failure{request.kernel + " has no tiles that it writes down."};
    const Tile tile = rung.tile(*sizes, request.dtype, device->chip);
    const int beyond = open_keys(sizes->N_kv, tile.Bc);
    inside::Record record;
    try {
        TwinOnDevice placed(device, rung, request.dtype, *sizes);
        const bool unguarded = request.fault && request.fault->kind == inside::FaultKind::guard;
        if (unguarded) placed.leave_room(std::max(sizes->N_q, sizes->N_kv) + beyond);
        placed.place(p);
        if (request.twin) placed.open_window(tile);
        if (!placed.run_forward()) return Failure{"There is no forward kernel for its O and L."};
        if (unguarded) placed.pretend_keys(sizes->N_kv + beyond);
        device->prepare(rung, placed.arguments(), request.dtype);
        name_memory(*device, placed.arguments(), rung, request.dtype);
        placed.name_window(*device);
        device->begin();
        placed.run(rung);
        record = device->record();
        record.heads = sizes->heads, record.key_heads = sizes->kv_heads;
        take_outputs(record, placed, p);
    } catch (const std::runtime_error& failure) {
        of = TraceFailed::device;
        return Failure{failure.what()};
    }
    record.kernel = rung.name, record.title = rung.title, record.teaches = rung.teaches;
    record.dtype = request.dtype;
    record.split_blocks = rung.split_blocks ? rung.split_blocks(*sizes) : 0;
    record.Br = tile.Br, record.Bc = tile.Bc, record.tiles = tiles_of(p, tile);
    record.open_keys = beyond, record.schedule = request.schedule, record.fault = request.fault;
    return record;
}

RecordOptions options_of(const RecordRequest& request) {
    RecordOptions options;
    options.blocks = request.blocks;
    options.stop = request.stop, options.blocks_done = request.blocks_done;
    options.schedule = request.schedule, options.fault = request.fault;
    options.timed = request.timed, options.reported = request.reported;
    return options;
}

Result<inside::Record> record_kernel(const RecordRequest& request, TraceFailed* how) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    const std::shared_ptr<RecordingDevice> device = open_recorder(options_of(request));
    const Rung* const rung = find_rung(*device, request.kernel);
    if (!rung)
        return Failure{"There is no kernel \"" + request.kernel + "\"; `tilewalk kernels` lists them."};
    return record_rung(device, *rung, request, of);
}

}  // namespace tilewalk::gpu

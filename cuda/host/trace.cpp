// Runs a kernel on one head of a lesson's problem and brings back what its traced twin wrote down.
#include "core/base/float16.h"
#include "core/base/words.h"
#include "core/compare/kernel_compare.h"
#include "core/problem/logits.h"
#include "core/problem/mask.h"
#include "cuda/host/emulator.h"
#include "cuda/host/gpu.h"
#include "cuda/host/open_cuda.h"
#include "cuda/host/problem_on_device.h"
#include "cuda/host/where_it_ran.h"

#include <algorithm>

namespace tilewalk::gpu {

namespace {

constexpr std::uint32_t unwritten = 0xFFFFFFFF;  ///< as memory is filled before the kernel runs

// Room for what the twin records
struct Recorded {
    std::size_t tiles = 0;
    Tile tile;
    int d = 0;
    std::int64_t bytes(const TraceRequest& request) const {
        const std::int64_t rows = std::int64_t(tiles) * tile.Br;
        return 4 * rows * (3 + (request.S + request.P) * tile.Bc + request.O * d);
    }
};

// One array of the window on the host, cut tile by tile
struct Array {
    std::vector<float> all;
    int Br, width;
    double factor;

    /// −∞ stays −∞ with any factor, 0 as well.
    float value(std::size_t at) const {
        return std::isinf(all[at]) ? all[at] : static_cast<float>(factor * all[at]);
    }
    std::vector<float> cut(std::size_t tile, int rows, int columns) const {
        std::vector<float> part;
        if (all.empty()) return part;
        const std::size_t begin = tile * static_cast<std::size_t>(Br * width);
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c)
                part.push_back(value(begin + static_cast<std::size_t>(r * width + c)));
        return part;
    }
    bool written(std::size_t tile, int rows, int columns) const {
        for (int r = 0; r < rows && !all.empty(); ++r)
            for (int c = 0; c < columns; ++c)
                if (emulator::bits_of(
                        all[(tile * static_cast<std::size_t>(Br) + static_cast<std::size_t>(r)) *
                                static_cast<std::size_t>(width) +
                            static_cast<std::size_t>(c)]) == unwritten)
                    return false;
        return true;
    }
};

// A sentence if the kernel left out a number of a tile that it must visit, or visited one that it must not.
std::string collect(Device& device, const TraceWindow& w, KernelTrace& trace) {
    const Problem& p = trace.problem;
    const auto tiles = static_cast<std::size_t>(w.tiles_i * w.tiles_j);
    const auto array = [&](const float* from, int width, double factor) {
        const std::int64_t size = static_cast<std::int64_t>(tiles) * w.Br * width;
        return Array{download(device, from, from ? size : 0, DType::f32), w.Br, width, factor};
    };
    const double scale = p.softmax_scale();
    const double size = std::abs(scale);
    const Array m = array(w.m, 1, size), l = array(w.l, 1, 1), alpha = array(w.alpha, 1, 1),
                S = array(w.S, w.Bc, size), P = array(w.P, w.Bc, 1), O = array(w.O, w.d, 1);
    for (int i = 0; i < w.tiles_i; ++i)
        for (int j = 0; j < w.tiles_j; ++j) {
            const auto at = static_cast<std::size_t>(i * w.tiles_j + j);
            const int rows = std::min(w.Br, p.N() - i * w.Br), columns = std::min(w.Bc, p.N_kv() - j * w.Bc);
            KernelTile tile{i, j, m.written(at, rows, 1), {}, {}, {}, {}, {}, {}};
            const std::string name = tile_text(i, j);
            if (tile.visited != (tile_cover(p, i, j) != TileCover::none))
                return trace.kernel + (tile.visited ? " visited " : " did not visit ") + name + ".";
            if (tile.visited) {
                if (!l.written(at, rows, 1) || !alpha.written(at, rows, 1) || !S.written(at, rows, columns) ||
                    !P.written(at, rows, columns) || !O.written(at, rows, p.d()))
                    return trace.kernel + " left numbers of " + name + " unwritten.";
                tile.m = m.cut(at, rows, 1), tile.l = l.cut(at, rows, 1);
                tile.alpha = alpha.cut(at, rows, 1);
                tile.S = S.cut(at, rows, columns), tile.P = P.cut(at, rows, columns);
                tile.O = O.cut(at, rows, p.d());
            }
            trace.tiles.push_back(std::move(tile));
        }
    return "";
}

// One run: uploads, launches, downloads. Throws what DeviceMemory and expect_well do.
class Run : ProblemOnDevice {
public:
    Run(const std::shared_ptr<Device>& on, const Rung& what, const TraceRequest& of, const Arguments& sizes)
        : ProblemOnDevice(on, what, of.dtype, sizes), request(of) {}

    /// The sentence of what went wrong, if something did.
    std::string go(KernelTrace& trace, const std::stop_token& stop) {
        place(trace.problem);
        if (!run_forward()) return "There is no forward kernel for its O and L.";
        if (rung.traced) {
            const Recorded recorded{static_cast<std::size_t>(trace.problem.Tr()) *
                                        static_cast<std::size_t>(trace.problem.Tc()),
                                    {trace.problem.Br, trace.problem.Bc},
                                    a.d};
            if (recorded.bytes(request) > trace_budget_bytes)
                return "Its tiles take " + std::to_string(recorded.bytes(request) >> 20) +
                       " MiB to record; " + std::to_string(trace_budget_bytes >> 20) +
                       " MiB are allowed: choose a smaller problem.";
            open_window(recorded, trace.problem);
        }
        if (stop.stop_requested()) return "Cancelled.";
        device.prepare(rung, a, type);
        run(rung);
        if (rung.traced) {
            const std::string wrong = collect(device, a.trace, trace);
            if (!wrong.empty()) throw KernelFailed(wrong);
        }
        // The outputs are those of the kernel as it is timed, unless a fault was asked for.
        if (rung.traced && request.fault.quantity == KernelFault::Quantity::none) {
            a.trace = {};
            run(rung);
        }
        take_outputs(trace);
        return "";
    }

private:
    void open_window(const Recorded& recorded, const Problem& p) {
        TraceWindow& w = a.trace;
        w.heads = 1;
        w.tiles_i = p.Tr(), w.tiles_j = p.Tc();
        w.Br = recorded.tile.Br, w.Bc = recorded.tile.Bc, w.d = recorded.d;
        const std::int64_t rows = std::int64_t(recorded.tiles) * w.Br;
        w.m = take_floats(rows), w.l = take_floats(rows), w.alpha = take_floats(rows);
        if (request.S) w.S = take_floats(rows * w.Bc);
        if (request.P) w.P = take_floats(rows * w.Bc);
        if (request.O) w.O = take_floats(rows * w.d);
        const KernelFault& fault = request.fault;
        using Quantity = TraceWindow::Quantity;
        constexpr Quantity quantities[] = {Quantity::none, Quantity::S, Quantity::m, Quantity::alpha,
                                           Quantity::P,    Quantity::l, Quantity::O};
        w.fault = quantities[static_cast<int>(fault.quantity)];
        w.fault_i = fault.i, w.fault_j = fault.j, w.fault_row = fault.row, w.fault_column = fault.column;
        w.fault_amount = static_cast<float>(fault.amount);
    }
    void take_outputs(KernelTrace& trace) {
        const Problem& p = trace.problem;
        trace.O = output(a.O, p.N(), p.d());
        trace.L = download(device, a.L, p.N(), DType::f32);
        if (trace.backward) {
            trace.dQ = output(a.dQ, p.N(), p.d());
            trace.dK = output(a.dK, p.N_kv(), p.d()), trace.dV = output(a.dV, p.N_kv(), p.d());
            if (p.softmax_scale() < 0)
                for (float& x : trace.dQ) x = -x;
        }
        expect_well(device);
    }

    const TraceRequest& request;
};

std::string refuse_fault(const KernelFault& fault, const Problem& p, bool tiles) {
    if (fault.quantity == KernelFault::Quantity::none) return "";
    if (!tiles) return "This kernel records no tiles, so that no fault can be injected.";
    if (fault.i < 0 || fault.i >= p.Tr() || fault.j < 0 || fault.j >= p.Tc())
        return "The fault lies in " + tile_text(fault.i, fault.j) + "; there are " + std::to_string(p.Tr()) +
               " × " + std::to_string(p.Tc()) + " tiles of " + std::to_string(p.Br) + " × " +
               std::to_string(p.Bc) + ".";
    if (fault.row < 0 || fault.row >= std::min(p.Br, p.N() - fault.i * p.Br))
        return "The fault lies in row " + std::to_string(fault.row) + ", which its tile does not have.";
    return "";
}

}  // namespace

// What a chip runs of it, at a size that every kernel takes
static std::vector<DType> types_taken(const Rung& rung, const Chip& chip) {
    Arguments a;
    a.N_q = a.N_kv = 64, a.d = 64;
    std::vector<DType> types;
    for (DType type : {DType::bf16, DType::f16, DType::f32})
        if (rung.refuse(a, type, chip).empty()) types.push_back(type);
    return types;
}

std::vector<TraceableKernel> traceable_kernels() {
    std::vector<TraceableKernel> list;
    for (const Rung* rung : open_emulator()->ladder())
        list.push_back({rung->name, rung->title, rung->direction, rung->traced, types_taken(*rung, Chip{})});
    return list;
}

bool is_taken_by(int capability, const std::string& kernel, std::optional<DType> dtype) {
    Chip chip;
    chip.capability = capability;
    const auto device = open_emulator();
    const Rung* const rung = find_rung(*device, kernel);
    if (!rung) return true;
    const std::vector<DType> types = types_taken(*rung, chip);
    return dtype ? std::ranges::find(types, *dtype) != types.end() : !types.empty();
}

std::vector<const inside::Costs*> chips_for(const inside::Record& record) {
    std::vector<const inside::Costs*> all;
    for (const inside::Costs& costs : inside::all_costs())
        if (is_taken_by(costs.capability, record.kernel, record.dtype)) all.push_back(&costs);
    return all;
}

Result<KernelTrace> trace_kernel(Where where, const TraceRequest& request, std::stop_token stop,
                                 TraceFailed* how) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    if (const auto lacking = kernels_lack(request.problem)) return Failure{*lacking};
    std::string why_not;
    const std::shared_ptr<Device> device = where == Where::cuda ? open_cuda(why_not) : open_emulator();
    if (!device) {
        of = TraceFailed::no_device;
        return Failure{"There is no GPU to run it: " + why_not + "."};
    }
    const Rung* const rung = find_rung(*device, request.kernel);
    if (!rung)
        return Failure{"There is no kernel \"" + request.kernel + "\"; `tilewalk kernels` lists them."};
    const Result<Arguments> sizes =
        fitting(*rung, request.problem, request.dtype, device->chip, {.traced = rung->traced});
    if (!sizes) return Failure{sizes.error};

    KernelTrace trace;
    trace.kernel = rung->name, trace.title = rung->title;
    trace.run = where_it_ran(where);
    trace.dtype = request.dtype;
    trace.problem = without_faults(request.problem);
    trace.kernel_d = sizes->d;
    trace.split_blocks = rung->split_blocks ? rung->split_blocks(*sizes) : 0;
    trace.backward = rung->direction == Direction::backward;
    trace.P_from_L = trace.backward && !rung->materialises;
    trace.fault = request.fault;
    const Tile tile = rung->tile(*sizes, request.dtype, device->chip);
    if (tile.Br > 0) trace.problem.Br = tile.Br, trace.problem.Bc = tile.Bc;
    const std::string wrong_fault = refuse_fault(request.fault, trace.problem, rung->traced);
    if (!wrong_fault.empty()) return Failure{wrong_fault};

    try {
        const std::string failure = Run(device, *rung, request, *sizes).go(trace, stop);
        if (!failure.empty()) return Failure{failure};
    } catch (const NoMemory&) {
        of = TraceFailed::device;
        return Failure{"The device has too little memory for it."};
    } catch (const std::runtime_error& failure) {
        of = TraceFailed::device;
        return Failure{failure.what()};
    }
    return trace;
}

}  // namespace tilewalk::gpu

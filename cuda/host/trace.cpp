// Runs a kernel on one head of a lesson's problem and brings back what its traced twin wrote down.
#include "core/base/float16.h"
#include "core/bench/build_facts.h"
#include "core/bench/machine.h"
#include "core/problem/mask.h"
#include "core/problem/precision.h"
#include "cuda/host/emulator.h"
#include "cuda/host/gpu.h"
#include "cuda/host/open_cuda.h"

#include <algorithm>
#include <cfloat>

namespace tilewalk::gpu {

namespace {

constexpr std::uint32_t unwritten = 0xFFFFFFFF;  ///< as memory is filled before the kernel runs
constexpr int head_dimensions[] = {32, 64, 96, 128, 256};

Format format_of(DType type) {
    return type == DType::f32 ? Format::fp32 : type == DType::f16 ? Format::fp16 : Format::bf16;
}

const Rung* find(const Device& device, const std::string& name) {
    for (const Rung* rung : device.ladder())
        if (name == rung->name) return rung;
    return nullptr;
}

/// Memory of a device, given back at the end.
class Memory {
public:
    explicit Memory(Device& of) : device(of) {}
    ~Memory() {
        for (void* block : blocks) device.release(block);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Filled so that what a kernel forgets to write is NaN.
    void* take(std::int64_t bytes) {
        void* const block = device.allocate(std::max<std::int64_t>(bytes, 16));
        if (!block) return short_of_memory = true, nullptr;
        blocks.push_back(block);
        device.fill(block, 0xFF, std::max<std::int64_t>(bytes, 16));
        return block;
    }
    bool short_of_memory = false;

private:
    Device& device;
    std::vector<void*> blocks;
};

// Rows of the problem in the kernel's format, zeros from column A.cols() on.
Tensor upload(Device& device, Memory& memory, const Matrix& A, int d, DType type, double factor = 1) {
    const std::int64_t size = A.rows() * d;
    Tensor tensor{memory.take(size * bytes_of(type)), size, size, d};
    if (!tensor.data) return tensor;
    std::vector<float> wide(static_cast<std::size_t>(size), 0.0f);
    for (Eigen::Index r = 0; r < A.rows(); ++r)
        for (Eigen::Index c = 0; c < A.cols(); ++c)
            wide[static_cast<std::size_t>(r * d + c)] =
                static_cast<float>(round_to(format_of(type), factor * A(r, c)));
    std::vector<std::uint16_t> narrow(type == DType::f32 ? 0 : wide.size());
    std::transform(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(narrow.size()), narrow.begin(),
                   [type](float x) {
                       return type == DType::f16 ? emulator::from_float<emulator::f16>(x).bits
                                                 : emulator::from_float<emulator::bf16>(x).bits;
                   });
    const void* const from = type == DType::f32 ? static_cast<const void*>(wide.data()) : narrow.data();
    device.upload(tensor.data, from, size * bytes_of(type));
    return tensor;
}

std::vector<float> floats(Device& device, const void* from, std::size_t size) {
    std::vector<float> x(size);
    device.download(x.data(), from, static_cast<std::int64_t>(4 * size));
    return x;
}

// The first `columns` of every row, as floats
std::vector<float> download(Device& device, const Tensor& tensor, int rows, int columns, DType type) {
    const auto size = static_cast<std::size_t>(rows * tensor.row);
    std::vector<float> wide(size);
    if (type == DType::f32) {
        wide = floats(device, tensor.data, size);
    } else {
        std::vector<std::uint16_t> narrow(size);
        device.download(narrow.data(), tensor.data, static_cast<std::int64_t>(2 * size));
        std::transform(narrow.begin(), narrow.end(), wide.begin(), [type](std::uint16_t bits) {
            return type == DType::f16 ? to_float(emulator::f16{bits}) : to_float(emulator::bf16{bits});
        });
    }
    std::vector<float> cut;
    for (int r = 0; r < rows; ++r) {
        const auto row = wide.begin() + static_cast<std::ptrdiff_t>(r * tensor.row);
        cut.insert(cut.end(), row, row + columns);
    }
    return cut;
}

Arguments sizes_of(const Problem& p, int d) {
    Arguments a;
    a.N_q = p.N(), a.N_kv = p.N_kv(), a.d = d;
    // With a scale of 0, −∞ · scale would be NaN; the smallest normal number leaves every score at 0.
    const double scale = std::abs(p.softmax_scale());
    a.scale = std::max(static_cast<float>(scale), FLT_MIN);
    if (p.window) a.before = *p.window < Arguments::unlimited ? *p.window : Arguments::unlimited;
    if (p.causal || p.window) a.after = p.causal ? 0 : a.before;
    return a;
}

// The smallest head dimension that holds the problem's and that the kernel takes.
Result<Arguments> fitting(const Rung& rung, const TraceRequest& request, const Chip& chip) {
    const Problem& p = request.problem;
    std::string why = rung.refuse(sizes_of(p, p.d()), request.dtype, chip);
    if (why.empty()) return sizes_of(p, p.d());
    for (int d : head_dimensions) {
        if (d <= p.d()) continue;
        const std::string reason = rung.refuse(sizes_of(p, d), request.dtype, chip);
        if (reason.empty()) return sizes_of(p, d);
        why = reason;
    }
    return Failure{std::string(rung.name) + " does not take this problem: " + why + "."};
}

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

void open_window(TraceWindow& w, const Recorded& room, const TraceRequest& request, const Problem& p,
                 Memory& memory) {
    w.heads = 1;
    w.tiles_i = p.Tr(), w.tiles_j = p.Tc();
    w.Br = room.tile.Br, w.Bc = room.tile.Bc, w.d = room.d;
    const std::int64_t rows = std::int64_t(room.tiles) * w.Br;
    const auto take = [&](std::int64_t width) { return static_cast<float*>(memory.take(4 * rows * width)); };
    w.m = take(1), w.l = take(1), w.alpha = take(1);
    if (request.S) w.S = take(w.Bc);
    if (request.P) w.P = take(w.Bc);
    if (request.O) w.O = take(w.d);
    const KernelFault& fault = request.fault;
    using Quantity = TraceWindow::Quantity;
    constexpr Quantity quantities[] = {Quantity::none, Quantity::S, Quantity::m, Quantity::alpha,
                                       Quantity::P,    Quantity::l, Quantity::O};
    w.fault = quantities[static_cast<int>(fault.quantity)];
    w.fault_i = fault.i, w.fault_j = fault.j, w.fault_row = fault.row, w.fault_column = fault.column;
    w.fault_amount = static_cast<float>(fault.amount);
}

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
        const std::size_t size = tiles * static_cast<std::size_t>(w.Br * width);
        return Array{from ? floats(device, from, size) : std::vector<float>{}, w.Br, width, factor};
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
            const std::string name = "tile (" + std::to_string(i) + ", " + std::to_string(j) + ")";
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

KernelRun where_it_ran(Where where) {
    KernelRun run;
    run.device = name_of(where);
    run.device_name = this_machine().cpu;
    if (where == Where::cuda) {
        const Probe found = probe();
        if (!found.devices.empty()) run.device_name = found.devices.front().name;
        run.driver = found.driver_version;
    }
    run.date = utc_now();
    run.version = build_facts.version, run.commit = build_facts.commit;
    return run;
}

// The forward rung that gives the backward pass its O and L: the last of the ladder that takes the type.
const Rung* forward_rung(const Device& device, const Arguments& a, DType type) {
    const Rung* best = nullptr;
    for (const Rung* rung : device.ladder())
        if (rung->direction == Direction::forward && !rung->materialises &&
            rung->refuse(a, type, device.chip).empty())
            best = rung;
    return best;
}

// One run: uploads, launches, downloads.
class Run {
public:
    Run(Device& on, const Rung& what, const TraceRequest& of, Arguments sizes)
        : device(on), memory(on), rung(what), request(of), a(sizes) {}

    std::string go(KernelTrace& trace, const std::stop_token& stop) {
        place(trace.problem);
        if (trace.backward && !prepare_backward()) return "There is no forward kernel for its O and L.";
        if (rung.traced) {
            const Recorded room{static_cast<std::size_t>(trace.problem.Tr()) *
                                    static_cast<std::size_t>(trace.problem.Tc()),
                                {trace.problem.Br, trace.problem.Bc},
                                a.d};
            if (room.bytes(request) > trace_budget_bytes)
                return "Its tiles take " + std::to_string(room.bytes(request) >> 20) + " MiB to record; " +
                       std::to_string(trace_budget_bytes >> 20) + " MiB are allowed.";
            open_window(a.trace, room, request, trace.problem, memory);
        }
        if (memory.short_of_memory) return "The device has too little memory for it.";
        if (stop.stop_requested()) return "Cancelled.";
        device.prepare(rung, a, request.dtype);
        device.run(rung, a, request.dtype);
        if (rung.traced && device.failure().empty()) {
            const std::string wrong = collect(device, a.trace, trace);
            if (!wrong.empty()) return wrong;
        }
        // The outputs are those of the kernel as it is timed, unless a fault was asked for.
        if (rung.traced && request.fault.quantity == KernelFault::Quantity::none) {
            a.trace = {};
            device.run(rung, a, request.dtype);
        }
        if (!device.failure().empty()) return device.failure();
        take_outputs(trace);
        return "";
    }

private:
    void place(const Problem& p) {
        // A negative scale is a negative Q: kernels take the maximum of Q Kᵀ before they scale it.
        const double sign = p.softmax_scale() < 0 ? -1 : 1;
        a.Q = upload(device, memory, p.Q, a.d, request.dtype, sign);
        a.K = upload(device, memory, p.K, a.d, request.dtype);
        a.V = upload(device, memory, p.V, a.d, request.dtype);
        const auto output = [&](int rows) {
            const std::int64_t size = std::int64_t(rows) * a.d;
            return Tensor{memory.take(size * bytes_of(request.dtype)), size, size, a.d};
        };
        a.O = output(a.N_q);
        a.L = static_cast<float*>(memory.take(4 * std::int64_t(a.N_q)));
        if (rung.direction == Direction::backward) {
            a.dO = upload(device, memory, output_gradient(p), a.d, request.dtype);
            a.dQ = output(a.N_q), a.dK = output(a.N_kv), a.dV = output(a.N_kv);
        }
        const std::int64_t workspace = rung.workspace(a, request.dtype);
        if (workspace > 0) a.workspace = memory.take(workspace);
    }
    bool prepare_backward() {
        const Rung* const forward = forward_rung(device, a, request.dtype);
        if (!forward || memory.short_of_memory) return forward != nullptr;
        device.run(*forward, a, request.dtype);
        return true;
    }
    void take_outputs(KernelTrace& trace) {
        const Problem& p = trace.problem;
        trace.O = download(device, a.O, p.N(), p.d(), request.dtype);
        trace.L = floats(device, a.L, static_cast<std::size_t>(p.N()));
        if (!trace.backward) return;
        trace.dQ = download(device, a.dQ, p.N(), p.d(), request.dtype);
        trace.dK = download(device, a.dK, p.N_kv(), p.d(), request.dtype);
        trace.dV = download(device, a.dV, p.N_kv(), p.d(), request.dtype);
        if (p.softmax_scale() < 0)
            for (float& x : trace.dQ) x = -x;
    }

    Device& device;
    Memory memory;
    const Rung& rung;
    const TraceRequest& request;
    Arguments a;
};

std::string refuse_fault(const KernelFault& fault, const Problem& p, bool tiles) {
    if (fault.quantity == KernelFault::Quantity::none) return "";
    if (!tiles) return "This kernel records no tiles, so that no fault can be injected.";
    if (fault.i < 0 || fault.i >= p.Tr() || fault.j < 0 || fault.j >= p.Tc())
        return "The fault lies in tile (" + std::to_string(fault.i) + ", " + std::to_string(fault.j) +
               "); there are " + std::to_string(p.Tr()) + " × " + std::to_string(p.Tc()) + " tiles of " +
               std::to_string(p.Br) + " × " + std::to_string(p.Bc) + ".";
    if (fault.row < 0 || fault.row >= std::min(p.Br, p.N() - fault.i * p.Br))
        return "The fault lies in row " + std::to_string(fault.row) + ", which its tile does not have.";
    return "";
}

}  // namespace

const char* name_of(Where where) { return where == Where::cuda ? "cuda" : "emulator"; }

std::vector<TraceableKernel> traceable_kernels() {
    std::vector<TraceableKernel> list;
    Arguments a;
    a.N_q = a.N_kv = 64, a.d = 64;
    for (const Rung* rung : open_emulator()->ladder()) {
        TraceableKernel kernel{rung->name, rung->title, rung->direction, rung->traced, {}};
        for (DType type : {DType::bf16, DType::f16, DType::f32})
            if (rung->refuse(a, type, Chip{}).empty()) kernel.types.push_back(type);
        list.push_back(std::move(kernel));
    }
    return list;
}

Result<KernelTrace> trace_kernel(Where where, const TraceRequest& request, std::stop_token stop) {
    std::string why_not;
    const std::unique_ptr<Device> device = where == Where::cuda ? open_cuda(why_not) : open_emulator();
    if (!device) return Failure{"There is no GPU to run it: " + why_not + "."};
    const Rung* const rung = find(*device, request.kernel);
    if (!rung)
        return Failure{"There is no kernel \"" + request.kernel + "\"; `tilewalk kernels` lists them."};
    const Result<Arguments> sizes = fitting(*rung, request, device->chip);
    if (!sizes) return Failure{sizes.error};

    KernelTrace trace;
    trace.kernel = rung->name, trace.title = rung->title;
    trace.run = where_it_ran(where);
    trace.dtype = request.dtype;
    trace.problem = without_faults(request.problem);
    trace.kernel_d = sizes->d;
    trace.backward = rung->direction == Direction::backward;
    trace.fault = request.fault;
    const Tile tile = rung->tile(*sizes, request.dtype, device->chip);
    if (tile.Br > 0) trace.problem.Br = tile.Br, trace.problem.Bc = tile.Bc;
    const std::string wrong_fault = refuse_fault(request.fault, trace.problem, rung->traced);
    if (!wrong_fault.empty()) return Failure{wrong_fault};

    Run run(*device, *rung, request, *sizes);
    const std::string failure = run.go(trace, stop);
    if (!failure.empty()) return Failure{failure};
    return trace;
}

}  // namespace tilewalk::gpu

#include "cuda/browser/messages.h"

#include "core/base/bytes.h"
#include "core/inside/record_file.h"

#include <optional>

namespace tilewalk {

namespace {

enum class Kind : std::uint8_t { record, trace, refusal };

/// What each thing is made of, in both directions.
struct Parts {
    template <class Way, class T> static void maybe(Way& way, std::optional<T>& x) {
        bool there = x.has_value();
        way.take(there);
        if (there && !x) x.emplace();
        if (x) of(way, *x);
    }

    template <class Way> static void of(Way& way, int& x) { way.take(x); }

    template <class Way> static void of(Way& way, Matrix& A) {
        auto rows = static_cast<std::int32_t>(A.rows()), columns = static_cast<std::int32_t>(A.cols());
        take_all(way, rows, columns);
        std::vector<double> values(A.data(), A.data() + A.size());
        way.take(values);
        if (static_cast<std::int64_t>(values.size()) != std::int64_t(rows) * columns) return;
        A.resize(rows, columns);
        std::copy(values.begin(), values.end(), A.data());
    }

    template <class Way> static void of(Way& way, Problem& p) {
        of(way, p.Q), of(way, p.K), of(way, p.V);
        maybe(way, p.dO);
        take_all(way, p.Br, p.Bc, p.causal, p.scale.kind, p.scale.number);
        maybe(way, p.window);
    }

    template <class Way> static void of(Way& way, inside::Fault& fault) {
        take_all(way, fault.kind, fault.file, fault.line);
    }

    template <class Way> static void of(Way& way, gpu::RecordRequest& r) {
        take_all(way, r.kernel, r.dtype, r.all_heads, r.blocks, r.twin, r.schedule.early, r.schedule.stalls,
                 r.schedule.seed);
        maybe(way, r.fault);
        of(way, r.problem);
    }

    template <class Way> static void of(Way& way, gpu::TraceRequest& r) {
        take_all(way, r.kernel, r.dtype, r.S, r.P, r.O);
        take_all(way, r.fault.quantity, r.fault.i, r.fault.j, r.fault.row, r.fault.column, r.fault.amount);
        of(way, r.problem);
    }

    template <class Way> static void of(Way& way, KernelTrace& t) {
        take_all(way, t.kernel, t.title, t.dtype, t.kernel_d, t.backward, t.P_from_L, t.split_blocks);
        take_all(way, t.problem.Br, t.problem.Bc, t.O, t.L, t.dQ, t.dK, t.dV);
        auto tiles = static_cast<std::uint32_t>(t.tiles.size());
        way.take(tiles);
        for (std::uint32_t n = 0; n < tiles; ++n) {
            if constexpr (requires { way.left; }) {
                if (!way.whole) return;
                t.tiles.emplace_back();
            }
            KernelTile& tile = t.tiles[n];
            take_all(way, tile.i, tile.j, tile.visited, tile.m, tile.l, tile.alpha, tile.S, tile.P, tile.O);
        }
    }
};

template <class T> std::string written(Kind kind, T what) {
    BytesOfString out;
    BytesOut<BytesOfString> way{out};
    way.take(kind);
    Parts::of(way, what);
    return std::move(out.all);
}

template <class T> bool read(std::string_view bytes, T& what) {
    BytesIn way{bytes};
    Parts::of(way, what);
    return way.whole && way.left.empty();
}

Kind kind_of(std::string_view& message) {
    BytesIn way{message};
    Kind kind = Kind::refusal;
    way.take(kind);
    message = way.left;
    return kind;
}

/// What is left of an answer of that kind; nothing, and the sentence, where it is another.
std::optional<std::string_view> rest_of(std::string_view answer, Kind wanted, std::string& error,
                                        gpu::TraceFailed& of) {
    const Kind kind = kind_of(answer);
    if (kind == wanted) return answer;
    BytesIn way{answer};
    take_all(way, of, error);
    if (kind != Kind::refusal || !way.whole) error = "The worker's answer is not whole.";
    return std::nullopt;
}

}  // namespace

namespace gpu {

std::string message_of(const RecordRequest& request) { return written(Kind::record, request); }
std::string message_of(const TraceRequest& request) { return written(Kind::trace, request); }

std::string refusal(const std::string& sentence, TraceFailed of) {
    BytesOfString out;
    BytesOut<BytesOfString> way{out};
    way.take(Kind::refusal), take_all(way, of, sentence);
    return std::move(out.all);
}

std::string answer_to(std::string_view message) {
    TraceFailed of = TraceFailed::input;
    const Kind kind = kind_of(message);
    RecordRequest to_record;
    if (kind == Kind::record && read(message, to_record)) {
        const auto record = record_kernel(to_record, &of);
        if (!record) return refusal(record.error, of);
        BytesOfString out;
        BytesOut<BytesOfString>{out}.take(kind);
        return std::move(out.all.append(inside::record_bytes(*record)));
    }
    TraceRequest to_trace;
    if (kind == Kind::trace && read(message, to_trace)) {
        auto trace = trace_kernel(Where::emulator, to_trace, {}, &of);
        return trace ? written(kind, std::move(*trace)) : refusal(trace.error, of);
    }
    return refusal("What the worker was asked for is not whole.", of);
}

Result<inside::Record> record_in(std::string_view answer, const RecordRequest& request, TraceFailed& of) {
    std::string error;
    const auto rest = rest_of(answer, Kind::record, error, of);
    if (!rest) return Failure{error};
    auto record = inside::read_record(*rest);
    if (record) record->fault = request.fault;
    return record;
}

Result<KernelTrace> trace_in(std::string_view answer, const TraceRequest& request, TraceFailed& of) {
    std::string error;
    const auto rest = rest_of(answer, Kind::trace, error, of);
    if (!rest) return Failure{error};
    KernelTrace trace;
    trace.problem = without_faults(request.problem), trace.fault = request.fault;
    if (!read(*rest, trace)) return Failure{"The worker's answer is not whole."};
    return trace;
}

}  // namespace gpu

}  // namespace tilewalk

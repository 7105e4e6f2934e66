// What a rung launches for given sizes, as JSON: the kernels' symbols, their grids and every argument. The
// kernels are those of the emulator, which are never run; cuda/device/device.h beside this file says why.
//
//     launches RUNG TYPE D N_Q N_KV HEADS KV_HEADS BEFORE AFTER BATCH TRACED KIB_OF_SHARED_MEMORY
//     [CAPABILITY]
//
// BEFORE and AFTER: -1 stands for no limit. Values of Arguments lie where offsetof says.
#include "cuda/kernels/ladder.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>

using namespace tilewalk;
using namespace tilewalk::gpu;

namespace {

struct Field {
    std::size_t offset;
    const char *type, *name;
};

#define FIELD(type, member)                                                                                  \
    { offsetof(Arguments, member), type, #member }
#define TENSOR(name)                                                                                         \
    FIELD("pointer", name.data), FIELD("s64", name.batch), FIELD("s64", name.head), FIELD("s64", name.row)
const Field fields[] = {TENSOR(Q),
                        TENSOR(K),
                        TENSOR(V),
                        TENSOR(O),
                        TENSOR(dO),
                        TENSOR(dQ),
                        TENSOR(dK),
                        TENSOR(dV),
                        FIELD("pointer", L),
                        FIELD("s32", batch),
                        FIELD("s32", heads),
                        FIELD("s32", kv_heads),
                        FIELD("s32", N_q),
                        FIELD("s32", N_kv),
                        FIELD("s32", d),
                        FIELD("f32", scale),
                        FIELD("s32", before),
                        FIELD("s32", after),
                        FIELD("pointer", workspace),
                        FIELD("s32", trace.first_head),
                        FIELD("s32", trace.heads),
                        FIELD("s32", trace.first_i),
                        FIELD("s32", trace.tiles_i),
                        FIELD("s32", trace.first_j),
                        FIELD("s32", trace.tiles_j),
                        FIELD("s32", trace.Br),
                        FIELD("s32", trace.Bc),
                        FIELD("s32", trace.d),
                        FIELD("pointer", trace.m),
                        FIELD("pointer", trace.l),
                        FIELD("pointer", trace.alpha),
                        FIELD("pointer", trace.S),
                        FIELD("pointer", trace.P),
                        FIELD("pointer", trace.O),
                        FIELD("s32", trace.fault),
                        FIELD("s32", trace.fault_head),
                        FIELD("s32", trace.fault_i),
                        FIELD("s32", trace.fault_j),
                        FIELD("s32", trace.fault_row),
                        FIELD("s32", trace.fault_column),
                        FIELD("f32", trace.fault_amount)};
static_assert(sizeof(TraceWindow::Quantity) == 4);

/// Addresses that no two tensors share; they are told apart by them, and nothing is read there.
void* place(int n) { return reinterpret_cast<void*>(std::uintptr_t(n + 1) << 40); }

Tensor tensor(int n, std::int64_t heads, std::int64_t N, std::int64_t d) {
    return {place(n), heads * N * d, N * d, d};
}

template <class T> T read(const Parameter& p, std::size_t at) {
    T x;
    std::memcpy(&x, p.bytes.data() + at, sizeof x);
    return x;
}

void print_value(const Parameter& p, int parameter, std::size_t at, const char* type, const std::string& name,
                 const char*& separator) {
    std::printf(
        "%s\n   {\"parameter\": %d, \"offset\": %zu, \"size\": %zu, \"type\": \"%s\", \"name\": \"%s\", "
        "\"value\": ",
        separator, parameter, at, p.bytes.size(), type, name.c_str());
    const std::string t = type;
    if (t == "pointer") std::printf("%llu}", read<unsigned long long>(p, at));
    if (t == "s32") std::printf("%d}", read<int>(p, at));
    if (t == "s64" || t == "u64") std::printf("%lld}", read<long long>(p, at));
    if (t == "f32") std::printf("%.9g}", read<float>(p, at));
    separator = ",";
}

void print(const Launch& launch) {
    Dl_info program;
    dladdr(reinterpret_cast<const void*>(&print_value), &program);
    const auto at = static_cast<const char*>(launch.kernel) - static_cast<const char*>(program.dli_fbase);
    std::printf(
        " {\"kernel\": %lld, \"grid\": [%d, %d, %d], \"threads\": %d, \"shared\": %lld, \"values\": [",
        static_cast<long long>(at), launch.grid.x, launch.grid.y, launch.grid.z, launch.grid.threads,
        static_cast<long long>(launch.grid.shared_bytes));
    const char* separator = "";
    for (std::size_t n = 0; n < launch.parameters.size(); ++n) {
        const Parameter& p = launch.parameters[n];
        const std::string kind = p.kind;
        const int number = static_cast<int>(n);
        if (kind == "Arguments")
            for (const Field& f : fields) print_value(p, number, f.offset, f.type, f.name, separator);
        else if (kind == "s32s")
            for (std::size_t word = 0; word < p.bytes.size(); word += 4)
                print_value(p, number, word, "s32", "word", separator);
        else
            print_value(p, number, 0, p.kind, "parameter " + std::to_string(n), separator);
    }
    std::printf("]}");
}

}  // namespace

int main(int count, char** words) {
    if (count != 13 && count != 14)
        return std::fprintf(stderr, "launches RUNG TYPE D N_Q N_KV … (see its source)\n"), 2;
    const auto number = [&](int n) { return std::atoi(words[n]); };
    const auto limit = [&](int n) { return number(n) < 0 ? Arguments::unlimited : number(n); };
    const std::string name = words[1], type_name = words[2];
    const DType type = type_name == "f32" ? DType::f32 : type_name == "f16" ? DType::f16 : DType::bf16;

    Arguments a;
    a.d = number(3), a.N_q = number(4), a.N_kv = number(5), a.heads = number(6), a.kv_heads = number(7);
    a.before = limit(8), a.after = limit(9), a.batch = number(10);
    a.scale = 0.125f;
    int places = 0;
    for (Tensor* t : {&a.Q, &a.O, &a.dO, &a.dQ}) *t = tensor(places++, a.heads, a.N_q, a.d);
    for (Tensor* t : {&a.K, &a.V, &a.dK, &a.dV}) *t = tensor(places++, a.kv_heads, a.N_kv, a.d);
    a.L = static_cast<float*>(place(places++)), a.workspace = place(places++);

    struct Paper : Stream {
    } stream;
    stream.chip = {count == 14 ? number(13) : 90, number(12) << 10, 132};
    Tile tile;
    for (const Rung* rung : on_emulator::ladder()) {
        if (rung->name != name) continue;
        tile = rung->tile(a, type, stream.chip);
        if (number(11)) {  // every tile of every head
            TraceWindow& t = a.trace;
            t.heads = a.batch * a.heads, t.tiles_i = (a.N_q + tile.Br - 1) / tile.Br;
            t.tiles_j = (a.N_kv + tile.Bc - 1) / tile.Bc, t.Br = tile.Br, t.Bc = tile.Bc, t.d = a.d;
            for (float** array : {&t.m, &t.l, &t.alpha, &t.S, &t.P, &t.O})
                *array = static_cast<float*>(place(places++));
        }
        const std::string reason = rung->refuse(a, type, stream.chip);
        if (!reason.empty()) return std::fprintf(stderr, "%s refuses: %s\n", words[1], reason.c_str()), 2;
        if (rung->prepare) rung->prepare(a, type, stream);
        rung->launch(a, type, stream);
    }
    std::printf("{\"tile\": [%d, %d], \"launches\": [\n", tile.Br, tile.Bc);
    for (std::size_t n = 0; n < launched.size(); ++n) {
        if (n > 0) std::printf(",\n");
        print(launched[n]);
    }
    std::printf("]}\n");
    return launched.empty() ? 2 : 0;
}

// The products of the vendor's library are no kernels of ours.
void on_emulator::multiply_matrices(Stream&, const Product&) {}

// tilewalk_check_web_kernels FOLDER: the kernels of the browser edition beside those of this program. The
// first call writes what the page would ask for, a file for each case; kernels.js answers with kernels.wasm;
// the second call computes the same here and compares, to the last word of every event. Left out is what two
// compilers do not share: the columns of the source, which they count from different ends of an expression;
// the lines within RECORD( … ) of twins, of which gcc knows the first alone; and which NaN it is. f2 is
// looked at from d = 64 on: at d = 32 gcc, which writes its loops out, drops reads of what it has just read.
#include "core/inside/faults.h"
#include "cuda/browser/messages.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace tilewalk;

namespace {

struct Case {
    std::string name;
    std::optional<gpu::RecordRequest> record;
    std::optional<gpu::TraceRequest> trace;

    std::string message() const { return record ? gpu::message_of(*record) : gpu::message_of(*trace); }
};

struct Shape {
    int N, d;
    bool causal;
};

Problem problem_of(const Shape& shape) {
    Problem p = *random_problem(shape.N, shape.d, 7);
    p.causal = shape.causal;
    return p;
}

std::string name_of(const Shape& s) {
    return std::to_string(s.N) + "x" + std::to_string(s.d) + (s.causal ? " causal" : "");
}

void add_faults(std::vector<Case>& all, const gpu::RecordRequest& sound) {
    const auto record = gpu::record_kernel(sound);
    if (!record) return;
    for (const inside::Fault& fault : inside::faults_of(*record)) {
        gpu::RecordRequest broken = sound;
        broken.fault = fault;
        all.push_back({broken.kernel + " without " + inside::name_of(fault), broken, {}});
    }
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const gpu::TraceableKernel& kernel : gpu::traceable_kernels()) {
        const int d = kernel.name == "f2-tiled-fp32" ? 64 : 32;
        for (const Shape& shape :
             {Shape{4, d == 64 ? d : 4, false}, Shape{40, d, true}, Shape{128, 64, false}}) {
            gpu::RecordRequest request;
            request.kernel = kernel.name, request.dtype = kernel.types.front();
            request.problem = problem_of(shape), request.blocks = {0};
            all.push_back({kernel.name + " " + name_of(shape), request, {}});
            if (shape.N == 40 && kernel.tiles) {
                request.twin = true;
                all.push_back({kernel.name + " twin", request, {}});
                request.twin = false;
            }
            if (shape.N != 40) continue;
            request.schedule = {true, true, 3};
            all.push_back({kernel.name + " early, with stalls", request, {}});
            request.dtype = kernel.types.back();
            all.push_back({kernel.name + " in its last type", request, {}});
            gpu::TraceRequest trace;
            trace.kernel = kernel.name, trace.dtype = kernel.types.front(), trace.problem = request.problem;
            all.push_back({kernel.name + " compared", {}, trace});
        }
    }
    gpu::RecordRequest f5;
    f5.problem = problem_of({100, 64, false}), f5.blocks = {0};
    add_faults(all, f5);
    f5.problem = problem_of({300, 64, false});
    all.push_back({"too large", f5, {}});
    return all;
}

// ---- Two answers beside each other

bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return std::ranges::equal(a, b, [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (x != x && y != y);
    });
}

/// A place without its columns.
std::string place(const inside::Record& r, std::uint32_t at) { return inside::place_text(r, at); }

bool is_nan(std::uint32_t bits, std::uint32_t exponent, std::uint32_t sign) {
    return (bits & ~sign) > exponent;
}
bool same_half(std::uint32_t a, std::uint32_t b) {
    return a == b || (is_nan(a, 0x7C00, 0x8000) && is_nan(b, 0x7C00, 0x8000));
}
/// To the bit, but for which NaN it is: one of 32 bits, or one or two of 16.
bool same_word(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t sign = 1u << 31, exponent = 0xFFu << 23;
    return a == b || (is_nan(a, exponent, sign) && is_nan(b, exponent, sign)) ||
           (same_half(a & 0xFFFF, b & 0xFFFF) && same_half(a >> 16, b >> 16));
}
bool same_place(const inside::Record& a, std::uint32_t in_a, const inside::Record& b, std::uint32_t in_b,
                bool twin) {
    return twin ? a.places[in_a].file == b.places[in_b].file : place(a, in_a) == place(b, in_b);
}

std::string event_text(const inside::Record& r, const inside::BlockRecord& block, std::size_t n) {
    const inside::Event& e = block.events[n];
    std::string text = std::string(inside::info(e.op).name) + " at " + place(r, e.place) + ", warp " +
                       std::to_string(e.warp) + ", lanes " + std::to_string(e.lanes) + ":";
    for (const std::uint32_t word : block.words_of(e)) text += " " + std::to_string(word);
    return text.size() > 300 ? text.substr(0, 300) + " …" : text;
}

bool is_twin(const inside::Record& record) {
    return std::ranges::any_of(record.regions, [](const auto& r) { return r.name.starts_with("twin "); });
}

std::string differs(const inside::Record& a, const inside::Record& b, const inside::BlockRecord& in_a,
                    const inside::BlockRecord& in_b) {
    for (std::size_t n = 0; n < std::min(in_a.events.size(), in_b.events.size()); ++n) {
        const inside::Event &x = in_a.events[n], &y = in_b.events[n];
        const bool alike = x.op == y.op && x.warp == y.warp && x.lanes == y.lanes && x.bytes == y.bytes &&
                           std::ranges::equal(in_a.words_of(x), in_b.words_of(y), same_word) &&
                           same_place(a, x.place, b, y.place, is_twin(a));
        if (!alike)
            return "event " + std::to_string(n) + ": here " + event_text(a, in_a, n) + "; there " +
                   event_text(b, in_b, n);
    }
    return in_a.events.size() == in_b.events.size() ? "" : "another number of events";
}

auto numbers_of(const inside::Counts& c) {
    return std::tuple(c.op, c.warps, c.lanes, c.shared_bytes, c.shared_turns, c.shared_least, c.worst_ways,
                      c.global_bytes, c.sectors, c.sectors_least, c.products);
}

std::string differs(const inside::Record& a, const inside::Record& b, const inside::Launch& in_a,
                    const inside::Launch& in_b) {
    if (in_a.blocks.size() != in_b.blocks.size()) return "another number of blocks";
    for (std::size_t n = 0; n < in_a.blocks.size(); ++n)
        if (auto text = differs(a, b, in_a.blocks[n], in_b.blocks[n]); !text.empty()) return text;
    if (in_a.counts.size() != in_b.counts.size()) return "other places that are counted";
    for (std::size_t n = 0; n < in_a.counts.size(); ++n)
        if (!same_place(a, in_a.counts[n].place, b, in_b.counts[n].place, is_twin(a)) ||
            numbers_of(in_a.counts[n]) != numbers_of(in_b.counts[n]))
            return "other counts at " + place(a, in_a.counts[n].place);
    if (in_a.races.size() != in_b.races.size())
        return std::to_string(in_a.races.size()) + " races here, " + std::to_string(in_b.races.size()) +
               " there";
    for (std::size_t n = 0; n < in_a.races.size(); ++n)
        if (inside::race_text(a, in_a.races[n]) != inside::race_text(b, in_b.races[n]))
            return "another race: " + inside::race_text(a, in_a.races[n]);
    return in_a.writers == in_b.writers ? "" : "other blocks have written";
}

std::string differs(const inside::Record& a, const inside::Record& b) {
    if (std::tie(a.kernel, a.title, a.Br, a.Bc, a.tiles, a.split_blocks, a.swizzles, a.open_keys) !=
        std::tie(b.kernel, b.title, b.Br, b.Bc, b.tiles, b.split_blocks, b.swizzles, b.open_keys))
        return "another head of the record";
    if (a.regions.size() != b.regions.size() || a.launches.size() != b.launches.size())
        return "other regions or launches";
    for (std::size_t n = 0; n < a.regions.size(); ++n)
        if (a.regions[n].name != b.regions[n].name || a.regions[n].begin != b.regions[n].begin ||
            a.regions[n].bytes != b.regions[n].bytes)
            return "another region " + a.regions[n].name;
    for (std::size_t n = 0; n < a.launches.size(); ++n)
        if (auto text = differs(a, b, a.launches[n], b.launches[n]); !text.empty())
            return "launch " + std::to_string(n) + ", " + text;
    for (std::size_t n = 0; n < a.outputs.size(); ++n)
        if (n >= b.outputs.size() || !same(a.outputs[n].values, b.outputs[n].values))
            return "another " + a.outputs[n].name;
    return "";
}

std::string differs(const KernelTrace& a, const KernelTrace& b) {
    if (a.tiles.size() != b.tiles.size() || a.kernel_d != b.kernel_d || a.problem.Br != b.problem.Br)
        return "other tiles";
    for (std::size_t n = 0; n < a.tiles.size(); ++n) {
        const KernelTile &x = a.tiles[n], &y = b.tiles[n];
        if (x.visited != y.visited || !same(x.m, y.m) || !same(x.l, y.l) || !same(x.alpha, y.alpha) ||
            !same(x.S, y.S) || !same(x.P, y.P) || !same(x.O, y.O))
            return "another tile " + std::to_string(n);
    }
    const bool alike =
        same(a.O, b.O) && same(a.L, b.L) && same(a.dQ, b.dQ) && same(a.dK, b.dK) && same(a.dV, b.dV);
    return alike ? "" : "other outputs";
}

template <class T> std::string beside(const Result<T>& here, const Result<T>& there) {
    if (here && there) return differs(*here, *there);
    return here.error == there.error ? "" : "here: " + here.error + "; there: " + there.error;
}

std::string differs(const Case& one, const std::string& answer) {
    const std::string own = gpu::answer_to(one.message());
    gpu::TraceFailed of;
    if (one.record) return beside(record_in(own, *one.record, of), record_in(answer, *one.record, of));
    return beside(trace_in(own, *one.trace, of), trace_in(answer, *one.trace, of));
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) return std::cerr << "tilewalk_check_web_kernels FOLDER\n", 2;
    const std::filesystem::path folder = words[1];
    const std::vector<Case> all = cases();
    int compared = 0, differing = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        const auto file = [&](const char* ending) { return folder / (std::to_string(n) + ending); };
        if (!std::filesystem::exists(file(".answer"))) {
            std::ofstream(file(".message"), std::ios::binary) << all[n].message();
            continue;
        }
        std::ostringstream answer;
        answer << std::ifstream(file(".answer"), std::ios::binary).rdbuf();
        const std::string text = differs(all[n], answer.str());
        ++compared, differing += !text.empty();
        if (!text.empty()) std::cout << all[n].name << ": " << text << "\n";
    }
    std::cout << all.size() << " cases, " << compared << " compared, " << differing << " differ\n";
    return differing > 0;
}

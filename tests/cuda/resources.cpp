#include "tests/cuda/resources.h"
#include "tests/contains.h"

#include "cuda/emulator/stream.h"
#include "cuda/host/emulator.h"

#include <cxxabi.h>
#include <nlohmann/json.hpp>

#include <regex>
#include <sstream>
#include <vector>

namespace tilewalk::test {

namespace {

constexpr const char* about = "What the kernels take of a GPU. TILEWALK_RESOURCES=renew tilewalk_tests "
                              "-ts=cuda/resources writes this file "
                              "and docs/gpu-resources.md anew, in a build with nvcc.";

/// Compute capability and KiB of shared memory that a block may ask for.
constexpr std::pair<int, int> chips[] = {{75, 64}, {80, 163}, {86, 99}, {89, 99}, {90, 227}};

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
}

/// The number before `unit`, or 0.
int number_before(const std::string& line, const std::string& unit) {
    std::smatch found;
    return std::regex_search(line, found, std::regex("([0-9]+) " + unit)) ? std::stoi(found[1]) : 0;
}

std::string inside(const std::string& line, char mark) {
    const std::size_t begin = line.find(mark) + 1;
    return line.substr(begin, line.find(mark, begin) - begin);
}

std::string row(const std::string& name, const std::vector<std::string>& cells) {
    std::string text = "| " + name + " |";
    for (const std::string& cell : cells) text += " " + cell + " |";
    return text + "\n";
}

std::string head(const std::string& name) {
    std::vector<std::string> architectures, lines;
    for (const auto& [sm, kib] : chips) architectures.push_back("sm_" + std::to_string(sm));
    lines.assign(architectures.size(), "---:");
    return row(name, architectures) + row("---", lines);
}

/// A line of the table: f(figure) for each architecture that has one.
template <class Map, class F> std::string line_of(const std::string& name, const Map& map, F&& f) {
    std::vector<std::string> cells;
    for (const auto& [sm, kib] : chips) {
        const auto found = map.find(sm);
        cells.push_back(found == map.end() ? "–" : f(found->second));
    }
    return row(name, cells);
}

}  // namespace

// The rungs of the forward pass have `traced` for their last argument.
bool records(const std::string& kernel) { return kernel.starts_with("f") && kernel.ends_with(", true>"); }

std::string readable(const std::string& symbol) {
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string name = text ? text : symbol;
    std::free(text);
    for (const auto& [what, with] : {std::pair{"tilewalk::gpu::on_cuda::", ""},
                                     {"(anonymous namespace)::", ""},
                                     {"__nv_bfloat16", "bf16"},
                                     {"__half", "f16"},
                                     {"(bool)1", "true"},
                                     {"(bool)0", "false"},
                                     {"void ", ""}})
        replace_all(name, what, with);
    int depth = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
        if (name[at] == '(' && depth == 0) return name.substr(0, at);
    }
    return name;
}

void add_ptxas(Resources& resources, const std::string& rung, const std::string& text) {
    std::istringstream lines(text);
    std::string line, kernel;
    int sm = 0;
    KernelFigures figures;
    while (std::getline(lines, line)) {
        if (contains(line, "Compiling entry function")) {
            kernel = rung + " " + readable(inside(line, '\''));
            sm = std::stoi(line.substr(line.find("sm_") + 3));
            figures = {};
        } else if (contains(line, "bytes stack frame")) {
            figures.stack = number_before(line, "bytes stack frame");
            figures.spills =
                number_before(line, "bytes spill stores") + number_before(line, "bytes spill loads");
        } else if (contains(line, "Used ") && !kernel.empty()) {
            figures.registers = number_before(line, "registers");
            figures.static_shared = number_before(line, "bytes smem");
            // Below 8.0 bf16 is refused, and so is what copies in the background or wants more shared memory
            // than there is: that is compiled to nothing, which takes four registers
            const bool refused = contains(kernel, "bf16") || figures.registers <= 4;
            if (sm >= 80 || !refused) resources.kernels[kernel][sm] = figures;
        }
    }
}

void add_launches(Resources& resources) {
    std::vector<unsigned char> memory(1 << 20);
    const std::atomic<bool> cancelled = true;  // no block of it runs
    const auto emulator = gpu::open_emulator();
    for (const gpu::Rung* const rung : emulator->ladder())
        for (const DType type : {DType::f32, DType::f16, DType::bf16})
            for (const int d : {32, 64, 96, 128, 256})
                for (const auto& [sm, kib] : chips) {
                    gpu::EmulatedStream stream;
                    stream.chip.capability = sm;
                    stream.chip.shared_per_block = kib << 10;
                    stream.cancelled = &cancelled;
                    gpu::Arguments a;
                    a.N_q = 1, a.N_kv = 4096;  // so many keys that every rung takes its largest tile
                    a.d = d;
                    a.workspace = memory.data();
                    for (gpu::Tensor* const t : {&a.Q, &a.K, &a.V, &a.O, &a.dO, &a.dQ, &a.dK, &a.dV})
                        t->data = memory.data();
                    if (!rung->refuse(a, type, stream.chip).empty()) continue;
                    rung->launch(a, type, stream);
                    if (stream.most_shared == 0) continue;
                    const char* const name = type == DType::f32   ? " f32 "
                                             : type == DType::f16 ? " f16 "
                                                                  : " bf16 ";
                    resources.launches[rung->name + (name + std::to_string(d))][sm] =
                        static_cast<int>(stream.most_shared);
                }
}

std::string to_json(const Resources& resources) {
    std::ostringstream text;
    text << "{\n  \"about\": " << nlohmann::json(about) << ",\n  \"nvcc\": " << nlohmann::json(resources.nvcc)
         << ",\n  \"columns\": [\"registers\", \"spills\", \"stack\", \"static shared\"],\n  \"kernels\": {";
    const char* separator = "\n";
    for (const auto& [kernel, figures] : resources.kernels) {
        nlohmann::ordered_json line;
        for (const auto& [sm, f] : figures)
            line[std::to_string(sm)] = {f.registers, f.spills, f.stack, f.static_shared};
        text << separator << "    " << nlohmann::json(kernel) << ": " << line.dump();
        separator = ",\n";
    }
    text << "\n  },\n  \"launches\": {";
    separator = "\n";
    for (const auto& [launch, bytes] : resources.launches) {
        nlohmann::ordered_json line;
        for (const auto& [sm, b] : bytes) line[std::to_string(sm)] = b;
        text << separator << "    " << nlohmann::json(launch) << ": " << line.dump();
        separator = ",\n";
    }
    text << "\n  }\n}\n";
    return text.str();
}

Result<Resources> resources_from_json(std::string_view text) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return Failure{"cuda/resources.json is not JSON."};
    try {
        Resources resources;
        resources.nvcc = json.at("nvcc").get<std::string>();
        for (const auto& [kernel, line] : json.at("kernels").items())
            for (const auto& [sm, f] : line.items())
                resources.kernels[kernel][std::stoi(sm)] = {f.at(0), f.at(1), f.at(2), f.at(3)};
        for (const auto& [launch, line] : json.at("launches").items())
            for (const auto& [sm, bytes] : line.items()) resources.launches[launch][std::stoi(sm)] = bytes;
        return resources;
    } catch (const nlohmann::json::exception& e) {
        return Failure{std::string("cuda/resources.json: ") + e.what()};
    }
}

std::string to_markdown(const Resources& resources) {
    std::string text =
        "# What the kernels take of a GPU\n\n"
        "Written by `TILEWALK_RESOURCES=renew tilewalk_tests -ts=cuda/resources` from what nvcc " +
        resources.nvcc +
        " reports; a test compares every build with it. A dash: it is never launched there, because it is "
        "refused or has smaller tiles.\n\n"
        "## Registers of a thread\n\n"
        "`+n` are bytes that spill to memory for want of registers.\n\n" +
        head("kernel");
    int twins = 0, spilling = 0;
    for (const auto& [kernel, figures] : resources.kernels) {
        if (records(kernel)) {
            ++twins;
            spilling += std::any_of(figures.begin(), figures.end(),
                                    [](const auto& f) { return f.second.spills > 0; });
            continue;
        }
        text += line_of("`" + kernel + "`", figures, [](const KernelFigures& f) {
            return std::to_string(f.registers) + (f.spills > 0 ? " +" + std::to_string(f.spills) : "");
        });
    }
    text += "\n" + std::to_string(twins) + " twins that record are never timed and not listed; " +
            std::to_string(spilling) + " of them spill.\n\n## Shared memory of a block, KiB\n\n" +
            head("rung, type, d");
    for (const auto& [launch, bytes] : resources.launches)
        text += line_of(launch, bytes, [](int b) {
            std::ostringstream kib;
            kib << std::round(b / 102.4) / 10;
            return kib.str();
        });
    return text;
}

}  // namespace tilewalk::test

// What the kernels take of a GPU: registers, spills and stack as ptxas reported them when they were compiled,
// shared memory as they ask for it when they are launched.
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <string_view>

namespace tilewalk::test {

/// Of one kernel, compiled for one architecture.
struct KernelFigures {
    int registers = 0;
    int spills = 0;         ///< bytes written to memory and read back for want of registers
    int stack = 0;          ///< bytes
    int static_shared = 0;  ///< bytes
    bool operator==(const KernelFigures&) const = default;
};

struct Resources {
    std::string nvcc;  ///< version
    /// "f5-flash2 flash2<bf16, 128, false>", then compute capability times ten.
    std::map<std::string, std::map<int, KernelFigures>> kernels;
    /// "f5-flash2 bf16 128": bytes of shared memory that a block is launched with; −1: refused there.
    std::map<std::string, std::map<int, int>> launches;
};

/// Whether a kernel of Resources is a twin that records; these are never timed and may spill.
bool records(const std::string& kernel);
/// "flash2<bf16, 128, false>" for a mangled name.
std::string readable(const std::string& symbol);
/// Adds what ptxas -v wrote while it compiled the kernels of a rung.
void add_ptxas(Resources& resources, const std::string& rung, const std::string& text);
/// Launches every rung in every size with nothing to compute, on the emulator.
void add_launches(Resources& resources);

std::string to_json(const Resources& resources);
Result<Resources> resources_from_json(std::string_view text);
/// The table of the documents, in Markdown.
std::string to_markdown(const Resources& resources);

}  // namespace tilewalk::test

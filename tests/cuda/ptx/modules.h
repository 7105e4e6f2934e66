// What nvcc emitted for all sources of kernels.
#pragma once

#include "tests/cuda/ptx/program.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewalk::ptx {

/// The files of one architecture.
class Modules {
public:
    explicit Modules(const std::string& folder);
    const Kernel& kernel(const std::string& plain);

private:
    std::vector<std::unique_ptr<Module>> modules;
};

/// Those in the folder of an architecture: 80/f5_flash2.ptx. Read once.
Modules& modules_of(const std::string& folder, int capability);

/// Bytes of shared memory that a block may ask for (CUDA programming guide, technical specifications).
int shared_of_block(int capability);

}  // namespace tilewalk::ptx

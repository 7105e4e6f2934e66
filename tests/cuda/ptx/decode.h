// From statements to instructions: names become rows of the register file, labels places in the code.
#pragma once

#include "tests/cuda/ptx/program.h"
#include "tests/cuda/ptx/text.h"

namespace tilewalk::ptx {

/// `head` is what stands between the kernel's name and its body: parameters and directives.
Kernel decode(const std::string& name, std::string_view head, Reader body,
              const std::vector<std::string>& shared_arrays);

}  // namespace tilewalk::ptx

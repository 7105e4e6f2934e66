// Kernels of a few lines that use what Hopper has, each with one known thing in it.
#pragma once

#include "cuda/host/recorder.h"

namespace tilewalk::test {

/// Runs one of the kernels of hopper_kernels.cpp; `wrong` is the device's sentence.
inside::Record record_hopper(const std::string& kernel, std::string& wrong);

}  // namespace tilewalk::test

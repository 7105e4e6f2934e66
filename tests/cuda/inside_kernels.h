// Kernels of a few lines for the record, each with one known thing in it.
#pragma once

#include "cuda/host/recorder.h"

namespace tilewalk::test {

/// Runs one of the kernels of inside_kernels.cpp; `wrong` is the device's sentence.
inside::Record record_small(const std::string& kernel, std::string& wrong,
                            const gpu::RecordOptions& options = {.blocks = {0, 1}});

}  // namespace tilewalk::test

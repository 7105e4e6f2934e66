// What the functions of the CUDA runtime that launch (runtime.cpp) ask of whatever stands in for the GPU:
// device.cpp, or tests/cuda/stubs.
#pragma once

#include "tests/cuda/ptx/machine.h"

#include <string>

namespace tilewalk::ptx {

/// What launches go to.
Machine* current_machine();
const Kernel& find_kernel(const std::string& mangled);
/// Bytes of shared memory that a block may ask for.
int shared_of_block();
/// The error that this call of a function is to end with; 0: it goes on.
int refusal(const char* function);
/// A function of the driver, which the runtime finds by its name; null: there is none.
void* driver_function(const char* name);
/// A kernel failed with this sentence: the error that its launch ends with.
int note_failure(const std::string& sentence);

/// What cudaGetLastError() gives and forgets; runtime.cpp has it.
int& last_error();

}  // namespace tilewalk::ptx

// A stand-in for a GPU and its driver: the functions of the CUDA runtime that the project calls (runtime.cpp,
// and tests/cuda/ptx/runtime.cpp), over the machine that interprets PTX. A program that is linked with it in
// place of NVIDIA's library runs all of the host's code. behave(), or the variable TILEWALK_STUB_GPU, says
// how it misbehaves, in words:
//
//     none  no-driver  old-driver    no GPU, no driver, a driver that knows CUDA 12.4
//     capability=75 memory=64        compute capability, and memory in MiB
//     watched                        it drives a display
//     wrong=flash2                   kernels with this in their name run on a broken machine
//     cudaMalloc@2=cudaErrorUnknown  the second call from now on ends with that error, …@2+=… all after it
//     too;
//                                    a ! behind it: the device is lost, and every later call says the same
#pragma once

#include <cstdint>
#include <string>

namespace tilewalk::stubs {

/// From now on; all else is as it should be. Throws std::invalid_argument at a word that is not there.
void behave(const std::string& words);

/// What was taken and not given back.
struct Live {
    int streams = 0, events = 0, pieces = 0;
    std::int64_t bytes = 0;
};
Live live();

/// Calls of a function since behave().
int calls(const std::string& function);

}  // namespace tilewalk::stubs

// The errors that can be asked for.
#pragma once

#include <cuda_runtime_api.h>

#include <array>

namespace tilewalk::stubs {

struct ErrorInfo {
    cudaError_t error;
    const char *name, *text;
};
constexpr std::array<ErrorInfo, 15> all_errors{{
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "the driver is too old"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no device"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error"},
    {cudaErrorSharedObjectInitFailed, "cudaErrorSharedObjectInitFailed", "a shared object failed"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "all devices are busy"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
}};

}  // namespace tilewalk::stubs

// GPUs as their makers describe them: sizes, rates, and where each figure is printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tilewalk {

/// A published number. 0 with an empty source: nobody prints one, and nothing is computed from it.
struct Figure {
    double value = 0;
    std::string source;
    bool given() const { return value > 0; }
};

/// Capacity is what the driver reports (nvidia-smi, memory.total), in bytes: the "40 GB" of a data sheet are
/// neither 40 · 10⁹ bytes nor, on every board, 40 GiB. On-chip sizes are bytes with 1 KiB = 1024. Rates are
/// the dense ones, without the factor 2 of structured sparsity.
struct Hardware {
    std::string id;          ///< "a100-40", for the command line
    std::string name;        ///< "A100 40 GB"
    std::string memory;      ///< "HBM2"; GDDR6X on a graphics card
    Figure capacity;         ///< bytes of HBM
    Figure bandwidth;        ///< HBM, bytes per second
    Figure sms;              ///< streaming multiprocessors
    Figure shared;           ///< bytes per SM that a kernel may use as shared memory: the M of the papers
    Figure sram;             ///< bytes per SM of shared memory and L1 cache together
    Figure registers;        ///< bytes per SM
    Figure on_chip;          ///< bandwidth of shared memory, whole GPU, bytes per second
    Figure host;             ///< bandwidth of the host's memory as the GPU sees it, bytes per second
    Figure fp32, fp16, fp8;  ///< FLOP/s: fp32 outside the tensor cores, the others inside, summed in fp32

    /// FLOP/s for elements of 4, 2 or 1 bytes. Without fp8 units the fp16 rate stands in.
    double peak(int element_bytes) const;
    /// "fp32", "fp16" or "fp8", and whether `peak` is the rate of that format.
    bool has_own_peak(int element_bytes) const { return element_bytes != 1 || fp8.given(); }
};

/// A100 40 GB first: the machine of the FlashAttention paper.
std::span<const Hardware> hardware_list();
/// What its large memory is called: "HBM" of every generation, else the kind that it is, "GDDR6X".
std::string memory_name(const Hardware& hardware);

/// "fp32", "fp16" or "fp8" for 4, 2 or 1 bytes.
const char* format_name(int element_bytes);

}  // namespace tilewalk

// A lesson's problem as a kernel takes it: its shown head, or all of its heads.
#pragma once

#include "core/base/result.h"
#include "core/problem/problem.h"
#include "cuda/host/arguments_of.h"
#include "cuda/host/device_memory.h"

namespace tilewalk::gpu {

struct Fitting {
    bool all_heads = false;
    bool traced = false;  ///< what it computes of every tile is written down
};
/// Sizes with the smallest head dimension that holds the problem's and that the kernel takes.
Result<Arguments> fitting(const Rung& rung, const Problem& problem, DType type, const Chip& chip,
                          Fitting wanted = {});

/// The problem in a device's memory. Its functions throw what DeviceMemory and expect_well do.
class ProblemOnDevice {
public:
    ProblemOnDevice(const std::shared_ptr<Device>& on, const Rung& what, DType of, const Arguments& sizes)
        : device(*on), memory(on), rung(what), type(of), a(sizes) {}

    void place(const Problem& p);
    /// O and L for a backward rung, by the best of the forward rungs; false if there is none.
    bool run_forward();
    void run(const Rung& which);
    const Arguments& arguments() const { return a; }
    /// Before `place`: tensors have room for as many rows, zeros behind their own.
    void leave_room(int rows) { room = rows; }
    /// The kernel is told that there are so many keys, at least N_kv; what each query sees of the true ones
    /// stays.
    void pretend_keys(int keys);
    /// Rows as the problem has them: O, or dQ, dK and dV; of all heads one after the other.
    struct Written {
        const char* name;
        int head, rows;
        std::vector<float> values;
    };
    std::vector<Written> outputs(const Problem& p);

protected:
    void* take(std::int64_t bytes) { return pieces.emplace_back(memory.take(bytes)).get(); }
    float* take_floats(std::int64_t size) { return static_cast<float*>(take(4 * size)); }
    /// The first columns of every row, as floats.
    std::vector<float> output(const Tensor& tensor, int rows, int columns, int head = 0);

    Device& device;
    DeviceMemory memory;
    std::vector<DeviceMemory::Piece> pieces;  ///< after the memory that they are of
    const Rung& rung;
    const DType type;
    Arguments a;

private:
    std::int64_t room = 0;
    Tensor take_tensor(std::int64_t rows, int heads);
    Tensor input(const std::vector<Matrix>& of_heads, double factor = 1);
};

}  // namespace tilewalk::gpu

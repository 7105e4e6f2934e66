// Attention of random numbers on a device, beside the same in double: inputs and outputs with NaN between the
// rows and heads, so that whoever reads or writes there is seen.
#pragma once

#include "cuda/host/backend.h"

#include <string>
#include <vector>

namespace tilewalk::test {

struct Shape {
    DType type = DType::f32;
    int batch = 1, heads = 1, kv_heads = 1, N_q = 64, N_kv = 64, d = 64;
    int before = gpu::Arguments::unlimited, after = gpu::Arguments::unlimited;
    float scale = 0;   ///< 0: 1 / √d
    double large = 1;  ///< Q is multiplied with it
    bool operator==(const Shape&) const = default;
};
std::string text(const Shape& shape);

/// One tensor, [batch][heads][rows][d] without gaps.
using Numbers = std::vector<double>;

struct Outputs {
    Numbers O, L;
};

class AttentionCase {
public:
    AttentionCase(gpu::Device& device, const Shape& shape, unsigned seed = 1);
    ~AttentionCase();
    AttentionCase(const AttentionCase&) = delete;
    AttentionCase& operator=(const AttentionCase&) = delete;

    gpu::Arguments arguments;  ///< without workspace
    Numbers Q, K, V;           ///< as the device has them: rounded to the type

    /// Runs with a workspace of as many bytes as the rung says, full of NaN.
    Outputs run(const gpu::Rung& rung);
    /// Softmax attention in double; with `rounded`, S and P are rounded to the type on the way.
    Outputs reference(bool rounded = false) const;
    /// Row i of S for (batch · heads + head), unscaled, −∞ where masked; in double.
    Numbers scores(int head, int i) const;

private:
    gpu::Tensor upload(const Numbers& numbers, int heads, int rows);
    Numbers download(const gpu::Tensor& tensor, int heads, int rows);
    std::int64_t bytes_of(const gpu::Tensor& tensor, int heads, int rows) const;

    gpu::Device& device;
    Shape shape;
    std::vector<void*> taken;
};

/// Largest |a − b|; infinite where one is NaN or only one is infinite.
double distance(const Numbers& a, const Numbers& b);
/// x as the type holds it.
double rounded_to(DType type, double x);

/// The rung of a device's ladder; fails the test if there is none.
const gpu::Rung& rung_of(const gpu::Device& device, const std::string& name);

}  // namespace tilewalk::test

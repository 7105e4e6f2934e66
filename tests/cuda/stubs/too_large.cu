#include "tests/cuda/stubs/too_large.h"

#include "cuda/kernels/rung_parts.h"

namespace tilewalk {

namespace {

__global__ void nothing() {}

std::string takes_all(const gpu::Arguments&, DType, const gpu::Chip&) { return ""; }
void launch_it(const gpu::Arguments&, DType, gpu::Stream& stream) {
    gpu::on_cuda::launch(stream, test::too_large_grid(), nothing);
}

}  // namespace

gpu::Grid& test::too_large_grid() {
    static gpu::Grid grid;
    return grid;
}

const gpu::Rung& test::too_large() {
    static const gpu::Rung rung{"too-large",
                                "",
                                "",
                                "",
                                Direction::forward,
                                false,
                                false,
                                takes_all,
                                gpu::on_cuda::no_workspace,
                                gpu::on_cuda::no_tile,
                                launch_it};
    return rung;
}

}  // namespace tilewalk

#include "core/bench/input_stream.h"

namespace tilewalk {

void InputStream::next(float* row) {
    for (std::int64_t k = 0; k < w.d; ++k) row[k] = rounded(normal(engine), w.dtype);
}

void InputStream::skip(std::int64_t rows) {
    for (std::int64_t k = 0; k < rows * w.d; ++k) normal(engine);
}

}  // namespace tilewalk

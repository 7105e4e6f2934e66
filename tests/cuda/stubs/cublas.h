// What the libcublas of cublas.cpp was told, and what shall fail.
#pragma once

struct tilewalk_stub_cublas_state {
    int handles, products;  ///< that live, that were asked for
    void *stream, *workspace;
    /// The next so many times
    int create_fails, set_stream_fails, set_math_mode_fails, multiply_fails;
};

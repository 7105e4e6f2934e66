/* The CUDA kernels for programs in other languages: plain C, tensors of the caller's, a stream of the
   caller's. Kernels are counted from 0 in the order of the ladder; types are 0 f32, 1 f16, 2 bf16. Functions
   that can fail give 0 when all is well, and otherwise write the reason, cut to `size` bytes with the closing
   0. */
#ifndef TILEWALK_KERNELS_H
#define TILEWALK_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first element, and the elements from one batch, head, row to the next. */
typedef struct {
    void* data;
    int64_t batch, head, row;
} tilewalk_tensor;

/* As gpu::Arguments (cuda/launch/arguments.h), without what traces. */
typedef struct {
    tilewalk_tensor Q, K, V, O, dO, dQ, dK, dV;
    float* L; /* [batch][heads][N_q] */
    int32_t batch, heads, kv_heads, N_q, N_kv, d;
    float scale;
    int32_t before, after; /* keys that a query sees on both sides of its place; 1 << 30: all */
    void* workspace;
} tilewalk_arguments;

int32_t tilewalk_kernel_count(void);
const char* tilewalk_kernel_name(int32_t kernel);
int32_t tilewalk_kernel_is_backward(int32_t kernel);
int32_t tilewalk_refuse(int32_t kernel, const tilewalk_arguments* a, int32_t type, char* reason,
                        int32_t size);
int64_t tilewalk_workspace_bytes(int32_t kernel, const tilewalk_arguments* a, int32_t type);
/* What the forward pass leaves for a backward kernel, if it needs more than O and L. */
int32_t tilewalk_prepare(int32_t kernel, const tilewalk_arguments* a, int32_t type, void* stream,
                         char* reason, int32_t size);
int32_t tilewalk_launch(int32_t kernel, const tilewalk_arguments* a, int32_t type, void* stream, char* reason,
                        int32_t size);

#ifdef __cplusplus
}
#endif
#endif

// Eigen includes it beside SSE2's, and uses nothing of it; WebAssembly has no MMX.
#pragma once

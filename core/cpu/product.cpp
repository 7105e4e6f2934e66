#include "core/cpu/product.h"

#include "core/base/platform.h"
#include "core/cpu/kernel.h"

#include <dlfcn.h>
#include <optional>

namespace tilewalk::cpu {

namespace {

// OpenBLAS is loaded when the first product asks for it: linked in, it would cost every start of the program
// 2 ms, and the program would not start where it is missing. These are the declarations of cblas.h.
struct OpenBlas {
    enum { row_major = 101, no_transpose = 111, transpose = 112 };
    using Sgemm = void(int order, int transpose_A, int transpose_B, int rows, int columns, int depth,
                       float factor, const float* A, int stride_A, const float* B, int stride_B, float keep,
                       float* C, int stride_C);
    Sgemm* sgemm = nullptr;
    std::string version;  // "OpenBLAS 0.3.21"
};

template <class Function> Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …": the first two words
std::string first_words(const std::string& configuration) {
    const std::size_t name = configuration.find(' ');
    if (name == std::string::npos) return configuration;
    return configuration.substr(0, configuration.find(' ', name + 1));
}

std::optional<OpenBlas> load_openblas(const char* file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::nullopt;
    const auto sgemm = find<OpenBlas::Sgemm>(library, "cblas_sgemm");
    const auto parallel = find<int()>(library, "openblas_get_parallel");
    const auto set_threads = find<void(int)>(library, "openblas_set_num_threads");
    const auto configuration = find<char*()>(library, "openblas_get_config");
    // The variant without threads (parallel() == 0) is as a rule built without locks as well: called from
    // several threads at once it hands two of them the same buffer and returns wrong products. The variants
    // with threads have the locks, and work in the calling thread alone when they are told to.
    if (!sgemm || !parallel || !set_threads || !configuration || parallel() == 0) {
        dlclose(library);
        return std::nullopt;
    }
    set_threads(1);
    return OpenBlas{sgemm, first_words(configuration())};
}

const std::optional<OpenBlas>& openblas() {
    static const std::optional<OpenBlas> loaded = []() -> std::optional<OpenBlas> {
        if (in_browser) return std::nullopt;
        std::optional<OpenBlas> found =
            load_openblas("libopenblas.so.0");                      // Debian: the variant of one's choice
        return found ? found : load_openblas("libopenblasp.so.0");  // Fedora: the one with threads
    }();
    return loaded;
}

int transposed(const Operand& X) { return X.transposed ? OpenBlas::transpose : OpenBlas::no_transpose; }

}  // namespace

void multiply(const Product& p) {
    if (!openblas()) return eigen_functions().multiply(p);
    const auto size = [](std::int64_t n) { return static_cast<int>(n); };
    openblas()->sgemm(OpenBlas::row_major, transposed(p.A), transposed(p.B), size(p.rows), size(p.columns),
                      size(p.depth), p.factor, p.A.data, size(p.A.stride), p.B.data, size(p.B.stride),
                      p.add ? 1.0f : 0.0f, p.C, size(p.stride));
}

std::string product_library() {
    return openblas() ? openblas()->version : std::string("Eigen ") + eigen_functions().version;
}

}  // namespace tilewalk::cpu

#include "core/base/spare_memory.h"

#include <cstdlib>  // says whether it is glibc's
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tilewalk {
#ifdef __GLIBC__
namespace {

constexpr int own_pages = 4 << 20,  // a block of so many bytes gets pages of its own, which end with it
    most_spare = 16 << 20;          // so many may lie free at the end of each thread's heap

}  // namespace
#endif

void bound_spare_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, own_pages);
    mallopt(M_TRIM_THRESHOLD, most_spare);
#endif
}

void give_back_spare_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace tilewalk

#include "core/base/spare_memory.h"

#include <cstdlib>  // says whether it is glibc's
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tilewalk {

void give_back_spare_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace tilewalk

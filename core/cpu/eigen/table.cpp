// The functions of one instruction set, together.
#include "core/cpu/eigen/level.h"

#define TILEWALK_TEXT_OF(x) #x
#define TILEWALK_TEXT(x) TILEWALK_TEXT_OF(x)

namespace tilewalk::cpu::TILEWALK_LEVEL {

extern const EigenFunctions functions;
const EigenFunctions functions{
    .version = TILEWALK_TEXT(EIGEN_WORLD_VERSION) "." TILEWALK_TEXT(EIGEN_MAJOR_VERSION) "." TILEWALK_TEXT(
        EIGEN_MINOR_VERSION),
    .multiply = multiply,
    .softmax_row = softmax_row,
    .dot = dot,
    .score_gradient_row = score_gradient_row,
    .flash_begin = flash_begin,
    .flash_forward = flash_forward,
    .flash_end = flash_end,
    .flash_backward = flash_backward,
};

}  // namespace tilewalk::cpu::TILEWALK_LEVEL

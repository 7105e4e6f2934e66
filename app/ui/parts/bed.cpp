#include "app/ui/parts/bed.h"

#include <utility>

namespace tilewalk::ui {

Bed standing(const Bed& on, float bottom, float ch, int rows) {
    return {on.x, bottom - ch * px(rows), on.cw, ch, rows, on.cols, on.numbers && ch >= 16};
}

void lay(MatrixLook& look, const Bed& bed, int digits, float size) {
    look.x = bed.x, look.y = bed.y, look.cw = bed.cw, look.ch = bed.ch;
    look.numbers = bed.numbers, look.digits = digits, look.size = size;
    const auto [rows, cols] = look.transposed ? std::pair{bed.cols, bed.rows} : std::pair{bed.rows, bed.cols};
    if (!look.value) look.region = {0, 0, rows, cols};
}

void far_matrix(const Canvas& c, AppState& state, MatrixLook look, const Bed& bed, int digits, float size) {
    lay(look, bed, digits, size);
    look.numbers &= bed.ch >= from::far_row;
    if (look.rows_done >= bed.rows && look.cells_done >= bed.rows * bed.cols) look.before = nullptr;
    matrix(c, state, look, "presenter");
}

}  // namespace tilewalk::ui

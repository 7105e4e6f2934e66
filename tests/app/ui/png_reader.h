// PNG files that the program wrote, back as pictures.
#pragma once

#include "app/render/raster.h"
#include "core/base/result.h"

#include <string_view>

namespace tilewalk::test {

/// Reads a PNG file's bytes; refuses what is none.
Result<Image> decode_png(std::string_view bytes);

}  // namespace tilewalk::test

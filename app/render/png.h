// PNG in and out of memory.
#pragma once

#include "app/render/raster.h"
#include "core/base/result.h"

#include <string>
#include <string_view>

namespace tilewalk {

/// The bytes of an RGB PNG file (alpha is dropped). Empty for an empty image.
std::string encode_png(const Image& image);
/// Reads a PNG file's bytes; refuses what is none.
Result<Image> decode_png(std::string_view bytes);

}  // namespace tilewalk

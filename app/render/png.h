// Pictures as PNG.
#pragma once

#include "app/render/raster.h"

#include <string>

namespace tilewalk {

/// The bytes of an RGB PNG file (alpha is dropped). Empty for an empty image.
std::string encode_png(const Image& image);

}  // namespace tilewalk

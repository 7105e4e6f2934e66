#include "tests/app/ui/png_reader.h"

#include <limits>
#include <memory>
#include <string>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#include <stb/stb_image.h>

namespace tilewalk::test {

Result<Image> decode_png(std::string_view bytes) {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        return Failure{"The PNG file is too big."};
    Image image;
    int channels = 0;
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_memory(data, static_cast<int>(bytes.size()), &image.width, &image.height, &channels,
                              4),
        stbi_image_free);
    if (!pixels)
        return Failure{std::string("This is not a PNG file that can be read: ") + stbi_failure_reason() +
                       "."};
    const auto count = 4 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
    image.rgba.assign(pixels.get(), pixels.get() + count);
    return image;
}

}  // namespace tilewalk::test

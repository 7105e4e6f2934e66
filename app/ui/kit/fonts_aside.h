// Fonts for a second context while the first one draws its frame.
#pragma once

#include <memory>

namespace tilewalk::ui {

/// While it lives, load_fonts() builds other fonts; then those from before are loaded again, untouched.
class FontsAside {
public:
    FontsAside();
    ~FontsAside();
    FontsAside(const FontsAside&) = delete;
    FontsAside& operator=(const FontsAside&) = delete;

private:
    struct Kept;
    std::unique_ptr<Kept> kept_;
};

}  // namespace tilewalk::ui

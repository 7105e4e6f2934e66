// What pages for a browser are made of: frames of assets/export with {{names}} in them.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>

namespace tilewalk::ui {
struct Theme;
}

namespace tilewalk::page {

/// Foreign text, titles of files above all: never markup, not even of a placeholder.
std::string escaped(const std::string& text);
/// A file of assets/export.
std::string_view asset(std::string_view name);

using Parts = std::map<std::string_view, std::function<void()>>;
/// The text with {{name}} filled in by `parts`.
void fill_in(std::ostream& out, std::string_view text, const Parts& parts);

/// "--bg:#0e1217;…": the tokens of the theme.
std::string theme_colours(const ui::Theme& theme);

}  // namespace tilewalk::page

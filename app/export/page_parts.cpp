#include "app/export/page_parts.h"

#include "app/io/embedded.h"
#include "app/io/json_text.h"
#include "app/ui/kit/svg_parts.h"
#include "app/ui/kit/theme.h"
#include "core/base/words.h"

#include <ostream>

namespace tilewalk::page {

std::string escaped(const std::string& text) {
    std::string valid = json_string(text);  // broken UTF-8 and control characters are replaced there
    std::string plain;
    for (const char c : ui::svg::escaped(text)) plain += c == '\n' || c == '\t' ? ' ' : c;
    return valid.find("\xEF\xBF\xBD") == std::string::npos ? plain : ui::svg::escaped(valid);
}

std::string_view asset(std::string_view name) {
    for (const EmbeddedFile& file : embedded_export())
        if (file.name == name) return file.text;
    return {};
}

void fill_in(std::ostream& out, std::string_view text, const Parts& parts) {
    while (true) {
        const std::size_t open = text.find("{{"), close = text.find("}}", open);
        out << text.substr(0, open);
        if (open == std::string_view::npos) return;
        parts.at(text.substr(open + 2, close - open - 2))();
        text.remove_prefix(close + 2);
    }
}

std::string theme_colours(const ui::Theme& t) {
    const auto set = [](const std::string& name, ImU32 c) {
        return "--" + name + ":" + ui::svg::hex(c) + ";";
    };
    std::string out = set("bg", t.bg) + set("panel", t.panel) + set("raised", t.raised) +
                      set("line", t.line) + set("t1", t.t1) + set("t2", t.t2) + set("t3", t.t3) +
                      set("focus", t.focus) + set("inv", t.inv) + set("danger", t.danger) +
                      set("page", ui::presenter_page(t));
    for (std::size_t n = 1; n < t.roles.size(); ++n) out += set("r" + str(n), t.roles[n]);
    return out;
}

}  // namespace tilewalk::page

#include "app/ui/kit/card.h"

#include <imgui.h>

namespace tilewalk::ui {

namespace {

constexpr std::size_t longest = 40;

// A code point of the basic plane as UTF-8.
void append(std::string& text, unsigned c) {
    if (c < 0x80) {
        text += static_cast<char>(c);
    } else if (c < 0x800) {
        text += static_cast<char>(0xC0 | c >> 6);
        text += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        text += static_cast<char>(0xE0 | c >> 12);
        text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
        text += static_cast<char>(0x80 | (c & 0x3F));
    }
}

}  // namespace

bool type_into(std::string& text) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.WantTextInput) return false;
    const std::size_t before = text.size();
    for (const ImWchar c : io.InputQueueCharacters)
        if (c > ' ' && c != '?' && c != 127 && text.size() < longest)
            append(text, c);
        else if (c == ' ' && !text.empty())
            text += ' ';
    return text.size() != before;
}

bool answer_search_key(std::string& text, const KeyPress& press) {
    if (press.ctrl || press.alt) return false;
    if (press.key == Key::backspace) {
        drop_last_character(text);
        return true;
    }
    if (press.key == Key::space) return !text.empty();
    return printed_by(press.key) != '\0' && press.key != Key::question;  // which asks for help
}

void draw_search(const Canvas& c, const char* name, float x, float y, float w, float h,
                 const std::string& text, const char* hint) {
    const float size = c.min_text > 20 ? size::far : size::lead;
    c.rect(x, y, w, h, c.theme->well, radius::control);
    c.frame(x + .5f, y + .5f, w - 1, h - 1, c.theme->t2, 1.5f, radius::control);
    const bool empty = text.empty();
    const float end = c.text_within(x + 12, y + h / 2, w - 28, empty ? hint : text.c_str(), size,
                                    empty ? c.theme->t3 : c.theme->t1);
    const float caret = x + 13 + (empty ? -3.0f : end);
    c.line({caret, y + h * .24f}, {caret, y + h * .76f}, c.theme->focus, 1.5f);
    if (item_registry) note_item(ItemKind::field, c.device(x, y), c.device(x + w, y + h), name);
}

}  // namespace tilewalk::ui

#include "app/ui/kit/key.h"

#include <utility>

namespace tilewalk::ui {

namespace {

constexpr std::pair<const char*, Key> names[] = {{"left", Key::left},
                                                 {"right", Key::right},
                                                 {"up", Key::up},
                                                 {"down", Key::down},
                                                 {"home", Key::home},
                                                 {"end", Key::end},
                                                 {"pageup", Key::page_up},
                                                 {"pagedown", Key::page_down},
                                                 {"space", Key::space},
                                                 {"enter", Key::enter},
                                                 {"escape", Key::escape},
                                                 {"tab", Key::tab},
                                                 {"backspace", Key::backspace},
                                                 {"delete", Key::del},
                                                 {"plus", Key::plus},
                                                 {"minus", Key::minus},
                                                 {"f1", Key::f1},
                                                 {"f2", Key::f2},
                                                 {"f5", Key::f5},
                                                 {"f9", Key::f9},
                                                 {"f10", Key::f10},
                                                 {"f11", Key::f11}};

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

char printed_by(Key key) {
    if (key >= Key::a) return static_cast<char>('a' + static_cast<int>(key) - static_cast<int>(Key::a));
    if (digit_of(key)) return static_cast<char>('0' + digit_of(key));
    switch (key) {
    case Key::space: return ' ';
    case Key::plus: return '+';
    case Key::minus: return '-';
    case Key::zero: return '0';
    case Key::question: return '?';
    case Key::period: return '.';
    case Key::colon: return ':';
    default: return '\0';
    }
}

std::optional<Key> key_printing(char lower_case) {
    for (int n = 0; n <= static_cast<int>(Key::z) && lower_case; ++n)
        if (printed_by(static_cast<Key>(n)) == lower_case) return static_cast<Key>(n);
    return std::nullopt;
}

bool prints_one_of(Key key, std::string_view letters) {
    const char printed = printed_by(key);
    return printed && letters.find(printed) != letters.npos;
}

std::optional<KeyPress> press_named(std::string_view name) {
    KeyPress press{Key::z};
    for (bool more = true; more;) {
        more = false;
        for (const auto& [prefix, modifier] :
             {std::pair{"shift+", &KeyPress::shift}, {"ctrl+", &KeyPress::ctrl}, {"alt+", &KeyPress::alt}})
            if (take(name, prefix)) press.*modifier = more = true;
    }
    for (const auto& [known, key] : names)
        if (name == known) return press.key = key, press;
    const auto key = name.size() == 1 && name != " " ? key_printing(name[0]) : std::nullopt;
    if (!key) return std::nullopt;
    press.key = *key;
    return press;
}

bool works_while_typing(const KeyPress& press) {
    if (press.alt && digit_of(press.key)) return true;  // no text has them
    // Tab leaves a field for what comes next.
    if ((press.key >= Key::f1 && press.key <= Key::f11) || press.key == Key::tab) return true;
    // Ctrl with these edits the text itself.
    return press.ctrl && printed_by(press.key) && !prints_one_of(press.key, " acvxyz");
}

}  // namespace tilewalk::ui

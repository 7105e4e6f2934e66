#include "tests/app/ui/kit/xml_check.h"

#include <cctype>
#include <charconv>
#include <limits>

namespace tilewalk::test {

namespace {

struct Reader {
    std::string_view all;
    std::size_t at = 0;
    Xml out = {};
    std::vector<int> open = {};

    bool fail(const std::string& what) {
        if (out.error.empty()) out.error = what + " at byte " + std::to_string(at);
        return false;
    }
    bool ended() const { return at >= all.size(); }
    char peek() const { return ended() ? '\0' : all[at]; }
    bool take(std::string_view word) {
        if (!all.substr(at).starts_with(word)) return false;
        at += word.size();
        return true;
    }
    void skip_space() {
        while (!ended() && std::isspace(static_cast<unsigned char>(peek()))) ++at;
    }

    std::string name() {
        const std::size_t from = at;
        while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '-' || peek() == ':' ||
               peek() == '_')
            ++at;
        return std::string(all.substr(from, at - from));
    }

    // One character, or what an entity stands for.
    bool character(std::string& to) {
        const auto c = static_cast<unsigned char>(peek());
        if (c < ' ' && c != '\n' && c != '\t') return fail("a control character");
        if (c == '<' || c == '>') return fail("a bracket in text");
        if (c != '&') {
            to += static_cast<char>(c);
            ++at;
            return true;
        }
        constexpr std::pair<std::string_view, char> entities[] = {
            {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
        for (const auto& [word, meaning] : entities)
            if (take(word)) {
                to += meaning;
                return true;
            }
        return fail("an unknown entity");
    }

    bool attribute(XmlElement& element) {
        const std::string key = name();
        if (key.empty() || !take("=\"")) return fail("no attribute");
        std::string value;
        while (!ended() && peek() != '"')
            if (!character(value)) return false;
        if (!take("\"")) return fail("an open attribute");
        return element.attributes.emplace(key, value).second || fail(key + " twice");
    }

    bool start_tag() {
        XmlElement element;
        element.name = name();
        element.parent = open.empty() ? -1 : open.back();
        if (element.name.empty()) return fail("no name");
        if (open.empty() && !out.elements.empty()) return fail("a second root");
        while (true) {
            const std::size_t before = at;
            skip_space();
            const bool closes = take("/>");
            if (closes || take(">")) {
                if (!closes) open.push_back(static_cast<int>(out.elements.size()));
                out.elements.push_back(element);
                return true;
            }
            if (at == before) return fail("no space before an attribute");
            if (!attribute(element)) return false;
        }
    }

    bool end_tag() {
        const std::string closed = name();
        if (!take(">")) return fail("an open end tag");
        if (open.empty() || out.elements[static_cast<std::size_t>(open.back())].name != closed)
            return fail("</" + closed + "> closes another");
        open.pop_back();
        return true;
    }

    bool text() {
        std::string words;
        if (!character(words)) return false;
        if (open.empty() && words != "\n") return fail("text outside the root");
        for (const int index : open) out.elements[static_cast<std::size_t>(index)].text += words;
        return true;
    }
};

}  // namespace

float XmlElement::number(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    float value = std::numeric_limits<float>::quiet_NaN();
    if (found == attributes.end()) return value;
    const std::string& digits = found->second;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size()
               ? value
               : std::numeric_limits<float>::quiet_NaN();
}

Xml read_xml(std::string_view document) {
    Reader reader{document};
    while (!reader.ended()) {
        const bool good = reader.take("</")  ? reader.end_tag()
                          : reader.take("<") ? reader.start_tag()
                                             : reader.text();
        if (!good) return reader.out;
    }
    if (!reader.open.empty() || reader.out.elements.empty()) reader.fail("an open element");
    return reader.out;
}

}  // namespace tilewalk::test

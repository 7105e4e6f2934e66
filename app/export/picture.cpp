#include "app/export/picture.h"

#include "app/ui/kit/svg_parts.h"

#include <algorithm>
#include <ostream>
#include <sstream>

namespace tilewalk {
namespace {

std::vector<std::string> lines_of(const std::string& svg) {
    std::vector<std::string> lines;
    std::istringstream text(svg);
    text.exceptions(std::ios::badbit);
    for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
    return lines;
}

// Opens or closes a group: the lines between may be shared, these are not.
bool is_bracket(std::string_view line) { return line.starts_with("<g ") || line == "</g>"; }

std::string between(std::string_view text, std::string_view from, std::string_view to) {
    const std::size_t begin = text.find(from);
    if (begin == std::string_view::npos) return {};
    const std::size_t start = begin + from.size(), end = text.find(to, start);
    return std::string(text.substr(start, end - start));
}

// What is drawn: behind the opening tag and the definitions, before the closing tag.
std::vector<std::string> drawn(std::vector<std::string> lines) {
    const auto definitions = std::ranges::find(lines, "</defs>");
    lines.erase(lines.begin(), definitions == lines.end() ? lines.begin() + 1 : definitions + 1);
    if (!lines.empty() && lines.back() == "</svg>") lines.pop_back();
    return lines;
}

bool is_colour(std::string_view text) {
    return text.size() >= 7 && text[0] == '#' &&
           std::ranges::all_of(text.substr(1, 6), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// A paint is the whole value of an attribute: the same letters in a text are none.
std::size_t next_colour(std::string_view line, std::size_t from) {
    for (std::size_t at = from; (at = line.find("=\"#", at)) != std::string_view::npos; ++at)
        if (is_colour(line.substr(at + 2)) && line.substr(at + 9, 1) == "\"") return at + 2;
    return std::string_view::npos;
}

constexpr int none = -1, several = -2;

// The one neighbour that a line has everywhere.
void meet(int& neighbour, int line) {
    if (neighbour == none)
        neighbour = line;
    else if (neighbour != line)
        neighbour = several;
}

}  // namespace

PictureBook::Line PictureBook::line_of(const std::string& text) {
    const auto [place, fresh] = index_.try_emplace(text, static_cast<Line>(lines_.size()));
    if (fresh) lines_.push_back(text);
    return place->second;
}

// One line for both themes: equal but for its colours, or else both, of which the page shows one.
std::string PictureBook::paired(const std::string& dark, const std::string& light) {
    std::string out;
    std::size_t a = 0, b = 0;
    while (true) {
        const std::size_t next_a = next_colour(dark, a), next_b = next_colour(light, b);
        const std::string_view before_a = std::string_view(dark).substr(a, next_a - a),
                               before_b = std::string_view(light).substr(b, next_b - b);
        if (before_a != before_b || (next_a == std::string::npos) != (next_b == std::string::npos))
            return "<g class=\"in-dark\">" + dark + "</g><g class=\"in-light\">" + light + "</g>";
        out += before_a;
        if (next_a == std::string::npos) return out;
        const auto pair = std::pair(dark.substr(next_a, 7), light.substr(next_b, 7));
        const int number = colours_.try_emplace(pair, static_cast<int>(colours_.size())).first->second;
        out += "var(--c" + str(number) + ")";
        a = next_a + 7, b = next_b + 7;
    }
}

// Clips of the same place have the same id in all pictures.
void PictureBook::add_clips(const std::string& svg, std::map<std::string, std::string>& ids) {
    for (const std::string& line : lines_of(svg)) {
        if (!line.starts_with("<clipPath")) continue;
        const std::string place = between(line, "><", "/></clipPath>");
        const int number = clips_.try_emplace(place, static_cast<int>(clips_.size())).first->second;
        ids["url(#" + between(line, "id=\"", "\"") + ")"] = "url(#k" + str(number) + ")";
    }
}

void PictureBook::add(const std::string& dark, const std::string& light) {
    Picture picture;
    picture.view_box = between(light, "viewBox=\"", "\"");
    const std::string mono = ui::svg::attribute("font-family", ui::svg::mono_family);
    const auto named = [this, &mono](const std::string& svg) {
        std::map<std::string, std::string> ids;
        add_clips(svg, ids);
        std::vector<std::string> lines = drawn(lines_of(svg));
        for (std::string& line : lines)
            if (const auto id = ids.find(between(line, "<g clip-path=\"", "\"")); id != ids.end())
                line = "<g clip-path=\"" + id->second + "\">";
            else
                line = replaced(std::move(line), mono, " class=\"mono\"");
        return lines;
    };
    const std::vector<std::string> a = named(dark), b = named(light);
    // The same shapes in both themes, as a rule.
    if (a.size() == b.size() && std::ranges::equal(a, b, {}, is_bracket, is_bracket)) {
        for (std::size_t n = 0; n < a.size(); ++n) picture.lines.push_back(line_of(paired(a[n], b[n])));
    } else {
        const auto all = [&](const char* open, const std::vector<std::string>& lines) {
            picture.lines.push_back(line_of(open));
            for (const std::string& line : lines) picture.lines.push_back(line_of(line));
            picture.lines.push_back(line_of("</g>"));
        };
        all("<g class=\"in-dark\">", a);
        all("<g class=\"in-light\">", b);
    }
    pictures_.push_back(std::move(picture));
}

// ---- Chains

void PictureBook::bind() {
    const auto count = lines_.size();
    std::vector<int> before(count, none), after(count, none), uses(count, 0);
    const auto free = [this](Line line) { return !is_bracket(lines_[static_cast<std::size_t>(line)]); };
    for (const Picture& picture : pictures_)
        for (std::size_t n = 0; n < picture.lines.size(); ++n) {
            const auto line = static_cast<std::size_t>(picture.lines[n]);
            ++uses[line];
            const bool first = n == 0 || !free(picture.lines[n - 1]);
            const bool last = n + 1 == picture.lines.size() || !free(picture.lines[n + 1]);
            meet(before[line], first ? several : picture.lines[n - 1]);
            meet(after[line], last ? several : picture.lines[n + 1]);
        }
    const auto follows = [&](Line a, Line b) {
        return after[static_cast<std::size_t>(a)] == b && before[static_cast<std::size_t>(b)] == a;
    };
    chain_of_.assign(count, -1);
    for (Line line = 0; line < static_cast<Line>(count); ++line) {
        const int previous = before[static_cast<std::size_t>(line)];
        if (previous >= 0 && free(line) && follows(previous, line)) continue;  // inside of a chain
        Chain chain{{line}, uses[static_cast<std::size_t>(line)]};
        for (Line at = line; free(line);) {
            const int next = after[static_cast<std::size_t>(at)];
            if (next < 0 || next == line || !follows(at, next)) break;
            chain.lines.push_back(at = next);
        }
        chain_of_[static_cast<std::size_t>(line)] = static_cast<int>(chains_.size());
        chains_.push_back(std::move(chain));
    }
}

std::string PictureBook::text_of(const Chain& chain) const {
    std::string text;
    for (const Line line : chain.lines) text += lines_[static_cast<std::size_t>(line)];
    return text;
}

// A reference takes about 24 characters, a definition as many beside its text.
bool PictureBook::shared(const Chain& chain) const {
    const std::string& first = lines_[static_cast<std::size_t>(chain.lines[0])];
    if (chain.uses < 2 || is_bracket(first)) return false;
    const std::size_t size = text_of(chain).size(), uses = static_cast<std::size_t>(chain.uses);
    return size * uses > size + 24 * (uses + 1);
}

void PictureBook::write_shared(std::ostream& out) const {
    out << "<svg class=\"shared\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n";
    for (const auto& [place, number] : clips_)
        out << "<clipPath id=\"k" << number << "\"><" << place << "/></clipPath>\n";
    for (std::size_t n = 0; n < chains_.size(); ++n)
        if (shared(chains_[n])) out << "<g id=\"a" << n << "\">" << text_of(chains_[n]) << "</g>\n";
    out << "</defs></svg>\n";
}

void PictureBook::write(std::ostream& out, std::size_t n, const std::string& label) const {
    const Picture& picture = pictures_[n];
    out << "<svg role=\"img\" aria-label=\"" << label << "\" viewBox=\"" << picture.view_box
        << "\" xml:space=\"preserve\">\n";
    for (std::size_t at = 0; at < picture.lines.size();) {
        const int number = chain_of_[static_cast<std::size_t>(picture.lines[at])];
        const Chain& chain = chains_[static_cast<std::size_t>(number)];
        if (shared(chain))
            out << "<use href=\"#a" << number << "\"/>";
        else
            out << text_of(chain);
        at += chain.lines.size();
    }
    out << "\n</svg>\n";
}

std::string PictureBook::colours(bool dark) const {
    std::string out;
    for (const auto& [pair, number] : colours_)
        out += "--c" + str(number) + ":" + (dark ? pair.first : pair.second) + ";";
    return out;
}

}  // namespace tilewalk

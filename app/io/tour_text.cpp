#include "app/io/tour_text.h"

#include "app/io/text.h"
#include "core/class/tour.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tilewalk {
namespace {

// *emphasis*, {placeholder}, sub_script and \ before a character that stands for itself.
class Styled {
public:
    explicit Styled(std::string_view text) : rest_(text) {}

    Result<Line> read() {
        while (!rest_.empty()) {
            const char c = rest_.front();
            rest_.remove_prefix(1);
            if (c == '\\' && !rest_.empty()) {
                words_ += rest_.front();
                rest_.remove_prefix(1);
            } else if (c == '*') {
                flush();
                strong_ = !strong_;
            } else if (c == '{') {
                if (!placeholder()) return Failure{"a { has no } in its paragraph"};
            } else if (c == '}') {
                return Failure{"a } has no { before it"};
            } else if (c == '_' && subscript()) {
            } else {
                words_ += c;
            }
        }
        flush();
        if (strong_) return Failure{"a * has no second * in its paragraph; \\* is the character itself"};
        return std::move(line_);
    }

private:
    void flush() {
        // Both sides of an equation stay in one line, and of a difference.
        const std::string words =
            replaced(replaced(std::exchange(words_, ""), " = ", "\u00A0=\u00A0"), " − ", "\u00A0−\u00A0");
        if (!words.empty()) put(words);
    }
    Span& put(std::string text) {
        Span& span = line_.emplace_back();
        span.text = std::move(text);
        span.strong = strong_;
        return span;
    }
    bool placeholder() {
        const std::size_t end = rest_.find('}');
        if (end == std::string_view::npos) return false;
        flush();
        put(std::string(trimmed(rest_.substr(0, end)))).face = Span::Face::number;
        rest_.remove_prefix(end + 1);
        return true;
    }

    // "m_old": the letters behind the line hang below the one before it.
    bool subscript() {
        std::size_t end = 0;
        while (end < rest_.size() && std::isalnum(static_cast<unsigned char>(rest_[end]))) ++end;
        if (end == 0 || words_.empty() || words_.back() == ' ') return false;
        flush();
        put(std::string(rest_.substr(0, end))).script = Span::Script::sub;
        rest_.remove_prefix(end);
        return true;
    }

    std::string_view rest_;
    std::string words_;
    bool strong_ = false;
    Line line_;
};

class OutlineReader {
public:
    OutlineReader(const std::vector<std::string>& keys, std::vector<TourError>& errors)
        : keys_(keys), errors_(errors) {}

    TourOutline read(std::string_view text) {
        text = without_bom(text);
        while (!text.empty() && errors_.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            ++line_;
            const bool indented = text.starts_with("  ") || text.starts_with('\t');
            std::string line(trimmed(text.substr(0, end)));
            std::ranges::replace(line, '\t', ' ');
            take(line, indented);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        end_paragraph();
        if (errors_.empty()) chapter_has_stops();
        return std::move(outline_);
    }

private:
    void fail(const std::string& what) { errors_.push_back({line_, what}); }

    void take(std::string_view line, bool indented) {
        if (!is_utf8(line)) return fail("it is not in UTF-8");
        if (without_controls(line) != line) return fail("a control character stands in it");
        TourSetting* const above = std::exchange(above_, nullptr);
        if (line.empty()) return end_paragraph();
        if (line.starts_with("## ")) return begin_section(trimmed(line.substr(3)));
        if (line.starts_with("# ")) return title(trimmed(line.substr(2)));
        if (line.starts_with('#'))
            return fail("expected \"# title\", \"# chapter\" or \"## heading of a stop\"");
        if (outline_.title.empty()) return fail("expected the title first, as in \"# My tour\"");
        if (outline_.sections.empty() || chapter_begins()) return words_for_readers(line);
        if (line.starts_with("- ")) return setting(trimmed(line.substr(2)));
        if (line.starts_with("> ")) return formula_line(trimmed(line.substr(2)));
        if (indented && above) return go_on(*above, line);
        if (paragraph_.empty()) begin_ = line_;
        paragraph_ += (paragraph_.empty() ? "" : " ") + std::string(line);
    }

    void title(std::string_view words) {
        if (!outline_.title.empty()) return chapter(words);
        outline_.title = words;
    }

    // The last chapter has no stop yet.
    bool chapter_begins() const {
        return !outline_.chapters.empty() && outline_.chapters.back().section == outline_.sections.size();
    }
    void chapter_has_stops() {
        if (!chapter_begins()) return;
        const TourChapterLine& empty = outline_.chapters.back();
        errors_.push_back({empty.line, "the chapter " + in_quotes(empty.name) +
                                           " has no stop, expected \"## \" and a heading below it"});
    }
    void chapter(std::string_view name) {
        end_paragraph();
        chapter_has_stops();
        if (!errors_.empty()) return;
        if (outline_.chapters.empty() && !outline_.sections.empty())
            return fail("stops stand before the first chapter, expected one above the first stop, in line " +
                        str(outline_.sections.front().line));
        if (std::ranges::find(outline_.chapters, name, &TourChapterLine::name) != outline_.chapters.end())
            return fail("there is a chapter " + in_quotes(std::string(name)) + " already");
        outline_.chapters.push_back({std::string(name), line_, outline_.sections.size()});
    }
    // A setting would be lost among them.
    void words_for_readers(std::string_view line) {
        if (!line.starts_with("- ")) return;
        const std::string_view key = trimmed(line.substr(2, line.find(':') - 2));
        if (std::ranges::find(keys_, key) != keys_.end())
            fail("a setting belongs to a stop, expected \"## \" and a heading above it");
    }

    void begin_section(std::string_view heading) {
        if (outline_.title.empty()) return fail("expected the title first, as in \"# My tour\"");
        if (heading.empty()) return fail("the stop has no heading");
        end_paragraph();
        outline_.sections.push_back({std::string(heading), line_, {}, {}});
    }

    void setting(std::string_view words) {
        TourSection& section = outline_.sections.back();
        if (!section.text.empty() || !paragraph_.empty())
            return fail("a setting stands before the text of its stop, not after it");
        const std::size_t colon = words.find(':');
        if (colon == std::string_view::npos) return fail("expected \"- key: value\"");
        const std::string key(trimmed(words.substr(0, colon)));
        const std::string value(trimmed(words.substr(colon + 1)));
        if (std::ranges::find(keys_, key) == keys_.end())
            return fail("there is no setting " + in_quotes(key) + did_you_mean(key, keys_, ""));
        if (value.empty()) return fail(key + " has no value");
        const auto [place, fresh] = section.settings.emplace(key, TourSetting{value, line_});
        if (!fresh) return fail(key + " stands there twice");
        above_ = &place->second;
    }
    void go_on(TourSetting& setting, std::string_view words) {
        setting.value += " " + std::string(words);
        above_ = &setting;
    }

    // A line of its own, set in and strong.
    void formula_line(std::string_view words) {
        end_paragraph();
        begin_ = line_;
        paragraph_ = words;
        end_paragraph();
        if (!errors_.empty()) return;
        Line& line = outline_.sections.back().text.back().text;
        for (Span& span : line) span.strong = true;
        line.insert(line.begin(), Span{.text = formula_indent});
    }

    void end_paragraph() {
        if (paragraph_.empty() || !errors_.empty()) return;
        auto styled = Styled(paragraph_).read();
        if (!styled)
            errors_.push_back({begin_, styled.error});
        else
            outline_.sections.back().text.push_back({std::move(*styled), begin_});
        paragraph_.clear();
    }

    const std::vector<std::string>& keys_;
    std::vector<TourError>& errors_;
    TourOutline outline_;
    std::string paragraph_;
    int line_ = 0, begin_ = 0;
    TourSetting* above_ = nullptr;  // the setting that ends in the line above
};

}  // namespace

Result<Line> styled_line(std::string_view text) { return Styled(text).read(); }

TourOutline outline_of(std::string_view text, const std::vector<std::string>& keys,
                       std::vector<TourError>& errors) {
    return OutlineReader(keys, errors).read(text);
}

}  // namespace tilewalk

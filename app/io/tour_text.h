// The lines of a tour's Markdown, before anybody asks what they mean.
#pragma once

#include "core/base/result.h"
#include "core/walk/explain.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

struct TourSetting {
    std::string value;
    int line = 0;
};
/// A paragraph and the line that it begins in.
struct TourParagraph {
    Line text;
    int line = 0;
};
struct TourSection {
    std::string heading;
    int line = 0;
    std::map<std::string, TourSetting> settings;
    std::vector<TourParagraph> text;
};
/// A line "# name" behind the title, and the section before which it stands.
struct TourChapterLine {
    std::string name;
    int line = 0;
    std::size_t section = 0;
};
struct TourOutline {
    std::string title;
    std::vector<TourSection> sections;
    std::vector<TourChapterLine> chapters;
};

/// What is wrong, and in which line (from 1).
struct TourError {
    int line = 0;
    std::string what;
};

/// Text with *emphasis*, {placeholder}, a letter with a sub_script, and \ before a character that stands for
/// itself.
Result<Line> styled_line(std::string_view text);

/// "# title", then sections of "## heading", "- key: value" lines and paragraphs, and between them chapters,
/// "# name". A value goes on in indented lines below it. A line that begins with "> " is a formula and stands
/// alone. What stands between title or chapter and the next section is for readers of the file.
TourOutline outline_of(std::string_view text, const std::vector<std::string>& keys,
                       std::vector<TourError>& errors);

}  // namespace tilewalk

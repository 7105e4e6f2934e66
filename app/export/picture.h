// Many pictures of one walk in a page: what they have in common is there once, and one set of them serves a
// dark and a light page.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tilewalk {

/// Collects the SVG of every step, drawn in the dark and in the light theme; then writes what several of them
/// share, and each of them as <svg> that refers to it. Colours become variables of the page.
class PictureBook {
public:
    /// Both are what svg_of_frame gives, of the same step and size.
    void add(const std::string& dark, const std::string& light);
    /// To be called once, when all are there.
    void bind();

    /// <defs> of what several pictures use; the page has them once, before the first picture.
    void write_shared(std::ostream& out) const;
    /// The picture number n (from 0) as <svg role="img"> with `label` (escaped already) as its name.
    void write(std::ostream& out, std::size_t n, const std::string& label) const;
    /// "--c0:#112233;--c1:…" for the dark and the light page.
    std::string colours(bool dark) const;

private:
    using Line = int;  ///< index into lines_
    struct Picture {
        std::string view_box;
        std::vector<Line> lines;
    };
    /// Lines that always follow each other.
    struct Chain {
        std::vector<Line> lines;
        int uses = 0;
    };

    Line line_of(const std::string& text);
    std::string paired(const std::string& dark, const std::string& light);
    void add_clips(const std::string& svg, std::map<std::string, std::string>& ids);
    bool shared(const Chain& chain) const;
    std::string text_of(const Chain& chain) const;

    std::vector<Picture> pictures_;
    std::vector<std::string> lines_;
    std::map<std::string, Line> index_;
    std::map<std::pair<std::string, std::string>, int> colours_;  ///< dark, light → number
    std::map<std::string, int> clips_;                            ///< the rectangle → number
    std::vector<Chain> chains_;
    std::vector<int> chain_of_;  ///< by line, the chain that it begins; −1 inside of one
};

}  // namespace tilewalk

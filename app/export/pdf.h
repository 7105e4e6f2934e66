// Recorded frames as pages of a PDF: vectors, letters of the embedded typefaces, text that can be selected.
#pragma once

#include "app/ui/kit/vector_picture.h"
#include "core/base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace tilewalk {

/// A picture on a page: where its corner lies and how large its px are, in px of the page.
struct PlacedPicture {
    ui::VectorPicture picture;
    float x = 0, y = 0, scale = 1;
};

/// The pages are 960 pt wide. The file says nothing of when or where it was made: the same pages, the same
/// bytes.
class Pdf {
public:
    /// Every page has so many px.
    Pdf(int width, int height, const std::string& title);
    ~Pdf();
    Pdf(const Pdf&) = delete;
    Pdf& operator=(const Pdf&) = delete;

    /// `name` and the `chapter` that it is in stand in the list of contents; without a chapter beside them.
    void add_page(const std::vector<PlacedPicture>& pictures, const std::string& name,
                  const std::string& chapter = {});
    /// The whole file, to be called once; a sentence if there was no memory for it.
    Result<std::string> finish();

private:
    struct File;
    std::unique_ptr<File> file_;
};

}  // namespace tilewalk

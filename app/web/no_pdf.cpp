// In place of app/export/pdf.cpp: slides need Cairo.
#include "app/export/pdf.h"

namespace tilewalk {

struct Pdf::File {};

Pdf::Pdf(int, int, const std::string&) {}
Pdf::~Pdf() = default;
void Pdf::add_page(const std::vector<PlacedPicture>&, const std::string&, const std::string&) {}
Result<std::string> Pdf::finish() {
    return Failure{"A browser makes no PDF: slides are made by the program for the desktop."};
}

}  // namespace tilewalk

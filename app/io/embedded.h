// Files that travel inside the program; the build generates the definitions from the folders of assets.
#pragma once

#include "core/base/embedded.h"

#include <span>

namespace tilewalk {

/// All files of assets/examples, sorted by name.
std::span<const EmbeddedFile> embedded_examples();
/// All files of assets/bench: results that were recorded on other machines.
std::span<const EmbeddedFile> embedded_bench();
/// All files of assets/tour: Markdown, docs/tour-format.md.
std::span<const EmbeddedFile> embedded_tour();
/// All files of assets/export, with their endings: the frame of the page that 'tilewalk export' writes.
std::span<const EmbeddedFile> embedded_export();
/// What is run by Python, by its path from the top of the project; not in a browser.
std::span<const EmbeddedFile> embedded_scripts();

}  // namespace tilewalk

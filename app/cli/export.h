// tilewalk export: a whole walk as a hand-out.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/outcome.h"

#include <iosfwd>

namespace tilewalk::ui {
struct AppState;
}

namespace tilewalk {

/// One self-contained page (html), notes (md) or a document (tex), by --format or the ending of -o. Without
/// -o, md and tex go to `out`.
Outcome run_export(const Arguments& arguments, std::ostream& out);

/// The walk that the window shows, in the format that the ending says; a sentence if that failed.
std::optional<std::string> export_walk(const std::string& path, const ui::AppState& state);

}  // namespace tilewalk

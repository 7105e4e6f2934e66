// tilewalk render: steps of a walk as pictures, without a window.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/outcome.h"

namespace tilewalk {

/// Draws one step into a PNG or SVG file, or every step into the files step-001.png … of a folder, which is
/// made if need be. Each picture is there whole or not at all; after a failure the new ones of this call are
/// removed.
Outcome run_render(const Arguments& arguments);

}  // namespace tilewalk

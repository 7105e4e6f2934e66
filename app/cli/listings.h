// tilewalk examples, lessons, kernels, devices: what there is.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/outcome.h"

#include <iosfwd>

namespace tilewalk {

/// Prints the list as text or JSON. `devices` ends well without a GPU too: it says why there is none.
Outcome run_listing(const Arguments& arguments, std::ostream& out);

}  // namespace tilewalk

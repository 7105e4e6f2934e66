// With which codes the program ends.
#pragma once

namespace tilewalk {

/// interrupted: by Ctrl-C, after what there was has been written. A signal that ends the program at once is
/// its own code, 128 and its number.
enum class Exit { done = 0, failed = 1, bad_input = 2, no_device = 3, not_written = 4, interrupted = 130 };

}  // namespace tilewalk

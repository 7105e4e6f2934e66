// The parts of a problem file beyond Q, K, V and the tiles: words, the input X and its weights, what single
// lessons let one choose, faults, number formats, and where the walk stands.
#pragma once

#include "app/io/json_reading.h"
#include "core/walk/playback.h"

namespace tilewalk {

/// "x", "w_q", "w_k", "w_v": Q, K, V are computed from them, and checked where the file has them as well.
void read_projection(Reading& reading, Problem& problem);
/// "tokens", "options", "switches", "precision".
void read_extras(Reading& reading, Problem& problem);
void read_view(Reading& reading, SavedView& view);

/// Lines of JSON, each followed by a comma, of all that differs from its default.
std::string extras_to_json(const Problem& problem);
std::string view_to_json(const SavedView& view);

}  // namespace tilewalk

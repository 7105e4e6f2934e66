// The parts of a problem file beyond Q, K, V and the tiles: words, the input X and its weights, what single
// lessons let one choose, faults, number formats, and where the walk stands.
#pragma once

#include "app/io/json_reading.h"
#include "core/walk/playback.h"

namespace tilewalk {

/// "x", "w_q", "w_k", "w_v": Q, K, V are computed from them, and checked where the file has them as well.
void read_projection(Reading& reading, Problem& problem);
/// "tokens", "options", "switches", "precision", "savings".
void read_extras(Reading& reading, Problem& problem);
void read_view(Reading& reading, SavedView& view);

/// All of them that differ from their defaults.
nlohmann::ordered_json json_of_extras(const Problem& problem);
nlohmann::ordered_json json_of(const SavedView& view);
/// For other programs: "n", "n_kv", "d", "br", "bc", "causal", "window" and the scale as a number.
nlohmann::ordered_json json_of_sizes(const Problem& problem);

}  // namespace tilewalk

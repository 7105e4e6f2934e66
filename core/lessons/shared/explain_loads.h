// What the explanations of the tiled lessons say about loads: what is copied, how many bytes that is, and
// what rounding changed on the way.
#pragma once

#include "core/walk/explain_view.h"

#include <string>

namespace tilewalk {

/// A load of Qᵢ, or of Kⱼ and Vⱼ, whose bytes follow after `why`.
void tell_query_load(const View& v, const std::string& why);
void tell_key_load(const View& v, const std::string& why);

}  // namespace tilewalk

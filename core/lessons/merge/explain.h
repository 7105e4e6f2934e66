// The words and numbers of the lessons about parts of the keys.
#pragma once

#include "core/walk/explain_view.h"

namespace tilewalk {

void explain_merge_lesson(const View& v);
void explain_split_kv(const View& v);

/// O ← O and L ← L: a store of a row that is divided already.
void tell_divided_store(const View& v, std::string why);

}  // namespace tilewalk

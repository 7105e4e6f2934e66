// A cell of a matrix product as its terms, taken from the values that the step read.
#pragma once

#include "app/ui/chapters/forward/lens_parts.h"
#include "app/ui/state/app_state.h"

#include <optional>

namespace tilewalk::ui {

/// The row (or column) of one matrix and of the other that meet in the cell which the explanation is about.
struct DenseTerms {
    std::string a_name, b_name;  ///< "P row 0", "V column 2"
    std::vector<double> a, b;
    Role a_role = Role::none, b_role = Role::none, role = Role::none;
    double scale = 1, total = 0;
};
/// Nothing if the step is no sum of products (loads, softmax, updates) or sums over everything (the loss).
std::optional<DenseTerms> dense_terms(const AppState& state);

/// The value that the current step read from this slot; null if it did not.
const Value* value_read(const AppState& state, Slot slot);
/// The value that holds the explanation's cell; null for steps that write nothing.
const Value* value_written(const AppState& state);

}  // namespace tilewalk::ui

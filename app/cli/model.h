// tilewalk model: what attention costs in memory, traffic and time, from closed forms.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/outcome.h"
#include "core/study/memory_study.h"

#include <iosfwd>
#include <vector>

namespace tilewalk {

/// One study per sequence length that the words name (512 … 131 072 without), or a sentence.
Result<std::vector<Study>> make_studies(const ModelWords& words);

std::string model_text(const std::vector<Study>& studies);
std::string model_json(const std::vector<Study>& studies);

Outcome run_model(const Arguments& arguments, std::ostream& out);

}  // namespace tilewalk

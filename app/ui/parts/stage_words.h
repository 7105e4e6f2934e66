// The words of tokens beside the rows and below the columns of what stands on stage.
#pragma once

#include "app/ui/parts/stage_terms.h"
#include "app/ui/state/app_state.h"

#include <string>
#include <vector>

namespace tilewalk::ui {

/// Of a term as it is drawn: the words of the queries or keys that its rows and its columns stand for; none
/// where the problem has no words or they stand for something else.
struct TermWords {
    std::vector<std::string> rows{}, columns{};
};
TermWords term_words(const AppState& state, const StageTerm& term);
/// Their words, or of a part, which need not begin at 0, "q2" and "k3": places in the sequence.
std::vector<std::string> row_names(const AppState& state, const StageTerm& term);
std::vector<std::string> column_names(const AppState& state, const StageTerm& term);
/// The width of the widest, at the least size of the page; 0: there are none.
float widest_word(const std::vector<std::string>& words);

}  // namespace tilewalk::ui

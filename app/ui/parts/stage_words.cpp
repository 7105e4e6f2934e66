#include "app/ui/parts/stage_words.h"

#include "app/ui/kit/fonts.h"
#include "app/ui/kit/measures.h"
#include "app/ui/parts/slot_view.h"
#include "core/lessons/shared/parts.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <string_view>

namespace tilewalk::ui {

namespace {

// What a line of a matrix belongs to.
enum class Of { nothing, query, key };

bool is_weight(Slot slot) {
    const std::string_view name = info(slot).symbol;
    return name == "W" || name == "dW";
}

Of rows_of(Slot slot) {
    const Role role = info(slot).role;
    if (slot == Slot::X) return Of::query;
    if (slot == Slot::X_kv) return Of::key;
    const bool of_none = role == Role::none || is_weight(slot) || is_of_parts(slot) || slot == Slot::sink ||
                         slot == Slot::dsink || slot == Slot::dsink_in;
    if (of_none) return Of::nothing;
    return role == Role::K || role == Role::V ? Of::key : Of::query;
}

Of columns_of(Slot slot) {
    const bool scores = info(slot).role == Role::S && !one_column(slot);
    return scores && rows_of(slot) == Of::query ? Of::key : Of::nothing;
}

constexpr std::size_t most_numbered = 4;

// Their tokens. Without any the few lines of a part have their numbers, "q2", "k3", as the first of them need
// not be number 0. `positions`: where the lines lie in the sequence.
std::vector<std::string> words_of(const AppState& state, Of what, const std::vector<int>& positions) {
    const Problem& p = *state.problem;
    const bool queries = what == Of::query;
    const int all = queries ? p.N() : p.N_kv();
    if (what == Of::nothing) return {};
    const bool part = std::ssize(positions) < all && positions.size() <= most_numbered;
    std::vector<std::string> out;
    for (const int at : positions) {
        if (at < 0 || at >= all) return {};
        const std::string token = queries ? p.query_token(at) : p.key_token(at);
        if (token.empty() && !part) return {};
        out.push_back(token.empty() ? (queries ? "q" : "k") + str(at) : token);
    }
    return out;
}

}  // namespace

TermWords term_words(const AppState& state, const StageTerm& t) {
    if (state.lesson->uses(chooses_sequences)) return {};  // their rows are those of several
    const Indices at = indices(*state.trace, t.slot, t.value->region, t.made);
    TermWords out{words_of(state, rows_of(t.slot), at.rows), words_of(state, columns_of(t.slot), at.cols)};
    if (t.transposed) std::swap(out.rows, out.columns);
    return out;
}

std::vector<std::string> row_names(const AppState& state, const StageTerm& t) {
    std::vector<std::string> out = term_words(state, t).rows;
    // A function that opens the line has one place in all lessons.
    if (*t.before && state.problem->query_token(0).empty()) out.clear();
    const Of own = t.transposed ? Of::nothing : rows_of(t.slot);
    if (!out.empty() || own == Of::nothing || !state.lesson->uses(chooses_ranks)) return out;
    const char* const letter = own == Of::query ? "q" : "k";
    for (const int row : indices(*state.trace, t.slot, t.value->region, t.made).rows)
        out.push_back(letter + str(row));
    return out;
}

float widest_word(const std::vector<std::string>& words) {
    float out = 0;
    for (const std::string& word : words) out = std::max(out, text_width(Face::regular, size::far, word));
    return out;
}

}  // namespace tilewalk::ui

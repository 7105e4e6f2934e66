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

// `positions`: where the lines lie in the sequence.
std::vector<std::string> words_of(const AppState& state, Of what, const std::vector<int>& positions) {
    const Problem& p = *state.problem;
    const bool queries = what == Of::query;
    if (what == Of::nothing || (queries ? p.query_token(0) : p.key_token(0)).empty()) return {};
    std::vector<std::string> out;
    for (const int at : positions) {
        if (at < 0 || at >= (queries ? p.N() : p.N_kv())) return {};
        out.push_back(queries ? p.query_token(at) : p.key_token(at));
    }
    return out;
}

std::vector<std::string> numbered(Of what, const std::vector<int>& positions) {
    std::vector<std::string> out;
    for (const int at : positions) out.push_back((what == Of::query ? "q" : "k") + str(at));
    return out;
}

// "q2", "k3" of the few lines of a part, the first of which need not be number 0.
std::vector<std::string> numbers_of(const AppState& state, Of what, const std::vector<int>& positions) {
    constexpr std::size_t most = 4;
    const int all = what == Of::query ? state.problem->N() : state.problem->N_kv();
    if (what == Of::nothing || positions.size() > most || std::ssize(positions) >= all) return {};
    const bool known = std::ranges::all_of(positions, [&](int at) { return at >= 0 && at < all; });
    return known ? numbered(what, positions) : std::vector<std::string>{};
}

// What `of` says of the rows and the columns of a term as it is drawn.
template <class F> TermWords said_of(const AppState& state, const StageTerm& t, F of) {
    if (state.lesson->uses(chooses_sequences)) return {};  // their rows are those of several
    const Indices at = indices(*state.trace, t.slot, t.value->region, t.made);
    TermWords out{of(state, rows_of(t.slot), at.rows), of(state, columns_of(t.slot), at.cols)};
    if (t.transposed) std::swap(out.rows, out.columns);
    return out;
}

}  // namespace

TermWords term_words(const AppState& state, const StageTerm& t) { return said_of(state, t, words_of); }

std::vector<std::string> row_names(const AppState& state, const StageTerm& t) {
    std::vector<std::string> out = term_words(state, t).rows;
    const Of own = t.transposed ? Of::nothing : rows_of(t.slot);
    if (!out.empty() || own == Of::nothing) return out;
    if (!state.lesson->uses(chooses_ranks)) {
        // A function that opens the line has one place in all lessons.
        return *t.before ? out : said_of(state, t, numbers_of).rows;
    }
    return numbered(own, indices(*state.trace, t.slot, t.value->region, t.made).rows);
}

std::vector<std::string> column_names(const AppState& state, const StageTerm& t) {
    std::vector<std::string> out = term_words(state, t).columns;
    return out.empty() ? said_of(state, t, numbers_of).columns : out;
}

float widest_word(const std::vector<std::string>& words) {
    float out = 0;
    for (const std::string& word : words) out = std::max(out, text_width(Face::regular, size::far, word));
    return out;
}

}  // namespace tilewalk::ui

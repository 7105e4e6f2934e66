#include "core/class/glossary.h"

#include "core/base/words.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <iterator>

namespace tilewalk {

namespace {

std::vector<GlossaryCard> all_cards() {
    std::vector<GlossaryCard> out;
    for (auto&& part : {tensor_cards(), statistics_cards(), row_cards(), part_cards(), merge_cards(),
                        ring_cards(), idea_cards(), gradient_cards(), length_cards(), logit_cards(),
                        mask_cards(), head_cards(), memory_cards(), format_cards()})
        out.insert(out.end(), part.begin(), part.end());
    for (GlossaryCard& card : out)
        if (card.term.empty())
            std::ranges::replace_copy(std::string_view(card.id), std::back_inserter(card.term), '-', ' ');
    return out;
}

// The word stands at the beginning of a word of the text.
bool begins_a_word(const std::string& text, const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '-') return true;
    return false;
}

// How well a card fits: 0 best, −1 not at all. A symbol is told from its small letter: D is not d.
int rank(const GlossaryCard& card, std::string_view typed) {
    const std::string word = lower_case(typed), shown = plain(symbol_of(card)), term = lower_case(card.term);
    if (shown == typed) return 0;
    if (lower_case(shown) == word || word == card.id) return 1;
    if (term.starts_with(word)) return 2;
    const std::string others = lower_case(card.words);
    if (begins_a_word(term, word) || begins_a_word(others, word)) return 3;
    if (word.size() < 3) return -1;  // every text has any letter in it
    if (term.find(word) != std::string::npos || others.find(word) != std::string::npos) return 4;
    for (const char* text : {card.text, card.from.source, card.from.place})
        if (lower_case(text).find(word) != std::string::npos) return 5;
    return -1;
}

}  // namespace

std::span<const GlossaryCard> glossary() {
    static const std::vector<GlossaryCard> cards = all_cards();
    return cards;
}

const GlossaryCard* find_card(std::string_view id) {
    for (const GlossaryCard& card : glossary())
        if (card.id == id) return &card;
    return nullptr;
}

const GlossaryCard* card_of(Slot slot) {
    for (const GlossaryCard& card : glossary())
        if (std::ranges::count(card.slots, slot) > 0) return &card;
    return nullptr;
}

const GlossaryCard* card_of(Op op) {
    const char* id = info(op).card;
    return *id ? find_card(id) : nullptr;
}

const GlossaryCard* card_of_step(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (const char* id = trace.lesson().card(trace, k)) return find_card(id);
    if (const GlossaryCard* card = card_of(op)) return card;
    const auto writes = trace.writes(k);
    const Slot about = writes.empty() ? Slot::S : explain(trace, k).target.slot;
    const GlossaryCard* card = about == Slot::count ? nullptr : card_of(about);
    return card ? card : &glossary().front();
}

Line symbol_of(const GlossaryCard& card) {
    if (!card.slots.empty()) return slot_symbol(card.slots.front());
    if (card.letter.text.empty()) return {};
    Line out{card.letter};
    if (card.below[0]) out.push_back({card.below, card.letter.role, Span::Face::symbol, Span::Script::sub});
    return out;
}

std::vector<const GlossaryCard*> search_glossary(std::string_view word) {
    std::vector<std::pair<int, const GlossaryCard*>> found;
    for (const GlossaryCard& card : glossary())
        if (const int fits = word.empty() ? 0 : rank(card, word); fits >= 0) found.push_back({fits, &card});
    std::ranges::stable_sort(found, {}, &std::pair<int, const GlossaryCard*>::first);
    std::vector<const GlossaryCard*> out;
    for (const auto& [fits, card] : found) out.push_back(card);
    return out;
}

}  // namespace tilewalk

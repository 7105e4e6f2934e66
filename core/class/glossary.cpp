#include "core/class/glossary.h"

#include "core/base/words.h"
#include "core/lessons/softmax/letters.h"

#include <algorithm>
#include <string>

namespace tilewalk {

namespace {

std::vector<GlossaryCard> all_cards() {
    std::vector<GlossaryCard> out;
    for (auto&& part : {tensor_cards(), softmax_cards(), gradient_cards(), size_cards(), machine_cards()})
        out.insert(out.end(), part.begin(), part.end());
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
    for (const char* text : {card.text, card.source, card.place})
        if (lower_case(text).find(word) != std::string::npos) return 5;
    return -1;
}

// The letters of the softmax lessons, each with a card of its own.
const char* card_of_sum(std::string_view letter) {
    return letter == "d"    ? "sum-d"
           : letter == "d′" ? "sum-d-prime"
           : letter == "δ"  ? "sum-delta"
                            : "running-sum";
}
const char* card_of_output(const SoftmaxLetters& letters) {
    const std::string_view out = letters.out;
    if (letters.tilde)
        return out == "O" ? "output-deferred-O" : out == "ω" ? "output-deferred-omega" : "output-deferred";
    return out == "o′"  ? "output-o-prime"
           : out == "ω" ? "output-omega"
           : out == "O" ? "output"
                        : "output-row";
}

const char* softmax_card(const Trace& trace, Op op) {
    const SoftmaxLetters letters = softmax_letters(trace.problem(), softmax_passes(trace));
    switch (op) {
    case Op::load_x: return "row-of-scores";
    case Op::exponentials: return "element-weight";
    case Op::divide: return "share";
    case Op::row_sum: return card_of_sum(letters.sum);
    case Op::output: return card_of_output(letters);
    default: return nullptr;
    }
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
        if (std::find(card.slots.begin(), card.slots.end(), slot) != card.slots.end()) return &card;
    return nullptr;
}

const GlossaryCard* card_of(Op op) {
    switch (op) {
    case Op::init: return find_card("start-values");
    case Op::scale: return find_card("scale");
    case Op::mask: return find_card("mask");
    case Op::normalize: return find_card("normalisation");
    case Op::recompute: return find_card("recomputation");
    case Op::update: return find_card("learning-rate");
    case Op::skip: return find_card("skipped-tile");
    case Op::load:
    case Op::store:
    case Op::load_state:
    case Op::store_state: return find_card("hbm");
    default: return nullptr;
    }
}

const GlossaryCard* card_of_step(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (softmax_passes(trace) > 0)
        if (const char* id = softmax_card(trace, op)) return find_card(id);
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
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const GlossaryCard*> out;
    for (const auto& [fits, card] : found) out.push_back(card);
    return out;
}

}  // namespace tilewalk

// The glossary: what every symbol and every term that the program shows means, and where it is defined.
#pragma once

#include "core/walk/explain.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

/// Where it is defined.
struct Citation {
    const char* source = "";  ///< "Dao 2023, arXiv:2307.08691"
    const char* place = "";   ///< in the source: "Algorithm 1, line 9"
};

struct GlossaryCard {
    const char* id = "";           ///< "running-max"; unique, and what cards name each other by
    std::string term = {};         ///< "running row maximum"; not said: the words of the id
    std::vector<Slot> slots = {};  ///< what it is the card of; the first gives the symbol
    Span letter = {};              ///< the symbol of a card without slots; empty: a term has none
    const char* below = "";        ///< subscript of that symbol
    const char* shape = "";        ///< "N × d"; empty where it has none
    const char* text = "";         ///< one or two sentences
    Citation from = {};
    const char* words = "";                 ///< other spellings to find it by: "alpha rescaling"
    std::vector<const char*> related = {};  ///< ids
};

/// All cards: tensors, softmax, sizes and masks, memory and kernels, number formats.
std::span<const GlossaryCard> glossary();
/// Null if there is none.
const GlossaryCard* find_card(std::string_view id);
const GlossaryCard* card_of(Slot slot);
/// What step k of a walk is about; never null. Steps of the softmax lessons have cards of their own.
const GlossaryCard* card_of_step(const Trace& trace, int k);
/// Of a step that is no single tensor: a load, a mask, a skipped tile. Null where a slot says it.
const GlossaryCard* card_of(Op op);
/// The symbol; empty for a term that has none.
Line symbol_of(const GlossaryCard& card);

/// The cards that a word fits, best first: by symbol, by term, then by what they say. Letters count the same
/// in both cases. An empty word fits all, in the order of the glossary.
std::vector<const GlossaryCard*> search_glossary(std::string_view word);

/// The parts that glossary() joins.
std::vector<GlossaryCard> tensor_cards();  // glossary_tensors.cpp
std::vector<GlossaryCard>
statistics_cards();                          // what the tiled lessons keep for each row: glossary_softmax.cpp
std::vector<GlossaryCard> row_cards();       // the letters of the lessons about one row
std::vector<GlossaryCard> part_cards();      // what a query finds in a part of the keys: glossary_merge.cpp
std::vector<GlossaryCard> merge_cards();     // how parts become one
std::vector<GlossaryCard> ring_cards();      // the same over many machines
std::vector<GlossaryCard> idea_cards();      // what is done, rather than what is stored
std::vector<GlossaryCard> gradient_cards();  // glossary_gradients.cpp
std::vector<GlossaryCard> length_cards();    // how long, how wide, in how many blocks: glossary_sizes.cpp
std::vector<GlossaryCard> logit_cards();     // what is done to the scores before the softmax
std::vector<GlossaryCard> mask_cards();      // which scores count
std::vector<GlossaryCard> head_cards();      // heads, and groups that share keys and values
std::vector<GlossaryCard> memory_cards();    // where data lies, what moving it costs: glossary_machine.cpp
std::vector<GlossaryCard> format_cards();    // how numbers are kept, and how wrong they may be

inline Span letter(const char* text, Role role = Role::none, bool tilde = false) {
    return {.text = text, .role = role, .face = Span::Face::symbol, .tilde = tilde};
}

/// The papers, as the cards cite them.
namespace source {
inline constexpr const char* attention = "Vaswani et al. 2017, arXiv:1706.03762";
inline constexpr const char* online = "Milakov and Gimelshein 2018, arXiv:1805.02867";
inline constexpr const char* lazy = "Rabe and Staats 2021, arXiv:2112.05682";
inline constexpr const char* flash1 = "Dao et al. 2022, arXiv:2205.14135";
inline constexpr const char* flash2 = "Dao 2023, arXiv:2307.08691";
inline constexpr const char* notes = "Ye 2023, From Online Softmax to FlashAttention";
}  // namespace source

}  // namespace tilewalk

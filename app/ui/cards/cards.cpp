#include "app/ui/cards/cards.h"

#include "app/ui/kit/card.h"
#include "app/ui/state/app_state.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::ui {

void draw_cards(const Canvas& c, AppState& state, float W, float H) {
    std::vector<const char*> open;
    for (const Card* card : cards)
        if (card->is_open(state)) {
            card->draw(c, state, W, H);
            open.push_back(card->name);
        }
    stack_cards(open);
}

bool answer_card_key(AppState& state, const KeyPress& press, bool before_focus) {
    return std::any_of(std::rbegin(cards), std::rend(cards), [&](const Card* card) {
        return card->before_focus == before_focus && card->is_open(state) && card->answer_key(state, press);
    });
}

void close_covering_cards(AppState& state) {
    const KeyPress escape{Key::escape};
    for (const Card* card : cards) {
        const bool beside = card == &tour_card || card == &quiz_card || card == &marks_card;
        if (!beside && card->is_open(state)) card->answer_key(state, escape);
    }
}

bool dialog_is_open(const AppState& state) {
    return std::ranges::any_of(cards, [&](const Card* card) { return card->modal && card->is_open(state); });
}

bool open_card(AppState& state, const KeyPress& press) {
    for (const Card* card : cards) {
        const KeyPress& its = card->shortcut;
        const bool pressed = its.key == press.key && its.ctrl == press.ctrl && (press.shift || !its.shift);
        if (!pressed || (card->of_walk && state.page != Page::walk)) continue;
        card->open(state);
        return true;
    }
    return false;
}

}  // namespace tilewalk::ui

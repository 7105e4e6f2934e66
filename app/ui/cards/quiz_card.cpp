// The card of a question: in the normal view over the explanation of the step before, in presenter mode over
// its formula; what the answer is worked out from stays in sight.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/card.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/pseudocode.h"
#include "app/ui/state/quiz.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace tilewalk::ui {

namespace {

// Pieces one below the other: first their heights decide how high the card is, then they are drawn.
struct Piece {
    float h;
    std::function<void(const Canvas&, float x, float y, float w)> draw;
};
struct Stack {
    const Canvas& c;
    float w, size;
    std::vector<Piece> pieces = {};

    float height() const {
        float h = 0;
        for (const Piece& piece : pieces) h += piece.h;
        return h;
    }
    void add(Piece piece) { pieces.push_back(std::move(piece)); }
    void space(float h) {
        add({h, [](const Canvas&, float, float, float) {}});
    }
    void paragraph(const std::string& text, ImU32 colour, int most_lines = 0, float of = 0) {
        const float s = of > 0 ? of : size;
        add({paragraph_height(w, text, s, most_lines), [=](const Canvas& to, float x, float y, float width) {
                 to.paragraph(x, y, width, text, s, colour, most_lines);
             }});
    }
    void rich(const Line& line, float of, int most_lines) {
        if (line.empty()) return;
        add({rich_paragraph_height(c, w, line, of, most_lines, 1.5f),
             [=](const Canvas& to, float x, float y, float width) {
                 to.rich_paragraph(x, y, width, line, of, most_lines, to.theme->t1, 1.5f);
             }});
    }
};

// A tick or a cross; the word beside it says the same.
void draw_mark(const Canvas& c, float x, float y, float side, bool right) {
    const ImU32 ink = right ? c.theme->t1 : c.theme->t2;
    const float w = side / 8;
    if (right) {
        const Point tick[] = {{x, y}, {x + side * .35f, y + side * .35f}, {x + side, y - side * .4f}};
        c.polyline(tick, ink, w);
    } else {
        c.line({x, y - side * .4f}, {x + side * .8f, y + side * .4f}, ink, w);
        c.line({x, y + side * .4f}, {x + side * .8f, y - side * .4f}, ink, w);
    }
}

void add_head(Stack& s, const Quiz& quiz) {
    const std::string score = quiz_score(quiz);
    s.add({34, [=](const Canvas& c, float x, float y, float w) {
               c.text(x, y + 12, "Before the next step", size::symbol, 0, Face::semibold);
               c.text(x + w, y + 12, score, size::body, c.theme->t2, Face::medium, Align::right);
           }});
}

void add_field(Stack& s, AppState& state) {
    s.add({50, [&state](const Canvas& c, float x, float y, float w) {
               Quiz& quiz = *state.quiz;
               const FieldLook look{.hint = quiz.question.bytes ? "a number of bytes" : "a number",
                                    .focus_now = std::exchange(quiz.focus, false),
                                    .invalid = quiz.verdict.has_value(),
                                    .face = Face::mono};
               const float check = 88;
               const FieldResult field =
                   text_field(c, "##answer", x, y + 4, w - check - 8, 40, quiz.text, sizeof quiz.text, look);
               const bool clicked =
                   button(c, "##check answer", x + w - check, y + 4, check, 40, "Check", {.primary = true});
               if (field.entered || clicked) check_answer(state);
           }});
}

// One choice: its key, a box or a ring, and its words.
void draw_choice(const Canvas& c, Quiz& quiz, int n, float x, float y, float w) {
    const Theme& t = *c.theme;
    const std::string id = "##choice " + str(n + 1);
    const Hot hot = hot_area(c, id, x, y, w, 36);
    const bool chosen = std::ranges::count(quiz.chosen, n) > 0;
    if (hot.hovered || chosen) c.rect(x, y, w, 36, t.raised, 8);
    if (quiz.mark == n || hot.focused) c.frame(x + .5f, y + .5f, w - 1, 35, t.focus, 1.5f, 8);
    c.key_cap(x + 8, y + 18, str(n + 1));
    const float box = x + 44, middle = y + 18;
    if (quiz.question.several)
        c.frame(box, middle - 8, 16, 16, t.t2, 1.5f, 3);
    else
        c.ring(box + 8, middle, 8, t.t2, 1.5f);
    if (chosen && quiz.question.several) draw_mark(c, box + 3, middle + 1, 11, true);
    if (chosen && !quiz.question.several) c.disc(box + 8, middle, 4, t.t1);
    c.text_within(box + 28, middle, w - 80, quiz.question.choices[static_cast<std::size_t>(n)], size::lead);
    if (hot.clicked) choose_answer(quiz, n);
}

void add_choices(Stack& s, AppState& state) {
    for (int n = 0; n < static_cast<int>(state.quiz->question.choices.size()); ++n)
        s.add({40, [n, &state](const Canvas& c, float x, float y, float w) {
                   draw_choice(c, *state.quiz, n, x, y + 2, w);
               }});
    s.add({48, [&state](const Canvas& c, float x, float y, float w) {
               const std::string all = state.quiz->question.several ? "all that apply" : "one of them";
               c.text_within(x, y + 24, w - 100, all, size::body, c.theme->t2);
               if (button(c, "##check answer", x + w - 88, y + 6, 88, 36, "Check",
                          {.primary = true, .enabled = !state.quiz->chosen.empty()}))
                   check_answer(state);
           }});
}

std::string verdict_text(const Quiz& quiz) {
    if (quiz.was_right() || !quiz.may_retry()) return quiz.verdict->sentence;
    return std::string(quiz.question.is_choice() ? "You chose " : "You typed ") + quiz.given +
           "; that is not it yet.";
}

// The formula with its numbers; the result and the reason once there is nothing left to try. Of what comes
// next the formula would be the answer.
void add_explanation(Stack& s, const AppState& state) {
    if (hides_what_comes(state)) return;
    const Quiz& quiz = *state.quiz;
    const Explanation& e = quiz.question.explanation;
    s.space(6);
    s.rich(e.formula, 16, 2);
    s.rich(e.numbers, 15, 4);
    if (quiz.may_retry()) return;
    s.rich(e.result, 17, 1);
    s.space(4);
    s.paragraph(e.why, s.c.theme->t2, 5, 14);
}

void add_verdict(Stack& s, const Quiz& quiz) {
    const std::string text = verdict_text(quiz);
    const bool right = quiz.was_right();
    s.add({paragraph_height(s.w - 28, text, size::formula) + 4,
           [=](const Canvas& c, float x, float y, float w) {
               draw_mark(c, x + 2, y + 12, 16, right);
               c.paragraph(x + 28, y, w - 28, text, size::formula, c.theme->t1);
           }});
}

void add_saving(Stack& s, AppState& state) {
    s.add(
        {48, [&state](const Canvas& c, float x, float y, float w) {
             Quiz& quiz = *state.quiz;
             const FieldResult field = text_field(
                 c, "##quiz path", x, y + 8, w - 78, 36, quiz.path, sizeof quiz.path,
                 {.hint = "answers.csv", .focus_now = std::exchange(quiz.focus, false), .size = size::body});
             const bool clicked = button(c, "##quiz save", x + w - 70, y + 8, 70, 36, "Save",
                                         {.enabled = state.hooks.save_quiz != nullptr});
             if (field.entered || clicked) save_answers(state);
         }});
}

void add_buttons(Stack& s, AppState& state) {
    s.space(8);
    s.add(
        {36, [&state](const Canvas& c, float x, float y, float w) {
             Quiz& quiz = *state.quiz;
             const ButtonLook quiet{.quiet = true, .tooltip = "A file of all answers (S)"};
             const float save = button_width("Save results…");
             if (!quiz.answers.empty() && button(c, "##save results", x, y, save, 36, "Save results…", quiet))
                 quiz.saving = quiz.focus = !quiz.saving;
             const float on = button_width("Go on"), again = button_width("Try again");
             const bool retry = quiz.may_retry();
             if (retry && button(c, "##try again", x + w - on - 8 - again, y, again, 36, "Try again",
                                 {.tooltip = "Backspace"}))
                 return retry_answer(quiz);
             if (button(c, "##go on", x + w - on, y, on, 36, "Go on", {.primary = true, .tooltip = "Enter"}))
                 go_on_after_question(state);
         }});
    if (state.quiz->saving) add_saving(s, state);
}

void add_skip(Stack& s, AppState& state) {
    s.add({34, [&state](const Canvas& c, float x, float y, float w) {
               const std::size_t n = state.quiz->question.choices.size();
               const std::string keys = n > 0 ? "1 … " + str(n) + ", Enter checks" : "Enter checks";
               c.text_within(x, y + 20, w - 130, keys, size::small, c.theme->t2);
               const float skip = button_width("Skip (Esc)", size::body);
               if (button(c, "##skip question", x + w - skip, y + 4, skip, 32, "Skip (Esc)", {.quiet = true}))
                   skip_question(state);
           }});
}

// `state`: its pseudocode fills the rest.
void draw_stack(const Canvas& main, const Stack& stack, const Rect& area, float pad,
                const AppState* state = nullptr) {
    show_card(main, "Question", area, [&](const Canvas& c) {
        c.frame(area.x + 1, area.y + 1, area.w - 2, area.h - 2, c.theme->t3, 1.5f, 9);
        float y = area.y + pad;
        for (const Piece& piece : stack.pieces) {
            piece.draw(c, area.x + pad, y, stack.w);
            y += piece.h;
        }
        if (state) pseudocode_below(c, *state, area, y);
    });
}

// In place of the side panel: the tiles and the timeline stay free.
void normal_card(const Canvas& main, AppState& state, float W, float H) {
    const Layout layout = layout_for(W, H);
    constexpr float pad = 16;
    const Quiz& quiz = *state.quiz;
    Stack stack{main, layout.side.w - 2 * pad, 16};
    add_head(stack, quiz);
    stack.paragraph(quiz.question.text, main.theme->t1);
    stack.space(8);
    if (quiz.decided()) {
        add_verdict(stack, quiz);
        add_explanation(stack, state);
        add_buttons(stack, state);
    } else {
        quiz.question.is_choice() ? add_choices(stack, state) : add_field(stack, state);
        if (quiz.verdict) stack.paragraph(quiz.verdict->sentence, main.theme->danger, 0, 14);
        add_skip(stack, state);
    }
    const float h = std::min(std::max(stack.height() + 2 * pad, layout.side.h), H - layout.side.y - 8);
    draw_stack(main, stack, {layout.side.x, layout.side.y, layout.side.w, h}, pad,
               hides_what_comes(state) ? nullptr : &state);
}

// ---- Presenter mode: for a class that answers aloud

// "1 it rises   2 it stays"
std::string choices_line(const Question& q) {
    std::string out;
    for (std::size_t n = 0; n < q.choices.size(); ++n)
        out += (n == 0 ? "" : "   ") + str(n + 1) + "\u00A0" + q.choices[n];
    return out;
}

constexpr float band_pad = 22, band_margin = 16;

Stack presenter_stack(const Canvas& c, const AppState& state, float W) {
    const Quiz& quiz = *state.quiz;
    const Question& q = quiz.question;
    const Explanation& e = q.explanation;
    Stack stack{c, W - 2 * band_margin - 2 * band_pad, 28};
    stack.paragraph(q.text, c.theme->t1, 4);
    if (q.is_choice()) stack.paragraph(choices_line(q), c.theme->t1, 2);
    stack.space(8);
    if (!quiz.revealed) {
        stack.paragraph("Enter shows the answer", c.theme->t2, 1, 27);
    } else if (q.is_choice()) {
        stack.paragraph(answer_text(q) + ". " + e.why, c.theme->t1, 3, 30);
    } else {
        stack.rich(e.numbers, 28, 2);
        stack.rich(e.result, 34, 1);
    }
    return stack;
}

void draw(const Canvas& page, AppState& state, float W, float H) {
    if (!state.presenter) return normal_card(page, state, W, H);
    const Theme bright = bright_room(*page.theme);
    Canvas c = page;
    c.theme = &bright;
    draw_stack(c, presenter_stack(c, state, W), question_band(c, state, W, H), band_pad);
}

// ---- Keys

bool goes_on(Key key) {
    return key == Key::enter || key == Key::right || key == Key::page_down || key == Key::space;
}

// A class answers aloud: the clicker shows the answer, then the step.
bool answer_in_presenter(AppState& state, Key key) {
    Quiz& quiz = *state.quiz;
    if (key == Key::escape) return skip_question(state), true;
    if (!goes_on(key)) return false;
    if (!quiz.revealed)
        quiz.revealed = true;
    else
        go_on_after_question(state);
    return true;
}

bool answer_decided(AppState& state, Key key) {
    Quiz& quiz = *state.quiz;
    if (key == Key::escape && quiz.saving) return quiz.saving = false, true;
    if (key == Key::backspace && quiz.may_retry()) return retry_answer(quiz), true;
    if (key == Key::s) return quiz.saving = quiz.focus = !quiz.answers.empty(), true;
    if (!goes_on(key) && key != Key::escape) return false;
    go_on_after_question(state);
    return true;
}

bool answer_choice(AppState& state, Key key) {
    Quiz& quiz = *state.quiz;
    const int last = static_cast<int>(quiz.question.choices.size()) - 1;
    if (const int digit = digit_of(key)) return choose_answer(quiz, digit - 1), true;
    switch (key) {
    case Key::up: quiz.mark = std::max(0, quiz.mark - 1); return true;
    case Key::down: quiz.mark = std::min(last, quiz.mark + 1); return true;
    case Key::space: choose_answer(quiz, quiz.mark); return true;
    case Key::enter: check_answer(state); return true;
    default: return false;
    }
}

// The field has lost the caret: what belongs into it brings it back.
bool answer_number(AppState& state, Key key) {
    Quiz& quiz = *state.quiz;
    if (key == Key::enter) return check_answer(state), true;
    const char typed = printed_by(key);
    const bool of_number = typed != '\0' && std::strchr("0123456789-.", typed) != nullptr;
    const std::size_t length = std::strlen(quiz.text);
    if (!of_number || length + 2 > sizeof quiz.text) return false;
    quiz.text[length] = typed;
    quiz.text[length + 1] = 0;
    quiz.focus = true;
    return true;
}

bool answer_key(AppState& state, const KeyPress& press) {
    if (press.ctrl) return false;
    if (state.presenter) return answer_in_presenter(state, press.key);
    Quiz& quiz = *state.quiz;
    if (quiz.decided()) return answer_decided(state, press.key);
    if (press.key == Key::escape) return skip_question(state), true;
    if (quiz.question.is_choice() ? answer_choice(state, press.key) : answer_number(state, press.key))
        return true;
    // The step is held back; any other way out of here leaves the question.
    return press.key == Key::right || press.key == Key::page_down;
}

}  // namespace

const Card quiz_card{.name = "Question",
                     .keys_shown = "Q",
                     .action = "questions on, off",
                     .shortcut = {Key::q},
                     .is_open = quiz_waits,
                     .open = toggle_questions,
                     .answer_key = answer_key,
                     .draw = draw};

Rect question_band(const Canvas& c, const AppState& state, float W, float H) {
    if (!quiz_waits(state)) return {};
    const float h = presenter_stack(c, state, W).height() + 2 * band_pad;
    return {band_margin, H - band_margin - h, W - 2 * band_margin, h};
}

}  // namespace tilewalk::ui

// The card of a question: in the normal view over the explanation of the step before, in presenter mode over
// its formula; what the answer is worked out from stays in sight.
#include "app/ui/cards/cards.h"
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/card.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/parts/pseudocode.h"
#include "app/ui/state/quiz.h"

#include "core/class/spoken.h"

#include <algorithm>
#include <cstring>

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

// The number n of the question: a field, or what was right already.
void draw_gap(const Canvas& c, Quiz& quiz, std::size_t n, const Rect& a) {
    GapEntry& entry = quiz.entries[n];
    const bool alone = quiz.entries.size() == 1;
    if (!alone) c.text_within(a.x, a.y - 9, a.w, quiz.question.numbers()[n].target, size::small, c.theme->t2);
    if (entry.is_right()) {
        c.text_within(a.x + 4, a.middle(), a.w - 18, entry.text, size::body, c.theme->t1, Face::mono);
        return draw_mark(c, a.right() - 14, a.middle(), 11, true);
    }
    const FieldLook look{.hint = quiz.question.bytes ? "a number of bytes"
                                 : alone             ? "a number"
                                                     : "?",
                         .focus_now = quiz.entry == n && std::exchange(quiz.focus, false),
                         .invalid = quiz.verdict.has_value() && quiz.entry == n,
                         .face = Face::mono,
                         .size = alone ? size::lead : size::small};
    const std::string id = "##answer" + (alone ? "" : " " + str(n + 1));
    const FieldResult field =
        text_field(c, id.c_str(), a.x, a.y, a.w, a.h, entry.text, sizeof entry.text, look);
    if (field.active) quiz.entry = n;
    if (field.entered) quiz.enter = true;
}

// The answer is taken when all fields are drawn: Enter leads from one to the next.
void take_answer(AppState& state, bool check) {
    if (std::exchange(state.quiz->enter, false)) return enter_answer(state);
    if (check) check_answer(state);
}

constexpr float check_w = 88, gap_space = 6, gap_h = 34;

void add_field(Stack& s, AppState& state) {
    s.add({50, [&state](const Canvas& c, float x, float y, float w) {
               draw_gap(c, *state.quiz, 0, {x, y + 4, w - check_w - 8, 40});
               take_answer(state, button(c, "##check answer", x + w - check_w, y + 4, check_w, 40, "Check",
                                         {.primary = true}));
           }});
}

// Laid out as the cells are.
Rect gap_place(const Question& q, std::size_t n, float x, float y, float w, float row_h) {
    const float cell = (w - gap_space * px(q.across - 1)) / px(q.across);
    const auto across = static_cast<std::size_t>(q.across);
    return {x + px(n % across) * (cell + gap_space), y + px(n / across) * row_h, cell, gap_h};
}

int gap_rows(const Question& q) { return ceil_div(static_cast<int>(q.gaps.size()), q.across); }

void add_gaps(Stack& s, AppState& state) {
    const Question& q = state.quiz->question;
    constexpr float row_h = 18 + gap_h + 6;
    s.add({row_h * px(gap_rows(q)), [&state, &q](const Canvas& c, float x, float y, float w) {
               for (std::size_t n = 0; n < q.gaps.size(); ++n)
                   draw_gap(c, *state.quiz, n, gap_place(q, n, x, y + 18, w, row_h));
           }});
    s.add({44, [&state](const Canvas& c, float x, float y, float w) {
               take_answer(state, button(c, "##check answer", x + w - check_w, y + 4, check_w, 36, "Check",
                                         {.primary = true}));
           }});
}

// One choice: its key, a box or a ring, and its words.
void draw_choice(const Canvas& c, Quiz& quiz, int n, float x, float y, float w) {
    const Theme& t = *c.theme;
    const std::string id = "##choice " + str(n + 1);
    const Hot hot = hot_area(c, id, x, y, w, 36);
    const bool chosen = std::ranges::count(quiz.chosen, n) > 0;
    if (hot.hovered || chosen) c.rect(x, y, w, 36, t.raised, radius::control);
    if (quiz.mark == n || hot.focused) c.frame(x + .5f, y + .5f, w - 1, 35, t.focus, 1.5f, radius::control);
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
    if (quiz.was_right() || !quiz.may_retry() || !quiz.question.gaps.empty()) return quiz.verdict->sentence;
    return std::string(quiz.question.is_choice() ? "You chose " : "You typed ") + quiz.given +
           "; that is not it yet.";
}

// What was typed into each gap, with its mark; what is right once nothing is left to try.
void add_results(Stack& s, const Quiz& quiz) {
    const Question& q = quiz.question;
    const float row_h = quiz.may_retry() ? 42.0f : 60.0f;
    s.add({row_h * px(gap_rows(q)), [&quiz, &q, row_h](const Canvas& c, float x, float y, float w) {
               for (std::size_t n = 0; n < q.gaps.size(); ++n) {
                   const Rect a = gap_place(q, n, x, y, w, row_h);
                   const GapEntry& entry = quiz.entries[n];
                   c.text_within(a.x, a.y + 9, a.w - 14, q.gaps[n].target, size::small, c.theme->t2);
                   draw_mark(c, a.right() - 12, a.y + 9, 10, entry.is_right());
                   c.text_within(a.x, a.y + 27, a.w, entry.text, size::small,
                                 entry.is_right() ? c.theme->t1 : c.theme->danger, Face::mono);
                   if (!entry.is_right() && !quiz.may_retry())
                       c.text_within(a.x, a.y + 45, a.w, answer_text(q.gaps[n]), size::small, c.theme->t1,
                                     Face::mono);
               }
           }});
}

// Gaps that went wrong in the same way.
struct Cause {
    std::string text, targets, working;
};

std::vector<Cause> causes_of(const Quiz& quiz) {
    std::vector<Cause> out;
    if (quiz.question.is_choice() && quiz.verdict && !quiz.verdict->cause.empty())
        out.push_back({quiz.verdict->cause, "", ""});
    for (std::size_t n = 0; n < quiz.entries.size(); ++n) {
        const std::optional<Verdict>& verdict = quiz.entries[n].verdict;
        if (!verdict || verdict->cause.empty()) continue;
        const std::string target = quiz.question.numbers()[n].target;
        const auto same = std::ranges::find(out, verdict->cause, &Cause::text);
        if (same == out.end())
            out.push_back({verdict->cause, target, verdict->working});
        else
            same->targets += ", " + target;
    }
    return out;
}

void add_causes(Stack& s, const Quiz& quiz, std::size_t most) {
    const std::vector<Cause> all = causes_of(quiz);
    for (std::size_t n = 0; n < std::min(most, all.size()); ++n) {
        const std::string whose = quiz.entries.size() > 1 ? all[n].targets + ": " : "";
        s.space(4);
        s.paragraph(whose + all[n].text, s.c.theme->t1);
        if (!all[n].working.empty()) s.paragraph(all[n].working, s.c.theme->t2, 2, 14);
    }
}

// Of the number that went wrong first.
const Explanation& explanation_of(const Quiz& quiz) {
    for (std::size_t n = 0; n < quiz.entries.size(); ++n)
        if (!quiz.entries[n].is_right()) return quiz.question.numbers()[n].explanation;
    return quiz.question.explanation;
}

// How much a card says, from everything to what cannot be left out where the window is low.
enum class Detail { all, without_why, small, one_cause };

// The formula with its numbers; the result and the reason once there is nothing left to try. Of what comes
// next the formula would be the answer.
void add_explanation(Stack& s, const AppState& state, Detail detail) {
    if (hides_what_comes(state)) return;
    const Quiz& quiz = *state.quiz;
    const Explanation& e = explanation_of(quiz);
    s.space(6);
    s.rich(e.formula, 16, 2);
    s.rich(e.numbers, 15, 4);
    if (quiz.may_retry()) return;
    s.rich(e.result, 17, 1);
    if (detail != Detail::all) return;
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
               const std::string keys = n > 0                            ? "1–" + str(n) + ", then Enter"
                                        : state.quiz->entries.size() > 1 ? "Enter: next gap"
                                                                         : "Enter checks";
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

constexpr float card_pad = 16;

Stack normal_stack(const Canvas& c, AppState& state, float w, Detail detail) {
    const Quiz& quiz = *state.quiz;
    Stack stack{c, w, detail < Detail::small ? 16.0f : 14.0f};
    add_head(stack, quiz);
    stack.paragraph(quiz.question.text, c.theme->t1);
    stack.space(8);
    if (quiz.decided()) {
        if (!quiz.question.gaps.empty()) add_results(stack, quiz);
        add_verdict(stack, quiz);
        add_causes(stack, quiz, detail == Detail::one_cause ? 1 : 3);
        add_explanation(stack, state, detail);
        add_buttons(stack, state);
        return stack;
    }
    quiz.question.is_choice()    ? add_choices(stack, state)
    : quiz.question.gaps.empty() ? add_field(stack, state)
                                 : add_gaps(stack, state);
    if (quiz.verdict) stack.paragraph(quiz.verdict->sentence, c.theme->danger, 0, 14);
    add_skip(stack, state);
    return stack;
}

// In place of the side panel: the tiles and the timeline stay free.
void normal_card(const Canvas& main, AppState& state, float W, float H) {
    const Layout layout = layout_for(W, H);
    const bool inside = state.quiz->inside.has_value();
    Rect side = layout.side;
    if (inside) {
        const Rect step = inside_step_area(state, {0, layout.header.bottom(), W, H - layout.header.bottom()});
        const float wide = std::max(step.w, 340.0f);
        side = {step.right() - wide, step.y, wide, step.h};
    }
    const float w = side.w - 2 * card_pad, most = H - side.y - 8;
    Stack stack = normal_stack(main, state, w, Detail::all);
    for (const Detail less : {Detail::without_why, Detail::small, Detail::one_cause})
        if (stack.height() + 2 * card_pad > most) stack.pieces = normal_stack(main, state, w, less).pieces;
    const float h = std::min(std::max(stack.height() + 2 * card_pad, side.h), most);
    draw_stack(main, stack, {side.x, side.y, side.w, h}, card_pad,
               inside || hides_what_comes(state) ? nullptr : &state);
}

// ---- Presenter mode: for a class that answers aloud

// "2  it stays" in boxes across the slide, as many beside each other as have room for their words.
constexpr float choice_h = 66, choice_gap = 14, choice_pad = 20;

float choice_width(const std::string& words) {
    return text_width(Face::semibold, size::far_number, words) + 2 * choice_pad + 34;
}

void add_far_choices(Stack& s, const Quiz& quiz) {
    const Question& q = quiz.question;
    float widest = 0;
    for (const std::string& choice : q.choices) widest = std::max(widest, choice_width(choice));
    const int count = static_cast<int>(q.choices.size()),
              fit = std::clamp(static_cast<int>((s.w + choice_gap) / (widest + choice_gap)), 1, count),
              across = ceil_div(count, ceil_div(count, fit));
    const float w = (s.w - choice_gap * px(across - 1)) / px(across);
    s.add({(choice_h + choice_gap) * px(ceil_div(count, across)),
           [&quiz, &q, across, w](const Canvas& c, float x, float y, float) {
               for (int n = 0; n < static_cast<int>(q.choices.size()); ++n) {
                   const bool right = quiz.revealed && std::ranges::count(q.right, n) > 0;
                   const Rect a{x + px(n % across) * (w + choice_gap),
                                y + px(n / across) * (choice_h + choice_gap), w, choice_h};
                   c.rect(a.x, a.y, a.w, a.h, right ? c.theme->raised : c.theme->well, radius::control);
                   c.frame(a.x + 1, a.y + 1, a.w - 2, a.h - 2, right ? c.theme->focus : c.theme->line2,
                           right ? 3.0f : 1.5f, radius::control);
                   c.text(a.x + choice_pad, a.middle(), str(n + 1), size::far_number, c.theme->t2,
                          Face::mono);
                   c.text_within(a.x + choice_pad + 34, a.middle(), a.w - 2 * choice_pad - 34,
                                 q.choices[static_cast<std::size_t>(n)], size::far_number, 0,
                                 right ? Face::semibold : Face::regular);
               }
           }});
}

constexpr float band_pad = 22, band_margin = 16, far_gap_h = 50;

// "ℓ[0] = ?": what is typed, or the number once it is shown.
void draw_far_gap(const Canvas& c, const Quiz& quiz, std::size_t n, const Rect& a) {
    const GapEntry& entry = quiz.entries[n];
    const std::string name = quiz.question.numbers()[n].target + " =";
    const float label = c.text(a.x, a.middle(), name, size::far_number, c.theme->t2) + 10;
    const Rect box{a.x + label, a.y + 2, a.w - label - 14, a.h - 6};
    const bool here = !quiz.revealed && n == quiz.entry;
    c.frame(box.x, box.y, box.w, box.h, here ? c.theme->focus : c.theme->line2, here ? 3.0f : 1.5f, 6);
    const std::string text = entry.shown     ? answer_text(quiz.question.numbers()[n])
                             : entry.text[0] ? entry.text
                                             : "?";
    c.text_within(box.x + 12, box.middle(), box.w - 24, text, size::far_number,
                  entry.shown ? c.theme->t1 : c.theme->t2, entry.shown ? Face::semibold : Face::regular);
    if (entry.verdict && !entry.shown) draw_mark(c, box.right() - 26, box.middle(), 18, false);
    note_item(ItemKind::panel, c.device(box.x, box.y), c.device(box.right(), box.bottom()),
              "gap " + str(n + 1));
}

void add_far_gaps(Stack& s, const Quiz& quiz) {
    const auto numbers = quiz.question.numbers();
    const int across = std::max(1, quiz.question.across);
    const float w = std::min(s.w / px(across), across > 1 ? 330.0f : 560.0f);
    s.add({far_gap_h * px(ceil_div(static_cast<int>(numbers.size()), across)),
           [&quiz, across, w](const Canvas& c, float x, float y, float) {
               for (int n = 0; n < static_cast<int>(quiz.entries.size()); ++n)
                   draw_far_gap(c, quiz, static_cast<std::size_t>(n),
                                {x + px(n % across) * w, y + px(n / across) * far_gap_h, w, far_gap_h});
           }});
}

constexpr float reply_size = 28, hint_size = 27;

// "Right: max(1, 2) = 2"
Line far_working(const Quiz& quiz, std::size_t n) {
    const Explanation& e = quiz.question.numbers()[n].explanation;
    const Span& result = e.result.back();
    const Line working =
        pieces(e.numbers, std::string(" ") + sign_before(e.numbers, result.text) + " ", result);
    return quiz.entries[n].is_right() ? pieces(strong("Right: "), working) : working;
}

void add_hint(Stack& s, const Quiz& quiz) {
    s.paragraph(quiz.entries.size() > 1 ? "Enter shows the next number" : "Enter shows the answer",
                s.c.theme->t2, 1, hint_size);
}

void add_mistake(Stack& s, const std::string& cause, const std::string& working) {
    s.paragraph(cause.empty() ? "Not yet." : cause, s.c.theme->t1, 2, reply_size);
    if (!working.empty()) s.paragraph(working, s.c.theme->t2, 1, hint_size);
}

// As high as the highest reply that this question can get: nothing moves when it comes.
float reply_h(const Stack& of, const Quiz& quiz) {
    const auto height = [&](const auto& add) {
        Stack reply{of.c, of.w, of.size};
        add(reply);
        return reply.height();
    };
    float most = height([&](Stack& s) { add_mistake(s, "", ""), add_hint(s, quiz); });
    const auto numbers = quiz.question.numbers();
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        for (const WrongAnswer& wrong : numbers[n].wrong)
            most = std::max(most, height([&](Stack& s) { add_mistake(s, wrong.cause, wrong.working); }));
        most = std::max(most, height([&](Stack& s) {
                            s.rich(far_working(quiz, n), reply_size, 2);
                            if (n + 1 < numbers.size()) add_hint(s, quiz);
                        }));
    }
    return most;
}

// What is said of the number that was typed, or how the one that was shown last is worked out.
void add_reply(Stack& s, const Quiz& quiz) {
    const GapEntry& entry = quiz.entries[quiz.entry];
    if (entry.verdict && !entry.is_right())
        add_mistake(s, entry.verdict->cause, entry.verdict->working);
    else if (quiz.revealed || quiz.entry > 0)
        s.rich(far_working(quiz, quiz.revealed ? quiz.entries.size() - 1 : quiz.entry - 1), reply_size, 2);
}

void add_far_numbers(Stack& s, const Quiz& quiz) {
    add_far_gaps(s, quiz);
    s.space(6);
    const float most = s.height() + reply_h(s, quiz);
    add_reply(s, quiz);
    Stack hint{s.c, s.w, s.size};
    add_hint(hint, quiz);
    if (!quiz.revealed && s.height() + hint.height() < most + 1) add_hint(s, quiz);
    s.space(most - s.height());
}

Stack presenter_stack(const Canvas& c, const AppState& state, float W) {
    const Quiz& quiz = *state.quiz;
    const Question& q = quiz.question;
    Stack stack{c, W - 2 * band_margin - 2 * band_pad, 28};
    // Large where it takes no third line.
    constexpr float large = 34;
    const Line text = question_line(q);
    const bool two_lines = rich_paragraph_height(c, stack.w, text, large, 3, 1.5f) < 2.5f * large * 1.5f;
    stack.rich(text, two_lines ? large : 28, 5);
    if (q.is_choice()) {
        stack.space(6);
        add_far_choices(stack, quiz);
    }
    stack.space(8);
    if (!q.is_choice())
        add_far_numbers(stack, quiz);
    else if (!quiz.revealed)
        stack.paragraph("Enter shows the answer", c.theme->t2, 1, 27);
    else
        stack.paragraph(answer_text(q) + ". " + q.explanation.why, c.theme->t1, 3, 30);
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

// A character of a number, Backspace included; nothing else.
char of_number(Key key) {
    if (key == Key::backspace) return '\b';
    const char typed = printed_by(key);
    return typed != '\0' && std::strchr("0123456789-.", typed) != nullptr ? typed : '\0';
}

// A class answers aloud, or somebody types what it says: the clicker shows the answer, number by number, then
// the step.
bool answer_in_presenter(AppState& state, Key key) {
    Quiz& quiz = *state.quiz;
    if (key == Key::escape) return skip_question(state), true;
    const char typed = quiz.revealed || quiz.entries.empty() ? '\0' : of_number(key);
    if (typed) return type_answer(quiz, typed), true;
    if (!goes_on(key)) return false;
    quiz.revealed ? go_on_after_question(state) : reveal_answer(state);
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
    if (key == Key::enter) return enter_answer(state), true;
    const char typed = of_number(key);
    if (!typed || !type_answer(quiz, typed)) return false;
    return quiz.focus = true;
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

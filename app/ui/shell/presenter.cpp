// Presenter mode: the step for the back row. Nothing under 27 px on a page of 1280 × 720. The page has the
// same head, formula and timeline in every lesson; the lesson draws the middle.
#include "app/ui/parts/presenter.h"
#include "app/ui/cards/cards.h"
#include "app/ui/chapters/forward/hbm_parts.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/parts/slot_view.h"
#include "app/ui/parts/stage.h"
#include "app/ui/parts/stage_broken.h"
#include "app/ui/parts/stage_frame.h"
#include "app/ui/parts/stage_terms.h"
#include "app/ui/parts/stage_transfer.h"
#include "app/ui/parts/stage_words.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/marks.h"
#include "app/ui/state/motion.h"
#include "app/ui/state/quiz.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/class/spoken.h"
#include "core/lessons/merge/merge.h"
#include "core/walk/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::ui {

namespace {

// "0.368 × 1.368 + (1.000 + 0.135)  =  1.639" in one line
Line equation(const Explanation& e) {
    if (e.numbers.empty() || e.result.empty()) return e.result;
    const Span& result = e.result.back();
    const Line line =
        pieces(e.numbers, std::string("  ") + sign_before(e.numbers, result.text) + "  ", result);
    const Span& unit = e.result.front();  // "bytes read"
    return unit.face == Span::Face::text ? pieces(line, " " + unit.text) : line;
}

// "S[2,0]" of "S[2,0] = 1.5", or of "S[2,0] ≈ 1.533".
Line result_name(const Explanation& e) {
    Line name(e.result.begin(), e.result.empty() ? e.result.end() : e.result.end() - 1);
    if (name.empty()) return name;
    std::string& last = name.back().text;  // " = ", or "[2,0] = "
    for (const char* sign : {"=", "≈"}) last = last.substr(0, last.find(sign));
    while (last.ends_with(' ')) last.pop_back();
    if (last.empty()) name.pop_back();
    return name;
}

// An equation of matrices does not go on with one entry of them: that has a name of its own, "S[2,0]  =  ".
Line entry_name(const Explanation& e) {
    const Line name = result_name(e);
    if (plain(e.formula).find("←") == std::string::npos || plain(name).find('[') == std::string::npos)
        return {};
    return pieces(name, "  =  ");
}

// "O[28,0] ≈ −1.908" becomes "O[28,0] = 0.321 × (−3.544) + (−0.770) ≈ −1.908": a sum of many products with
// these as one number. Empty where there is no such sum.
NumberLine brief_numbers_of(const AppState& state) {
    const CellRef cell = state.explanation.target;
    const int k = state.cursor.step;
    const auto sum = cell_sum(*state.trace, k, cell.row, cell.col, cell.slot);
    return sum ? brief_numbers(*state.trace, *sum) : brief_row_sum(*state.trace, k, cell.row);
}

Line brief_result(const AppState& state) {
    const Explanation& e = state.explanation;
    const NumberLine numbers = brief_numbers_of(state);
    if (e.result.size() < 2 || numbers.empty()) return {};
    const Span& result = e.result.back();
    return pieces(result_name(e), "  =  ", numbers,
                  std::string("  ") + sign_before(numbers, result.text) + "  ", result);
}

// The formula with its numbers: in one line, or below each other.
struct Formula {
    Line symbols = {}, numbers = {};
    float size = 34, h = 0;
    bool one_line = false;
};

constexpr float formula_size = 36, formula_line = 54;
// Between the equation of the matrices and that of one entry in one line: closer they read as one product.
constexpr const char* two_equations = ";        ";

// A step that is being computed does not say yet what it will come to: a room can guess.
bool result_to_come(const AppState& state) {
    return info(op_now(state)).kind == OpKind::compute && phase(state) < during::sum.to;
}

// "O₀ ← α ⊙ O₀ + …": what stood there before is called old, as over its matrix.
Line with_old(const Line& formula, const Trace& trace, int k) {
    const auto terms = stage_terms(trace, k);
    const auto arrow =
        std::ranges::find_if(formula, [](const Span& s) { return s.text.find("←") != std::string::npos; });
    const bool grows = std::ranges::any_of(terms, [&](const StageTerm& old) {
        return std::ranges::any_of(terms, [&](const StageTerm& t) { return replaces(t, old); });
    });
    if (!grows || arrow == formula.begin() || arrow == formula.end()) return formula;
    const Line target(formula.begin(), arrow);
    const auto same = [](const Span& a, const Span& b) {
        return a.text == b.text && a.role == b.role && a.tilde == b.tilde;
    };
    Line out(formula.begin(), arrow + 1);
    for (auto span = arrow + 1; span != formula.end();) {
        const auto rest = static_cast<std::size_t>(formula.end() - span);
        const bool here = rest >= target.size() && std::equal(target.begin(), target.end(), span, same);
        const auto next = span + static_cast<std::ptrdiff_t>(std::min(rest, target.size()));
        const bool named = here && next != formula.end() && next->script == Span::Script::sub;
        if (!here || named) {
            out.push_back(*span++);
            continue;
        }
        out.insert(out.end(), target.begin(), target.end());
        out.push_back(sub(target.size() > 1 ? " old" : "old", target.front().role));
        out.back().face = Span::Face::text;
        span = next;
    }
    return out;
}

// As wide as the number, so that nothing moves when it comes.
std::string to_come(const std::string& number) {
    const auto letters = static_cast<std::size_t>(
        std::ranges::count_if(number, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
    std::string out;
    for (std::size_t n = 0; n < std::max<std::size_t>(letters, 1); ++n)
        out += n == letters / 2 ? "?" : "\u00A0";
    return out;
}

Line without_result(Line line, const std::string& result) {
    for (auto span = line.rbegin(); span != line.rend(); ++span)
        if (span->text == result && span->face == Span::Face::number) {
            span->text = to_come(result);
            break;
        }
    return line;
}

// With thin spaces round its signs: rather than one more line, or no drawing.
Line squeezed(Line line) {
    for (Span& span : line)
        for (const std::string sign : {"×", "+", "−", "÷"})
            if (span.text == " " + sign + " ") span.text = "\u2009" + sign + "\u2009";
    return line;
}

// It is told by its result, however it is set: hundreds of terms are not laid out, in every frame, to find
// that they have no room. Thin spaces make a line shorter by less than a third.
bool has_too_many_terms(const Canvas& c, const Line& numbers, float w) {
    constexpr float most_lines = 6;
    float width = 0;
    return std::ranges::any_of(numbers, [&](const Span& span) {
        width += rich_width(c, {span}, size::far);
        return width > most_lines * w;
    });
}

Formula told_by_result(const Canvas& c, const Explanation& e, Formula f, float w) {
    f.numbers = e.result;
    const Line whole = pieces(f.symbols, two_equations, f.numbers);
    if (!e.formula.empty() && rich_width(c, whole, 34) <= w) return {whole, {}, 34, formula_line, true};
    f.h = formula_line + rich_paragraph_height(c, w, f.numbers, f.size = 34, 0, 1.4f);
    return f;
}

// `brief`: one line; where its numbers do not fit, they stand on stage.
Formula whole_formula(const Canvas& c, const AppState& state, bool computes, float w, bool brief) {
    const Explanation& e = state.explanation;
    // Before the step its numbers are still to come.
    if (shows_before(state) && !e.formula.empty()) return {e.formula, {}, 34, formula_line, true};
    Formula f{with_old(e.formula, *state.trace, state.cursor.step), equation(e)};
    // Start values and bytes are no other way to write the formula.
    const bool same = computes && !e.numbers.empty();
    const bool endless = same && has_too_many_terms(c, f.numbers, w);
    const Line entry = same ? entry_name(e) : Line{};
    const Line chain = endless ? Line{} : pieces(f.symbols, same ? "   =   " : two_equations, f.numbers);
    const bool both = !e.formula.empty() && !f.numbers.empty() && !endless;
    if (both && !entry.empty())
        for (const float size : {34.0f, 30.0f, size::far})
            for (const Line& numbers : {f.numbers, size > size::far ? f.numbers : squeezed(f.numbers)}) {
                const Line line = pieces(f.symbols, two_equations, entry, numbers);
                if (rich_width(c, line, size) <= w) return {line, {}, size, formula_line, true};
            }
    if (both && rich_width(c, chain, 34) <= w) return {chain, {}, 34, formula_line, true};
    // Below the words of a tour one line is left for what is moved.
    for (const float size : {30.0f, size::far})
        if (state.tour && !computes && both && rich_width(c, chain, size) <= w)
            return {chain, {}, size, formula_line, true};
    if (brief && !e.formula.empty() && !e.result.empty()) {
        const Line told = computes ? brief_result(state) : Line{};
        for (const Line& numbers : {told, computes ? e.result : Line(f.numbers)})
            for (const float size : {34.0f, 30.0f, size::far}) {
                const Line line = pieces(f.symbols, two_equations, numbers);
                if (!numbers.empty() && rich_width(c, line, size) <= w)
                    return {line, {}, size, formula_line, true};
            }
    }
    if (endless) return told_by_result(c, e, std::move(f), w);
    if (same) f.numbers = entry.empty() ? pieces("=  ", f.numbers) : pieces(entry, f.numbers);
    while (f.size > size::far && rich_width(c, f.numbers, f.size) > w) f.size = f.size > 30 ? 30 : size::far;
    if (const Line tight = squeezed(f.numbers);
        rich_width(c, f.numbers, f.size) > w && rich_width(c, tight, f.size) <= w)
        f.numbers = tight;
    f.h = formula_line + rich_paragraph_height(c, w, f.numbers, f.size, 0, 1.4f);
    // A long dot product says more as its result than cut off in the middle.
    return f.h > 144 ? told_by_result(c, e, std::move(f), w) : f;
}

Formula formula_of(const Canvas& c, const AppState& state, bool computes, float w, bool brief) {
    Formula f = whole_formula(c, state, computes, w, brief);
    if (!result_to_come(state) || state.explanation.result.empty()) return f;
    const std::string& result = state.explanation.result.back().text;
    f.symbols = without_result(std::move(f.symbols), result);
    f.numbers = without_result(std::move(f.numbers), result);
    return f;
}

std::string without_spaces(const std::string& text) {
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n)
        if (text.compare(n, 3, "\u2009") == 0)
            n += 2;
        else if (text[n] != ' ')
            out += text[n];
    return out;
}

// The line that it is told with has the numbers that it is worked out from.
bool tells_numbers(const Formula& f, const Explanation& e) {
    const std::string told = without_spaces(plain(f.symbols) + plain(f.numbers));
    return told.find(without_spaces(plain(e.numbers))) != std::string::npos;
}

// Whoever adds up the products of the cell as the drawing has them comes to the shown sum.
bool drawn_sum_holds(const Canvas& c, const AppState& state, const CellSum& sum) {
    const Trace& trace = *state.trace;
    Dot drawn = dot_of(sum);
    drawn.q_digits = &trace.digits(sum.a.slot), drawn.k_digits = &trace.digits(sum.b.slot);
    drawn.total_digits = &trace.digits(sum.slot), drawn.formula = &state.explanation;
    const Enlarged as_drawn(c, {0, 0}, size::far_growth);
    return sum_holds(drawn);
}

// The numbers of the formula, where it has some, come to just its result, and so do those of the drawing,
// where it is that of one sum.
bool comes_to_result(const Canvas& c, const AppState& state) {
    const Explanation& e = state.explanation;
    const auto sum = cell_sum(*state.trace, state.cursor.step, e.target.row, e.target.col, e.target.slot);
    const bool drawn = sum && !sum->grows && sum->divisor == 1 && sum->adds_up(), told = !!e.numbers.comes_to;
    if (told && *sign_before(e.numbers, e.result.back().text) != '=') return false;
    const auto [digits, comma] = number_style();
    return drawn ? state.stage.sum_holds.of({state.trace, state.cursor.step, e.target.row, e.target.col,
                                             e.target.slot, digits, comma, e.numbers.size()},
                                            [&] { return drawn_sum_holds(c, state, *sum); })
                 : told;
}

// Where they are left to cells and drawing, which have the decimals of the formula, the sign is the same in
// the formula and in the drawing: "=" where these numbers come to just the shown result, or where that is not
// rounded.
class SignOfUntold {
public:
    SignOfUntold(const Canvas& c, AppState& state, const Formula& f)
        : state_(state), result_(state.explanation.result), numbers_(state.explanation.numbers) {
        Explanation& e = state.explanation;
        const bool computes = info(op_now(state)).kind == OpKind::compute;
        if (!computes || e.result.size() < 2 || e.target.slot == Slot::count) return;
        const Held held = holding(*state.trace, e.target, state.cursor.step);
        if (!held || (!e.numbers.empty() && tells_numbers(f, e))) return;
        // A sum that is told in brief: cells and drawing have the decimals of that.
        if (NumberLine brief = op_now(state) == Op::row_sum ? brief_numbers_of(state) : NumberLine{};
            !brief.empty()) {
            e.numbers = std::move(brief);
            if (tells_numbers(f, e)) return;
            e.numbers = numbers_;
        }
        const double value = value_at(*held.value, e.target), shown = read_shown(e.result.back().text).value;
        const bool as_it_is = std::isfinite(value) ? std::abs(shown - value) <= 1e-9 * std::abs(value)
                                                   : !std::isfinite(shown);  // −∞, ∞ and NaN are not rounded
        const bool exact = as_it_is || comes_to_result(c, state);
        std::string& sign = e.result[e.result.size() - 2].text;
        for (const std::string_view old : {"= ", "≈ "})
            if (sign.ends_with(old)) {
                sign.replace(sign.size() - old.size(), old.size(), exact ? "= " : "≈ ");
                break;
            }
    }
    ~SignOfUntold() { state_.explanation.result = result_, state_.explanation.numbers = numbers_; }
    SignOfUntold(const SignOfUntold&) = delete;
    SignOfUntold& operator=(const SignOfUntold&) = delete;

private:
    AppState& state_;
    Line result_;
    decltype(Explanation::numbers) numbers_;
};

void draw_formula(const Canvas& c, const Formula& f, const Rect& a) {
    note_part(c, {a.x - 12, a.y, a.w + 12, a.h + 6}, "Explanation");
    c.rich_paragraph(a.x, a.y, a.w, f.symbols, f.one_line ? f.size : formula_size, 1, c.theme->t1, 1.4f);
    if (!f.one_line) c.rich_paragraph(a.x, a.y + formula_line, a.w, f.numbers, f.size, 0, 0, 1.4f);
}

// For those who have only a mouse: the walk and the way out, while the mouse moves.
void mouse_buttons(const Canvas& c, AppState& state, float W) {
    if (state.mouse_age > presenter_buttons_seconds) return;
    c.rect(W / 2 - 132, 8, 366, 56, presenter_page(*c.theme), radius::panel);
    IconRow icon{c, W / 2 - 124, 14, space::far_icon, 6};
    if (icon("##back", Icon::back, {.tooltip = "Back (←)"})) step_backward(state, state.player.level);
    if (icon("##play", state.player.playing ? Icon::pause : Icon::play, {.tooltip = "Play, pause (Space)"}))
        toggle_play(state);
    if (icon("##forward", Icon::forward, {.tooltip = "Forward (→)"})) step_forward(state, state.player.level);
    if (icon("##theme", Icon::theme, {.tooltip = "Theme (T)"})) next_theme(state);
    if (icon("##leave", Icon::close, {.tooltip = "Leave presenter mode (Esc)"})) state.presenter = false;
    if (button(c, "##break", icon.x, 14, 100, space::far_icon, "Break",
               {.size = size::far, .tooltip = "What can be broken on purpose (X)"}))
        fault_card.open(state);
}

// The step that a question about numbers waits for; −1 without one.
int asked_step(const AppState& state) {
    if (!quiz_waits(state)) return -1;
    const Question& asked = state.quiz->question;
    return asked.numbers().empty() || asked.exact ? -1 : asked.step;
}

// " (The cat sat)": the rows of a block or a shard that is loaded or stored; beside them the words may have
// no room.
std::string words_of_moved(const AppState& state) {
    for (const StageTerm& term : stage_terms(*state.trace, state.cursor.step, state.explanation)) {
        const std::vector<std::string> words = term_words(state, term).rows;
        if (words.empty() || term.transposed) continue;
        return words.size() < state.problem->tokens.size() ? " (" + joined(words, " ") + ")" : "";
    }
    return {};
}

// The same behind the keys of a part; ", query 0 (The)" behind a merge, where tokens have words.
std::string words_of_part(const AppState& state) {
    const Problem& p = state.trace->problem();
    if (is_load(op_now(state)) || is_store(op_now(state))) return words_of_moved(state);
    if (state.lesson->picture != Picture::merge || p.key_token(0).empty()) return {};
    const std::vector<KeyPart> parts = merge_parts(p);
    const int tile = merge_tile(*state.trace, state.cursor.step), row = p.options.row;
    if (tile >= std::ssize(parts)) return ", query " + str(row) + " (" + p.query_token(row) + ")";
    std::vector<std::string> words;
    const KeyPart& part = parts[static_cast<std::size_t>(tile)];
    for (int n = 0; n < part.count; ++n) words.push_back(p.key_token(part.first + n));
    return words.empty() ? "" : " (" + joined(words, " ") + ")";
}

// Where the step is, beside its title. A kernel is often called like its only step: then which row.
std::string place_beside(const AppState& state) {
    if (shows_before(state)) return "the numbers before it";
    if (const int asked = asked_step(state); asked >= 0) return explain(*state.trace, asked).place;
    const Explanation& e = state.explanation;
    const Step& step = step_now(state);
    const bool dense = step.i < 0 && step.j < 0 && e.place == state.lesson->lane(*state.problem, step.phase);
    if (!dense) return e.place;
    const bool computes = info(step.op).kind == OpKind::compute;
    return computes && step_region(*state.trace, state.cursor.step).rows > 1 ? "row " + str(e.target.row)
                                                                             : "";
}

constexpr float head_mid = 27;  // of its texts

// "Load K₁, V₁": what moves says more than that something does. Returns the width.
float draw_title(const Canvas& c, const AppState& state, float room) {
    const int asked = asked_step(state);
    const std::string title = asked < 0 ? state.explanation.title
                                        : quiz::step_title(*state.trace, asked, explain(*state.trace, asked));
    const Op op = asked < 0 ? op_now(state) : state.trace->step(asked).op;
    const bool matrices = (is_load(op) || is_store(op)) && state.lesson->picture != Picture::softmax;
    const bool said = title.starts_with(is_load(op) ? "Load" : "Store");
    const Line what = matrices && said ? moved_symbols(*state.trace, state.cursor.step) : Line{};
    if (!what.empty()) {
        const char* verb = is_load(op) ? "Load " : "Store ";
        const float w = text_width(Face::semibold, size::far_title, verb) + 6;
        if (w + rich_width(c, what, size::far_title) <= room) {
            c.text(72, head_mid, verb, size::far_title, 0, Face::semibold);
            return w + c.rich(72 + w, head_mid, what, size::far_title);
        }
    }
    return step_title(c, 72, head_mid, room, title, size::far_title);
}

// What the step does and where; at the right which tile of S it is about, and how far the walk has come.
void head(const Canvas& c, const AppState& state, float W, bool map, bool harmless = false) {
    draw_mark(c, 28, head_mid - 15, {13, 15, 1.6f, 3});
    float right = W - space::far_edge;
    // A question is about the step that comes, and so is the title.
    const int step = std::max(state.cursor.step, asked_step(state));
    // On a tour it is told from the number of the stop, on its card.
    const std::string number = state.tour ? "step " + str(step + 1) + " of " + str(state.trace->size())
                                          : str(step + 1) + " / " + str(state.trace->size());
    right -= c.text(right, head_mid, number, size::far, c.theme->t2, Face::medium, Align::right) + 28;
    if (map) {
        // As high as the title; wider for more keys than queries.
        const Problem& p = state.trace->problem();
        constexpr float side = 46, top = 5, widest = 2 * side;
        const float w = std::clamp(side * px(p.N_kv()) / px(p.N()), side, widest);
        ghost(c, *state.trace, state.cursor.step, right - w, top, w, side, hides_what_comes(state));
        note_part(c, {right - w, top, w, side}, "Head map");
        right -= w + 14;
        right -= c.rich(right, head_mid, {symbol("S", Role::S)}, size::far_number, Align::right) + 20;
    }
    if (const auto own_map = lesson_view(*state.lesson).head_map) right -= own_map(c, state, right);
    const Explanation& e = state.explanation;
    if (state.quiz) {
        // When it comes, where the title leaves room for that.
        const std::optional<int> coming = quiz_waits(state) ? std::nullopt : next_question(state);
        std::string words = coming ? "Question before step " + str(*coming + 1) : "Questions";
        const float title = text_width(Face::semibold, size::far_title, e.title);
        if (72 + title + 40 + pill_width(words, size::far) > right) words = "Questions";
        right -= c.pill(right, head_mid, words, size::far, 0, c.theme->t1, Align::right) + 20;
    }
    const float w = draw_title(c, state, right - 72);
    const float place = 72 + w + 20;
    if (broken_walk(state)) return fault_name(c, state, place, head_mid, right - place, harmless);
    if (right - place <= 60) return;
    std::string where = place_beside(state);
    const std::string words = asked_step(state) < 0 ? words_of_part(state) : "";
    if (text_width(Face::regular, size::far_text, where + words) <= right - place - 12) where += words;
    c.text_within(place, head_mid + 5, right - place - 12, where, size::far_text, c.theme->t2);
}

// The formula has a number with more decimals where fewer would mislead: so has the sentence.
std::string with_digits_of(const Explanation& e, const std::string& text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const char point = number_style().comma ? ',' : '.';
    std::string out;
    for (std::size_t n = 0; n < text.size();) {
        std::size_t end = n;
        while (end < text.size() &&
               (is_digit(text[end]) ||
                (end > n && text[end] == point && end + 1 < text.size() && is_digit(text[end + 1]))))
            ++end;
        if (end == n) {
            out += text[n++];
            continue;
        }
        std::string number = text.substr(n, end - n);
        const std::size_t at = number.find(point);
        const int decimals = at == number.npos ? 0 : static_cast<int>(number.size() - at) - 1;
        for (const Span& span : e.numbers) {
            if (decimals == 0 || span.face != Span::Face::number) continue;
            const bool bracketed = span.text.starts_with('(');
            const auto [value, unit] =
                read_shown(bracketed ? span.text.substr(1, span.text.size() - 2) : span.text);
            const bool finer = unit > 0 && unit < .5 * std::pow(10., -decimals);
            if (finer && format_fixed(std::abs(value), decimals) == number) {
                number = span.text.substr(span.text.find_first_of("0123456789"));
                if (bracketed) number.pop_back();
                break;
            }
        }
        out += number;
        n = end;
    }
    return out;
}

std::string words_to_say(const AppState& state) {
    if (shows_before(state))
        return "Step " + str(state.cursor.step + 1) +
               " is still to come. What will it make of these numbers? (B shows it)";
    return with_digits_of(state.explanation, spoken(*state.trace, state.cursor.step, state.explanation));
}

// What one would say: a line or two.
float subtitle_h(const AppState& state, float w) {
    const std::string text = words_to_say(state);
    return paragraph_height(w - 40, text, size::far_number, 2, Face::regular, 1.25f) + 16;
}

// No line ends between "key" and its number.
Line held_together(Line line) {
    for (Span& span : line)
        for (const char* noun :
             {"key", "query", "row", "element", "block", "rank", "round", "step", "worker"})
            for (std::size_t at = 0;
                 (at = span.text.find(std::string(noun) + " ", at)) != std::string::npos;) {
                at += std::string_view(noun).size();
                const bool number =
                    at + 1 < span.text.size() && span.text[at + 1] >= '0' && span.text[at + 1] <= '9';
                if (number) span.text.replace(at, 1, "\u00A0");
            }
    return line;
}

void subtitle(const Canvas& c, const AppState& state, const Rect& a) {
    std::string text = words_to_say(state);
    if (result_to_come(state) && !state.explanation.result.empty()) {
        const std::string& result = state.explanation.result.back().text;
        if (const std::size_t at = text.rfind(result); at != std::string::npos && !result.empty())
            text.replace(at, result.size(), to_come(result));
    }
    c.rect(a.x, a.y, a.w, a.h, c.theme->panel, radius::card);
    c.rect(a.x, a.y, 5, a.h, c.theme->t1, 2);
    const Line said = held_together(in_roles(text, state.explanation));
    const float w = caption_width(a.w - 40, plain(said), size::far_number, 2);
    c.rich_paragraph(a.x + 22, a.y + 8, w, said, size::far_number, 2, c.theme->t1, 1.25f);
}

// One lane stands there alone: columns that only others have a step in would be holes. Steps with a clock
// stand one after another, each as wide as the others: its name is to be read.
TimelineGrid grid_of_one_lane(TimelineGrid grid, int lane) {
    if (grid.timed) {
        grid.timed = false;
        grid.columns = grid.end(lane) - grid.begin(lane);
        for (int k = grid.begin(lane); k < grid.end(lane); ++k) {
            const auto n = static_cast<std::size_t>(k);
            grid.column[n] = k - grid.begin(lane), grid.width[n] = 1;
        }
        return grid;
    }
    std::vector<int> before(static_cast<std::size_t>(grid.columns) + 1, 0);
    for (int k = grid.begin(lane); k < grid.end(lane); ++k)
        for (int n = 0; n < grid.width_of(k); ++n)
            before[static_cast<std::size_t>(grid.column_of(k) + n) + 1] = 1;
    std::partial_sum(before.begin(), before.end(), before.begin());
    for (std::size_t k = 0; k < grid.column.size(); ++k) {
        const auto from = static_cast<std::size_t>(grid.column[k]),
                   to = std::min(from + static_cast<std::size_t>(grid.width[k]), before.size() - 1);
        grid.column[k] = before[from], grid.width[k] = before[to] - before[from];
    }
    grid.columns = before.back();
    return grid;
}

// `title`: the head of the page, which calls the step by its name, is not there.
void timeline(const Canvas& c, AppState& state, const Rect& a, bool title) {
    constexpr float s = size::far_growth;
    const Enlarged large(c, {a.x, a.y}, s);
    const TimelineGrid all = state.look.grid;
    // A missing column would tell what comes; a tour may speak of time.
    const bool alone = !hides_what_comes(state) && !(all.timed && points_at(state, "Timeline"));
    if (alone) state.look.grid = grid_of_one_lane(all, all.lane_of(state.cursor.step));
    lanes(large.c, state, {0, 20, a.w / s, a.h / s - 20},
          {.lane = 18,
           .gap = 4,
           .name_w = 0,
           .heads = false,
           .stage = true,
           .title = title,
           .whole_symbols = true});
    if (alone) state.look.grid = all;
}

// What the card of a question or a tour leaves of the page: it takes whole parts, the rest moves together.
struct Stage {
    float top, bottom;
    bool head = true, formula = true, lanes = true, sentence = true;
};
Stage stage_beside(const Canvas& c, const AppState& state, float W, float H) {
    const Rect question = question_band(c, state, W, H), tour = tour_band(c, state, W, H);
    if (question.h > 0) return {0, question.y - 12, true, false, false, false};
    if (tour.h == 0) return {0, H - 24};
    // Two lines of a tour leave the step its formula and its sentence; all of its words do not.
    const bool brief = !state.tour->in_full && !state.to_take_along;
    if (!speaks_of_the_foot(*state.tour)) return {0, tour.y - 12, true, brief, false, brief};
    const bool lanes = state.tour->stop().place.name == "Timeline";
    return {tour.bottom() + 12, H - 24, false, !lanes, lanes, lanes};
}

constexpr float head_h = 58, lanes_h = 102, lanes_gap = 6;

// A line of a derivation has a formula of its own.
bool shows_argument(const AppState& state) {
    return state.lesson->picture == Picture::softmax && state.softmax.tab != SoftmaxPage::values;
}

// HBM stands at the left where the step moves something there or back, and where a tour speaks of it.
bool shows_hbm(const AppState& state) {
    const OpKind kind = info(op_now(state)).kind;
    if (kind == OpKind::load || kind == OpKind::store || kind == OpKind::skip) return true;
    return moved_by(*state.trace, state.cursor.step) != 0 ||
           (state.tour && state.tour->stop().place.name == "HBM");
}

constexpr float gap = 8;

// The room of the matrices: between its top and what stands at the foot of the page.
struct MiddleOfPage {
    float x, w, top, bottom;
    bool strip = false;
};
MiddleOfPage middle_of_page(const AppState& state, const Stage& stage, float W) {
    const bool strip = lesson_view(*state.lesson).presenter_strip && shows_hbm(state);
    const float x = strip ? 288 : space::far_edge;
    MiddleOfPage out{x, W - space::far_edge - x, (stage.head ? head_h : stage.top) + frame_h, stage.bottom,
                     strip};
    if (stage.lanes) out.bottom -= lanes_h + lanes_gap;
    return out;
}

// Without the formula, which may be shorter where matrices are enlarged.
float height_of_matrices(const Canvas& c, const AppState& state, const Stage& stage,
                         const MiddleOfPage& middle) {
    float h = middle.bottom - middle.top;
    if (stage.sentence && state.settings.subtitles) h -= subtitle_h(state, middle.x + middle.w) + gap;
    const bool computes = info(op_now(state)).kind == OpKind::compute;
    if (stage.formula) h -= formula_of(c, state, computes, middle.w, false).h + gap;
    return h;
}

// Its drawing, or its enlarged rows, have the numbers of the formula. `h`: of the matrices and the formula.
bool told_on_stage(const Canvas& c, const AppState& state, float w, float h, bool has_formula) {
    const LessonView& view = lesson_view(*state.lesson);
    const bool computes = info(op_now(state)).kind == OpKind::compute;
    const float formula_h = has_formula ? formula_of(c, state, computes, w, false).h : 0;
    if (!state.lesson->one_row && stage_zooms(state, w, h - (formula_h > 0 ? formula_h + gap : 0)))
        return true;
    // A sum of products in one line, rather than that its drawing, which has them all, has no room.
    if (!computes || formula_h <= formula_line) return false;
    const CellRef cell = state.explanation.target;
    const bool drawn = view.has_all_digits == stage_has_all_digits ||
                       cell_sum(*state.trace, state.cursor.step, cell.row, cell.col, cell.slot);
    return drawn && !stage_draws_below(state, w, h - formula_h - gap) &&
           stage_draws_below(state, w, h - formula_line - gap);
}

// A slide has one precision: where matrices have no room for all digits of the settings, its formula and its
// sentence have no more than they.
class DigitsOfSlide {
public:
    DigitsOfSlide(const Canvas& c, AppState& state, const Stage& stage, float W) : state_(state) {
        const LessonView& view = lesson_view(*state.lesson);
        if (!view.has_all_digits || inspecting(state) || shown_broken_step(state)) return;
        const MiddleOfPage middle = middle_of_page(state, stage, W);
        const auto has_room = [&] {
            return view.has_all_digits(state, middle.w, height_of_matrices(c, state, stage, middle));
        };
        if (has_room()) return;
        // Of a partial result rather one row with all its digits.
        const bool one_row = op_now(state) == Op::part &&
                             stage_zooms(state, middle.w, height_of_matrices(c, state, stage, middle));
        while (!one_row && number_style().digits > fewest_digits) {
            set_number_style({number_style().digits - 1, before_.comma});
            refresh_explanation(state);
            if (!has_room()) continue;
            without_untold_numbers(c, stage, middle);
            return;
        }
        restore();
        // Enlarged rows leave the others as many as they have.
        const bool on_stage =
            view.has_all_digits == stage_has_all_digits || view.has_all_digits == strip_stage_has_all_digits;
        const Rect room{middle.x, middle.top, middle.w, height_of_matrices(c, state, stage, middle)};
        if (!on_stage || !stage_zooms(state, room.w, room.h)) return;
        if (const int digits = zoom_digits(state, room, !middle.strip); digits < before_.digits) {
            set_number_style({digits, before_.comma});
            refresh_explanation(state);
        }
    }
    ~DigitsOfSlide() { restore(); }
    DigitsOfSlide(const DigitsOfSlide&) = delete;
    DigitsOfSlide& operator=(const DigitsOfSlide&) = delete;

private:
    // Cells have the decimals of a formula; where this is told by its result alone, those of the slide.
    void without_untold_numbers(const Canvas& c, const Stage& stage, const MiddleOfPage& middle) {
        const bool computes = info(op_now(state_)).kind == OpKind::compute;
        const float without = height_of_matrices(c, state_, stage, middle);
        if (!stage.formula || !computes) return;
        const float formula_h = formula_of(c, state_, computes, middle.w, false).h;
        const bool brief = told_on_stage(c, state_, middle.w, without + formula_h + gap, true);
        const Formula f = formula_of(c, state_, computes, middle.w, brief);
        if (!tells_numbers(f, state_.explanation)) state_.explanation.numbers = {};
    }
    void restore() {
        if (number_style() == before_) return;
        set_number_style(before_);
        refresh_explanation(state_);
    }
    AppState& state_;
    NumberStyle before_ = number_style();
};

// Both walks side by side have the one cell that the step is about: a stop of a tour that points elsewhere
// keeps the matrices.
bool has_both_walks(const AppState& state, const Stage& stage, const BrokenStep& broken) {
    if (!stage.formula || !stage.head || !stage.sentence || inspecting(state)) return false;
    if (!state.tour) return true;
    const TourStop& stop = state.tour->stop();
    return stop.place.kind == TourPlace::Kind::cell && stop.place.cell == broken.cell && stop.also.empty();
}

}  // namespace

void presenter_view(const Canvas& page, AppState& state, float W, float H) {
    const Theme theme = bright_room(*page.theme);
    Canvas c = page;
    c.theme = &theme;
    const LessonView& view = lesson_view(*state.lesson);
    const PanelPart part(c, "Presenter", {0, 0, W, H});
    const Stage stage = stage_beside(c, state, W, H);
    const std::optional<BrokenStep>& broken = shown_broken_step(state);
    const DigitsOfSlide digits(c, state, stage, W);
    const auto [x, w, top, above_lanes, strip] = middle_of_page(state, stage, W);
    const float x0 = 24, w0 = W - 2 * x0;
    float bottom = above_lanes;
    if (stage.lanes) timeline(c, state, {x0, bottom + lanes_gap, w0, lanes_h}, !stage.head);
    if (stage.sentence && broken_walk(state)) {
        const std::string words = broken_sentence(state, broken);
        const bool harmless = broken && broken->harmless();
        const float h = broken_line_height(state, words, w0, harmless);
        bottom -= h;
        broken_line(c, state, words, {x0, bottom, w0, h}, harmless);
        bottom -= gap;
    } else if (stage.sentence && state.settings.subtitles) {
        const float h = subtitle_h(state, w0);
        bottom -= h;
        subtitle(c, state, {x0, bottom, w0, h});
        bottom -= gap;
    }
    if (broken && has_both_walks(state, stage, *broken) && bottom - top >= least_broken_stage) {
        broken_stage(c, state, *broken, {x0, top, w0, bottom - top});
        note_part(c, {x0, bottom, w0, above_lanes - bottom}, "Explanation");
        head(c, state, W, view.presenter_strip, broken->harmless());
        return mouse_buttons(c, state, W);
    }
    const Rect hbm{x0, top, strip ? 228.0f : 0.0f, bottom - top};
    const bool computes = info(op_now(state)).kind == OpKind::compute;
    const float formula_h = stage.formula ? formula_of(c, state, computes, w, false).h : 0;
    const bool zoomed =
        !state.lesson->one_row && stage_zooms(state, w, bottom - top - (formula_h > 0 ? formula_h + gap : 0));
    const bool brief = told_on_stage(c, state, w, bottom - top, stage.formula);
    const SignOfUntold sign(c, state,
                            stage.formula && !inspecting(state)
                                ? formula_of(c, state, computes, w, brief)
                                : Formula{.numbers = state.explanation.numbers});
    if (stage.formula) {
        if (inspecting(state)) {
            inspect_presenter(c, state, {x, bottom - 144, w, 144});
            bottom -= 144;
        } else if (!shows_argument(state)) {
            const Formula f = formula_of(c, state, computes, w, brief);
            bottom -= f.h;
            draw_formula(c, f, {x, bottom, w, f.h});
        }
        bottom -= gap;
    }
    view.presenter(c, state, hbm, {x, top, w, bottom - top});
    // Beside the enlarged row the map is large.
    const bool small_map = view.presenter_strip && !zoomed;
    if (stage.head) head(c, state, W, small_map);
    mouse_buttons(c, state, W);
}

}  // namespace tilewalk::ui

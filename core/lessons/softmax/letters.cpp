#include "core/lessons/softmax/parts.h"
#include "core/walk/formula.h"

#include <string_view>

namespace tilewalk {

namespace {

Line letter(const char* text, Role role, const std::string& index, bool tilde = false) {
    Span base{text, role, Span::Face::symbol};
    base.tilde = tilde;
    if (index.empty()) return {base};
    return {base, {index, role, Span::Face::symbol, Span::Script::sub}};
}

// Each letter has a card of its own.
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

}  // namespace

SoftmaxLetters softmax_letters(const Problem& p, SoftmaxForm form) {
    const bool one_pass = form == SoftmaxForm::one_pass, late = one_pass && !p.options.normalised;
    const bool rebased = one_pass || form == SoftmaxForm::two_passes;
    switch (p.options.notation) {
    case Notation::l_O: return {"ℓ", "O", late, "O"};
    case Notation::delta_omega: return {"δ", one_pass ? "ω" : "o", late, "o"};
    case Notation::d_o: break;
    }
    return {rebased ? "d′" : "d", one_pass && !late ? "o′" : "o", late, "o"};
}

Line softmax_max(const std::string& index) { return letter("m", Role::m, index); }
Line softmax_score(const std::string& index) { return letter("x", Role::S, index); }
Line softmax_alpha(const std::string& index) { return letter("α", Role::alpha, index); }
Line softmax_weight(const std::string& index) { return letter("p", Role::S, index); }
Line softmax_share(const std::string& index) { return letter("a", Role::S, index); }
Line softmax_value(const std::string& index) { return letter("V", Role::V, index); }
Line softmax_sum(const SoftmaxLetters& letters, const std::string& index) {
    return letter(letters.sum, Role::l, index);
}
Line softmax_out(const SoftmaxLetters& letters, const std::string& index) {
    return letter(letters.out, Role::O, index, letters.tilde);
}
Line softmax_final(const SoftmaxLetters& letters, const std::string& index) {
    return letter(letters.done, Role::O, index);
}

Line softmax_symbol(const Trace& trace, Slot slot, int step, int tile) {
    const SoftmaxLetters letters = softmax_letters(trace.problem(), softmax_form(trace));
    const bool last = step >= 0 && trace.step(step).op == Op::normalize;
    // What a pass starts from has no number.
    const int n = last ? trace.problem().N_kv() - 1 : step >= 0 ? trace.step(step).j : -1;
    const auto number = [](int index) { return index < 0 ? std::string() : std::to_string(index); };
    const std::string in_hbm = number(tile), index = number(n);
    switch (slot) {
    case Slot::x: return softmax_score(in_hbm);
    case Slot::V: return softmax_value(in_hbm);
    case Slot::S: return softmax_score(index);
    case Slot::Vj: return softmax_value(index);
    case Slot::m: return softmax_max(index);
    case Slot::alpha: return softmax_alpha(index);
    case Slot::P: return softmax_weight(index);
    case Slot::Prob: return softmax_share(index);
    case Slot::l: return softmax_sum(letters, index);
    case Slot::Oi: return last ? softmax_final(letters, index) : softmax_out(letters, index);
    default: return slot_symbol(slot);
    }
}

Line softmax_step_symbol(const Trace& trace, int k) {
    const SoftmaxLetters letters = softmax_letters(trace.problem(), softmax_form(trace));
    switch (trace.step(k).op) {
    case Op::exponentials: return softmax_weight("");
    case Op::row_sum: return softmax_sum(letters, "");
    case Op::divide: return softmax_share("");
    case Op::output: return softmax_out(letters, "");
    case Op::store: return {symbol(Slot::O)};
    case Op::normalize: return {word("÷ "), softmax_sum(letters, "").front()};
    default: return op_symbol(trace, k);
    }
}

const char* softmax_card(const Trace& trace, int k) {
    const SoftmaxLetters letters = softmax_letters(trace.problem(), softmax_form(trace));
    switch (trace.step(k).op) {
    case Op::load_x: return "row-of-scores";
    case Op::exponentials: return "element-weight";
    case Op::divide: return "share";
    case Op::row_sum: return card_of_sum(letters.sum);
    case Op::output: return card_of_output(letters);
    default: return nullptr;
    }
}

}  // namespace tilewalk

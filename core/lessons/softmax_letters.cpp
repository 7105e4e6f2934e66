#include "core/lessons/softmax_letters.h"

#include <string_view>

namespace tilewalk {

namespace {

Line letter(const char* text, Role role, const std::string& index, bool tilde = false) {
    Span base{text, role, Span::Face::symbol};
    base.tilde = tilde;
    if (index.empty()) return {base};
    return {base, {index, role, Span::Face::symbol, Span::Script::sub}};
}

}  // namespace

SoftmaxLetters softmax_letters(const Problem& p, int passes) {
    const bool late = passes == 1 && !p.options.normalised;
    switch (p.options.notation) {
    case Notation::l_O: return {"ℓ", "O", late, "O"};
    case Notation::delta_omega: return {"δ", passes == 1 ? "ω" : "o", late, "o"};
    case Notation::d_o: break;
    }
    return {passes == 3 ? "d" : "d′", passes == 1 && !late ? "o′" : "o", late, "o"};
}

int softmax_passes(const Trace& trace) {
    const std::string_view lesson = trace.lesson();
    return lesson == "softmax-3pass" ? 3 : lesson == "softmax-2pass" ? 2 : lesson == "softmax-1pass" ? 1 : 0;
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

}  // namespace tilewalk

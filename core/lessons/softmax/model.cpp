// What the softmax lessons cost, in closed form, and their pseudocode.
#include "core/lessons/softmax/parts.h"

#include <array>

namespace tilewalk {

std::int64_t softmax_bytes(const Problem& p, SoftmaxForm form) {
    // Steps per element: load, max | load, p, sum | load, a, o, and with corrections as many or fewer. Each
    // step has at most 8 accesses and one new number; an output makes a row of d. Before the first step x
    // lies there number by number and V row by row.
    const std::int64_t N = p.N_kv(), d = p.d();
    const std::int64_t per_value = static_cast<std::int64_t>(sizeof(Value)) + 16 + 16 + 32;
    const std::int64_t per_step =
        static_cast<std::int64_t>(sizeof(Step) + 8 * sizeof(Access)) * 2 + per_value + 8;
    return (8 * N + softmax_passes(form) + 2) * per_step + 2 * N * per_value + 8 * (N + 2 * N * d + 3 * d);
}

TrafficModel softmax_model(const Problem& p, SoftmaxForm form) {
    const std::int64_t N = p.N_kv(), d = p.d(), e = p.element_bytes;
    const int numbers = form == SoftmaxForm::two_passes ? 6 : form == SoftmaxForm::dense ? 4 : 5;
    TrafficModel model;
    model.hbm_read = softmax_passes(form) * N * e + N * d * e;  // x once per pass, V once
    model.hbm_write = d * e;                                    // one row of O
    // On chip: one row of V and the output; x, the sum, p; a (unless 1 pass); m (unless dense); α (1 pass and
    // 2)
    model.sram_peak = d * e + 4 * d + 4 * numbers;
    return model;
}

std::string softmax_lane(SoftmaxForm form, int phase) {
    static constexpr const char* names[4][3] = {
        {"Pass 1: sum", "Pass 2: output", ""},
        {"Pass 1: max", "Pass 2: sum", "Pass 3: output"},
        {"Pass 1: max, sum", "Pass 2: output", ""},
        {"Pass 1: all", "", ""},
    };
    return names[static_cast<std::size_t>(form)][phase];
}

namespace {

// "$d" stands for the running sum, "$o" for the running output, "$f" for the finished one.
constexpr CodeLine code_dense[] = {
    {0, "$d ← 0", Op::init, 0},
    {0, "for i in 0 … N − 1    (pass 1)"},
    {1, "load xᵢ", Op::load_x, 0},
    {1, "p ← exp(xᵢ)", Op::exponentials},
    {1, "$d ← $d + p", Op::row_sum},
    {0, "$o ← 0", Op::init, 1},
    {0, "for i in 0 … N − 1    (pass 2)"},
    {1, "load xᵢ, Vᵢ", Op::load_x, 1},
    {1, "a ← exp(xᵢ) / $d", Op::divide},
    {1, "$o ← $o + a Vᵢ", Op::output},
    {0, "store $o", Op::store},
};
constexpr CodeLine code_3[] = {
    {0, "m ← −∞", Op::init, 0},
    {0, "for i in 0 … N − 1    (pass 1)"},
    {1, "load xᵢ", Op::load_x, 0},
    {1, "m ← max(m, xᵢ)", Op::new_max},
    {0, "$d ← 0", Op::init, 1},
    {0, "for i in 0 … N − 1    (pass 2)"},
    {1, "load xᵢ", Op::load_x, 1},
    {1, "p ← exp(xᵢ − m)", Op::exponentials},
    {1, "$d ← $d + p", Op::row_sum},
    {0, "$o ← 0", Op::init, 2},
    {0, "for i in 0 … N − 1    (pass 3)"},
    {1, "load xᵢ, Vᵢ", Op::load_x, 2},
    {1, "a ← exp(xᵢ − m) / $d", Op::divide},
    {1, "$o ← $o + a Vᵢ", Op::output},
    {0, "store $o", Op::store},
};
constexpr CodeLine code_2[] = {
    {0, "m ← −∞,  $d ← 0", Op::init, 0},
    {0, "for i in 0 … N − 1    (pass 1)"},
    {1, "load xᵢ", Op::load_x, 0},
    {1, "m_old ← m,  m ← max(m, xᵢ)", Op::new_max},
    {1, "α ← exp(m_old − m)", Op::correction},
    {1, "p ← exp(xᵢ − m)", Op::exponentials},
    {1, "$d ← α $d + p", Op::row_sum},
    {0, "$o ← 0", Op::init, 1},
    {0, "for i in 0 … N − 1    (pass 2)"},
    {1, "load xᵢ, Vᵢ", Op::load_x, 1},
    {1, "a ← exp(xᵢ − m) / $d", Op::divide},
    {1, "$o ← $o + a Vᵢ", Op::output},
    {0, "store $o", Op::store},
};
constexpr CodeLine code_1[] = {
    {0, "m ← −∞,  $d ← 0,  $o ← 0", Op::init},
    {0, "for i in 0 … N − 1"},
    {1, "load xᵢ, Vᵢ", Op::load_x},
    {1, "m_old ← m,  m ← max(m, xᵢ)", Op::new_max},
    {1, "α ← exp(m_old − m)", Op::correction},
    {1, "p ← exp(xᵢ − m)", Op::exponentials},
    {1, "$d_old ← $d,  $d ← α $d + p", Op::row_sum},
    {1, "$o ← $o α $d_old / $d + Vᵢ p / $d", Op::output},
    {0, "store $o", Op::store},
};
constexpr CodeLine code_1_late[] = {
    {0, "m ← −∞,  $d ← 0,  $o ← 0", Op::init},
    {0, "for i in 0 … N − 1"},
    {1, "load xᵢ, Vᵢ", Op::load_x},
    {1, "m_old ← m,  m ← max(m, xᵢ)", Op::new_max},
    {1, "α ← exp(m_old − m)", Op::correction},
    {1, "p ← exp(xᵢ − m)", Op::exponentials},
    {1, "$d ← α $d + p", Op::row_sum},
    {1, "$o ← α $o + p Vᵢ", Op::output},
    {0, "$f ← $o / $d", Op::normalize},
    {0, "store $f", Op::store},
};

std::string spelled(std::string text, const SoftmaxLetters& letters) {
    const auto replace = [&](const char* what, const std::string& by) {
        for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, 2, by);
    };
    replace("$d", letters.sum);
    replace("$o", std::string(letters.out) + (letters.tilde ? "\u0303" : ""));
    replace("$f", letters.done);
    return text;
}

// Code lines point to their text, so each spelling is written once and kept.
struct Spelling {
    std::vector<std::string> texts;
    std::vector<CodeLine> lines;
    Spelling(std::span<const CodeLine> pattern, const SoftmaxLetters& letters) {
        for (const CodeLine& line : pattern) texts.push_back(spelled(line.text, letters));
        for (std::size_t n = 0; n < pattern.size(); ++n) {
            lines.push_back(pattern[n]);
            lines.back().text = texts[n].c_str();
        }
    }
};

std::span<const CodeLine> pattern_of(SoftmaxForm form, bool late) {
    switch (form) {
    case SoftmaxForm::dense: return code_dense;
    case SoftmaxForm::three_passes: return code_3;
    case SoftmaxForm::two_passes: return code_2;
    case SoftmaxForm::one_pass: break;
    }
    return late ? std::span<const CodeLine>(code_1_late) : std::span<const CodeLine>(code_1);
}

std::vector<Spelling> all_spellings(SoftmaxForm form) {
    std::vector<Spelling> out;
    out.reserve(6);
    for (bool normalised : {true, false})
        for (Notation notation : {Notation::l_O, Notation::d_o, Notation::delta_omega}) {
            Problem p;
            p.options.notation = notation;
            p.options.normalised = normalised;
            out.emplace_back(pattern_of(form, !normalised), softmax_letters(p, form));
        }
    return out;
}

}  // namespace

std::span<const CodeLine> softmax_code(const Problem& p, SoftmaxForm form) {
    using enum SoftmaxForm;
    static const std::array spellings{all_spellings(dense), all_spellings(three_passes),
                                      all_spellings(two_passes), all_spellings(one_pass)};
    const std::size_t n = static_cast<std::size_t>(p.options.notation) + (p.options.normalised ? 0u : 3u);
    return spellings[static_cast<std::size_t>(form)][n].lines;
}

}  // namespace tilewalk

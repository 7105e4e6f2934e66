// What the softmax lessons cost, in closed form, and their pseudocode.
#include "core/lessons/softmax/letters.h"
#include "core/lessons/softmax/walk.h"

#include <array>

namespace tilewalk {

std::int64_t softmax_bytes(const Problem& p, int passes) {
    // Steps per element: load, max | load, p, sum | load, a, o, and with corrections as many or fewer. Each
    // step has at most 8 accesses and one new number; an output makes a row of d. Before the first step x
    // lies there number by number and V row by row.
    const std::int64_t N = p.N_kv(), d = p.d();
    const std::int64_t per_value = static_cast<std::int64_t>(sizeof(Value)) + 16 + 16 + 32;
    const std::int64_t per_step =
        static_cast<std::int64_t>(sizeof(Step) + 8 * sizeof(Access)) * 2 + per_value + 8;
    return (8 * N + passes + 2) * per_step + 2 * N * per_value + 8 * (N + 2 * N * d + 3 * d);
}

TrafficModel softmax_model(const Problem& p, int passes) {
    const std::int64_t N = p.N_kv(), d = p.d(), e = p.element_bytes;
    TrafficModel model;
    model.hbm_read = passes * N * e + N * d * e;  // x once per pass, V once
    model.hbm_write = d * e;                      // one row of O
    // On chip: one row of V and the output; x, m, the sum, p, and a (3 passes), α (1 pass) or both (2)
    model.sram_peak = d * e + 4 * d + 4 * (passes == 2 ? 6 : 5);
    return model;
}

std::string softmax_lane(int passes, int phase) {
    static constexpr const char* names[3][3] = {
        {"Pass 1: all", "", ""},
        {"Pass 1: max, sum", "Pass 2: output", ""},
        {"Pass 1: max", "Pass 2: sum", "Pass 3: output"},
    };
    return names[passes - 1][phase];
}

namespace {

// "$d" stands for the running sum, "$o" for the running output, "$f" for the finished one.
constexpr CodeLine code_3[] = {
    {0, "m ← −∞"},
    {0, "for i in 1 … N        (pass 1)"},
    {1, "load xᵢ"},
    {1, "m ← max(m, xᵢ)"},
    {0, "$d ← 0"},
    {0, "for i in 1 … N        (pass 2)"},
    {1, "load xᵢ"},
    {1, "p ← exp(xᵢ − m)"},
    {1, "$d ← $d + p"},
    {0, "$o ← 0"},
    {0, "for i in 1 … N        (pass 3)"},
    {1, "load xᵢ, Vᵢ"},
    {1, "a ← exp(xᵢ − m) / $d"},
    {1, "$o ← $o + a Vᵢ"},
    {0, "store $o"},
};
constexpr CodeLine code_2[] = {
    {0, "m ← −∞,  $d ← 0"},
    {0, "for i in 1 … N        (pass 1)"},
    {1, "load xᵢ"},
    {1, "m_old ← m,  m ← max(m, xᵢ)"},
    {1, "α ← exp(m_old − m)"},
    {1, "p ← exp(xᵢ − m)"},
    {1, "$d ← α $d + p"},
    {0, "$o ← 0"},
    {0, "for i in 1 … N        (pass 2)"},
    {1, "load xᵢ, Vᵢ"},
    {1, "a ← exp(xᵢ − m) / $d"},
    {1, "$o ← $o + a Vᵢ"},
    {0, "store $o"},
};
constexpr CodeLine code_1[] = {
    {0, "m ← −∞,  $d ← 0,  $o ← 0"},
    {0, "for i in 1 … N"},
    {1, "load xᵢ, Vᵢ"},
    {1, "m_old ← m,  m ← max(m, xᵢ)"},
    {1, "α ← exp(m_old − m)"},
    {1, "p ← exp(xᵢ − m)"},
    {1, "$d_old ← $d,  $d ← α $d + p"},
    {1, "$o ← $o α $d_old / $d + Vᵢ p / $d"},
    {0, "store $o"},
};
constexpr CodeLine code_1_late[] = {
    {0, "m ← −∞,  $d ← 0,  $o ← 0"},
    {0, "for i in 1 … N"},
    {1, "load xᵢ, Vᵢ"},
    {1, "m_old ← m,  m ← max(m, xᵢ)"},
    {1, "α ← exp(m_old − m)"},
    {1, "p ← exp(xᵢ − m)"},
    {1, "$d ← α $d + p"},
    {1, "$o ← α $o + p Vᵢ"},
    {0, "$f ← $o / $d"},
    {0, "store $f"},
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
        for (std::size_t n = 0; n < pattern.size(); ++n)
            lines.push_back({pattern[n].indent, texts[n].c_str(), false});
    }
};

std::span<const CodeLine> pattern_of(int passes, bool late) {
    if (passes == 3) return code_3;
    if (passes == 2) return code_2;
    return late ? std::span<const CodeLine>(code_1_late) : std::span<const CodeLine>(code_1);
}

std::vector<Spelling> all_spellings(int passes) {
    std::vector<Spelling> out;
    out.reserve(6);
    for (bool normalised : {true, false})
        for (Notation notation : {Notation::l_O, Notation::d_o, Notation::delta_omega}) {
            Problem p;
            p.options.notation = notation;
            p.options.normalised = normalised;
            out.emplace_back(pattern_of(passes, !normalised), softmax_letters(p, passes));
        }
    return out;
}

}  // namespace

std::span<const CodeLine> softmax_code(const Problem& p, int passes) {
    static const std::array<std::vector<Spelling>, 3> spellings{all_spellings(1), all_spellings(2),
                                                                all_spellings(3)};
    const std::size_t n = static_cast<std::size_t>(p.options.notation) + (p.options.normalised ? 0u : 3u);
    return spellings[static_cast<std::size_t>(passes - 1)][n].lines;
}

}  // namespace tilewalk

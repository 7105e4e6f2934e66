// The signs between the matrices of the stage: "⊙", "+ rowsum(". What operates is strong, and the thin ones
// are large, to be seen from the back row.
#include "app/ui/kit/fonts.h"
#include "app/ui/parts/stage_terms.h"

namespace tilewalk::ui {

namespace {

constexpr float space_w = 8;

struct Run {
    std::string_view text;
    Face face;
    float size;
    float width() const { return text_width(face, size, text); }
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The first run of what is left: a word, or one operator. Spaces are the caller's.
Run take_run(std::string_view& rest) {
    const std::string_view all = rest;
    const bool letters = is_letter(all[0]) || all.starts_with("η");
    if (letters)
        while (!rest.empty() && rest[0] != ' ' && rest[0] != '(') next_code_point(rest);
    else
        next_code_point(rest);
    const std::string_view text = all.substr(0, all.size() - rest.size());
    if (letters) return {text, Face::regular, size::far_sign};
    const bool thin = text == "·" || text == "+" || text == "−";
    return {text, Face::semibold, thin ? size::far_operator : size::far_sign};
}

// Calls each(run, x) from left to right; returns the width of all.
template <class Each> float for_each_run(std::string_view sign, Each each) {
    float x = 0;
    while (!sign.empty()) {
        if (sign[0] == ' ') {
            x += space_w;
            sign.remove_prefix(1);
            continue;
        }
        const Run run = take_run(sign);
        each(run, x);
        x += run.width();
    }
    return x;
}

}  // namespace

float sign_width(std::string_view sign) {
    return for_each_run(sign, [](const Run&, float) {});
}

float draw_sign(const Canvas& c, float x, float mid, std::string_view sign) {
    return for_each_run(sign, [&](const Run& run, float at) {
        const bool letters = run.face == Face::regular;
        c.text(x + at, mid, run.text, run.size, letters ? c.theme->t2 : c.theme->t1, run.face);
    });
}

}  // namespace tilewalk::ui

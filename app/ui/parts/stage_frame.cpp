#include "app/ui/parts/stage_frame.h"

#include "app/ui/kit/fonts.h"
#include "app/ui/parts/slot_view.h"

#include <iterator>

namespace tilewalk::ui {

namespace {

constexpr FrameWords computes(Op op) { return {op, "before", "operation", "after"}; }
constexpr FrameWords moves(Op op) { return {op, "from", "copy", "to"}; }
constexpr FrameWords hands_on(Op op) { return {op, "before", "hand on", "after"}; }

// One row for each op.
constexpr FrameWords frames[] = {
    moves(Op::load_q),        {Op::init, "before", "start values", "after"},
    hands_on(Op::exchange),   hands_on(Op::exchange_gradients),
    moves(Op::load_kv),       moves(Op::load_state),
    computes(Op::preprocess), moves(Op::load),
    moves(Op::load_x),        computes(Op::project),
    computes(Op::scores),     computes(Op::scale),
    computes(Op::softcap),    computes(Op::bias),
    computes(Op::mask),       computes(Op::row_max),
    computes(Op::tile_max),   computes(Op::new_max),
    computes(Op::correction), computes(Op::exponentials),
    computes(Op::row_sum),    computes(Op::divide),
    computes(Op::output),     computes(Op::normalize),
    computes(Op::part),       computes(Op::merge_max),
    computes(Op::merge_lse),  computes(Op::merge_weights),
    computes(Op::merge_sum),  computes(Op::merge_output),
    computes(Op::recompute),  computes(Op::loss),
    computes(Op::dv),         computes(Op::dp),
    computes(Op::row_dot),    computes(Op::sink_gradient),
    computes(Op::ds),         computes(Op::cap_gradient),
    computes(Op::dq),         computes(Op::dk),
    computes(Op::add_share),  computes(Op::weight_gradient),
    computes(Op::update),     moves(Op::store_state),
    moves(Op::store),         {Op::skip, "before", "nothing moves", "after"},
};
constexpr bool in_order() {
    for (std::size_t n = 0; n < std::size(frames); ++n)
        if (frames[n].op != static_cast<Op>(n)) return false;
    return true;
}
static_assert(std::size(frames) == op_count && in_order(), "one row for each op, in the order of the enum");

}  // namespace

const FrameWords& frame_words(Op op) { return frames[static_cast<std::size_t>(op)]; }

const char* word_of_drawing(Op op) { return is_load(op) ? "so far" : frame_words(op).operation; }

float draw_frame_word(const Canvas& c, float x, float middle, const std::string& word) {
    return c.text(x, middle, word, size::far, c.theme->t3);
}

float draw_frame_word_over(const Canvas& c, const Rect& a, const std::string& word) {
    return draw_frame_word(c, a.x, a.y - frame_up, word);
}

void draw_frame_word_in_border(const Canvas& c, const Rect& a, const std::string& word) {
    constexpr float aside = 32, air = 8, up = 6;  // clear of the rounded corner
    const float w = text_width(Face::regular, size::far, word);
    c.rect(a.x + aside - air, a.y - 1, w + 2 * air, 3, presenter_page(*c.theme));
    draw_frame_word(c, a.x + aside, a.y - up, word);
}

std::string words_of_table(Op op) {
    const FrameWords& words = frame_words(op);
    const std::string before = words.before, after = words.after;
    if (is_load(op) && before == "from") return before + " HBM " + after + " chip";
    if (is_store(op)) return before + " chip " + after + " HBM";
    return before + " → " + after;
}

}  // namespace tilewalk::ui

#include "tests/app/ui/layout_check.h"

#include "app/ui/cards/cards.h"
#include "app/ui/kit/fonts.h"
#include "app/ui/kit/imgui_compat.h"
#include "app/ui/kit/theme.h"
#include "tests/part.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>

namespace tilewalk::test {

namespace {

constexpr float slack = 1.0f;     // px that rounding to whole pixels may cost
constexpr float touching = 2.0f;  // px that neighbours may share
constexpr float least_contrast = 4.5f, least_contrast_of_contrast = 7.0f;

// How far the inner rectangle reaches out of the outer one.
float excess(const Item& inner, ImVec2 min, ImVec2 max) {
    return std::max({min.x - inner.min.x, min.y - inner.min.y, inner.max.x - max.x, inner.max.y - max.y});
}

float overlap(const Item& a, const Item& b) {
    return std::min(std::min(a.max.x, b.max.x) - std::max(a.min.x, b.min.x),
                    std::min(a.max.y, b.max.y) - std::max(a.min.y, b.min.y));
}

// A card lies on top of the panels: what is on it is compared with itself only. So is what belongs to no
// panel, the notice for example.
std::string_view layer_of(const Item& item) {
    const bool on_card =
        std::ranges::any_of(cards, [&](const Card* card) { return item.panel == card->name; });
    return on_card ? std::string_view(item.panel) : item.panel.empty() ? "front" : "panels";
}

struct Checker {
    const Program& program;
    std::vector<Finding> findings;
    std::map<std::string, const Item*> panels;

    void add(const char* rule, const Item& item, float amount, const std::string& more = {}) {
        findings.push_back({rule, item.panel, item.text + more, amount});
    }

    void stays_inside(const Item& item) {
        const ImVec2 size = {static_cast<float>(program.screen.width),
                             static_cast<float>(program.screen.height)};
        if (const float e = excess(item, {0, 0}, size); e > slack) add("leaves the window", item, e);
        const auto panel = panels.find(item.panel);
        if (panel == panels.end()) return;
        if (const float e = excess(item, panel->second->min, panel->second->max); e > slack)
            add("leaves its panel", item, e);
    }

    // Whatever a face lacks is drawn as "?".
    void has_glyphs(const Item& item) {
        for (std::string_view rest = item.text; !rest.empty();) {
            const std::string_view before = rest;
            const unsigned code_point = next_code_point(rest);
            constexpr unsigned tilde = 0x303;  // which the canvas draws above the letter
            if (code_point >= ' ' && code_point != tilde &&
                !has_glyph(font(Face::regular, size::body), code_point))
                add("has a letter without a glyph", item, static_cast<float>(code_point),
                    "': '" + std::string(before.substr(0, before.size() - rest.size())));
        }
    }

    void is_large_enough(const Item& item) {
        const float least = program.state.presenter ? 27.0f : 13.0f;
        if (item.font_px < least - .01f) add("is too small", item, item.font_px);
    }

    void stands_out(const Item& item) {
        if (item.faint || item.fg == 0) return;
        const bool strong = program.state.settings.theme == ThemeId::contrast;
        const float ratio = contrast(item.fg, item.bg);
        if (ratio < (strong ? least_contrast_of_contrast : least_contrast) - .005f)
            add("is too pale", item, ratio);
    }

    // Nothing lies on another thing of its kind: a text could not be read, a control not be clicked there.
    // From left to right: behind the right end of a thing nothing can lie on it any more.
    void keep_clear(const std::vector<const Item*>& group) {
        struct Placed {
            const Item* item;
            std::string_view layer;
            std::size_t number;
        };
        std::vector<Placed> placed;
        for (const Item* item : group) placed.push_back({item, layer_of(*item), placed.size()});
        std::ranges::stable_sort(placed, {}, [](const Placed& one) { return one.item->min.x; });
        for (std::size_t a = 0; a < placed.size(); ++a)
            for (std::size_t b = a + 1; b < placed.size(); ++b) {
                if (placed[b].item->min.x > placed[a].item->max.x - touching) break;
                const float shared = overlap(*placed[a].item, *placed[b].item);
                if (shared <= touching || placed[a].layer != placed[b].layer) continue;
                const bool first = placed[a].number < placed[b].number;
                add("overlaps", *placed[first ? a : b].item, shared,
                    "' and '" + placed[first ? b : a].item->text);
            }
    }
};

std::vector<const Item*> items_of(const Program& program, ItemKind kind) {
    std::vector<const Item*> out;
    for (const Item& item : program.items())
        if (item.kind == kind) out.push_back(&item);
    return out;
}

}  // namespace

std::vector<Finding> broken_rules(const Program& program, LayoutRules rules) {
    Checker check{program, {}, {}};
    for (const Item* panel : items_of(program, ItemKind::panel)) check.panels[panel->text] = panel;
    const auto texts = items_of(program, ItemKind::text);
    auto controls = items_of(program, ItemKind::button);
    for (const Item* field : items_of(program, ItemKind::field)) controls.push_back(field);
    for (const Item* item : texts) {
        if (rules.geometry) check.stays_inside(*item), check.is_large_enough(*item), check.has_glyphs(*item);
        if (rules.contrast) check.stands_out(*item);
    }
    if (rules.geometry) {
        for (const Item* item : controls) check.stays_inside(*item);
        for (const Item* cell : items_of(program, ItemKind::cell)) check.stays_inside(*cell);
        check.keep_clear(texts);
        check.keep_clear(controls);
    }
    if (!rules.panel.empty())
        std::erase_if(check.findings, [&](const Finding& f) { return f.where != rules.panel; });
    return check.findings;
}

void check_frame(const Program& program, const std::string& what, LayoutRules rules) {
    for (const Finding& f : broken_rules(program, rules))
        FAIL_CHECK(program.where(), ", ", what, ": ", f.where, ": ", f.rule, " '", f.text, "' ", f.amount);
}

void check_new_frame(Program& program, const std::string& what, LayoutRules rules) {
    program.frame_unlisted();
    program.frame();
    check_frame(program, what, rules);
}

void check_card(const Program& program, std::string_view card, const std::string& what) {
    check_frame(program, what);
    for (const std::string& text : shortened_texts(program))
        if (text.starts_with(card)) FAIL_CHECK(program.where(), ", ", what, ": shortened: ", text);
}

void in_every_look(const std::function<void(Program&)>& look) {
    for (const Screen screen : all_screens)
        for (const ThemeId id : all_themes)
            for (const bool presenter : {false, true}) {
                Program program(example("worked-4x4"), screen, presenter, id);
                look(program);
            }
}

bool looks_at_everything() {
    const char* wish = std::getenv("TILEWALK_LAYOUT");
    return wish && std::string(wish) == "all";
}

void in_every_lesson(Program& program, const Problem& problem,
                     const std::function<std::vector<int>(const Trace&)>& steps,
                     const std::function<void()>& look) {
    program.show(problem);
    for (const Lesson& lesson : lessons()) {
        if (!build_trace(lesson, problem)) continue;
        program.show_lesson(lesson.id);
        for (const int k : steps(*program.state.trace)) {
            program.go_to_step(k, 2);
            look();
        }
    }
}

void at_every_step(Program& program, const Problem& problem, const std::function<void()>& look) {
    static Part part("TILEWALK_LAYOUT", 3);  // goes on, so that every call has other steps
    const auto all = [](const Trace& trace) {
        std::vector<int> out;
        for (int k = 0; k < trace.size(); ++k)
            if (part.takes()) out.push_back(k);
        return out;
    };
    in_every_lesson(program, problem, all, look);
}

std::vector<std::string> shortened_texts(const Program& program) {
    std::vector<std::string> out;
    for (const Item& item : program.items())
        if (item.kind == ItemKind::text && item.text.ends_with("…"))
            out.push_back(item.panel + ": " + item.text);
    return out;
}

}  // namespace tilewalk::test

#include "app/ui/shell/frame.h"

#include "app/ui/cards/cards.h"
#include "app/ui/chapters/backward/backward.h"
#include "app/ui/chapters/compare/page.h"
#include "app/ui/chapters/inside/page.h"
#include "app/ui/chapters/scale/page.h"
#include "app/ui/chapters/start/page.h"
#include "app/ui/kit/focus.h"
#include "app/ui/kit/letters.h"
#include "app/ui/parts/presenter.h"
#include "app/ui/shell/lesson_view.h"
#include "app/ui/shell/panels.h"
#include "app/ui/shell/speaker.h"
#include "app/ui/state/inspection.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

constexpr float notice_seconds = 8.0f;

void pass_time(AppState& state) {
    const float dt = std::min(ImGui::GetIO().DeltaTime, 0.25f);
    state.step_age += dt;
    state.notice_age += dt;
    if (ImGui::IsMouseClicked(0)) end_notice(state);
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    state.mouse_age = moved.x != 0 || moved.y != 0 ? 0 : state.mouse_age + dt;
    if (const PageView* page = page_view(state.page)) page->pass_time(state, dt);
    if (state.player.playing) play_on(state, dt);
}

// The cells that the hovered cell came from, as the step that made it explains them.
void find_hover_sources(AppState& state) {
    if (state.hover_now == state.hover) return;
    state.hover = state.hover_now;
    state.hover_sources.clear();
    if (!state.hover) return;
    const Held held = holding(*state.trace, *state.hover, state.cursor.step);
    if (held.step >= 0) state.hover_sources = explain(*state.trace, held.step, state.hover).sources;
}

// The texts that are kept from frame to frame are written anew in another style.
void follow_number_style(AppState& state) {
    const NumberStyle wanted{state.settings.digits, state.settings.decimal_comma};
    if (wanted == number_style()) return;
    set_number_style(wanted);
    if (state.trace) refresh_explanation(state);
}

// While a tour runs it is noted where the frame shows what; its card points there.
void list_places(Tour* tour) {
    place_list = tour ? &tour->places : nullptr;
    if (tour) tour->places.clear();
}

void draw_presenter(Canvas canvas, AppState& state, float W, float H) {
    canvas.min_text = 27;
    const PageView* page = page_view(state.page);
    if (!page) return presenter_view(canvas, state, W, H);
    const Rect question = question_band(canvas, state, W, H), card = tour_band(canvas, state, W, H);
    page->presenter(canvas, state, W, question.h > 0 ? question.y : card.h > 0 ? card.y : H);
}

// In the title of SRAM where it has room there; else on the edge between header and page, where no lesson
// draws.
void draw_broken_pill(const Canvas& canvas, const AppState& state, const Layout& layout) {
    const float w = broken_pill_width(state, size::small), title = 150;
    if (w == 0) return;
    const auto title_taken = lesson_view(*state.lesson).title_taken;
    const float right =
        layout.sram.right() - (title_taken ? title_taken(state, layout.sram) + 12 : space::pad);
    if (right - w > layout.sram.x + title)
        broken_pill(canvas, state, right, layout.sram.title_y(), size::small);
    else
        broken_pill(canvas, state, layout.main.right() - space::pad, layout.header.bottom() + 10,
                    size::small);
}

void draw_normal(const Canvas& canvas, AppState& state, const Layout& layout) {
    const PageView* page = page_view(state.page);
    header_view(canvas, state, layout.header);
    if (page)
        return page->view(canvas, state,
                          {0, layout.header.bottom(), layout.W, layout.H - layout.header.bottom()});
    lesson_view(*state.lesson).main(canvas, state, layout);
    if (state.show_problem)
        problem_view(canvas, state, layout.side);
    else if (state.show_break)
        break_view(canvas, state, layout.side);
    else if (inspecting(state))
        inspect_view(canvas, state, layout.side, layout.tight);
    else
        explain_view(canvas, state, layout.side, layout.tight);
    timeline_view(canvas, state, layout.timeline);
    meters_view(canvas, state, layout.meters);
    draw_broken_pill(canvas, state, layout);
}

}  // namespace

Canvas begin_page(const AppState& state, const char* name) {
    apply_style(state.settings.theme, font_scale());
    const ImGuiViewport* viewport = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(viewport->Pos);
    ImGui::SetNextWindowSize(viewport->Size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse |
                     ImGuiWindowFlags_NoNav);
    ImGui::PopStyleVar(3);
    Canvas canvas;
    canvas.dl = ImGui::GetWindowDrawList();
    canvas.theme = &theme(state.settings.theme, state.settings.palette);
    canvas.s = font_scale();
    return canvas;
}

float ui_scale(const AppState& state, float window_width, float window_height) {
    window_width = page_width(state, window_width, window_height);
    // Presenter mode is drawn for 1280 × 720; the normal view needs at least 1024 × 640.
    if (state.presenter) return std::max(0.5f, std::min(window_width / 1280, window_height / 720));
    // A very large window at scale 1 grows in quarters instead of leaving most of itself empty.
    const float room = std::min(window_width / 1920, window_height / 1080) / state.display_scale;
    const float grown = std::max(1.0f, std::floor(room * 4) / 4);
    const float wanted = state.display_scale * state.settings.zoom * grown;
    const float most = std::min(window_width / 1024, window_height / 640);
    return std::max(0.5f, std::min(wanted, most));
}

bool load_page_fonts(const AppState& state, float window_width, float window_height) {
    const float scale = ui_scale(state, window_width, window_height);
    return load_fonts(scale, state.presenter, panel_fonts(state, scale, window_width, window_height));
}

Typefaces load_page_letters(const AppState& state, float window_width, float window_height, double seconds,
                            LetterTexture* texture) {
    const float scale = ui_scale(state, window_width, window_height);
    return load_letters(scale, state.presenter, panel_fonts(state, scale, window_width, window_height),
                        seconds, texture);
}

double idle_seconds(const AppState& state) {
    const float moves = std::max(transition_seconds, state.moves_for);
    if (state.settings.motion && state.step_age < moves + 0.05f) return 0;
    if (state.pending) return 0;  // its end is not announced
    if (state.saving && state.saving->work) return 0;
    double idle = speaker_idle_seconds(state);
    if (state.presenter && state.mouse_age < presenter_buttons_seconds)
        idle = std::min(idle, static_cast<double>(presenter_buttons_seconds - state.mouse_age) + 0.01);
    if (state.player.playing)
        idle = std::min(idle, std::max(0.0, 1 / state.settings.speed - state.player.elapsed));
    if (const PageView* page = page_view(state.page)) idle = std::min(idle, page->idle_seconds(state));
    if (!state.notice.empty() && state.notice_age < notice_seconds) {
        const double until_fade = notice_seconds - 0.5 - state.notice_age;
        idle = std::min(idle, std::max(0.0, until_fade));
    }
    return idle;
}

bool animating(const AppState& state) { return idle_seconds(state) <= 0; }

void frame(AppState& state) {
    use_focus(state.focus);
    follow_number_style(state);
    pass_time(state);  // first, so that a step taken now begins its transition at 0
    take_finished_trace(state);
    arrive(state);
    answer_keys(state);
    if (!state.dropped.empty()) {
        if (is_bundle(state, state.dropped))
            open_bundle(state, state.dropped.front());
        else if (is_tour(state.dropped))
            open_tour(state, state.dropped.front());
        else if (is_kernel_source(state.dropped))
            open_kernel_source(state, state.dropped.front(), false);
        else if (state.page == Page::scale)
            load_results(state, state.dropped);
        else if (state.page == Page::start) {
            open_files_from_start(state, state.dropped);
            // What was typed and is refused can be mended at once.
            state.ask_path = state.page == Page::start && state.dropped.front() == state.form.path;
        } else
            load_files(state, state.dropped);
        state.dropped.clear();
    }
    state.hover_now.reset();

    const Canvas canvas = begin_page(state, "Tilewalk");
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float W = page_width(state, size.x, size.y) / canvas.s, H = size.y / canvas.s;
    canvas.rect(0, 0, W, H, state.presenter ? presenter_page(*canvas.theme) : canvas.theme->bg);
    if (state.presenter && state.blank) {
        canvas.rect(0, 0, W, H, IM_COL32_BLACK);
        speaker_panel(canvas, state);
        return ImGui::End();
    }
    list_places(state.tour.get());
    if (state.presenter)
        draw_presenter(canvas, state, W, H);
    else
        draw_normal(canvas, state, layout_for(W, H));
    overlays(canvas, state, W, H);
    list_places(nullptr);
    end_unseen_edit(state);
    speaker_panel(canvas, state);
    draw_focus_ring(canvas);
    ImGui::End();
    find_hover_sources(state);
}

}  // namespace tilewalk::ui

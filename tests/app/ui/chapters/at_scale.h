// The page "At scale" with reports made up for tests.
#pragma once

#include "app/ui/chapters/scale/scale.h"
#include "tests/app/ui/harness.h"
#include "tests/app/ui/reports.h"

namespace tilewalk::test {

struct AtScale : Program {
    explicit AtScale(Screen size = {}) : Program(example("worked-4x4"), size) {
        state.hooks.recorded_results = nullptr;  // only what the test shows
        state.page = ui::Page::scale;
        ui::wait_for_devices(state);
        frame(2);
    }
    ui::ScaleForm& form() { return state.scale; }
    ui::ScalePage& page() { return ui::scale_page(state); }
    void use_lengths(const char* text) {
        form().preset = static_cast<int>(ui::length_presets.size());
        fill_in(form().lengths, text);
    }
    void show(const BenchReport& report) {
        ui::show_report(state, report);
        frame(2);
    }
    /// Draws until the run has ended.
    void let_run() {
        for (int tries = 0; tries < 6000 && page().running; ++tries) wait();
        frame(2);
    }
    void record(MadeUp wish, const std::string& source) {
        wish.source = source;
        ui::add_reports(state, {made_up_report(wish)});
        frame(2);
    }
};

}  // namespace tilewalk::test

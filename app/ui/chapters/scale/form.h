// What comes of the form of the page about large problems, and what its keys and its clock do.
#pragma once

#include "app/ui/state/forms.h"

#include <array>

namespace tilewalk {
struct BenchRequest;
}

namespace tilewalk::ui {

struct AppState;
struct KeyPress;

inline constexpr std::array<DType, 3> gpu_types = {DType::bf16, DType::f16, DType::f32};

struct LengthPreset {
    const char* name;  ///< "to 8192"
    std::int64_t last;
};
/// Powers of two from 512 on.
inline constexpr std::array<LengthPreset, 4> length_presets = {
    {{"to 4096", 4096}, {"to 8192", 8192}, {"to 16384", 16384}, {"to 65536", 65536}}};

/// The lengths that are asked for, ascending, each once; none where the user's list cannot be read.
std::vector<std::int64_t> chosen_lengths(const ScaleForm& form);
BenchRequest bench_request(const ScaleForm& form);
inline const char* run_label(const ScaleForm& form) { return form.gpu ? "Run on GPU" : "Run on CPU"; }

/// Answers a key of the page. False: the key means what it means everywhere.
bool answer_scale_key(AppState& state, const KeyPress& press);
/// As idle_seconds: when something on the page will move by itself.
double scale_idle_seconds(const AppState& state);
/// Takes over what a run has measured since the last frame.
void refresh_scale(AppState& state);

}  // namespace tilewalk::ui

// What the page about large problems asks and remembers, and what its keys and its clock do.
#pragma once

#include "core/base/dtype.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {
struct BenchRequest;
}

namespace tilewalk::ui {

struct AppState;
struct KeyPress;

struct ScaleForm {
    // What will be run
    bool backward = false, causal = false;
    int d = 64, heads = 8;
    int threads = 0;  ///< 0: all that the machine has
    bool gpu = false;
    int type = 0;    ///< on a GPU: index into gpu_types
    int preset = 1;  ///< index into length_presets; its size: the user's own list
    char lengths[128] = "512, 1024, 2048, 4096, 8192";

    // How it is shown
    int measure = 0;                                   ///< time, FLOP/s, share of the peak
    std::array<bool, 3> linear = {false, true, true};  ///< the y axis of each measure, …
    bool linear_memory = false;                        ///< … and of the memory
    int report = 0;                                    ///< of those shown: the one in ladder and table
    std::int64_t N = 0;                                ///< the chosen length; 0: the page chooses
    std::string kernel;                                ///< the chosen kernel; empty: none
    bool card = false;                                 ///< the record of the chosen point is open
    bool memory_plot = false;                          ///< presenter mode: which of the two plots
    char path[512] = "results";
};

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

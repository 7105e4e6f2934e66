// What the page CPU vs GPU asks and remembers, and what its keys and its clock do.
#pragma once

#include "core/compare/kernel_trace.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewalk::ui {

struct AppState;
struct KeyPress;

struct CompareForm {
    // What is run
    std::string kernel = "f5-flash2";
    DType dtype = DType::bf16;
    int device = -1;    ///< 0 emulator, 1 cuda; −1: cuda if there is a GPU
    KernelFault fault;  ///< none, or what is made wrong
    double fault_amount = 1e-3;
    std::vector<KernelFault> undo;  ///< what it was before

    // What is shown
    int i = -1, j = -1;  ///< the chosen tile; −1: the page chooses
    int row = -1;        ///< the chosen query row of the whole problem; −1: the page chooses
    int cell_row = -1, cell_column = -1;  ///< the chosen cell of the heat map; −1: the one furthest off
    std::string map = "O";  ///< what the heat map shows: O, L, dQ, dK, dV, or S, P of the chosen tile
    int measure = 0;        ///< |Δ|, ULP, relative
    char path[512] = "comparison";
};

/// A step of another lesson's walk to go to, once that walk is there.
struct WalkPlace {
    const char* lesson = nullptr;
    int step = 0, row = 0, column = 0;
};

/// Answers a key of the page. False: the key means what it means everywhere.
bool answer_compare_key(AppState& state, const KeyPress& press);
/// As idle_seconds: when something on the page will move by itself.
double compare_idle_seconds(const AppState& state);
/// Takes over what a run in the background has brought, and runs small problems by itself.
void refresh_compare(AppState& state);

}  // namespace tilewalk::ui

// What comes of the form of the page about memory, and what its keys and its clock do. The numbers themselves
// come from core/study/memory_study.h.
#pragma once

#include "app/ui/state/forms.h"
#include "core/study/memory_study.h"

#include <array>

namespace tilewalk::ui {

struct AppState;
struct KeyPress;

inline constexpr std::array tile_choices = {"64", "128", "256", "square", "paper"};

/// The hardware that is chosen; the user's own where its fields can be read, and for the rest the A100.
Hardware chosen_hardware(const MemoryForm& form);
/// True when a field of the user's own hardware holds a positive number below 10¹².
bool readable(const char* field);
StudyInput memory_input(const MemoryForm& form);

/// N to the next (+1) or previous (−1) power of two from 512 to 131 072 (further on: to 2²⁴).
void step_N(MemoryForm& form, int by);
/// Shows one kernel more (+1) or less (−1) of standard attention, and stops playing.
void step_trip(MemoryForm& form, int by);
void play_trips(MemoryForm& form);

/// Answers a key of the page. False: the key means what it means everywhere.
bool answer_memory_key(AppState& state, const KeyPress& press);
/// Lets the time of a frame pass.
void pass_memory_time(AppState& state, float seconds);
/// As idle_seconds: when something on the page will move by itself.
double memory_idle_seconds(const AppState& state);
/// How much of the last kernel's bytes is drawn, 0 … 1.
float trip_progress(const AppState& state);

}  // namespace tilewalk::ui

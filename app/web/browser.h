// What the page asks of the browser (page.js answers).
#pragma once

#include <cstddef>

namespace tilewalk::web {

void copy_text(const char* text);
/// Lists files to choose from; those that are chosen arrive as if they were dropped.
void choose_file();
/// The mouse's shape as an ImGuiMouseCursor; `typing`: a text field has the caret, so that a screen keyboard
/// is wanted.
void show_cursor(int cursor, bool typing);

// A second instance of this program in a worker, for what takes long.
/// Begins run number `run` there with a request that tilewalk_work reads.
void start_worker(int run, const char* request);
/// Ends it at once.
void stop_worker(int run);
/// In the worker: to the page, which hands it to tilewalk_told.
void post_to_page(const char* told);

// The kernels, a program of their own in another worker.
/// Begins run number `run` with these bytes; its answer is handed to tilewalk_answered, why it ended without
/// one to tilewalk_kernels_ended.
void start_kernels(int run, const char* message, std::size_t bytes);
/// Ends it at once.
void stop_kernels(int run);

/// The file of settings was written: it goes where the browser keeps it.
void store_settings();

}  // namespace tilewalk::web

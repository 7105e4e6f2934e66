// What the page asks of the browser (page.js answers).
#pragma once

namespace tilewalk::web {

void copy_text(const char* text);
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

/// The file of settings was written: it goes where the browser keeps it.
void store_settings();

}  // namespace tilewalk::web

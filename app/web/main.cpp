// What page.js calls. Strings arrive as UTF-8.
#include "app/web/browser.h"
#include "app/web/kernels.h"
#include "app/web/page.h"
#include "app/web/worker.h"

#include <emscripten.h>
#include <emscripten/html5.h>

#include <cstdlib>

// NOLINTBEGIN: the bodies are JavaScript
EM_JS(void, js_copy, (const char* text), { Module.tilewalk.copy(UTF8ToString(text)); });
EM_JS(void, js_choose, (), { Module.tilewalk.choose(); });
EM_JS(void, js_cursor, (int cursor, int typing), { Module.tilewalk.cursor(cursor, typing); });
EM_JS(void, js_store, (), { Module.tilewalk.store(); });
EM_JS(void, js_start_worker, (int run, const char* request),
      { Module.tilewalk.startWorker(run, UTF8ToString(request)); });
EM_JS(void, js_stop_worker, (int run), { Module.tilewalk.stopWorker(run); });
EM_JS(void, js_post, (const char* told), { Module.tilewalk.post(UTF8ToString(told)); });
EM_JS(void, js_start_kernels, (int run, const char* message, int bytes),
      { Module.tilewalk.startKernels(run, HEAPU8.slice(message, message + bytes)); });
EM_JS(void, js_stop_kernels, (int run), { Module.tilewalk.stopKernels(run); });
// NOLINTEND

namespace tilewalk::web {

void copy_text(const char* text) { js_copy(text); }
void choose_file() { js_choose(); }
void show_cursor(int cursor, bool typing) { js_cursor(cursor, typing); }

void start_worker(int run, const char* request) { js_start_worker(run, request); }
void stop_worker(int run) { js_stop_worker(run); }
void post_to_page(const char* told) { js_post(told); }

void start_kernels(int run, const char* message, std::size_t bytes) {
    js_start_kernels(run, message, static_cast<int>(bytes));
}
void stop_kernels(int run) { js_stop_kernels(run); }

void store_settings() { js_store(); }

}  // namespace tilewalk::web

using tilewalk::web::Page;

namespace {

Page* page = nullptr;

// Stays until the next call.
const char* kept(std::string text) {
    static std::string last;
    last = std::move(text);
    return last.c_str();
}

bool make_context() {
    EmscriptenWebGLContextAttributes wanted;
    emscripten_webgl_init_context_attributes(&wanted);
    wanted.majorVersion = 2;
    wanted.alpha = wanted.depth = wanted.stencil = wanted.antialias = false;
    wanted.preserveDrawingBuffer =
        true;  // frames are drawn when something changed, and pictures taken in between
    const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = emscripten_webgl_create_context("#canvas", &wanted);
    return context > 0 && emscripten_webgl_make_context_current(context) == EMSCRIPTEN_RESULT_SUCCESS;
}

}  // namespace

extern "C" {

/// 1: it is there; 2: in words alone, because the canvas gives no WebGL 2; 0: it is not.
EMSCRIPTEN_KEEPALIVE int tilewalk_open(const char* link, const char* left, int presenter, const char* theme,
                                       int motion) {
    setenv("TILEWALK_FONTS", "/fonts", 1);
    const bool drawn = make_context();
    page = Page::open({link, left, presenter != 0, theme, motion != 0, drawn});
    if (!page) return 0;
    tilewalk::web::run_in_worker();
    tilewalk::web::run_kernels_in_worker();
    return drawn ? 1 : 2;
}
EMSCRIPTEN_KEEPALIVE double tilewalk_frame(double seconds) { return page->frame(seconds); }
EMSCRIPTEN_KEEPALIVE void tilewalk_resized(int width, int height, float device_px) {
    page->resized(width, height, device_px);
}
EMSCRIPTEN_KEEPALIVE void tilewalk_pointer(float x, float y, int buttons, double seconds) {
    page->pointer(x, y, buttons, seconds);
}
EMSCRIPTEN_KEEPALIVE void tilewalk_wheel(float dx, float dy) { page->wheel(dx, dy); }
EMSCRIPTEN_KEEPALIVE int tilewalk_key(const char* printed, const char* code, int down, int modifiers,
                                      int again) {
    return page->key(printed, code, down != 0, modifiers, again != 0) ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE void tilewalk_text(const char* utf8) { page->text(utf8); }
EMSCRIPTEN_KEEPALIVE void tilewalk_pasted(const char* utf8) { page->pasted(utf8); }
EMSCRIPTEN_KEEPALIVE void tilewalk_dropped(const char* path) { page->dropped(path); }
EMSCRIPTEN_KEEPALIVE void tilewalk_follow(const char* link) { page->follow(link); }
EMSCRIPTEN_KEEPALIVE void tilewalk_context(int there) {
    there != 0 ? page->context_restored() : page->context_lost();
}
EMSCRIPTEN_KEEPALIVE void tilewalk_keep(int open) { page->keep(open != 0); }
EMSCRIPTEN_KEEPALIVE void tilewalk_wake() { page->wake(); }
/// In a worker, which opens no page: the run that the page has asked for.
EMSCRIPTEN_KEEPALIVE void tilewalk_work(const char* request) { tilewalk::web::work(request); }
/// In the page: what the worker of that run tells, and that it has ended, with a sentence or without.
EMSCRIPTEN_KEEPALIVE void tilewalk_told(int run, const char* told) {
    tilewalk::web::worker_told(run, told);
    page->wake();
}
EMSCRIPTEN_KEEPALIVE void tilewalk_ended(int run, const char* why) {
    tilewalk::web::worker_ended(run, why);
    page->wake();
}
/// In the page: the answer of a run of kernels, or why there is none.
EMSCRIPTEN_KEEPALIVE void tilewalk_answered(int run, const char* bytes, int count) {
    tilewalk::web::kernels_answered(run, std::string(bytes, static_cast<std::size_t>(count)));
    page->wake();
}
EMSCRIPTEN_KEEPALIVE void tilewalk_kernels_ended(int run, const char* why) {
    tilewalk::web::kernels_ended(run, why);
    page->wake();
}
/// Another number whenever the words have changed.
EMSCRIPTEN_KEEPALIVE int tilewalk_telling() { return page->telling(); }
EMSCRIPTEN_KEEPALIVE const char* tilewalk_words() { return kept(page->words()); }
EMSCRIPTEN_KEEPALIVE const char* tilewalk_link() { return kept(page->link()); }
/// What stands open and is to be there again when the page is loaded once more; empty: nothing.
EMSCRIPTEN_KEEPALIVE const char* tilewalk_left() { return kept(page->left()); }
/// The walk that a link leads to as JSON, or a sentence: for the comparison with the program for the desktop.
EMSCRIPTEN_KEEPALIVE const char* tilewalk_trace(const char* link) {
    return kept(tilewalk::web::trace_of(link));
}
/// Whether its colours are light, which the bar below it follows.
EMSCRIPTEN_KEEPALIVE int tilewalk_light() { return page->light() ? 1 : 0; }
EMSCRIPTEN_KEEPALIVE const char* tilewalk_title() { return kept(page->title()); }

}  // extern "C"

// What the machine below cannot do at all, so that no try is made.
#pragma once

namespace tilewalk {

/// In a browser: no threads, no libraries that are loaded while it runs, no other program, no file system but
/// one in memory.
#ifdef __EMSCRIPTEN__
constexpr bool in_browser = true;
#else
constexpr bool in_browser = false;
#endif

}  // namespace tilewalk

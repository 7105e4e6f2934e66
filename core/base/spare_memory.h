// What was given back by the program, but not yet by its heap.
#pragma once

namespace tilewalk {

/// Hands free pages of the heap back to the system, from the middle of it too, which else are kept for ever:
/// walks, recordings and results that come and go leave holes of hundreds of MiB. Takes milliseconds, in
/// which other threads may have to wait for the heap. Nothing where the system's library has no such call
/// (glibc has).
void give_back_spare_memory();

}  // namespace tilewalk

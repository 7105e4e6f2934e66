// What was given back by the program, but not yet by its heap.
#pragma once

namespace tilewalk {

/// From now on less is kept. By itself glibc learns from the largest block that was freed, up to 32 MiB: it
/// takes blocks below that from the heap, where they leave holes, and keeps twice as much free at the end of
/// the heap of each thread, though the thread has ended. Costs page faults where blocks of some MiB come and
/// go, so it is for the window, which lives for hours, and not for commands.
void bound_spare_memory();

/// Hands free pages of the heap back to the system, from the middle of it too, which else are kept for ever:
/// walks, recordings and results that come and go leave holes of hundreds of MiB. Takes milliseconds, in
/// which other threads may have to wait for the heap. Nothing where the system's library has no such call
/// (glibc has).
void give_back_spare_memory();

}  // namespace tilewalk

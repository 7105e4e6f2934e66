// Ctrl-C asks a command to end; a second one ends the program.
#pragma once

#include <csignal>

namespace tilewalk {

/// While it lives, the first Ctrl-C is kept.
class WatchInterrupts {
public:
    WatchInterrupts() {
        kept = 0;
        struct sigaction ours {};
        ours.sa_handler = [](int) { kept = 1; };
        ours.sa_flags = static_cast<int>(SA_RESETHAND);
        ::sigaction(SIGINT, &ours, &before_);
    }
    WatchInterrupts(const WatchInterrupts&) = delete;
    WatchInterrupts& operator=(const WatchInterrupts&) = delete;
    ~WatchInterrupts() { ::sigaction(SIGINT, &before_, nullptr); }

    bool interrupted() const { return kept != 0; }

private:
    struct sigaction before_ {};
    inline static volatile std::sig_atomic_t kept = 0;
};

}  // namespace tilewalk

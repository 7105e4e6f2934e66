#include "app/io/end_request.h"

#include <array>
#include <atomic>

namespace tilewalk {
namespace {

struct Taken {
    int signal;
    bool ours = false;
    struct sigaction before {};
};
std::array<Taken, 3> taken{{{SIGINT}, {SIGTERM}, {SIGHUP}}};
std::atomic<int> asked = 0;

void give_back() {
    for (Taken& one : taken)
        if (one.ours) ::sigaction(one.signal, &one.before, nullptr);
}

extern "C" void ask_to_end(int signal) {
    asked = signal;
    give_back();
}

}  // namespace

EndRequest::EndRequest() {
    asked = 0;
    struct sigaction ours {};
    ours.sa_handler = ask_to_end;
    ::sigfillset(&ours.sa_mask);
    for (Taken& one : taken) {
        ::sigaction(one.signal, nullptr, &one.before);
        one.ours = one.before.sa_handler != SIG_IGN;
        if (one.ours) ::sigaction(one.signal, &ours, nullptr);
    }
}

EndRequest::~EndRequest() {
    give_back();
    asked = 0;
}

void EndRequest::grant() const {
    if (asked != 0) ::raise(asked);
}

bool asked_to_end() { return asked != 0; }

}  // namespace tilewalk

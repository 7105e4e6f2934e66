#include "app/io/temporary.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace tilewalk {

struct Entry {
    std::string name;
    std::atomic<bool> used = true;
    Entry* next = nullptr;
};

namespace {

// A signal handler sees globals only, and may neither wait nor free. So the list only grows: an entry that is
// done with is used again.
std::atomic<Entry*> entries = nullptr;

Entry* entry_of(std::string name) {
    for (Entry* entry = entries; entry; entry = entry->next)
        if (!entry->used) {
            entry->name = std::move(name);
            entry->used = true;
            return entry;
        }
    auto* entry = new Entry{std::move(name)};
    entry->next = entries.load();
    while (!entries.compare_exchange_weak(entry->next, entry)) {
    }
    return entry;
}

std::atomic<bool> ending = false;

void remove_all() {
    for (const Entry* entry = entries; entry; entry = entry->next)
        if (entry->used) ::unlink(entry->name.c_str());
    // Folders can go once their files are gone.
    for (const Entry* entry = entries; entry; entry = entry->next)
        if (entry->used) ::rmdir(entry->name.c_str());
}

// A second signal, which may come to another thread, waits until the first has removed everything.
extern "C" void remove_temporaries(int signal) {
    if (ending.exchange(true)) return;
    remove_all();
    std::signal(signal, SIG_DFL);
    ::raise(signal);  // meets the default action as soon as this handler has returned
}

bool lacks_memory() {
    const std::exception_ptr thrown = std::current_exception();
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {
    }
    return false;
}

// Nothing here may allocate.
void end_without_memory() {
    remove_all();
    if (!lacks_memory()) std::abort();
    constexpr std::string_view sentence =
        "tilewalk: There is not enough memory for this; the program ends.\n";
    [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, sentence.data(), sentence.size());
    ::_exit(2);
}

}  // namespace

void end_in_order_without_memory() { std::set_terminate(end_without_memory); }

Temporary::Temporary(std::string name) : entry_(entry_of(std::move(name))) {}

Temporary::Temporary(Temporary&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

Temporary::~Temporary() {
    if (!entry_) return;
    if (::unlink(entry_->name.c_str()) != 0) ::rmdir(entry_->name.c_str());
    entry_->used = false;
}

void Temporary::keep() {
    if (entry_) entry_->used = false;
    entry_ = nullptr;
}

void remove_temporaries_on_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) continue;
        struct sigaction ours {};
        ours.sa_handler = remove_temporaries;
        ours.sa_flags = SA_RESTART;
        ::sigfillset(&ours.sa_mask);
        ::sigaction(signal, &ours, nullptr);
    }
}

}  // namespace tilewalk

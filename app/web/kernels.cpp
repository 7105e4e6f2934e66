#include "app/web/kernels.h"

#include "app/web/browser.h"
#include "core/base/background.h"
#include "cuda/browser/elsewhere.h"
#include "cuda/browser/messages.h"

#include <map>
#include <optional>

namespace tilewalk::web {

namespace {

struct UnderWay {
    int run;
    std::string message;
    std::stop_token stop;
};

// One run at a time: each has a memory of its own.
struct Kernels {
    int runs = 0;
    std::optional<UnderWay> under_way;
    std::map<std::string, std::string> answers;  ///< of work that is not done yet, by message
};

Kernels& kernels() {
    static Kernels all;
    return all;
}

const std::string* ask(const std::string& message, const std::stop_token& stop) {
    Kernels& k = kernels();
    if (const auto at = k.answers.find(message); at != k.answers.end()) return &at->second;
    if (k.under_way && k.under_way->message == message) k.under_way->stop = stop;
    if (k.under_way) return nullptr;
    k.under_way = UnderWay{++k.runs, message, stop};
    start_kernels(k.runs, message.data(), message.size());
    return nullptr;
}

}  // namespace

void run_kernels_in_worker() { gpu::ask_elsewhere(ask); }

void kernels_answered(int run, std::string answer) {
    Kernels& k = kernels();
    if (!k.under_way || k.under_way->run != run) return;
    k.answers[k.under_way->message] = std::move(answer);
    k.under_way.reset();
    wake_beside();
}

void kernels_ended(int run, const std::string& why) {
    kernels_answered(run, gpu::refusal(why, gpu::TraceFailed::device));
}

void look_after_kernels() {
    Kernels& k = kernels();
    if (k.under_way && k.under_way->stop.stop_requested()) {
        stop_kernels(k.under_way->run);
        k.under_way.reset();
        wake_beside();
    }
    if (!waits_beside()) k.answers.clear();
}

}  // namespace tilewalk::web

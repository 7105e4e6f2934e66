#include "tests/cuda/ptx/launches.h"
#include "tests/cuda/ptx/modules.h"
#include "tests/cuda/stubs/device.h"
#include "tests/cuda/stubs/errors.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace tilewalk::stubs {

namespace {

int error_called(const std::string& name) {
    for (const ErrorInfo& info : all_errors)
        if (name == info.name) return info.error;
    throw std::invalid_argument("The stand-in knows no error " + name + ".");
}

// cudaMalloc@2+=cudaErrorUnknown!
Rule rule_of(const std::string& word, std::size_t at, std::size_t equals) {
    Rule rule{word.substr(0, at)};
    std::string error = word.substr(equals + 1);
    rule.for_good = error.back() == '!';
    if (rule.for_good) error.pop_back();
    rule.error = error_called(error);
    rule.call = std::stoi(word.substr(at + 1));
    rule.and_after = word[equals - 1] == '+';
    return rule;
}

void obey(Gpu& gpu, const std::string& word) {
    const std::size_t at = word.find('@'), equals = word.find('=');
    const std::string key = word.substr(0, equals),
                      value = equals == word.npos ? "" : word.substr(equals + 1);
    if (at != word.npos && equals != word.npos && at < equals && !value.empty())
        gpu.rules.push_back(rule_of(word, at, equals));
    else if (key == "none")
        gpu.devices = 0;
    else if (key == "no-driver")
        gpu.driver = 0;
    else if (key == "old-driver")
        gpu.driver = 12040;
    else if (key == "watched")
        gpu.watched = true;
    else if (key == "capability" && !value.empty())
        gpu.capability = std::stoi(value);
    else if (key == "memory" && !value.empty())
        gpu.memory = std::stoll(value) << 20;
    else if (key == "wrong" && !value.empty())
        gpu.wrong = value;
    else
        throw std::invalid_argument("The stand-in does not know the word " + word + ".");
}

}  // namespace

Gpu::Gpu() {
    // It is here to compute; what races and what reaches too far is looked for by tests/cuda/ptx.
    machine.find_races = false;
}

Gpu& gpu() {
    static Gpu one;
    static const bool told = [] {
        if (const char* const words = std::getenv("TILEWALK_STUB_GPU")) {
            std::istringstream in(words);
            for (std::string word; in >> word;) obey(one, word);
        }
        return true;
    }();
    static_cast<void>(told);
    return one;
}

void behave(const std::string& words) {
    Gpu& g = gpu();
    const std::lock_guard lock(g.mutex);
    g.driver = 13000, g.capability = 80, g.devices = 1, g.lost = 0;
    g.watched = false;
    g.memory = std::int64_t(2) << 30;
    g.wrong.clear(), g.rules.clear(), g.called.clear();
    std::istringstream in(words);
    for (std::string word; in >> word;) obey(g, word);
}

Live live() { return gpu().live; }

int calls(const std::string& function) { return gpu().called[function]; }

}  // namespace tilewalk::stubs

// What launches ask
namespace tilewalk::ptx {

using stubs::Gpu;

Machine* current_machine() { return &stubs::gpu().machine; }

const Kernel& find_kernel(const std::string& mangled) {
    Gpu& g = stubs::gpu();
    const bool wrong = !g.wrong.empty() && mangled.find(g.wrong) != mangled.npos;
    g.machine.fault = wrong ? Fault::maximum_forgets : Fault::none;
    // Below 9.0 the PTX of 8.0 stands for all from 8.0 on; that of 7.5 is there for the kernels that differ.
    return modules_of(TILEWALK_PTX_FOLDER, 80).kernel(plain_name(mangled));
}

int shared_of_block() { return shared_of_block(stubs::gpu().capability); }

int refusal(const char* function) {
    Gpu& g = stubs::gpu();
    const std::lock_guard lock(g.mutex);
    const int call = ++g.called[function];
    if (g.lost) return g.lost;
    if (g.driver < 13000) return cudaErrorInsufficientDriver;
    if (g.devices == 0) return cudaErrorNoDevice;
    for (const stubs::Rule& rule : g.rules) {
        if (rule.function != function || call < rule.call || (call > rule.call && !rule.and_after)) continue;
        if (rule.for_good) g.lost = rule.error;
        return rule.error;
    }
    return cudaSuccess;
}

// Launches are not waited for: who waits for the stream hears of it, and the device is lost.
int note_failure(const std::string& sentence) {
    std::cerr << "the stand-in for a GPU: " << sentence << "\n";
    stubs::gpu().lost = cudaErrorLaunchFailure;
    return cudaSuccess;
}

}  // namespace tilewalk::ptx

/// For the libcublas that stands beside it: bytes of the device as the host has them.
extern "C" unsigned char* tilewalk_stub_memory(const void* address, std::size_t bytes) {
    return tilewalk::stubs::gpu().machine.memory.find(reinterpret_cast<std::uintptr_t>(address), bytes);
}

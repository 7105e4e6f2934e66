// Runs what nvcc emitted for the kernels on the machine of tests/cuda/ptx: against fp64, under every
// schedule, and what is recorded against the emulator.
//
//     tilewalk_check_ptx [--kernel NAME] [--ptx FOLDER] [--capability 80] [--part 1/2] [--first] [--drawn]
//                                                         every case, or up to the first that is wrong; ends
//                                                         with 1 if one is. --part 1/2: the half of them that
//                                                         the processes 1/2 and 2/2 deal out among them.
//                                                         --drawn: one of three, which TILEWALK_SEED draws,
//                                                         and all of them where TILEWALK_KERNELS=all
//     tilewalk_check_ptx --records                        how far the records of the two are apart
//     tilewalk_check_ptx --faults                         the machine unbroken, and then broken in every way
//                                                         that faults.h lists, one after the other; ends with
//                                                         1 if one was not noticed
#include "tests/cuda/ptx/cases.h"
#include "tests/cuda/ptx/records.h"
#include "tests/part.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>

using namespace tilewalk;
using namespace tilewalk::ptx;

namespace {

using Clock = std::chrono::steady_clock;

/// One thing that can be wrong: its name, and a function that gives the sentence of it or nothing.
struct Check {
    std::string rung, name;
    int capability;
    std::function<std::string()> go;
    bool tries_faults = true;       ///< one of those that a broken machine is tried with
    std::int64_t instructions = 0;  ///< of its run on the sound machine
};

std::string check_records(const RecordCase& c) {
    for (const RecordDistance& d : compare_records(c))
        if (d.ulp > d.allowed)
            return d.quantity + " is " + std::to_string(d.ulp) + " ULP from the emulator's, where " +
                   std::to_string(d.allowed) + " are allowed";
    return "";
}

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    for (const Case& c : all_cases()) {
        std::ostringstream name;
        name << c;
        const bool packed = c.layout == Layout::bhsd;
        checks.push_back({c.kernel, name.str(), c.capability, [c] { return verify(c); },
                          packed && (c.w.N_q == 17 || c.w.N_q == 3)});
        // One middling shape of each rung and type
        if (c.w.N_q == 140 && packed && c.capability == 80)
            checks.push_back(
                {c.kernel, name.str() + ", every schedule", 80, [c] { return verify_schedules(c); }, false});
    }
    for (const RecordCase& c : record_cases())
        checks.push_back(
            {c.request.kernel, "the records of " + c.name, c.capability, [c] { return check_records(c); }});
    for (const auto& [type, capability] : {std::pair{DType::f16, 80}, {DType::bf16, 80}, {DType::f16, 75}})
        checks.push_back(
            {"intrinsics", std::string("every intrinsic once, ") + name_of(type), capability,
             [type = type, capability = capability] { return compare_intrinsics(type, capability); }});
    return checks;
}

// What it throws is a sentence, too.
std::string result_of(const Check& check) {
    try {
        return check.go();
    } catch (const std::exception& error) {
        return error.what();
    }
}

int run_all(const std::vector<Check>& checks, bool to_first) {
    struct Sum {
        int checks = 0, wrong = 0;
        double seconds = 0;
        std::int64_t instructions = 0;
    };
    std::map<std::string, Sum> sums;
    Sum total;
    for (const Check& check : checks) {
        const auto begin = Clock::now();
        const std::int64_t before = executed();
        const std::string wrong = result_of(check);
        if (!wrong.empty()) std::cout << check.name << ":\n  " << wrong << "\n";
        if (to_first && !wrong.empty()) return 1;
        for (Sum* sum : {&sums[check.rung], &total}) {
            ++sum->checks;
            sum->wrong += !wrong.empty();
            sum->seconds += std::chrono::duration<double>(Clock::now() - begin).count();
            sum->instructions += executed() - before;
        }
    }
    std::cout.precision(3);
    const auto line = [](const std::string& name, const Sum& sum) {
        std::cout << name << ": " << sum.checks << " checks, " << sum.wrong << " wrong, "
                  << sum.instructions / 1000 << " thousand instructions of warps, " << sum.seconds << " s\n";
    };
    for (const auto& [name, sum] : sums) line(name, sum);
    line("all", total);
    return total.wrong > 0 || total.checks == 0;
}

int show_records() {
    for (const RecordCase& c : record_cases()) {
        std::cout << c.name << "\n";
        for (const RecordDistance& d : compare_records(c))
            std::cout << "  " << d.quantity << ": " << d.differ << " of " << d.numbers << " differ, by up to "
                      << d.ulp << " ULP (" << d.allowed << " allowed)\n";
    }
    return 0;
}

// A fault is noticed where a check speaks that is silent without it: so all run on the sound machine first.
// Those that took least there look first.
int try_faults(std::vector<Check> checks) {
    std::erase_if(checks, [](const Check& check) { return !check.tries_faults; });
    const std::size_t all = checks.size();
    std::erase_if(checks, [](Check& check) {
        const std::int64_t before = executed();
        const std::string wrong = result_of(check);
        check.instructions = executed() - before;
        if (!wrong.empty()) std::cout << "without a fault, " << check.name << ":\n  " << wrong << "\n";
        return !wrong.empty();
    });
    std::cout << checks.size() << " of " << all << " checks are silent without a fault\n";
    std::ranges::stable_sort(checks, {}, &Check::instructions);
    int missed = 0;
    for (const FaultInfo& fault : all_faults) {
        setup().fault = fault.fault;
        std::string noticed;
        for (const Check& check : checks) {
            const std::string wrong = result_of(check);
            if (wrong.empty()) continue;
            noticed = check.name + ": " + wrong;
            break;
        }
        missed += noticed.empty();
        std::cout << fault.name << " (" << fault.what << "): " << (noticed.empty() ? "NOT NOTICED" : noticed)
                  << "\n";
    }
    std::cout << all_faults.size() - static_cast<std::size_t>(missed) << " of " << all_faults.size()
              << " noticed\n";
    return missed > 0 || checks.empty() || checks.size() < all;
}

// Part K of N of the checks, "K/N": dealt out one by one, so that no process has all the long ones. False: no
// such part.
bool keep_part(std::vector<Check>& checks, const std::string& part) {
    std::istringstream words(part);
    std::size_t k = 0, n = 0;
    char slash = 0;
    if (!(words >> k >> slash >> n) || words.peek() != EOF || slash != '/' || k < 1 || k > n) return false;
    std::size_t at = 0;
    std::erase_if(checks, [&](const Check&) { return at++ % n != k - 1; });
    return true;
}

}  // namespace

int main(int count, char** words) {
    setup().folder = TILEWALK_PTX_FOLDER;
    std::string kernel, part = "1/1";
    bool faults = false, records = false, first = false, drawn = false;
    int capability = 0;
    for (int n = 1; n < count; ++n) {
        const std::string word = words[n];
        if (word == "--drawn") {
            drawn = true;
        } else if (word == "--faults" || word == "--records" || word == "--first") {
            (word == "--faults" ? faults : word == "--records" ? records : first) = true;
        } else if (n + 1 < count && word == "--capability") {
            capability = std::atoi(words[++n]);
        } else if (n + 1 < count && (word == "--kernel" || word == "--ptx" || word == "--part")) {
            (word == "--kernel" ? kernel : word == "--part" ? part : setup().folder) = words[++n];
        } else {
            std::cerr << "unknown: " << word << "\n";
            return 2;
        }
    }
    std::vector<Check> checks = all_checks();
    if (!kernel.empty()) std::erase_if(checks, [&](const Check& c) { return c.rung != kernel; });
    if (capability) std::erase_if(checks, [&](const Check& c) { return c.capability != capability; });
    if (!keep_part(checks, part)) {
        std::cerr << "--part " << part << " is no part K/N, as 1/2 and 2/2 are\n";
        return 2;
    }
    test::Part some("TILEWALK_KERNELS", 3);
    if (drawn) std::erase_if(checks, [&](const Check&) { return !some.takes(); });
    return records ? show_records() : faults ? try_faults(checks) : run_all(checks, first);
}

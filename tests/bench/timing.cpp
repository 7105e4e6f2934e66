#include "tests/bench/timing.h"

#include "core/base/numbers.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tilewalk::bench {

namespace {

// Three digits and the unit that suits.
std::string format_seconds(double seconds) {
    const char* unit = seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    const double value = seconds < 1e-3 ? seconds * 1e6 : seconds < 1 ? seconds * 1e3 : seconds;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
    return text;
}

std::string format(const Row& row, double figure) {
    return row.bytes ? format_size(static_cast<std::int64_t>(figure)) : format_seconds(figure);
}

// printf counts bytes; 'µ' has two of them.
std::string right_aligned(const std::string& text, std::size_t width) {
    std::size_t letters = 0;
    for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return std::string(width > letters ? width - letters : 0, ' ') + text;
}

const char* verdict(const Row& row) {
    if (row.limit <= 0) return "";
    return row.over() ? "OVER" : "ok";
}

void print(const Row& row) {
    std::printf("%-46s", row.what.c_str());
    std::printf(" %s", right_aligned(row.limit > 0 ? format(row, row.limit) : "-", 9).c_str());
    if (!row.problem.empty()) {
        std::printf("  not measured: %s\n", row.problem.c_str());
        return;
    }
    std::printf(" %s", right_aligned(format(row, row.measured.typical), 9).c_str());
    std::printf(" %s", right_aligned(format(row, row.measured.worst), 9).c_str());
    std::printf(" %5d × %-4d %s\n", row.measured.cases, row.measured.repetitions, verdict(row));
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Measured measure(int cases, int repetitions, const std::function<void(int)>& work) {
    std::vector<double> of_cases;
    for (int c = 0; c < cases; ++c) {
        std::vector<double> times;
        for (int n = 0; n < repetitions; ++n) times.push_back(seconds_of([&] { work(c); }));
        of_cases.push_back(median(std::move(times)));
    }
    const double worst = of_cases.empty() ? 0 : *std::max_element(of_cases.begin(), of_cases.end());
    return {median(std::move(of_cases)), worst, cases, repetitions};
}

void print_table(const std::vector<Row>& rows) {
    std::printf("%-46s %9s %9s %9s %s\n", "", "limit", "typical", "worst", "cases × runs");
    for (const Row& row : rows) print(row);
}

}  // namespace tilewalk::bench

#include "core/bench/compared.h"

#include "core/base/matrix.h"

#include <cstdio>

namespace tilewalk {

namespace {

std::string in_short(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", x);
    return text;
}

}  // namespace

double error_of(double x, double exact) {
    if (x == exact) return 0;
    const double difference = std::abs(x - exact);
    return std::isnan(difference) ? infinity : difference;
}

AllCompared nothing_compared(DType type) {
    const double two = type == DType::f32 ? 0x1p-23 : type == DType::f16 ? 0x1p-10 : 0x1p-7;
    // Sums of tensor cores are cut off, not rounded.
    const double two_of_L = type == DType::f32 ? 0x1p-23 : 0x1p-20;
    return {{{"O", 2, two}, {"L", 2, two_of_L}, {"dQ", 3, two}, {"dK", 3, two}, {"dV", 3, two}}};
}

void merge(AllCompared& all, const AllCompared& part) {
    for (std::size_t tensor = 0; tensor < all.size(); ++tensor) all[tensor].merge(part[tensor]);
}

KernelVerdict verdict_of(const AllCompared& all, const Workload& w) {
    const Compared* worst = &all[0];
    for (const Compared& tensor : all)
        if (tensor.part() > worst->part()) worst = &tensor;
    KernelVerdict verdict{worst->error <= worst->limit(), worst->error, worst->limit(), ""};
    if (verdict.passed) return verdict;
    verdict.sentence = std::string(worst->tensor) + " is off by " + in_short(worst->error) + " (limit " +
                       in_short(worst->limit()) + ") in head " + std::to_string(worst->head) + ", row " +
                       std::to_string(worst->row) + ", column " + std::to_string(worst->column) +
                       "; N_q = " + std::to_string(w.N_q) + ", N_kv = " + std::to_string(w.N_kv) + ".";
    return verdict;
}

}  // namespace tilewalk

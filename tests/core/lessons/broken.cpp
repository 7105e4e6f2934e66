#include "tests/core/lessons/broken.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::test {

const Lesson& forward() { return *find_lesson("flash-forward"); }

Problem Broken::of(Problem p) const {
    p.options.order = order;
    if (lesson.uses(chooses_sequences)) p.window.reset();
    return p;
}

std::vector<Broken> breakable() {
    std::vector<Broken> out;
    for (const Lesson& lesson : lessons()) {
        if (lesson.faults().empty()) continue;
        out.push_back({lesson});
        if (lesson.uses(chooses_order)) out.push_back({lesson, BackwardOrder::query_outer});
    }
    return out;
}

Problem random_faults(Random& random, Problem p) {
    for (const Fault& fault : all_faults()) p.switches.*fault.on = pick(random, 0, 2) == 0;
    return p;
}

namespace {

Format any_format(Random& random, bool narrow) {
    return formats()[static_cast<std::size_t>(pick(random, 0, narrow ? 5 : 4))];
}

}  // namespace

Problem random_precision(Random& random, Problem p) {
    p.precision = {any_format(random, true), any_format(random, false), any_format(random, false),
                   any_format(random, true), any_format(random, false), any_format(random, true)};
    return p;
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_bits(const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           std::equal(a.data(), a.data() + a.size(), b.data(), same_number);
}

}  // namespace tilewalk::test

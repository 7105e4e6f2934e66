#include "tests/core/lessons/softmax_problems.h"

#include <doctest/doctest.h>

namespace tilewalk::test {

const Lesson& softmax_with(int passes) {
    return passes == 3 ? softmax_3pass : passes == 2 ? softmax_2pass : softmax_1pass;
}

std::shared_ptr<const Trace> softmax_walk(const Problem& p, int passes) { return softmax_with(passes)(p); }

Problem with_row(Problem p, int row, Notation notation, bool normalised) {
    p.options.row = row;
    p.options.notation = notation;
    p.options.normalised = normalised;
    return p;
}

Problem any_row(Random& random, int largest) {
    const Problem p = any_problem(random, largest);
    const int row = pick(random, 0, p.N() - 1), notation = pick(random, 0, 2);
    return with_row(p, row, static_cast<Notation>(notation), pick(random, 0, 1) == 1);
}

int softmax_step(const Trace& trace, Op op, int n, int pass) {
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        if (step.op == op && step.j == n - 1 && step.phase == pass - 1) return k;
    }
    return -1;
}

double left_in(const Trace& trace, Slot slot, Op op, int n, int pass) {
    const int k = softmax_step(trace, op, n, pass);
    REQUIRE(k >= 0);
    return trace.live(slot, k).value->data(0, 0);
}

}  // namespace tilewalk::test

#include "tests/core/steps.h"

#include <doctest/doctest.h>

namespace tilewalk::test {

int nth_step(const Trace& trace, Op op, int n) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && n-- == 0) return k;
    FAIL("no such step: ", name(op));
    return 0;
}

int find_step(const Trace& trace, Op op, int i, int j) {
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op && trace.step(k).i == i && trace.step(k).j == j) return k;
    return -1;
}

const Matrix& after(const Trace& trace, Slot slot, Op op, int n) {
    return trace.live(slot, nth_step(trace, op, n)).value->data;
}

std::string why(const Trace& trace, Op op, const CellRef& cell) {
    return explain(trace, nth_step(trace, op), cell).why;
}

std::string ops(const Trace& trace) {
    std::string out;
    for (int k = 0; k < trace.size(); ++k)
        out += (k > 0 ? " " : "") + std::to_string(trace.step(k).phase) + name(trace.step(k).op);
    return out;
}

}  // namespace tilewalk::test

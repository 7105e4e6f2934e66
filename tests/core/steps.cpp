#include "tests/core/steps.h"

#include "core/lessons/table.h"
#include "tests/core/problems.h"
#include "tests/good.h"

namespace tilewalk::test {

std::shared_ptr<const Trace> walk_of(const Lesson& lesson, const Problem& problem) {
    return good(build_trace(lesson, problem));
}

std::shared_ptr<const Trace> walk_of(std::string_view lesson, const Problem& problem) {
    return walk_of(*find_lesson(lesson), problem);
}

std::string where(const Trace& trace, int step, const CellRef& cell) {
    return std::string(trace.lesson().id) + ", " + describe(trace.problem()) + ", step " +
           std::to_string(step + 1) + (step < 0 ? "" : std::string(" ") + name(trace.step(step).op)) +
           (cell.slot == Slot::count ? ""
                                     : std::string(" ") + info(cell.slot).name + "[" +
                                           std::to_string(cell.row) + "," + std::to_string(cell.col) + "]");
}

std::vector<int> steps_of(const Trace& trace, Op op) {
    std::vector<int> out;
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == op) out.push_back(k);
    return out;
}

int nth_step(const Trace& trace, Op op, int n) {
    const std::vector<int> all = steps_of(trace, op);
    REQUIRE_MESSAGE(n < static_cast<int>(all.size()), "no such step: ", name(op));
    return all[static_cast<std::size_t>(n)];
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

int check_ops(const Trace& trace, int k, std::initializer_list<Op> ops, int i, int j) {
    for (const Op op : ops) {
        const Step& step = trace.step(k++);
        CHECK_MESSAGE((step.op == op && step.i == i && step.j == j), where(trace, k - 1));
    }
    return k;
}

std::string ops(const Trace& trace) {
    std::string out;
    for (int k = 0; k < trace.size(); ++k)
        out += (k > 0 ? " " : "") + std::to_string(trace.step(k).phase) + name(trace.step(k).op);
    return out;
}

}  // namespace tilewalk::test

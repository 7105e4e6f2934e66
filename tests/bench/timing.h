// Timing: enough repetitions, and the middle one of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tilewalk::bench {

/// Seconds. `typical` is the median over all cases, `worst` that of the slowest case (a step, a start).
struct Measured {
    double typical = 0, worst = 0;
    int cases = 1, repetitions = 0;
};

/// One line of the table. A `limit` of 0 means that none is set; a `problem` stands in for figures that could
/// not be taken.
struct Row {
    std::string what;
    double limit = 0;
    Measured measured;
    std::string problem;
    bool bytes = false;  ///< limit and figures are bytes, not seconds

    bool over() const { return problem.empty() && limit > 0 && measured.worst > limit; }
};

/// The middle value; 0 for none.
double median(std::vector<double> values);
double seconds_of(const std::function<void()>& work);
/// Runs `work(c)` for each case c < `cases`, `repetitions` times each.
Measured measure(int cases, int repetitions, const std::function<void(int)>& work);

/// Prints the rows under each other: what, limit, typical, worst, "ok" or "OVER".
void print_table(const std::vector<Row>& rows);

}  // namespace tilewalk::bench

// How often warps did something in a line of the source, by what it was: a line that loads and stores counts
// both.
#pragma once

#include "core/inside/steps.h"

#include <map>

namespace tilewalk::inside {

class LineTimes {
public:
    LineTimes(const Record& record, const BlockRecord& block, const Steps& steps);

    struct Times {
        int now = 0, all = 0;
    };
    struct OfOp {
        Op op = Op::load;
        Times times;
    };
    /// Of a warp up to its step k and altogether, in the order in which it first comes to them.
    std::vector<OfOp> at(int warp, int k, const std::string& file, int line) const;

private:
    struct Kind {
        Op op;
        std::vector<int> steps;
    };
    /// By file and line: of each warp its kinds of steps there.
    std::map<std::pair<std::string, int>, std::vector<std::vector<Kind>>> lines;
};

}  // namespace tilewalk::inside

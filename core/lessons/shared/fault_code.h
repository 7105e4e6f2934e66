// Pseudocode of broken kernels: the lines of the true one, some of them replaced.
#pragma once

#include "core/lessons/shared/faults.h"
#include "core/walk/lesson.h"

#include <initializer_list>
#include <vector>

namespace tilewalk {

/// With this fault line `line` reads `text`.
struct FaultLine {
    bool Switches::*fault;
    int line;
    const char* text;
};

/// Every combination of a lesson's faults, made once, so that what is handed out stays where it is.
class FaultCode {
public:
    FaultCode(std::span<const CodeLine> lines, std::span<const Fault> faults,
              std::initializer_list<FaultLine> replaced);
    std::span<const CodeLine> of(const Problem& problem) const;

private:
    std::span<const Fault> faults_;
    std::vector<std::vector<CodeLine>> codes_;  ///< bit n of the index is the nth fault
};

}  // namespace tilewalk

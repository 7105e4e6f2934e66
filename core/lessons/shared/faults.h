// The deliberate faults of the tiled lessons: one table, and pseudocode of the kernels that have them.
#pragma once

#include "core/walk/lesson.h"

#include <initializer_list>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace tilewalk {

/// Every fault once, in the order of files.
std::span<const Fault> all_faults();
/// Null if there is none.
const Fault* find_fault(std::string_view name);
/// The faults that these kernels know (Lesson::faults).
std::span<const Fault> forward_faults();
std::span<const Fault> backward_faults();
std::span<const Fault> merge_faults();
std::span<const Fault> split_faults();
std::span<const Fault> ring_faults();
std::span<const Fault> ring_backward_faults();
/// What a fault of this problem makes of such a step; null where the step does what it should.
const char* fault_caption(const Problem& problem, Op op);

/// With this fault the line of this op (and lane) reads `text`.
struct FaultLine {
    bool Switches::*fault;
    Op op;
    const char* text;
    int phase = CodeLine::any_phase;
};

/// The lines of mask, maximum and weights with their faults, which every tiled forward walk has, and the
/// lesson's own.
std::vector<FaultLine> with_tile_faults(std::initializer_list<FaultLine> own);

/// With a sink the line of this op reads `text`; with a fault as well only where it is named.
struct SinkLine {
    Op op;
    const char* text;
    bool Switches::*fault = nullptr;
    int phase = CodeLine::any_phase;
};

/// With this saved the line of this op reads `text`.
struct SavingLine {
    bool (*saved)(const Savings&);
    Op op;
    const char* text;
};

/// The lines of a true kernel, some of them replaced, and without those of a softcap, bias or sink that
/// the problem does not have. Each combination is made once, so that what is handed out stays where it is.
class FaultCode {
public:
    FaultCode(std::span<const CodeLine> lines, std::vector<FaultLine> replaced,
              std::initializer_list<SinkLine> with_sink = {},
              std::initializer_list<SavingLine> with_savings = {});
    std::span<const CodeLine> of(const Problem& problem) const;

private:
    std::vector<CodeLine> lines_for(const Problem& problem) const;

    std::vector<CodeLine> lines_;
    std::vector<FaultLine> replaced_;
    std::vector<SinkLine> with_sink_;
    std::vector<SavingLine> with_savings_;
    mutable std::mutex making_;
    mutable std::map<unsigned, std::vector<CodeLine>> made_;  ///< by faults, savings and logits, as bits
};

}  // namespace tilewalk

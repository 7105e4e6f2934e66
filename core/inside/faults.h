// Which faults a kernel can be given, found from the record of its sound run: one table, read by the page, by
// links and by the command line.
#pragma once

#include "core/base/result.h"
#include "core/inside/record.h"

namespace tilewalk::inside {

/// What a fault is called, what is done in place of what the kernel says, and what has to come of it.
struct FaultInfo {
    const char* id;      ///< of links and of the command line; empty: its place, "f5_flash2.cu:71"
    const char* title;   ///< "Swizzle off"
    const char* what;    ///< what the run does instead
    const char* expect;  ///< what comes of it
    bool races, differs,
        conflicts;  ///< the same for the tests: accesses race, O is wrong, banks are asked twice
};
const FaultInfo& info(FaultKind kind);

/// Barriers and waits in the order of the source, then the other kinds that this run can be given.
std::vector<Fault> faults_of(const Record& sound);
/// Why this kind makes no difference to the run, as a sentence; empty: it does.
std::string fault_lacks(const Record& sound, FaultKind kind);

/// A fault of a kernel, and why the run of a problem cannot be given it, as a sentence; empty: it can.
struct KnownFault {
    Fault fault;
    std::string lacks;
};
/// All of the kernel: those of this run, and those that only a run of it on a larger problem comes to.
std::vector<KnownFault> known_faults(const Record& sound, const Record& larger);

/// "f5_flash2.cu:71", "swizzle"
std::string name_of(const Fault& fault);
/// "Barrier of line 71 off", "Swizzle off"
std::string title_of(const Fault& fault);
/// Refused with a sentence that says which there are.
Result<Fault> fault_named(const Record& sound, const std::string& name);

}  // namespace tilewalk::inside

#include "core/lessons/shared/fault_code.h"

namespace tilewalk {

FaultCode::FaultCode(std::span<const CodeLine> lines, std::span<const Fault> faults,
                     std::initializer_list<FaultLine> replaced)
    : faults_(faults) {
    for (unsigned bits = 0; bits < 1u << faults.size(); ++bits) {
        codes_.emplace_back(lines.begin(), lines.end());
        for (std::size_t n = 0; n < faults.size(); ++n)
            for (const FaultLine& line : replaced)
                if ((bits >> n & 1) != 0 && line.fault == faults[n].on)
                    codes_.back()[static_cast<std::size_t>(line.line)].text = line.text;
    }
}

std::span<const CodeLine> FaultCode::of(const Problem& p) const {
    unsigned bits = 0;
    for (std::size_t n = 0; n < faults_.size(); ++n)
        bits |= static_cast<unsigned>(p.switches.*faults_[n].on) << n;
    return codes_[bits];
}

}  // namespace tilewalk

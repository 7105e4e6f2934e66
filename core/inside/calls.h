// From which lines of a kernel the helper was called that a step stands in: load_A of fragments.h from
// multiply_QK of bands.h from f5_flash2.cu. A record knows where a step stands, but not who called: that is
// read off the text, which says what ways lead to a helper, and off the warp's steps, of which each goes on
// where the one before has been. Of all ways of a warp through the text the one is taken that goes back least
// often, and on which a call names the matrix that its steps are about. Where several are as good, all their
// lines are named.
#pragma once

#include "core/inside/origin.h"
#include "core/inside/source.h"

namespace tilewalk::inside {

/// A call: one line, or lines of which it is one.
struct Call {
    std::string file, function;  ///< in which it stands
    std::vector<int> lines;
    bool operator==(const Call&) const = default;
};

class Calls {
public:
    /// Of all warps of a block. `sources`: of all kernels; only the files that the record has places in are
    /// looked at.
    Calls(const Record& record, const BlockRecord& block, const Steps& steps, const Origins& origins,
          const std::vector<SourceText>& sources);

    /// The way up to the kernel itself, the nearest call first; as far as it is plain.
    const std::vector<Call>& of(int warp, int k) const {
        return ways[of_warp[static_cast<std::size_t>(warp)][static_cast<std::size_t>(k)]];
    }

private:
    std::vector<std::vector<Call>> ways;              ///< those that there are
    std::vector<std::vector<std::uint16_t>> of_warp;  ///< of each step: which of them
};

/// "called at bands.h:33, f5_flash2.cu:81"; "" if it is the kernel itself.
std::string calls_text(const std::vector<Call>& calls);

}  // namespace tilewalk::inside

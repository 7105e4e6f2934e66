// From which lines of a kernel the helper was called that a step stands in: load_A of fragments.h from
// multiply_QK of bands.h from f5_flash2.cu. A record knows where a step stands, but not who called: that is
// read off the text. Where a function is called at several lines, the steps before and behind say which of
// them it can have been; where that leaves several, all of them are named.
#pragma once

#include "core/inside/source.h"
#include "core/inside/steps.h"

#include <map>

namespace tilewalk::inside {

/// A call: one line, or lines of which it is one.
struct Call {
    std::string file, function;  ///< in which it stands
    std::vector<int> lines;
};

class Calls {
public:
    /// `sources`: of all kernels; only the files that the record has places in are looked at.
    Calls(const Record& record, const std::vector<SourceText>& sources);
    Calls(Calls&&) = default;  // its parts point at each other, but may move together

    /// The way up to the kernel itself, the nearest call first; as far as it is plain.
    std::vector<Call> of(const BlockRecord& block, const Steps& steps, int warp, int k) const;

private:
    struct Function {
        std::string file, name;
        bool kernel = false;  ///< launched, and not called
        bool operator==(const Function&) const = default;
        bool operator<(const Function& other) const {
            return std::tie(file, name, kernel) < std::tie(other.file, other.name, other.kernel);
        }
    };
    struct Site {
        const Function* caller;
        int line;
    };
    const Function* function_at(const SourceText& source, int line);
    void find_sites(const std::vector<const SourceText*>& sources);
    /// The line of `of` that the warp is in at a step, if that is plain; 0: it is not.
    int line_in(const Function& of, const BlockRecord& block, const Steps& steps, int warp, int k) const;
    std::vector<int> narrowed(std::vector<int> lines, const Function& caller, const Function& callee,
                              const BlockRecord& block, const Steps& steps, int warp, int k) const;

    const Record& record;
    std::map<Function, std::vector<Site>> sites;  ///< of each function: where it is called
    std::vector<const Function*> of_place;
};

/// "called at bands.h:33, f5_flash2.cu:81"; "" if it is the kernel itself.
std::string calls_text(const std::vector<Call>& calls);

}  // namespace tilewalk::inside

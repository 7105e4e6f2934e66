// The record of a kernel's run as one page for a browser: its source with what each line did.
#pragma once

#include "core/inside/record.h"
#include "core/inside/source.h"

#include <iosfwd>
#include <span>

namespace tilewalk {

/// A run with a fault: what it goes without and in which order, and what came of it.
struct BrokenWords {
    std::string fault;    ///< "Barrier of line 78 off (f5_flash2.cu:78): all warps are done with K_j"
    std::string order;    ///< "copies arrive at once, warps take turns; 1 order tried"
    std::string numbers;  ///< "O: 12 of 8192 numbers are wrong"
    std::vector<std::string> cells;  ///< "the worst: O[3, 5] is 1.25 in place of 0.8"
    std::string banks;               ///< their turns, where these are others; else empty
};

/// `sources`: of the files that the record names; a file that is not among them has its counts alone.
/// `broken`: of a run with a fault; null: it is sound.
void write_inside_html(std::ostream& out, const inside::Record& record, const std::string& problem,
                       std::span<const inside::SourceText> sources, const BrokenWords* broken = nullptr);

}  // namespace tilewalk

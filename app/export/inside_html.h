// The record of a kernel's run as one page for a browser: its source with what each line did.
#pragma once

#include "app/export/inside_broken.h"
#include "core/inside/record.h"
#include "core/inside/source.h"

#include <iosfwd>
#include <span>

namespace tilewalk {

/// `sources`: of the files that the record names; a file that is not among them has its counts alone.
/// `broken`: of a run with a fault; null: it is sound.
void write_inside_html(std::ostream& out, const inside::Record& record, const std::string& problem,
                       std::span<const inside::SourceText> sources, const BrokenWords* broken = nullptr);

}  // namespace tilewalk

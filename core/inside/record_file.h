// A record as bytes, for another process of this program on the same machine.
#pragma once

#include "core/base/result.h"
#include "core/inside/record.h"

#include <iosfwd>
#include <string>
#include <string_view>

namespace tilewalk::inside {

void write_record(std::ostream& out, const Record& record);
std::string record_bytes(const Record& record);  ///< the same
/// Refused where the bytes are not those of a whole record.
Result<Record> read_record(std::string_view bytes);

}  // namespace tilewalk::inside

#include "app/cli/output.h"

#include <cerrno>
#include <ostream>
#include <system_error>

namespace tilewalk {

std::optional<std::string> write_to_stream(std::ostream& out, const Writer& write) {
    errno = 0;
    write(out);
    out.flush();
    if (out) return std::nullopt;
    if (errno == EPIPE) return "";
    const std::string why = errno != 0 ? ": " + std::generic_category().message(errno) : "";
    return "The standard output could not be written" + why + ".";
}

}  // namespace tilewalk

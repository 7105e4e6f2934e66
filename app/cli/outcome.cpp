#include "app/cli/commands.h"

#include <cerrno>
#include <ostream>
#include <system_error>

namespace tilewalk {
namespace {

Result<void> write_to_stream(std::ostream& out, const Writer& write) {
    errno = 0;
    write(out);
    out.flush();
    if (out) return {};
    if (errno == EPIPE) return Failure{};
    const std::string why = errno != 0 ? ": " + std::generic_category().message(errno) : "";
    return Failure{"The standard output could not be written" + why + "."};
}

}  // namespace

Outcome put(const std::optional<std::string>& file, std::ostream& out, const Writer& write) {
    return written(file ? write_file_atomic(*file, write) : write_to_stream(out, write));
}

Outcome put(const std::optional<std::string>& file, std::ostream& out, const std::string& text) {
    return put(file, out, [&text](std::ostream& stream) { stream << text; });
}

}  // namespace tilewalk

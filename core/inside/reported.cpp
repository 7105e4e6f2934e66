#include "core/inside/reported.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tilewalk::inside {

namespace {

constexpr std::string_view report = ".UBSAN_NULL (";

struct Report {
    std::string site, pointer;
};

/// Of "  [my.cu:7:8 discrim 1] .UBSAN_NULL (s_32, 0B, 4);", if it is of a load or a store.
std::optional<Report> report_of(std::string_view line) {
    const std::size_t at = line.find(report), begin = line.find('['), end = line.find("] ", begin);
    if (at == line.npos || begin == line.npos || end > at) return {};
    const std::string_view place = line.substr(begin + 1, end - begin - 1);
    const std::string_view said = line.substr(at + report.size());
    const std::size_t comma = said.find(", ");
    if (comma == said.npos) return {};
    const std::string_view kind = said.substr(comma + 2, 3);
    if (kind != "0B," && kind != "1B,") return {};
    return Report{std::string(place.substr(0, place.find(" discrim"))) + (kind == "1B," ? " stores" : ""),
                  std::string(said.substr(0, comma))};
}

/// How far behind the pointer the statement goes: "MEM[(float *)s_32 + 252B]", "(*s_32)[3]".
std::optional<std::int64_t> behind(std::string_view statement, const std::string& pointer) {
    if (statement.find("(*" + pointer + ")[") != statement.npos) return {};
    const std::size_t at = statement.find(")" + pointer);
    if (at == statement.npos) return 0;
    std::string_view rest = statement.substr(at + 1 + pointer.size());
    std::int64_t bytes = 0;
    if (rest.starts_with(" + ")) {
        rest.remove_prefix(3);
        const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), bytes);
        if (read.ec != std::errc()) return {};
        rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
        if (!rest.starts_with("B]")) return {};
        rest.remove_prefix(1);
    }
    if (rest.starts_with("][")) return {};
    return bytes;
}

}  // namespace

std::string reported_site(std::string_view file, int line, int column, bool stores) {
    return std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(column) +
           (stores ? " stores" : "");
}

// A site stands in the dump once for each function that has it, as copies of a template do.
Reported reported_by_gcc(std::string_view dump) {
    Reported all;
    std::map<std::string, std::string> open;  // reported, and the statement not yet seen
    while (!dump.empty()) {
        const std::size_t end = std::min(dump.find('\n'), dump.size());
        const std::string_view line = dump.substr(0, end);
        dump.remove_prefix(std::min(end + 1, dump.size()));
        if (const auto said = report_of(line)) open.insert_or_assign(said->site, said->pointer);
        if (line.find(report) != line.npos) continue;
        for (const auto& [site, pointer] : open) {
            const auto bytes = behind(line, pointer);
            if (const auto [at, is_new] = all.try_emplace(site, bytes); !is_new && at->second != bytes)
                at->second.reset();
        }
        open.clear();
    }
    return all;
}

}  // namespace tilewalk::inside

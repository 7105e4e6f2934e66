#include "core/inside/calls.h"

#include "core/base/words.h"

#include <algorithm>
#include <set>

namespace tilewalk::inside {

namespace {

constexpr int looks_around = 256;  ///< steps

/// The line without what stands behind "//".
std::string_view code_of_line(std::string_view line) { return line.substr(0, line.find("//")); }

/// It calls the function: its name, perhaps template arguments, a parenthesis.
bool calls_function(std::string_view line, const std::string& name) {
    for (std::size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
        if (at > 0 && in_name(line[at - 1])) continue;
        std::size_t next = at + name.size();
        if (next < line.size() && line[next] == '<') {
            int depth = 0;
            while (next < line.size()) {
                depth += line[next] == '<' ? 1 : line[next] == '>' ? -1 : 0;
                ++next;
                if (depth == 0) break;
            }
        }
        if (next < line.size() && line[next] == '(') return true;
    }
    return false;
}

/// The line that begins the function around this one, and whether it is a kernel; 0: none does.
std::pair<int, bool> beginning(const SourceText& source, int line) {
    for (int n = line; n >= 1; --n) {
        const std::string_view code = code_of_line(source.line(n));
        if (code.find("KERNEL ") != code.npos) return {n, true};
        if (code.find("DEVICE ") != code.npos) return {n, false};
    }
    return {0, false};
}

std::string short_file(const std::string& file) { return file.substr(file.find_last_of('/') + 1); }

}  // namespace

const Calls::Function* Calls::function_at(const SourceText& source, int line) {
    const std::string name = function_of(source, line);
    if (name.empty()) return nullptr;
    return &sites.try_emplace({source.file, name, beginning(source, line).second}).first->first;
}

Calls::Calls(const Record& of_record, const std::vector<SourceText>& all) : record(of_record) {
    std::set<std::string> files;
    for (const Place& place : record.places) files.insert(place.file);
    std::vector<const SourceText*> sources;
    for (const SourceText& source : all)
        if (files.contains(source.file)) sources.push_back(&source);
    for (const SourceText* source : sources)
        for (int n = 1; n <= source->count(); ++n) function_at(*source, n);
    find_sites(sources);
    for (const Place& place : record.places) {
        const auto source =
            std::ranges::find(sources, place.file, [](const SourceText* s) { return s->file; });
        of_place.push_back(source == sources.end() ? nullptr : function_at(**source, place.line));
    }
}

void Calls::find_sites(const std::vector<const SourceText*>& sources) {
    for (auto& [function, found] : sites) {
        if (function.kernel) continue;
        for (const SourceText* source : sources)
            for (int n = 1; n <= source->count(); ++n) {
                if (!calls_function(code_of_line(source->line(n)), function.name)) continue;
                const int begin = beginning(*source, n).first;
                if (begin == 0 || begin == n) continue;
                const Function* const caller = function_at(*source, n);
                if (caller && *caller != function) found.push_back({caller, n});
            }
    }
}

int Calls::line_in(const Function& of, const BlockRecord& block, const Steps& steps, int warp, int k) const {
    const std::uint32_t place = block.events[steps.event(warp, k)].place;
    const Function* const here = of_place[place];
    if (!here) return 0;
    if (*here == of) return record.places[place].line;
    int line = 0;
    for (const Site& site : sites.at(*here)) {
        if (*site.caller != of) continue;
        if (line != 0) return 0;
        line = site.line;
    }
    return line;
}

// Behind what came before and before what comes behind; where a loop began anew in between, one of both.
std::vector<int> Calls::narrowed(std::vector<int> lines, const Function& caller, const Function& callee,
                                 const BlockRecord& block, const Steps& steps, int warp, int k) const {
    const auto known = [&](int by) {
        for (int n = k + by; n >= 0 && n < steps.count(warp) && std::abs(n - k) < looks_around; n += by) {
            const Function* const there = of_place[block.events[steps.event(warp, n)].place];
            if (!there || *there == callee) continue;
            if (const int line = line_in(caller, block, steps, warp, n)) return line;
        }
        return 0;
    };
    if (lines.size() < 2) return lines;
    const int before = known(-1), behind = known(1);
    std::vector<int> out;
    for (const int line : lines) {
        const bool after = before == 0 || line >= before, until = behind == 0 || line <= behind;
        const bool again = before != 0 && behind != 0 && before >= behind;
        if (again ? after || until : after && until) out.push_back(line);
    }
    return out.empty() ? lines : out;
}

std::vector<Call> Calls::of(const BlockRecord& block, const Steps& steps, int warp, int k) const {
    std::vector<Call> way;
    const Function* function = of_place[block.events[steps.event(warp, k)].place];
    constexpr std::size_t most = 8;
    while (function && !function->kernel && way.size() < most) {
        // Only where all calls stand in one function is it plain which one it was.
        const auto& found = sites.at(*function);
        if (found.empty() ||
            std::ranges::any_of(found, [&](const Site& s) { return s.caller != found[0].caller; }))
            break;
        std::vector<int> lines;
        for (const Site& site : found) lines.push_back(site.line);
        const Function* const caller = found[0].caller;
        way.push_back({caller->file, caller->name,
                       narrowed(std::move(lines), *caller, *function, block, steps, warp, k)});
        function = caller;
    }
    return way;
}

std::string calls_text(const std::vector<Call>& calls) {
    std::string text;
    for (const Call& call : calls) {
        std::vector<std::string> lines;
        for (const int line : call.lines) lines.push_back(str(line));
        text += (text.empty() ? "called at " : ", ") + short_file(call.file) + ":" + listed(lines);
    }
    return text;
}

}  // namespace tilewalk::inside

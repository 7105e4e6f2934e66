// tilewalk inside
#include "app/cli/commands.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/export/text_layout.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/inside/model_time.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;
using inside::Counts;
using inside::Launch;
using inside::Race;
using inside::RaceAccess;
using inside::Record;

std::string shape_of(const Launch& l) {
    if (!l.name.empty()) return l.name + " by the vendor's library, which is not looked into";
    const std::string blocks = str(l.x) + " × " + str(l.y) + " × " + str(l.z);
    return blocks + (blocks == "1 × 1 × 1" ? " block of " : " blocks of ") + str(l.threads) + " threads" +
           (l.shared_bytes > 0 ? ", each with " + format_size(l.shared_bytes) + " of shared memory" : "");
}

/// In the order of the source.
std::vector<Counts> by_line(const Record& record, const Launch& launch) {
    std::vector<Counts> counts = launch.counts;
    const auto key = [&](const Counts& c) {
        const inside::Place& p = record.places[c.place];
        return std::tuple(p.file, p.line, p.column, c.op);
    };
    std::ranges::stable_sort(counts, {}, key);
    return counts;
}

std::string counts_text(const Record& record, const Launch& launch) {
    std::vector<std::vector<std::string>> rows{{"line", "", "by warps", "by lanes", "turns of banks",
                                                "without conflict", "ways", "sectors", "needed"}};
    const auto number = [](std::int64_t n) { return n == 0 ? std::string() : format_count(n); };
    for (const Counts& c : by_line(record, launch))
        rows.push_back({place_text(record, c.place), info(c.op).name, number(c.warps), number(c.lanes),
                        number(c.shared_turns), number(c.shared_least), number(c.worst_ways),
                        number(c.sectors), number(c.sectors_least)});
    return number_table(rows, {0, 1});
}

std::string model_text_of(const Launch& launch) {
    std::string text;
    for (const inside::BlockRecord& block : launch.blocks)
        for (const inside::Costs& costs : inside::all_costs())
            text += (text.empty() ? "" : ", ") + std::string(costs.chip) + " " +
                    format_count(inside::model_time(block, launch.warps(), costs).end);
    return text.empty() ? "" : "model: the longest path of its first block, in clocks: " + text + "\n";
}

std::string inside_text(const Record& record) {
    std::string text = record.kernel + ": " + record.title + " (" + name_of(record.dtype) + ")\n";
    int n = 0;
    for (const Launch& launch : record.launches) {
        text += "\nlaunch " + str(++n) + ": " + shape_of(launch) + "\n";
        if (!launch.name.empty()) continue;
        text += counts_text(record, launch) + model_text_of(launch);
        for (const Race& race : launch.races) text += "RACE at " + race_text(record, race) + "\n";
    }
    if (record.races() == 0) text += "\nNo two accesses race.\n";
    return text;
}

Json counts_json(const Record& record, const Counts& c) {
    const inside::Place& p = record.places[c.place];
    return {{"file", p.file},
            {"line", p.line},
            {"column", p.column},
            {"op", info(c.op).name},
            {"warps", c.warps},
            {"lanes", c.lanes},
            {"shared_bytes", c.shared_bytes},
            {"bank_turns", c.shared_turns},
            {"bank_turns_without_conflict", c.shared_least},
            {"ways", c.worst_ways},
            {"global_bytes", c.global_bytes},
            {"sectors", c.sectors},
            {"sectors_needed", c.sectors_least}};
}

Json side_json(const Record& record, const RaceAccess& a) {
    const inside::Place& p = record.places[a.place];
    return {{"file", p.file},   {"line", p.line}, {"op", info(a.op).name},
            {"block", a.block}, {"warp", a.warp}, {"lanes", inside::lanes_text(a.lanes)}};
}

Json launch_json(const Record& record, const Launch& launch) {
    if (!launch.name.empty()) return {{"library", launch.name}};
    Json json{{"grid", {launch.x, launch.y, launch.z}},
              {"threads", launch.threads},
              {"shared_bytes", launch.shared_bytes}};
    json["lines"] = Json::array(), json["races"] = Json::array(), json["model"] = Json::array();
    for (const Counts& c : by_line(record, launch)) json["lines"].push_back(counts_json(record, c));
    for (const Race& race : launch.races)
        json["races"].push_back({{"address", inside::address_text(record, race.address)},
                                 {"first", side_json(record, race.first)},
                                 {"second", side_json(record, race.second)},
                                 {"pairs", race.times}});
    for (const inside::BlockRecord& block : launch.blocks)
        for (const inside::Costs& costs : inside::all_costs())
            json["model"].push_back({{"capability", costs.capability},
                                     {"chip", costs.chip},
                                     {"clocks", inside::model_time(block, launch.warps(), costs).end}});
    return json;
}

std::string inside_json(const Record& record) {
    Json json{{"schema", "tilewalk-inside-1"},
              {"kernel", record.kernel},
              {"dtype", name_of(record.dtype)},
              {"race_free", record.races() == 0},
              {"launches", Json::array()}};
    for (const Launch& launch : record.launches) json["launches"].push_back(launch_json(record, launch));
    return json.dump(2) + "\n";
}

Result<gpu::RecordRequest> make_record_request(const Arguments& a) {
    gpu::RecordRequest request;
    const auto kernel = find_kernel(a.compare.kernel.value_or(request.kernel));
    if (!kernel) return Failure{kernel.error};
    const auto type = find_type(*kernel, a.compare.dtype);
    if (!type) return Failure{type.error};
    auto problem = make_problem(a.problem);
    if (!problem) return Failure{problem.error};
    if (auto refused = validate(*problem)) return Failure{*refused};
    request.kernel = kernel->name, request.dtype = *type, request.problem = std::move(*problem);
    request.blocks = {0};
    return request;
}

}  // namespace

Outcome run_inside(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    const auto request = make_record_request(a);
    if (!request) return bad_input(request.error);
    gpu::TraceFailed how{};
    const auto record = gpu::record_kernel(*request, &how);
    if (!record)
        return how == gpu::TraceFailed::input ? bad_input(record.error) : Outcome{Exit::failed, record.error};
    Outcome outcome = put(a.output, out, *format == 1 ? inside_json(*record) : inside_text(*record));
    if (outcome.exit != Exit::done || record->races() == 0) return outcome;
    return {Exit::failed, record->kernel + ": two accesses to one address race."};
}

}  // namespace tilewalk

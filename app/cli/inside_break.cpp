#include "app/cli/inside_break.h"

#include "app/export/text_layout.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/inside/source.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;
using inside::BankTotals;
using inside::Damage;
using inside::KnownFault;
using inside::Record;
using inside::WrongCell;

// A number of JSON, or null: JSON has no NaN.
Json number_json(float x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json cell_json(const std::optional<WrongCell>& cell) {
    if (!cell) return nullptr;
    return {{"output", cell->output},
            {"row", cell->row},
            {"column", cell->column},
            {"sound", number_json(cell->sound)},
            {"broken", number_json(cell->broken)}};
}

Json banks_json(const BankTotals& banks) {
    return {{"bank_turns", banks.turns}, {"bank_turns_without_conflict", banks.least}, {"ways", banks.ways}};
}

}  // namespace

std::vector<KnownFault> faults_of_kernel(const gpu::RecordRequest& request, const Record& sound) {
    gpu::RecordRequest larger = request;
    // So many keys that every kernel goes through each of its buffers twice; an odd number fills no tile.
    larger.problem = *random_problem(gpu::most_recorded_N - 1, static_cast<int>(request.problem.d()), 1);
    larger.blocks = {};
    const auto all = gpu::record_kernel(larger);
    return inside::known_faults(sound, all ? *all : sound);
}

std::string faults_text(const std::string& kernel, const std::vector<KnownFault>& faults) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [fault, lacks] : faults)
        rows.push_back({inside::name_of(fault), inside::title_of(fault), meaning_of(fault)});
    if (rows.empty()) return "There is nothing in " + kernel + " that can be left out.\n";
    std::string text = number_table(rows, {0, 1, 2});
    // Below the table, which says what each is
    for (const auto& [fault, lacks] : faults)
        if (!lacks.empty()) text += "Not here: " + inside::name_of(fault) + ". " + lacks + "\n";
    return text;
}

std::string faults_json(const std::string& kernel, const std::vector<KnownFault>& faults) {
    Json json{{"schema", "tilewalk-inside-faults-1"}, {"kernel", kernel}, {"faults", Json::array()}};
    for (const auto& [fault, lacks] : faults)
        json["faults"].push_back({{"name", inside::name_of(fault)},
                                  {"title", inside::title_of(fault)},
                                  {"meaning", meaning_of(fault)},
                                  {"lacks", lacks.empty() ? Json(nullptr) : Json(lacks)}});
    return json.dump(2) + "\n";
}

Json broken_json(const Record& sound, const gpu::BrokenRun& broken) {
    const Record& record = broken.record;
    const Damage& damage = broken.damage;
    return {{"name", inside::name_of(*record.fault)},
            {"title", inside::title_of(*record.fault)},
            {"meaning", meaning_of(*record.fault)},
            {"orders_tried", broken.tried},
            {"copies", record.schedule.early ? "at once" : "when waited for"},
            {"warps_stand_still", record.schedule.stalls},
            {"seed", record.schedule.seed},
            {"outputs",
             {{"numbers", damage.cells},
              {"wrong", damage.wrong},
              {"nan", damage.nans},
              {"first", cell_json(damage.first)},
              {"worst", cell_json(damage.worst)}}},
            {"banks",
             {{"sound", banks_json(inside::bank_totals(sound))},
              {"broken", banks_json(inside::bank_totals(record))}}}};
}

}  // namespace tilewalk

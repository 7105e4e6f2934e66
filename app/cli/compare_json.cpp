// The comparison for programs.
#include "app/cli/commands.h"
#include "app/io/kernel_bundle.h"
#include "app/io/problem_extras.h"
#include "core/compare/kernel_compare.h"
#include "core/engine/engine.h"

#include <nlohmann/json.hpp>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const KernelCell& cell) {
    return {{"row", cell.row},
            {"column", cell.column},
            {"fp64", json_of(cell.exact)},
            {"cpu", json_of(cell.cpu)},
            {"kernel", json_of(cell.kernel)}};
}

Json distance_json(const KernelDistance& d) {
    if (!d.recorded) return nullptr;
    return {{"largest", json_of(d.largest)}, {"ulp", json_of(d.ulp)}, {"worst", cell_json(d.worst)}};
}

Json output_json(const OutputVerdict& v) {
    return {{"name", info(v.slot).name},   {"passed", v.passed()},
            {"error", json_of(v.error)},   {"standard", json_of(v.standard)},
            {"factor", v.factor},          {"floor", json_of(v.floor)},
            {"limit", json_of(v.limit())}, {"ratio", json_of(v.ratio())},
            {"worst", cell_json(v.worst)}, {"against_cpu", distance_json(v.apart)}};
}

Json tile_json(const TileComparison& tile) {
    Json json{{"i", tile.i}, {"j", tile.j}, {"visited", tile.visited}, {"in_the_walk", tile.in_the_walk}};
    std::size_t n = 0;
    for (KernelFault::Quantity quantity : kernel_quantities())
        json[info(quantity).name] = distance_json(tile.of[n++]);
    return json;
}

Json finding_json(const KernelComparison& c) {
    const KernelFinding& f = c.finding;
    if (!f) return nullptr;
    static constexpr const char* kinds[] = {"none", "value", "extra_tile", "missing_tile", "O", "L"};
    Json json{{"kind", kinds[static_cast<int>(f.kind)]},
              {"quantity", nullptr},
              {"i", f.i},
              {"j", f.j},
              {"row", f.row},
              {"column", f.column},
              {"expected", json_of(f.expected)},
              {"found", json_of(f.found)},
              {"step", f.step + 1},
              {"op", nullptr}};
    if (f.kind == KernelFinding::Kind::value) json["quantity"] = info(f.quantity).name;
    if (f.step >= 0) json["op"] = name(c.cpu->step(f.step).op);
    return json;
}

}  // namespace

std::string compare_json(const KernelComparison& c) {
    const KernelTrace& k = *c.kernel;
    Json problem{{"title", k.problem.title}};
    problem.update(json_of_sizes(k.problem));
    problem["kernel_d"] = k.kernel_d;
    Json json{{"schema", "tilewalk-comparison-1"},
              {"kernel", k.kernel},
              {"title", k.title},
              {"dtype", name_of(k.dtype)},
              {"run", json_of(k.run)},
              {"problem", problem},
              {"fault", json_of(k.fault)},
              {"passed", c.passed()},
              {"within_rounding", c.within_rounding()},
              {"sentence", finding_text(c)},
              {"finding", finding_json(c)},
              {"outputs", Json::array()},
              {"tiles", Json::array()}};
    for (const OutputVerdict& v : c.outputs) json["outputs"].push_back(output_json(v));
    for (const TileComparison& tile : c.tiles) json["tiles"].push_back(tile_json(tile));
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewalk

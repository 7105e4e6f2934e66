// The comparison for programs.
#include "app/cli/compare.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no numbers for these.
Json number(double x) {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
    return x;
}

Json cell_json(const KernelCell& cell) {
    return {{"row", cell.row},
            {"column", cell.column},
            {"fp64", number(cell.exact)},
            {"cpu", number(cell.cpu)},
            {"kernel", number(cell.kernel)}};
}

Json distance_json(const KernelDistance& d) {
    if (!d.recorded) return nullptr;
    return {{"largest", number(d.largest)}, {"ulp", number(d.ulp)}, {"worst", cell_json(d.worst)}};
}

Json run_json(const KernelRun& run) {
    return {{"device", run.device},  {"device_name", run.device_name}, {"driver", run.driver},
            {"date", run.date},      {"version", run.version},         {"commit", run.commit},
            {"command", run.command}};
}

Json fault_json(const KernelFault& fault) {
    if (fault.quantity == KernelFault::Quantity::none) return nullptr;
    Json json{{"quantity", info(fault.quantity).name},
              {"i", fault.i},
              {"j", fault.j},
              {"row", fault.row},
              {"column", nullptr},
              {"amount", fault.amount}};
    if (fault.column >= 0) json["column"] = fault.column;
    return json;
}

Json output_json(const OutputVerdict& v) {
    return {{"name", info(v.slot).name},   {"passed", v.passed()},
            {"error", number(v.error)},    {"standard", number(v.standard)},
            {"factor", v.factor},          {"floor", number(v.floor)},
            {"limit", number(v.limit())},  {"ratio", number(v.ratio())},
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
              {"expected", number(f.expected)},
              {"found", number(f.found)},
              {"step", f.step + 1},
              {"op", nullptr}};
    if (f.kind == KernelFinding::Kind::value) json["quantity"] = info(f.quantity).name;
    if (f.step >= 0) json["op"] = name(c.cpu->step(f.step).op);
    return json;
}

}  // namespace

std::string compare_json(const KernelComparison& c) {
    const KernelTrace& k = *c.kernel;
    const Problem& p = k.problem;
    Json json{{"schema", "tilewalk-comparison-1"},
              {"kernel", k.kernel},
              {"title", k.title},
              {"dtype", name_of(k.dtype)},
              {"run", run_json(k.run)},
              {"problem",
               {{"title", p.title},
                {"n", p.N()},
                {"n_kv", p.N_kv()},
                {"d", p.d()},
                {"kernel_d", k.kernel_d},
                {"br", p.Br},
                {"bc", p.Bc},
                {"causal", p.causal},
                {"window", nullptr},
                {"scale", p.softmax_scale()}}},
              {"fault", fault_json(k.fault)},
              {"passed", c.passed()},
              {"within_rounding", c.within_rounding()},
              {"sentence", finding_text(c)},
              {"finding", finding_json(c)},
              {"outputs", Json::array()},
              {"tiles", Json::array()}};
    if (p.window) json["problem"]["window"] = *p.window;
    for (const OutputVerdict& v : c.outputs) json["outputs"].push_back(output_json(v));
    for (const TileComparison& tile : c.tiles) json["tiles"].push_back(tile_json(tile));
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewalk

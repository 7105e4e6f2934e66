// The study as JSON, schema tilewalk-model-1 (docs/model-format.md).
#include "app/cli/commands.h"
#include "core/study/kv_cache.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

// Whole numbers as such where a double holds them exactly.
Json whole(double value) {
    return std::abs(value) <= 9007199254740992.0 ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json figure_json(const Figure& figure) {
    if (!figure.given()) return nullptr;
    return {{"value", whole(figure.value)}, {"source", figure.source}};
}

Json hardware_json(const Hardware& h) {
    return {{"id", h.id},
            {"name", h.name},
            {"memory", h.memory},
            {"capacity_bytes", figure_json(h.capacity)},
            {"bandwidth_bytes_per_s", figure_json(h.bandwidth)},
            {"sms", figure_json(h.sms)},
            {"shared_bytes_per_sm", figure_json(h.shared)},
            {"sram_bytes_per_sm", figure_json(h.sram)},
            {"register_bytes_per_sm", figure_json(h.registers)},
            {"on_chip_bytes_per_s", figure_json(h.on_chip)},
            {"host_bytes_per_s", figure_json(h.host)},
            {"fp32_flops", figure_json(h.fp32)},
            {"fp16_flops", figure_json(h.fp16)},
            {"fp8_flops", figure_json(h.fp8)}};
}

Json tile_json(const Tile& t) { return {{"br", t.Br}, {"bc", t.Bc}}; }

Json parameters_json(const Study& s) {
    static const char* const rules[] = {"given", "square", "paper"};
    static const char* const fits[] = {"shared", "registers", "none"};
    const StudyInput& in = s.input;
    return {{"head_dim", in.d},
            {"heads", in.heads},
            {"batch", in.batch},
            {"element_bytes", in.element_bytes},
            {"tile_rule", rules[static_cast<int>(in.rule)]},
            {"tile", tile_json({s.shape.Br, s.shape.Bc})},
            {"tile_bytes",
             tile_need({s.shape.Br, s.shape.Bc, s.shape.d, s.shape.Br, s.shape.Bc, s.shape.element_bytes})
                 .total()},
            {"tile_fits", fits[static_cast<int>(s.fit)]},
            {"square_tile", tile_json(s.square)},
            {"paper_tile", tile_json(s.paper)}};
}

Json bound_json(const Bound& b) {
    return {{"bytes", whole(b.bytes)},       {"matmul_flops", whole(b.flops)},
            {"flops_per_byte", b.intensity}, {"attainable_flops", b.attainable},
            {"memory_s", b.memory_s},        {"compute_s", b.compute_s},
            {"seconds", b.seconds()},        {"limit", b.memory_bound() ? "memory" : "compute"}};
}

Json algorithm_json(const AlgorithmStudy& a) {
    Json shares = Json::array();
    for (const Share& share : a.shares)
        shares.push_back({{"name", share.name}, {"read", share.read}, {"write", share.write}});
    return {{"algorithm", algorithm_id(a.algorithm)},
            {"hbm_read", a.traffic.hbm_read},
            {"hbm_write", a.traffic.hbm_write},
            {"shares", shares},
            {"all_heads", bound_json(a.bound)}};
}

Json length_json(const Study& s) {
    Json by_algorithm = Json::array(), trips = Json::array();
    for (const AlgorithmStudy& a : s.by_algorithm) by_algorithm.push_back(algorithm_json(a));
    for (const Trip& t : s.trips)
        trips.push_back({{"reads", t.reads}, {"writes", t.writes}, {"read", t.read}, {"write", t.write}});
    const ScoreRow& row = s.rows.front();
    Json cache = Json::array();
    for (const std::int64_t heads : key_head_choices(s.input.heads))
        cache.push_back({{"key_heads", heads}, {"bytes", whole(kv_cache(s.input, s.shape.N, heads))}});
    return {{"seqlen", s.shape.N},
            {"scores_bytes_one_head", whole(row.one_head)},
            {"scores_and_probabilities_bytes", whole(row.all)},
            {"flash_lse_bytes", whole(row.flash)},
            {"kv_cache", cache},
            {"fits", row.fits},
            {"softmax_flops", softmax_flops(s.shape)},
            {"growth",
             {{"standard_elements", s.growth.standard},
              {"flash_elements", s.growth.flash},
              {"sram_elements", s.growth.M},
              {"stated", s.growth.stated}}},
            {"algorithms", by_algorithm},
            {"standard_trips", trips},
            {"each_matrix_once", bound_json(s.once)},
            {"verdict", verdict(s)}};
}

}  // namespace

std::string model_json(const std::vector<Study>& studies) {
    const Study& s = studies.back();
    Json lengths = Json::array();
    for (const Study& one : studies) lengths.push_back(length_json(one));
    const Json all{{"schema", "tilewalk-model-1"},
                   {"hardware", hardware_json(s.input.hardware)},
                   {"parameters", parameters_json(s)},
                   {"first_seqlen_too_large", s.first_N_too_large},
                   {"first_seqlen_too_large_flash", s.first_N_too_large_flash},
                   {"ridge_flops_per_byte", ridge(s.input.hardware, s.input.element_bytes)},
                   {"lengths", lengths}};
    return all.dump(2) + "\n";
}

}  // namespace tilewalk

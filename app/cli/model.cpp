#include "app/cli/model.h"

#include "app/cli/output.h"
#include "app/cli/values.h"
#include "app/io/text.h"

#include <ostream>

namespace tilewalk {
namespace {

constexpr std::size_t most_lengths = 64;

std::optional<std::string> read_sizes(const ModelWords& w, StudyInput& in) {
    if (auto sentence = read_number("--head-dim", w.head_dim, largest_d, in.d)) return sentence;
    if (auto sentence = read_number("--heads", w.heads, largest_heads, in.heads)) return sentence;
    if (auto sentence = read_number("--batch", w.batch, largest_batch, in.batch)) return sentence;
    if (auto sentence = read_number("--br", w.br, largest_N, in.tile.Br)) return sentence;
    return read_number("--bc", w.bc, largest_N, in.tile.Bc);
}

std::optional<std::string> read_choices(const ModelWords& w, StudyInput& in) {
    const auto dtype = choice("--dtype", w.dtype.value_or("f16"), {"f32", "f16", "bf16", "f8"});
    if (!dtype) return dtype.error;
    in.element_bytes = std::array{4, 2, 2, 1}[static_cast<std::size_t>(*dtype)];
    const auto rule = choice("--tiles", w.tiles.value_or("given"), {"given", "square", "paper"});
    if (!rule) return rule.error;
    in.rule = static_cast<TileRule>(*rule);
    if (in.rule != TileRule::given && (w.br || w.bc))
        return "--tiles " + *w.tiles + " chooses the tile itself; leave out --br and --bc.";
    if (!w.hardware) return std::nullopt;
    std::vector<std::string> names;
    for (const Hardware& h : hardware_list()) names.push_back(h.id);
    const auto chosen = choice("--hardware", *w.hardware, names);
    if (!chosen) return chosen.error;
    in.hardware = hardware_list()[static_cast<std::size_t>(*chosen)];
    return std::nullopt;
}

}  // namespace

Result<std::vector<Study>> make_studies(const ModelWords& words) {
    StudyInput in;
    if (auto sentence = read_sizes(words, in)) return Failure{*sentence};
    if (auto sentence = read_choices(words, in)) return Failure{*sentence};
    const std::string wanted = words.seqlen.value_or("512,1024,2048,4096,8192,16384,32768,65536,131072");
    const auto lengths = whole_numbers("--seqlen", wanted, 1, largest_N, most_lengths);
    if (!lengths) return Failure{lengths.error};
    std::vector<Study> studies;
    for (std::int64_t N : *lengths) {
        in.N = N;
        in.lengths = {N};
        if (auto sentence = refuse(in)) return Failure{*sentence};
        studies.push_back(study(in));
    }
    return studies;
}

Outcome run_model(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    const auto studies = make_studies(a.model);
    if (!studies) return bad_input(studies.error);
    const std::string text = *format == 1 ? model_json(*studies) : model_text(*studies);
    const Writer write = [&text](std::ostream& stream) { stream << text; };
    return written(a.output ? write_file_atomic(*a.output, write) : write_to_stream(out, write));
}

}  // namespace tilewalk

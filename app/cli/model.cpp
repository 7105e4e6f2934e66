// tilewalk model
#include "app/cli/commands.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "core/study/memory_study.h"

namespace tilewalk {
namespace {

constexpr std::size_t most_lengths = 64;

void read_words(WordReader& read, const ModelWords& w, StudyInput& in) {
    read.count("--head-dim", w.head_dim, 1, largest_d, in.d);
    read.count("--heads", w.heads, 1, largest_heads, in.heads);
    read.count("--batch", w.batch, 1, largest_batch, in.batch);
    read.count("--br", w.br, 1, largest_N, in.tile.Br);
    read.count("--bc", w.bc, 1, largest_N, in.tile.Bc);
    std::size_t dtype = 1, hardware = 0;
    read.choose("--dtype", w.dtype, {"f32", "f16", "bf16", "f8"}, dtype);
    in.element_bytes = std::array{4, 2, 2, 1}[dtype];
    read.choose("--tiles", w.tiles, {"given", "square", "paper"}, in.rule);
    read.refuse(in.rule != TileRule::given && (w.br || w.bc),
                "--tiles " + w.tiles.value_or("") + " chooses the tile itself; leave out --br and --bc.");
    read.choose("--hardware", w.hardware, names_of(hardware_list(), &Hardware::id), hardware);
    in.hardware = hardware_list()[hardware];
}

// One study per sequence length that the words name.
Result<std::vector<Study>> make_studies(const ModelWords& words) {
    StudyInput in;
    WordReader read;
    read_words(read, words, in);
    const std::string wanted = words.seqlen.value_or("512,1024,2048,4096,8192,16384,32768,65536,131072");
    std::vector<std::int64_t> lengths;
    read.take(wanted, lengths, [](const std::string& text) {
        return whole_numbers("--seqlen", text, 1, largest_N, most_lengths);
    });
    if (!read.error.empty()) return Failure{read.error};
    std::vector<Study> studies;
    for (std::int64_t N : lengths) {
        in.N = N;
        in.lengths = {N};
        if (auto sentence = refuse(in)) return Failure{*sentence};
        studies.push_back(study(in));
    }
    return studies;
}

}  // namespace

Outcome run_model(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    if (a.model.ranks) return run_ring_model(a, out);
    for (const Word* word : {&a.model.link, &a.model.rate, &a.model.kv_heads, &a.model.direction})
        if (*word || a.model.causal)
            return bad_input("--link, --rate, --kv-heads, --direction and --causal belong to --ranks.");
    const auto studies = make_studies(a.model);
    if (!studies) return bad_input(studies.error);
    return put(a.output, out, *format == 1 ? model_json(*studies) : model_text(*studies));
}

}  // namespace tilewalk

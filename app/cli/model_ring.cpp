// tilewalk model --ranks: a ring of many devices, from closed forms and a simulated schedule.
#include "app/cli/commands.h"
#include "app/cli/values.h"
#include "app/export/text_layout.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/distributed/ring_model.h"
#include "core/study/memory_study.h"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace tilewalk {
namespace {

constexpr std::int64_t most_ranks = 1024;
constexpr std::size_t most_entries = 64;

struct RingQuestion {
    std::optional<Hardware> hardware;  // none where a measured rate takes its place
    Workload workload;
    int element_bytes = 2;
    ring::Rates rates;
    std::vector<std::int64_t> ranks, lengths;
};

// One row of the tables
struct RingAnswer {
    int ranks;
    std::int64_t N;
    ring::RoundCost round;
    std::int64_t hides_from, bytes_between;
    std::vector<std::pair<ring::Shards, ring::Simulated>> by_shards;
};

Result<double> rate_of(const char* option, const std::string& text) {
    auto rate = finite_number(option, text, "a rate above 0");
    if (rate && *rate <= 0)
        return Failure{std::string(option) + " is " + text + ", expected a rate above 0."};
    return rate;
}

Result<RingQuestion> read_question(const ModelWords& words) {
    RingQuestion q;
    Workload& w = q.workload;
    WordReader read;
    w.heads = 16;
    read.count("--head-dim", words.head_dim, 1, largest_d, w.d);
    read.count("--heads", words.heads, 1, largest_heads, w.heads);
    w.kv_heads = w.heads;
    read.count("--kv-heads", words.kv_heads, 1, largest_heads, w.kv_heads);
    read.refuse(w.heads % w.kv_heads != 0, "--kv-heads is " + str(w.kv_heads) +
                                               ", expected a divisor of --heads (" + str(w.heads) + ").");
    read.count("--batch", words.batch, 1, largest_batch, w.batch);
    read.choose("--direction", words.direction, {"forward", "backward"}, w.direction);
    w.causal = words.causal;
    std::size_t dtype = 1, hardware = 0;
    read.choose("--dtype", words.dtype, {"f32", "f16", "bf16", "f8"}, dtype);
    q.element_bytes = std::array{4, 2, 2, 1}[dtype];
    read.choose("--hardware", words.hardware, names_of(hardware_list(), &Hardware::id), hardware);
    if (words.hardware || !words.rate) q.hardware = hardware_list()[hardware];
    q.rates = {hardware_list()[hardware].peak(q.element_bytes), 25e9};
    read.take(words.link, q.rates.link, [](const std::string& text) { return rate_of("--link", text); });
    read.take(words.rate, q.rates.flops, [](const std::string& text) { return rate_of("--rate", text); });
    read.refuse(words.br || words.bc || words.tiles,
                "Tiles change nothing between ranks; leave out --br, --bc and --tiles.");
    read.take(words.ranks, q.ranks, [](const std::string& text) {
        return whole_numbers("--ranks", text, 1, most_ranks, most_entries);
    });
    const std::optional<std::string> lengths = words.seqlen.value_or("16384,131072,1048576");
    read.take(lengths, q.lengths, [](const std::string& text) {
        return whole_numbers("--seqlen", text, 1, largest_N, most_entries);
    });
    if (!read.error.empty()) return Failure{read.error};
    for (const std::int64_t ranks : q.ranks)
        for (const std::int64_t N : q.lengths) {
            w.N_q = w.N_kv = N;
            if (auto sentence = ring::refuse({w, ring::Shards::zigzag}, static_cast<int>(ranks)))
                return Failure{*sentence};
        }
    return q;
}

std::vector<RingAnswer> answers_to(const RingQuestion& q) {
    std::vector<RingAnswer> answers;
    for (const std::int64_t ranks : q.ranks)
        for (const std::int64_t N : q.lengths) {
            ring::Problem problem{q.workload, ring::Shards::zigzag};
            problem.workload.N_q = problem.workload.N_kv = N;
            const int R = static_cast<int>(ranks);
            RingAnswer answer{R,
                              N,
                              round_cost(problem, R, q.rates, q.element_bytes),
                              hides_from(problem, R, q.rates, q.element_bytes),
                              bytes_between(problem, R, q.element_bytes),
                              {}};
            for (const auto shards :
                 {ring::Shards::zigzag, ring::Shards::striped, ring::Shards::contiguous}) {
                problem.shards = shards;
                answer.by_shards.emplace_back(shards, simulate(problem, R, q.rates, q.element_bytes));
            }
            answers.push_back(std::move(answer));
        }
    return answers;
}

std::string percent(double part) { return format_fixed(100 * part, 0) + " %"; }

std::string ring_text(const RingQuestion& q, const std::vector<RingAnswer>& answers) {
    Workload shown = q.workload;
    std::string text =
        (q.hardware ? q.hardware->name + ", each" : std::string("Each rank")) + " at " +
        format_number(q.rates.flops / 1e12, 4) + " TFLOP/s; " + format_number(q.rates.link / 1e9, 4) +
        " GB/s to the next rank\n" + str(shown.batch) + " × " + counted(shown.heads, "head") + " (" +
        str(shown.kv_heads) + " of K and V), d = " + str(shown.d) + ", " + str(q.element_bytes) +
        " bytes per element, " + name_of(shown.direction) + (shown.causal ? ", causal" : "") + "\n";
    text += "\nA round: what a rank computes, and what goes over its link meanwhile\n";
    std::vector<std::vector<std::string>> rounds{
        {"ranks", "N", "computing", "sending", "", "hidden from N =", "bytes between ranks"}};
    for (const RingAnswer& one : answers)
        rounds.push_back({str(one.ranks), format_count(one.N), format_time(one.round.compute),
                          format_time(one.round.transfer), one.round.hidden() ? "hidden" : "waits",
                          format_count(one.hides_from), format_large_size(double(one.bytes_between))});
    text += number_table(rounds);
    text += "\nThe schedule with these rates: time, and how much of it the ranks compute\n";
    std::vector<std::vector<std::string>> runs{{"ranks", "N", "zigzag", "", "striped", "", "contiguous", ""}};
    for (const RingAnswer& one : answers) {
        std::vector<std::string> row{str(one.ranks), format_count(one.N)};
        for (const auto& [shards, run] : one.by_shards)
            row.push_back(format_time(run.seconds)), row.push_back(percent(run.busy()));
        runs.push_back(row);
    }
    return text + number_table(runs);
}

std::string ring_model_json(const RingQuestion& q, const std::vector<RingAnswer>& answers) {
    using Json = nlohmann::ordered_json;
    Json rows = Json::array();
    for (const RingAnswer& one : answers) {
        Json runs = Json::object();
        for (const auto& [shards, run] : one.by_shards)
            runs[name_of(shards)] = {{"seconds", run.seconds}, {"busy", run.busy()}};
        rows.push_back({{"ranks", one.ranks},
                        {"N", one.N},
                        {"compute_s", one.round.compute},
                        {"transfer_s", one.round.transfer},
                        {"hidden", one.round.hidden()},
                        {"hidden_from_N", one.hides_from},
                        {"bytes_between", one.bytes_between},
                        {"simulated", runs}});
    }
    const Workload& w = q.workload;
    const Json json{{"schema", "tilewalk-ring-model-1"},
                    {"hardware", q.hardware ? Json(q.hardware->id) : Json()},
                    {"flops", q.rates.flops},
                    {"link_bytes_per_s", q.rates.link},
                    {"direction", name_of(w.direction)},
                    {"causal", w.causal},
                    {"batch", w.batch},
                    {"heads", w.heads},
                    {"kv_heads", w.kv_heads},
                    {"head_dim", w.d},
                    {"element_bytes", q.element_bytes},
                    {"rows", rows}};
    return json.dump(1) + "\n";
}

}  // namespace

Outcome run_ring_model(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    const auto question = read_question(a.model);
    if (!question) return bad_input(question.error);
    const std::vector<RingAnswer> answers = answers_to(*question);
    return put(a.output, out,
               *format == 1 ? ring_model_json(*question, answers) : ring_text(*question, answers));
}

}  // namespace tilewalk

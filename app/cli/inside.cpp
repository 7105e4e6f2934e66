// tilewalk inside
#include "app/cli/inside.h"
#include "app/cli/inside_break.h"
#include "app/cli/own_kernel.h"
#include "app/cli/progress_line.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/export/inside_html.h"
#include "app/export/text_layout.h"
#include "app/io/end_request.h"
#include "app/io/link.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/inside/model_time.h"
#include "core/inside/source.h"
#include "core/inside/words.h"
#include "core/problem/heads.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;
using inside::Counts;
using inside::Launch;
using inside::Race;
using inside::RaceAccess;
using inside::Record;

enum class Form { text, json, html };

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

constexpr const char* columns_in_words =
    "\nby warps, by lanes: how often all warps, and all their lanes together, did what the line says.\n"
    "turns of banks: how many it took in shared memory; without conflict: the fewest that do;\n"
    "ways: so many words of one bank were wanted at once, at worst.\n"
    "sectors: pieces of 32 bytes of HBM that were asked for, before any cache; needed: those that the bytes "
    "fill.\n";

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

// A line for each block that is kept.
std::string model_text_of(const Record& record, const Launch& launch) {
    std::string text;
    const auto chips = gpu::chips_for(record);
    for (const inside::BlockRecord& block : launch.blocks) {
        std::string clocks;
        for (const inside::Costs* costs : chips)
            clocks += (clocks.empty() ? "" : ", ") + std::string(costs->chip) + " " +
                      format_count(inside::model_time(block, launch.warps(), *costs).end);
        const int n = block.x + launch.x * (block.y + launch.y * block.z);
        const std::string which = n == 0 ? "its first block" : "its block " + str(n);
        if (!clocks.empty()) text += "model: the longest path of " + which + ", in clocks: " + clocks + "\n";
    }
    return text;
}

/// "4 heads, 2 of K and V"; empty: there is one.
std::string heads_of_record(const Record& record) {
    if (record.heads == 1) return "";
    const std::string all = counted(record.heads, "head");
    return record.key_heads == record.heads ? all : all + ", " + str(record.key_heads) + " of K and V";
}

}  // namespace

std::string inside_text(const inside::Record& record, const std::string& more) {
    const std::string heads = heads_of_record(record);
    std::string text = record.kernel + ": " + record.title + " (" + name_of(record.dtype) + ")" +
                       (heads.empty() ? "" : ", " + heads) + "\n" + more;
    int n = 0;
    for (const Launch& launch : record.launches) {
        text += "\nlaunch " + str(++n) + ": " + shape_of(launch) + "\n";
        if (!launch.name.empty()) continue;
        text += counts_text(record, launch) + model_text_of(record, launch);
        for (const Race& race : launch.races) text += "RACE at " + race_text(record, race) + "\n";
    }
    if (record.races() == 0) text += "\n" + no_race_text(record) + "\n";
    return text + columns_in_words;
}

namespace {

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
                                 {"accesses", race.times}});
    const auto chips = gpu::chips_for(record);
    for (const inside::BlockRecord& block : launch.blocks)
        for (const inside::Costs* costs : chips)
            json["model"].push_back({{"capability", costs->capability},
                                     {"chip", costs->chip},
                                     {"clocks", inside::model_time(block, launch.warps(), *costs).end}});
    return json;
}

std::string inside_json(const Record& record, const Json& broken = nullptr) {
    Json json{{"schema", "tilewalk-inside-1"},  {"kernel", record.kernel},
              {"dtype", name_of(record.dtype)}, {"heads", record.heads},
              {"kv_heads", record.key_heads},   {"race_free", record.races() == 0},
              {"launches", Json::array()}};
    for (const Launch& launch : record.launches) json["launches"].push_back(launch_json(record, launch));
    if (!broken.is_null()) json["broken"] = broken;
    return json.dump(2) + "\n";
}

}  // namespace

// What --link names is not said twice.
static Result<gpu::RecordRequest> request_of_link(const Arguments& a, const Word& name) {
    if (a.source || a.leave_out || a.compare.dtype)
        return Failure{
            "--link names kernel, type and fault itself; leave out --source, --dtype and --break."};
    auto run = run_of_link(a);
    if (!run) return Failure{run.error};
    gpu::RecordRequest request;
    request.kernel = run->kernel, request.dtype = run->type, request.problem = std::move(run->problem);
    request.blocks = {run->block};
    // The page shows one head; of a walk all of its heads are run, as of a problem.
    request.all_heads =
        !run->of_page && !a.step && !a.place && query_heads(request.problem) <= gpu::most_recorded_heads;
    if (!name) return request;
    const auto kernel = find_kernel(*name);
    if (!kernel) return Failure{kernel.error};
    request.kernel = kernel->name, request.dtype = *find_type(*kernel, {});
    return request;
}

Result<gpu::RecordRequest> make_record_request(const Arguments& a, const Word& name) {
    if (a.link) return request_of_link(a, name);
    gpu::RecordRequest request;
    if (a.source && (a.compare.kernel || a.against || a.step || a.place))
        return Failure{
            "--source is your own kernel, alone: leave out --kernel, --against, --step and --place."};
    if (a.source) {
        WordReader read;
        request.kernel = *a.source;
        request.dtype = DType::f32;
        read.choose("--dtype", a.compare.dtype, {"f32", "f16", "bf16"}, request.dtype);
        if (!read.error.empty()) return Failure{read.error};
    } else {
        const auto kernel = find_kernel(name.value_or(request.kernel));
        if (!kernel) return Failure{kernel.error};
        const auto type = find_type(*kernel, a.compare.dtype);
        if (!type) return Failure{type.error};
        request.kernel = kernel->name, request.dtype = *type;
    }
    auto problem = make_problem(a.problem);
    if (!problem) return Failure{problem.error};
    if (auto refused = validate(*problem)) return Failure{*refused};
    request.problem = std::move(*problem);
    request.blocks = {0};
    // Of more heads than are recorded those of a file are the shown one; those that --heads names are
    // refused.
    const bool few = query_heads(request.problem) <= gpu::most_recorded_heads || a.problem.heads;
    request.all_heads = few && !a.step && !a.place && !a.source;
    return request;
}

Outcome not_recorded(gpu::TraceFailed how, std::string sentence) {
    return how == gpu::TraceFailed::input ? bad_input(std::move(sentence))
                                          : Outcome{Exit::failed, std::move(sentence)};
}

static void put_inside_html(std::ostream& out, const Record& record, const gpu::RecordRequest& request,
                            bool own, const BrokenWords* broken = nullptr) {
    std::vector<inside::SourceText> sources;
    for (const EmbeddedFile& file : gpu::kernel_sources())
        sources.push_back(inside::source_text(std::string("cuda/kernels/") + file.name, file.text));
    const Result<std::string> text = own ? read_file(request.kernel) : Result<std::string>(std::string());
    if (own && text) sources.push_back(inside::source_text(record.kernel, *text));
    const Problem& p = request.problem;
    const std::string heads = heads_of_record(record);
    write_inside_html(out, record,
                      "N = " + str(p.N()) + ", d = " + str(p.d()) + (heads.empty() ? "" : ", " + heads),
                      sources, broken);
}

namespace {

Outcome races_outcome(const Record& record) {
    return record.races() == 0 ? Outcome{}
                               : Outcome{Exit::failed, record.kernel + ": two accesses to one address race."};
}

// The faults of the kernel, whichever this problem shows.
Outcome list_faults(const Arguments& a, std::ostream& out, const gpu::RecordRequest& request,
                    const Record& sound, Form form) {
    if (form == Form::html) return bad_input("--break list is text or JSON; leave out --format html.");
    const auto faults = faults_of_kernel(request, sound);
    return put(a.output, out,
               form == Form::json ? faults_json(sound.kernel, faults) : faults_text(sound.kernel, faults));
}

// What the run is to go without; a fault that this problem does not show is refused with the reason.
Result<inside::Fault> find_fault(const gpu::RecordRequest& request, const Record& sound,
                                 const std::string& name, const std::string& option) {
    auto fault = inside::fault_named(sound, name);
    if (fault) return fault;
    for (const auto& [known, lacks] : faults_of_kernel(request, sound))
        if (inside::name_of(known) == name && !lacks.empty())
            return Failure{option + " " + name + ": " + lacks};
    return Failure{option + ": " + fault.error};
}

// The run without what --break says, and what comes of it beside the sound run.
Outcome run_broken(const Arguments& a, std::ostream& out, gpu::RecordRequest request, const Record& sound,
                   const std::string& name, Form form) {
    if (name == "list") return list_faults(a, out, request, sound, form);
    const auto fault = find_fault(request, sound, name, a.link ? "--link" : "--break");
    if (!fault) return bad_input(fault.error);
    request.fault = *fault;
    gpu::TraceFailed how{};
    const auto broken = gpu::break_kernel(request, sound, &how);
    if (!broken) return not_recorded(how, broken.error);
    const Record& record = broken->record;
    const BrokenWords words = words_of_broken(sound, record, broken->damage, broken->tried);
    const Writer writers[] = {
        [&](std::ostream& to) { to << inside_text(record, broken_head(words)) << broken_end(words); },
        [&](std::ostream& to) { to << inside_json(record, broken_json(sound, *broken)); },
        [&](std::ostream& to) { put_inside_html(to, record, request, false, &words); }};
    Outcome outcome = put(a.output, out, writers[static_cast<std::size_t>(form)]);
    if (outcome.exit != Exit::done) return outcome;
    if (record.races() > 0 || broken->damage.wrong == 0) return races_outcome(record);
    return {Exit::failed, record.kernel + ": " + inside::damage_text(broken->damage) + "."};
}

}  // namespace

// With a line that says how far it is; Ctrl C ends the compiler or the kernel, and then this program.
static Result<Record> record_own_told(gpu::RecordRequest request, const OwnKernelBudget& budget,
                                      gpu::TraceFailed& how) {
    how = gpu::TraceFailed::input;
    if (const auto text = read_own_source(request.kernel); !text) return Failure{text.error};
    std::fprintf(stderr, "tilewalk: %s\n", own_code_warning(request.kernel).c_str());
    const std::string name = own_kernel_name(request.kernel);
    const auto begun = std::chrono::steady_clock::now();
    std::stop_source stop;
    request.stop = stop.get_token(), request.blocks_done = std::make_shared<std::atomic<int>>(-1);
    const EndRequest ends;
    auto record = [&] {
        const ProgressLine line;
        return record_own_source(request, &how, budget, [&] {
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
            if (asked_to_end()) stop.request_stop();
            line.show(inside::own_run_words(name, *request.blocks_done, static_cast<int>(passed.count())));
        });
    }();
    ends.grant();
    return record;
}

static Word fault_of_link(const Arguments& a) {
    if (!a.link) return {};
    const auto place = place_of_link(*a.link);
    return place && !place->without.empty() ? Word(place->without) : Word();
}

// The sentence that refuses options which do not go together.
static std::string refuse_together(const Arguments& a, Form form) {
    if (form == Form::html && (a.against || a.step || a.place))
        return "--format html is of a run alone; leave out --against, --step and --place.";
    if ((a.problem.heads || a.problem.kv_heads) && (a.step || a.place || a.source))
        return std::string(a.problem.heads ? "--heads" : "--kv-heads") +
               ": --step and --place are of the walk of one head, and so is the memory of --source. Leave it "
               "out.";
    if (a.seconds && !a.source)
        return "--seconds is of your own kernel; a kernel of the ladder comes to its end. Name a --source.";
    if ((a.against && a.step) || (a.against && a.place) || (a.step && a.place))
        return "--against, --step and --place ask different things of a run; give one of them.";
    if (a.at && a.place) return "--at is the cell of --step; leave it out with --place.";
    if (a.source && (a.against || a.step || a.place)) return make_record_request(a, {}).error;
    if (a.leave_out && (a.against || a.step || a.place || a.source))
        return "--break goes with a run of the ladder; leave out --against, --source, --step and --place.";
    if (const Word left_out = fault_of_link(a); left_out && (a.against || a.step || a.place))
        return "--link leaves out " + *left_out +
               "; --against, --step and --place are of runs that go without nothing. Take a link without a "
               "fault.";
    if ((a.problem.br || a.problem.bc || a.at) && !a.step && !a.place)
        return std::string(a.problem.br   ? "--br"
                           : a.problem.bc ? "--bc"
                                          : "--at") +
               " is of the walk that --step and --place cross over to; the kernel has tiles of its own. "
               "Leave "
               "it out, or name a step.";
    return "";
}

Outcome run_inside(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json", "html"});
    if (!format) return bad_input(format.error);
    const Form form = static_cast<Form>(*format);
    if (std::string refused = refuse_together(a, form); !refused.empty()) return bad_input(refused);
    if (a.against) return run_inside_against(a, form == Form::json, out);
    if (a.step || a.place) return run_inside_bridge(a, form == Form::json, out);
    const auto request = make_record_request(a, a.compare.kernel);
    if (!request) return bad_input(request.error);
    OwnKernelBudget budget;
    WordReader read;
    constexpr int most_seconds = 3600;
    read.count("--seconds", a.seconds, 1, most_seconds, budget.computing);
    if (!read.error.empty()) return bad_input(read.error);
    budget.running = std::max(budget.running, 2.0 * budget.computing);
    const Word fault = a.link ? fault_of_link(a) : a.leave_out;
    gpu::TraceFailed how{};
    const auto record =
        a.source ? record_own_told(*request, budget, how) : gpu::record_kernel(*request, &how);
    if (!record) return not_recorded(how, record.error);
    if (fault) return run_broken(a, out, *request, *record, *fault, form);
    const Writer writers[] = {
        [&](std::ostream& stream) { stream << inside_text(*record); },
        [&](std::ostream& stream) { stream << inside_json(*record); },
        [&](std::ostream& stream) { put_inside_html(stream, *record, *request, a.source.has_value()); }};
    Outcome outcome = put(a.output, out, writers[*format]);
    return outcome.exit != Exit::done ? outcome : races_outcome(*record);
}

}  // namespace tilewalk

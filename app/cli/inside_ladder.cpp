// tilewalk inside --kernel A --against B
#include "app/cli/inside.h"
#include "app/export/text_layout.h"
#include "app/io/text.h"
#include "core/inside/ladder.h"

#include <nlohmann/json.hpp>

namespace tilewalk {
namespace {

using inside::Totals;
using LadderJson = nlohmann::ordered_json;

struct Rungs {
    inside::Record before, after;
};

// Each in its own type where the one that was asked for is none of its own.
Result<inside::Record> record_rung(const Arguments& a, const Word& name, gpu::TraceFailed& how) {
    Arguments of_rung = a;
    if (const auto kernel = name ? find_kernel(*name) : find_kernel("f5-flash2"); kernel && a.compare.dtype)
        if (!find_type(*kernel, a.compare.dtype)) of_rung.compare.dtype.reset();
    auto request = make_record_request(of_rung, name);
    if (!request) return Failure{request.error};
    request->blocks = {}, request->timed = &inside::costs_of(inside::ladder_capability);
    return gpu::record_kernel(*request, &how);
}

std::string head_of(const Totals& t) { return t.kernel + " (" + name_of(t.dtype) + ")"; }

std::string ladder_text(const Totals& before, const Totals& after) {
    std::vector<std::vector<std::string>> rows{{"", head_of(before), head_of(after), "ratio"}};
    for (const inside::Compared& c : inside::compare(before, after))
        rows.push_back({c.measure->name, measure_text(*c.measure, before), measure_text(*c.measure, after),
                        inside::change_text(c)});
    std::string text = after.kernel + ": " + after.title + ", against " + before.kernel + ": " +
                       before.title + "\n\n" + number_table(rows, {0}) + "\nIts idea: " + after.teaches +
                       ".\n\n";
    const inside::LadderWords words = inside::ladder_words(before, after);
    std::vector<std::string> sentences{words.saved, words.costs, words.same};
    sentences.insert(sentences.end(), words.beside.begin(), words.beside.end());
    for (const std::string& sentence : sentences)
        if (!sentence.empty()) text += lines_of(wrap(sentence, 100)) + "\n";
    return text;
}

LadderJson number_json(const std::optional<double>& n) { return n ? LadderJson(*n) : LadderJson(); }

LadderJson totals_json(const Totals& t) {
    LadderJson json{{"kernel", t.kernel}, {"dtype", name_of(t.dtype)}, {"tile", {t.Br, t.Bc}},
                    {"tiles", t.tiles},   {"blocks", t.blocks},        {"timed_blocks", t.timed_blocks}};
    for (const inside::Measure& m : inside::measures()) json[m.id] = number_json(m.of(t));
    return json;
}

std::string ladder_json(const Totals& before, const Totals& after, const inside::Costs& costs) {
    const inside::LadderWords words = inside::ladder_words(before, after);
    LadderJson json{{"schema", "tilewalk-inside-ladder-1"},
                    {"model", costs.chip},
                    {"kernel", totals_json(after)},
                    {"against", totals_json(before)},
                    {"idea", after.teaches},
                    {"saved", words.saved},
                    {"costs", words.costs},
                    {"same", words.same},
                    {"beside", words.beside}};
    return json.dump(2) + "\n";
}

}  // namespace

Outcome run_inside_against(const Arguments& a, bool json, std::ostream& out) {
    const auto kernel = find_kernel(a.compare.kernel.value_or(gpu::RecordRequest().kernel)),
               beside = find_kernel(*a.against);
    if (kernel && beside && kernel->name == beside->name)
        return bad_input("--against is " + beside->name +
                         ", the kernel itself; name another one ('tilewalk kernels' lists them).");
    if (kernel && beside && kernel->direction != beside->direction)
        return bad_input("--against is " + beside->name + ", which goes the other direction than " +
                         kernel->name + ": forward stands beside forward, backward beside backward.");
    gpu::TraceFailed how{};
    const auto after = record_rung(a, a.compare.kernel, how);
    if (!after) return not_recorded(how, after.error);
    const auto before = record_rung(a, a.against, how);
    if (!before) return not_recorded(how, before.error);
    const inside::Costs& costs = inside::costs_of(inside::ladder_capability);
    const Totals of_after = totals_of(*after, costs), of_before = totals_of(*before, costs);
    return put(a.output, out,
               json ? ladder_json(of_before, of_after, costs) : ladder_text(of_before, of_after));
}

}  // namespace tilewalk

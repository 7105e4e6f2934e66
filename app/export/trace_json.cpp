#include "app/export/export_formats.h"

#include "app/io/problem_extras.h"
#include "core/lessons/shared/heads_ledger.h"
#include "core/problem/heads.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <ostream>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

// 17 significant digits, which read back as the same double. Readers take "-0" for the integer 0; the point
// keeps the sign.
std::string number_text(double value) {
    if (value == 0 && std::signbit(value)) return "-0.0";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 17).ptr;
    return {buffer, end};
}

std::string text_of(const Json& tree) { return json_line(tree, {",", ":", number_text}); }

Json problem_json(const Problem& p) {
    Json json = Json::object();
    if (!p.title.empty()) json["title"] = p.title;
    if (!p.watch.empty()) json["watch"] = p.watch;
    json.update(json_of_sizes(p));
    json["element_bytes"] = p.element_bytes;
    json["q"] = json_of(p.Q), json["k"] = json_of(p.K), json["v"] = json_of(p.V);
    if (p.dO) json["do"] = json_of(*p.dO);
    json.update(json_of_extras(p));
    return json;
}

// `made`: the step that wrote it; −1: given.
Json access_json(const Trace& trace, const Access& access, int made) {
    const Region& at = trace.value(access.value).region;
    Json json{{"slot", info(access.slot).name},
              {"row", at.row},
              {"col", at.col},
              {"rows", at.rows},
              {"cols", at.cols}};
    // A shard of a ring counts from 0: then also what people call its rows and columns.
    const Indices told = indices(trace, access.slot, at, made),
                  own = own_indices(trace, access.slot, at, made);
    if (told.rows != own.rows) json["row_names"] = told.rows;
    if (told.cols != own.cols) json["col_names"] = told.cols;
    return json;
}

Json index_or_null(int n) { return n < 0 ? Json() : Json(n); }

Json step_json(const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const Explanation e = explain(trace, k);
    Json json{{"step", k + 1},
              {"op", name(step.op)},
              {"i", index_or_null(step.i)},
              {"j", index_or_null(step.j)},
              {"phase", step.phase},
              {"title", e.title},
              {"formula", plain(e.formula)},
              {"numbers", plain(e.numbers)},
              {"result", plain(e.result)},
              {"why", e.why}};
    if (step.when)
        json.update({{"worker", step.when.worker}, {"start", step.when.start}, {"end", step.when.end}});
    // The same result reached another way; most steps have none.
    for (const Aside& aside : e.asides)
        list_in(json, "asides")
            .push_back({{"label", aside.label},
                        {"formula", plain(aside.formula)},
                        {"numbers", plain(aside.numbers)},
                        {"result", plain(aside.result)}});
    json["reads"] = Json::array();
    for (const Access& access : trace.reads(k)) {
        Held held = trace.live(access.slot, access.tile, k);
        while (held && held.value != &trace.value(access.value))
            held = trace.live(access.slot, access.tile, held.step - 1);
        json["reads"].push_back(access_json(trace, access, held.step));
    }
    json["writes"] = Json::array();
    for (const Access& access : trace.writes(k)) {
        json["writes"].push_back(access_json(trace, access, k));
        json["writes"].back()["values"] = json_of(trace.value(access.value).data);
    }
    const Traffic& t = step.traffic;
    json["traffic"] = {
        {"hbm_read", t.hbm_read}, {"hbm_write", t.hbm_write}, {"sram_live", t.sram_live}, {"flops", t.flops}};
    if (trace.lesson().uses(chooses_ranks)) json["traffic"]["sent"] = t.sent;
    return json;
}

// Results are called as the papers call them, wherever they lie. One number per row (L, D, m, ℓ) is written
// as a plain list.
Json result_json(const Trace& trace) {
    Json json = Json::object();
    for (const Slot slot : results_of(trace)) {
        const Matrix A = trace.result(slot);
        if (A.size() == 0) continue;
        const std::string name = info(slot).name;
        const bool list = one_column(slot);
        Json& values = json[name.substr(0, name.find("_hbm"))];
        values = json_of(list ? Matrix(A.col(0).transpose()) : A);
        if (list) values = Json(values.front());
    }
    return json;
}

}  // namespace

// The walk is that of one head; what all of them move is known.
static Json heads_json(const Trace& trace) {
    const Problem& p = trace.problem();
    const HeadsLedger bytes = heads_ledger(trace);
    Json json{{"walked", shown_head(p)},   {"heads", query_heads(p)},     {"kv_heads", key_heads(p)},
              {"bytes_of_one", bytes.one}, {"bytes_of_all", bytes.all()}, {"kv_again", bytes.again},
              {"kv_once", bytes.once}};
    if (trace.lesson().uses(chooses_ranks))
        json.update({{"sent_of_one", bytes.sent_one},
                     {"sent_of_all", bytes.sent},
                     {"sent_without_groups", bytes.sent_ungrouped}});
    return json;
}

void write_trace_json(std::ostream& out, const Trace& trace) {
    out << "{\"schema\":\"tilewalk-trace-1\",\n\"problem\":" << text_of(problem_json(trace.problem()))
        << ",\n\"lesson\":\"" << trace.lesson().id << "\",\n\"steps\":[\n";
    for (int k = 0; k < trace.size() && out; ++k)
        out << text_of(step_json(trace, k)) << (k + 1 < trace.size() ? ",\n" : "\n");
    out << "],\n";
    if (trace.problem().heads) out << "\"heads\":" << text_of(heads_json(trace)) << ",\n";
    out << "\"result\":" << text_of(result_json(trace)) << "}\n";
}

}  // namespace tilewalk

#include "app/io/problem_extras.h"

#include "app/io/text.h"
#include "core/lessons/shared/faults.h"
#include "core/problem/heads.h"
#include "core/problem/logits.h"
#include "core/problem/precision.h"
#include "core/walk/condition.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace tilewalk {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

const Words loads = {"again", "once"};
const Words exponentials = {"exact", "cubic"};
const Words panels = {"explanation", "problem", "break"};

// "options", in the order of the file. An Options that is read, or written: one that has more does not
// compile until it is here.
template <class Any, class Visit> void visit_options(Any& options, Visit visit) {
    static const Words notations = {"l_O", "d_o", "delta_omega"}, orders = {"key_outer", "query_outer"},
                       merges = {"chain", "pairs", "at_once"}, forms = {"sums", "normalised"},
                       kinds = {"contiguous", "zigzag", "striped"};
    auto& [row, queries, notation, normalised, order, learning_rate, splits, merge, parts, workers, ranks,
           shards, prefix, sequences, pages, page_table] = options;
    visit("row", row);
    visit("queries", queries);
    visit("notation", notation, notations);
    visit("normalised", normalised);
    visit("order", order, orders);
    visit("learning_rate", learning_rate);
    visit("splits", splits);
    visit("merge", merge, merges);
    visit("parts", parts, forms);
    visit("workers", workers);
    visit("ranks", ranks);
    visit("shards", shards, kinds);
    visit("prefix", prefix);
    visit("sequences", sequences);
    visit("pages", pages);
    visit("page_table", page_table);
}

// All heads, the shown one among them; q, k, v and do beside them are those of the shown one.
void read_heads(Reading& outer, Problem& problem) {
    read_object(outer, "heads", [&](Reading& reading) {
        check_keys(reading, {"queries", "keys", "shown", "loads"});
        Heads& heads = problem.heads.emplace();
        read_objects(reading, "queries", "an array of objects", [&](Reading& one) {
            check_keys(one, {"q", "do"});
            require_matrix(one, "q", heads.Q.emplace_back());
            if (one.find("do")) read(one, "do", heads.dO.emplace_back());
        });
        read_objects(reading, "keys", "an array of objects", [&](Reading& one) {
            check_keys(one, {"k", "v"});
            require_matrix(one, "k", heads.K.emplace_back());
            require_matrix(one, "v", heads.V.emplace_back());
        });
        read(reading, "shown", heads.shown);
        read(reading, "loads", heads.once, loads);
    });
}

OrderedJson json_of_heads(Problem problem) {
    show_head(problem, shown_head(problem));  // what was changed in it goes among the others
    const Heads& heads = *problem.heads;
    OrderedJson json{{"shown", heads.shown}, {"loads", loads[heads.once]}};
    for (std::size_t h = 0; h < heads.Q.size(); ++h) {
        OrderedJson one{{"q", json_of(heads.Q[h])}};
        if (h < heads.dO.size()) one["do"] = json_of(heads.dO[h]);
        list_in(json, "queries").push_back(std::move(one));
    }
    for (std::size_t g = 0; g < heads.K.size(); ++g)
        list_in(json, "keys").push_back({{"k", json_of(heads.K[g])}, {"v", json_of(heads.V[g])}});
    return json;
}

void read_tokens(Reading& reading, std::vector<std::string>& tokens) {
    read_list(reading, "tokens", "an array of strings", [&](const Json& word, const std::string& where) {
        if (!word.is_string()) return reading.expected(where, word, "a string");
        tokens.push_back(without_controls(word.get_ref<const std::string&>()));
    });
}

void read_options(Reading& outer, Options& options) {
    read_object(outer, "options", [&](Reading& reading) {
        check_keys(reading,
                   {"row", "queries", "notation", "normalised", "order", "learning_rate", "splits", "merge",
                    "parts", "workers", "ranks", "shards", "prefix", "sequences", "pages", "page_table"});
        visit_options(options, [&](const char* key, auto&... target) { read(reading, key, target...); });
    });
}

void read_switches(Reading& reading, Switches& switches) {
    read_list(reading, "switches", "an array of names", [&](const Json& name, const std::string& where) {
        const Fault* fault = name.is_string() ? find_fault(name.get_ref<const std::string&>()) : nullptr;
        if (!fault)
            return reading.expected(where, name, "the name of a switch, for example \"no_correction\"");
        switches.*fault->on = true;
    });
}

void read_precision(Reading& outer, Precision& precision) {
    read_object(outer, "precision", [&](Reading& reading) {
        check_keys(reading, names_of(stages(), &Stage::name));
        for (const Stage& stage : stages()) {
            const Json* value = reading.find(stage.name);
            if (!value) continue;
            const auto format =
                value->is_string() ? find_format(value->get_ref<const std::string&>()) : std::nullopt;
            if (format)
                precision.*stage.format = *format;
            else
                reading.expected(stage.name, *value, "fp64, fp32, tf32, fp16, bf16 or e4m3");
        }
    });
}

void read_savings(Reading& outer, Savings& savings) {
    read_object(outer, "savings", [&](Reading& reading) {
        check_keys(reading, {"lazy", "exp2"});
        auto& [lazy, cubic] = savings;
        if (reading.find("lazy")) read(reading, "lazy", lazy.emplace());
        read(reading, "exp2", cubic, exponentials);
    });
}

// A whole number in these limits.
void read_within(Reading& reading, const char* key, int& number, int least, int most) {
    if (!reading.find(key)) return reading.fail(reading.path + key + " is missing");
    read(reading, key, number);
    if (reading.error.empty() && (number < least || number > most))
        reading.fail(reading.path + key + " is " + str(number) + ", expected " + str(least) + " to " +
                     str(most));
}

void read_bookmark(Reading& reading, SavedView::Bookmark& mark) {
    check_keys(reading, {"number", "step", "row"});
    read_within(reading, "number", mark.number, 1, 9);
    read_within(reading, "step", mark.step, 1, std::numeric_limits<int>::max());
    read_within(reading, "row", mark.row, 0, std::numeric_limits<int>::max());
}

void read_breakpoints(Reading& reading, std::vector<std::string>& breakpoints) {
    const auto read_one = [&](const Json& text, const std::string& where) {
        if (!text.is_string()) return reading.expected(where, text, "a condition, for example \"alpha < 1\"");
        breakpoints.push_back(text.get<std::string>());
        if (const auto condition = parse_condition(breakpoints.back()); !condition)
            reading.fail(reading.path + where + ", " + condition.error);
    };
    read_list(reading, "breakpoints", "an array of conditions", read_one);
}

OrderedJson written(auto value) { return value; }
OrderedJson written(std::optional<int> count) { return count ? OrderedJson(*count) : OrderedJson(); }
OrderedJson written(auto choice, const Words& words) { return words[static_cast<std::size_t>(choice)]; }

}  // namespace

void read_projection(Reading& reading, Problem& problem) {
    const bool any = reading.find("x") || reading.find("w_q") || reading.find("w_k") || reading.find("w_v");
    if (!any) return;
    Projection& w = problem.projection.emplace();
    require_matrix(reading, "x", w.X);
    require_matrix(reading, "w_q", w.W_Q);
    require_matrix(reading, "w_k", w.W_K);
    require_matrix(reading, "w_v", w.W_V);
    if (!reading.error.empty()) return;
    for (const auto& [name, W] : {std::pair("w_q", &w.W_Q), {"w_k", &w.W_K}, {"w_v", &w.W_V}})
        if (W->rows() != w.X.cols())
            return reading.fail(std::string(name) + " has " + str(W->rows()) + " rows, but x has " +
                                str(w.X.cols()) + " columns");
    project(problem);
    // A recorded walk holds the products, too; they must be these.
    for (const auto& [name, A] : {std::pair("q", &problem.Q), {"k", &problem.K}, {"v", &problem.V}}) {
        Matrix stated = *A;
        read(reading, name, stated);
        const double size = std::max(1.0, A->size() > 0 ? A->cwiseAbs().maxCoeff() : 0.0);
        if (stated.rows() != A->rows() || stated.cols() != A->cols() ||
            !((stated - *A).cwiseAbs().maxCoeff() <= 1e-9 * size))
            return reading.fail(std::string(name) + " is not x times w_" + name + "; leave " + name + " out");
    }
}

void read_extras(Reading& reading, Problem& problem) {
    read_heads(reading, problem);
    read_tokens(reading, problem.tokens);
    read_options(reading, problem.options);
    read_switches(reading, problem.switches);
    read_precision(reading, problem.precision);
    read_savings(reading, problem.savings);
}

void read_view(Reading& outer, SavedView& view) {
    read_object(outer, "view", [&](Reading& reading) {
        check_keys(reading, {"lesson", "step", "row", "presenter", "panel", "bookmarks", "breakpoints"});
        std::size_t panel = 0;
        read(reading, "lesson", view.lesson);
        read(reading, "step", view.step);
        read(reading, "row", view.row);
        read(reading, "presenter", view.presenter);
        read(reading, "panel", panel, panels);
        if (reading.find("panel")) view.panel = panels[panel];
        read_objects(reading, "bookmarks", "an array of objects",
                     [&](Reading& mark) { read_bookmark(mark, view.bookmarks.emplace_back()); });
        read_breakpoints(reading, view.breakpoints);
    });
}

OrderedJson json_of_extras(const Problem& p) {
    OrderedJson json = OrderedJson::object();
    for (const LogitChange& change : logit_changes())
        if (const auto& value = p.logits.*change.value) json[change.name] = *value;
    if (p.heads) json["heads"] = json_of_heads(p);
    if (!p.tokens.empty()) json["tokens"] = p.tokens;
    if (p.options != Options{})
        visit_options(p.options, [&](const char* key, const auto&... option) {
            object_in(json, "options")[key] = written(option...);
        });
    for (const Fault& fault : all_faults())
        if (p.switches.*fault.on) list_in(json, "switches").push_back(fault.name);
    for (const Stage& stage : stages())
        if (p.precision.*stage.format != Format::fp64)
            object_in(json, "precision")[stage.name] = name(p.precision.*stage.format);
    if (p.savings.lazy) object_in(json, "savings")["lazy"] = *p.savings.lazy;
    if (p.savings.cubic) object_in(json, "savings")["exp2"] = "cubic";
    if (p.projection) {
        json["x"] = json_of(p.projection->X), json["w_q"] = json_of(p.projection->W_Q);
        json["w_k"] = json_of(p.projection->W_K), json["w_v"] = json_of(p.projection->W_V);
    }
    return json;
}

OrderedJson json_of(const SavedView& view) {
    OrderedJson json{
        {"lesson", view.lesson}, {"step", view.step}, {"row", view.row}, {"presenter", view.presenter}};
    if (!view.panel.empty()) json["panel"] = view.panel;
    for (const auto& [number, step, row] : view.bookmarks)
        list_in(json, "bookmarks").push_back({{"number", number}, {"step", step}, {"row", row}});
    if (!view.breakpoints.empty()) json["breakpoints"] = view.breakpoints;
    return json;
}

OrderedJson json_of_sizes(const Problem& p) {
    return {{"n", p.N()},
            {"n_kv", p.N_kv()},
            {"d", p.d()},
            {"br", p.Br},
            {"bc", p.Bc},
            {"causal", p.causal},
            {"window", p.window ? OrderedJson(*p.window) : OrderedJson()},
            {"scale", p.softmax_scale()}};
}

}  // namespace tilewalk

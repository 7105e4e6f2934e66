#include "app/io/kernel_bundle.h"

#include "app/io/file.h"
#include "app/io/json_reading.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tilewalk {
namespace {

using Json = nlohmann::json;
using Floats = std::vector<float>;
using Quantity = KernelFault::Quantity;

constexpr const char* schema = "tilewalk-compare-1";

// ---- Writing: as a stream of text, because a tree of so many numbers would take many times their room

std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& out, float x) {
    if (std::isnan(x)) return void(out += "\"nan\"");
    if (std::isinf(x)) return void(out += x > 0 ? "\"inf\"" : "\"-inf\"");
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(x));
    out += buffer;
}

void append(std::string& out, const char* key, const Floats& values) {
    out += std::string("\"") + key + "\":[";
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (n > 0) out += ",";
        append(out, values[n]);
    }
    out += "]";
}

std::string run_text(const KernelRun& run) {
    const std::pair<const char*, const std::string*> facts[] = {
        {"device", &run.device},  {"device_name", &run.device_name}, {"driver", &run.driver},
        {"date", &run.date},      {"version", &run.version},         {"commit", &run.commit},
        {"command", &run.command}};
    std::string out = "{";
    for (const auto& [key, value] : facts)
        out += (out.size() > 1 ? ", \"" : "\"") + std::string(key) + "\":" + quoted(*value);
    return out + "}";
}

std::string fault_json(const KernelFault& fault) {
    if (fault.quantity == Quantity::none) return "null";
    return std::string("{\"quantity\":\"") + info(fault.quantity).name +
           "\", \"i\":" + std::to_string(fault.i) + ", \"j\":" + std::to_string(fault.j) +
           ", \"row\":" + std::to_string(fault.row) +
           ", \"column\":" + (fault.column < 0 ? "null" : std::to_string(fault.column)) +
           ", \"amount\":" + shortest(fault.amount) + "}";
}

void append(std::string& out, const KernelTile& tile) {
    out += "  {\"i\":" + std::to_string(tile.i) + ", \"j\":" + std::to_string(tile.j) +
           ", \"visited\":" + (tile.visited ? "true" : "false");
    for (Quantity quantity : kernel_quantities()) {
        const Floats& values = values_of(tile, quantity);
        if (values.empty()) continue;
        out += ",\n   ";
        append(out, info(quantity).name, values);
    }
    out += "}";
}

// ---- Reading

// One number of an array; infinities and NaN are words.
bool read_float(const Json& value, float& x) {
    if (value.is_string()) {
        const auto& word = value.get_ref<const std::string&>();
        if (word == "inf") x = std::numeric_limits<float>::infinity();
        if (word == "-inf") x = -std::numeric_limits<float>::infinity();
        if (word == "nan") x = std::numeric_limits<float>::quiet_NaN();
        return word == "inf" || word == "-inf" || word == "nan";
    }
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    x = static_cast<float>(number);
    return std::abs(number) <= static_cast<double>(FLT_MAX);
}

void read_floats(Reading& r, const char* key, Floats& values) {
    const Json* list = r.find(key);
    if (!list) return;
    if (!list->is_array()) return r.expected(key, *list, "an array of numbers");
    values.reserve(list->size());
    for (std::size_t n = 0; n < list->size(); ++n)
        if (!read_float((*list)[n], values.emplace_back()))
            return r.expected(std::string(key) + "[" + std::to_string(n) + "]", (*list)[n],
                              "a number of float32, \"inf\", \"-inf\" or \"nan\"");
}

// Calls read(Reading&) with the object under a key; what went wrong there goes on to the outer object.
template <class Read> void within(Reading& r, const char* key, const Read& read) {
    const Json* value = r.find(key);
    if (!value) return r.fail(std::string("the key \"") + key + "\" is missing, expected an object");
    if (!value->is_object()) return r.expected(key, *value, "an object");
    Reading inner{*value, "", r.path + key + "."};
    read(inner);
    if (!inner.error.empty()) r.fail(inner.error);
}

void read_run(Reading& r, KernelRun& run) {
    check_keys(r, {"device", "device_name", "driver", "date", "version", "commit", "command"});
    int device = 0;
    read_choice(r, "device", {"emulator", "cuda"}, device);
    run.device = device == 1 ? "cuda" : "emulator";
    read_text(r, "device_name", run.device_name);
    read_text(r, "driver", run.driver);
    read_text(r, "date", run.date);
    read_text(r, "version", run.version);
    read_text(r, "commit", run.commit);
    read_text(r, "command", run.command);
}

void read_fault(Reading& r, KernelFault& fault) {
    check_keys(r, {"quantity", "i", "j", "row", "column", "amount"});
    int quantity = 0;
    read_choice(r, "quantity", {"S", "m", "alpha", "P", "l", "O"}, quantity);
    fault.quantity = kernel_quantities()[static_cast<std::size_t>(quantity)];
    read_count(r, "i", fault.i);
    read_count(r, "j", fault.j);
    read_count(r, "row", fault.row);
    if (const Json* column = r.find("column"); column && !column->is_null())
        read_count(r, "column", fault.column);
    read_number(r, "amount", fault.amount);
}

void read_tile(Reading& r, KernelTile& tile) {
    check_keys(r, {"i", "j", "visited", "m", "l", "alpha", "S", "P", "O"});
    read_count(r, "i", tile.i);
    read_count(r, "j", tile.j);
    read_flag(r, "visited", tile.visited);
    read_floats(r, "m", tile.m);
    read_floats(r, "l", tile.l);
    read_floats(r, "alpha", tile.alpha);
    read_floats(r, "S", tile.S);
    read_floats(r, "P", tile.P);
    read_floats(r, "O", tile.O);
}

void read_tiles(Reading& r, std::vector<KernelTile>& tiles) {
    const Json* list = r.find("tiles");
    if (!list) return;
    if (!list->is_array()) return r.expected("tiles", *list, "an array");
    for (std::size_t n = 0; n < list->size(); ++n) {
        const std::string path = "tiles[" + std::to_string(n) + "]";
        if (!(*list)[n].is_object()) return r.expected(path, (*list)[n], "an object");
        Reading inner{(*list)[n], "", path + "."};
        read_tile(inner, tiles.emplace_back());
        if (!inner.error.empty()) return r.fail(inner.error);
    }
}

void read_problem(Reading& r, Problem& problem) {
    within(r, "problem", [&](Reading& inner) {
        auto read = problem_from_json(inner.object.dump(), "problem");
        if (!read) return inner.fail(read.error.substr(0, read.error.find_last_not_of('.') + 1));
        problem = std::move(*read);
    });
}

void read_head(Reading& r, KernelTrace& trace) {
    read_text(r, "kernel", trace.kernel);
    if (trace.kernel.empty()) r.fail("kernel is missing");
    read_text(r, "title", trace.title);
    int type = 0;
    read_choice(r, "dtype", {"f32", "f16", "bf16"}, type);
    trace.dtype = static_cast<DType>(type);
    read_count(r, "kernel_d", trace.kernel_d);
    read_flag(r, "backward", trace.backward);
    within(r, "run", [&](Reading& inner) { read_run(inner, trace.run); });
    if (const Json* fault = r.find("fault"); fault && !fault->is_null())
        within(r, "fault", [&](Reading& inner) { read_fault(inner, trace.fault); });
}

}  // namespace

std::string bundle_to_json(const KernelTrace& trace) {
    static constexpr const char* types[] = {"f32", "f16", "bf16"};
    std::string out =
        std::string("{\"schema\":\"") + schema + "\",\n \"kernel\":" + quoted(trace.kernel) +
        ", \"title\":" + quoted(trace.title) + ",\n \"run\":" + run_text(trace.run) + ",\n \"dtype\":\"" +
        types[static_cast<int>(trace.dtype)] + "\", \"kernel_d\":" + std::to_string(trace.kernel_d) +
        ", \"backward\":" + (trace.backward ? "true" : "false") + ",\n \"fault\":" + fault_json(trace.fault) +
        ",\n \"problem\":" + problem_to_json(trace.problem) + " ,\"tiles\":[\n";
    for (const KernelTile& tile : trace.tiles) {
        append(out, tile);
        out += &tile == &trace.tiles.back() ? "\n" : ",\n";
    }
    out += " ]";
    const std::pair<const char*, const Floats*> outputs[] = {
        {"O", &trace.O}, {"L", &trace.L}, {"dQ", &trace.dQ}, {"dK", &trace.dK}, {"dV", &trace.dV}};
    for (const auto& [key, values] : outputs) {
        if (values->empty()) continue;
        out += ",\n ";
        append(out, key, *values);
    }
    return out + "}\n";
}

bool is_bundle_json(std::string_view text) {
    return text.substr(0, 4096).find(schema) != text.npos;  // it begins with its schema
}

bool is_bundle_file(const std::string& path) {
    if (!path.ends_with(".json")) return false;
    const auto text = read_file(path);
    return text && is_bundle_json(*text);
}

Result<KernelTrace> bundle_from_json(std::string_view text, const std::string& where) {
    const auto json = parse_json(text);
    if (!json) return failure_at(where, json.error);
    if (!json->is_object()) return failure_at(where, "it is " + described(*json) + ", expected an object");
    Reading r{*json};
    std::string named;
    read_text(r, "schema", named);
    if (named != schema)
        return failure_at(where, "the schema is " + in_quotes(named) + ", expected \"" + schema + "\"");
    check_keys(r, {"schema", "kernel", "title", "run", "dtype", "kernel_d", "backward", "fault", "problem",
                   "tiles", "O", "L", "dQ", "dK", "dV"});
    KernelTrace trace;
    read_head(r, trace);
    read_problem(r, trace.problem);
    read_tiles(r, trace.tiles);
    read_floats(r, "O", trace.O);
    read_floats(r, "L", trace.L);
    read_floats(r, "dQ", trace.dQ);
    read_floats(r, "dK", trace.dK);
    read_floats(r, "dV", trace.dV);
    if (!r.error.empty()) return failure_at(where, r.error);
    if (auto sentence = refuse(trace)) return failure_at(where, *sentence);
    return trace;
}

Result<KernelTrace> load_bundle_file(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return Failure{text.error};
    return bundle_from_json(*text, path);
}

std::optional<std::string> save_bundle_file(const std::string& path, const KernelTrace& trace) {
    const std::string text = bundle_to_json(trace);
    if (text.size() > max_file_bytes)
        return failure_at(path, "not saved: it would have more than 256 MiB").sentence;
    return write_file_atomic(path, text);
}

}  // namespace tilewalk

#include "app/io/kernel_bundle.h"

#include "app/io/file.h"
#include "app/io/json_reading.h"
#include "app/io/problem_json.h"
#include "core/engine/engine.h"

#include <nlohmann/json.hpp>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tilewalk {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using Floats = std::vector<float>;
using Quantity = KernelFault::Quantity;

constexpr const char* schema = "tilewalk-compare-1";

const Fields<KernelRun> run_fields = {
    {"device", &KernelRun::device},  {"device_name", &KernelRun::device_name}, {"driver", &KernelRun::driver},
    {"date", &KernelRun::date},      {"version", &KernelRun::version},         {"commit", &KernelRun::commit},
    {"command", &KernelRun::command}};

constexpr std::pair<const char*, Floats KernelTrace::*> outputs[] = {{"O", &KernelTrace::O},
                                                                     {"L", &KernelTrace::L},
                                                                     {"dQ", &KernelTrace::dQ},
                                                                     {"dK", &KernelTrace::dK},
                                                                     {"dV", &KernelTrace::dV}};

// ---- Writing: as a stream of text, because a tree of so many numbers would take many times their room

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

void append(std::string& out, const KernelTile& tile) {
    out += "  {\"i\":" + str(tile.i) + ", \"j\":" + str(tile.j) +
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
    const Json* list = r.find(key, &Json::is_array, "an array of numbers");
    if (!list) return;
    values.reserve(list->size());
    for (std::size_t n = 0; n < list->size(); ++n)
        if (!read_float((*list)[n], values.emplace_back()))
            return r.expected(std::string(key) + "[" + str(n) + "]", (*list)[n],
                              "a number of float32, \"inf\", \"-inf\" or \"nan\"");
}

void read_run(Reading& r, KernelRun& run) {
    read_fields(r, run_fields, run);
    int device = 0;
    read_word(r, "device", {"emulator", "cuda"}, device);
    run.device = device == 1 ? "cuda" : "emulator";
}

void read_fault(Reading& r, KernelFault& fault) {
    check_keys(r, {"quantity", "i", "j", "row", "column", "amount"});
    std::size_t quantity = 0;
    read(r, "quantity", quantity, {"S", "m", "alpha", "P", "l", "O"});
    fault.quantity = kernel_quantities()[quantity];
    read(r, "i", fault.i);
    read(r, "j", fault.j);
    read(r, "row", fault.row);
    if (const Json* column = r.find("column"); column && !column->is_null()) read(r, "column", fault.column);
    read(r, "amount", fault.amount);
}

void read_tile(Reading& r, KernelTile& tile) {
    check_keys(r, {"i", "j", "visited", "m", "l", "alpha", "S", "P", "O"});
    read(r, "i", tile.i);
    read(r, "j", tile.j);
    read(r, "visited", tile.visited);
    read_floats(r, "m", tile.m);
    read_floats(r, "l", tile.l);
    read_floats(r, "alpha", tile.alpha);
    read_floats(r, "S", tile.S);
    read_floats(r, "P", tile.P);
    read_floats(r, "O", tile.O);
}

void read_problem(Reading& r, Problem& problem) {
    auto read = problem_from_json(r.object.dump(), "problem");
    if (!read) return r.fail(read.error.substr(0, read.error.find_last_not_of('.') + 1));
    problem = std::move(*read);
}

void read_head(Reading& r, KernelTrace& trace) {
    read(r, "kernel", trace.kernel);
    if (trace.kernel.empty()) r.fail("kernel is missing");
    read(r, "title", trace.title);
    read(r, "dtype", trace.dtype, {"f32", "f16", "bf16"});
    read(r, "kernel_d", trace.kernel_d);
    read(r, "split_blocks", trace.split_blocks);
    read(r, "backward", trace.backward);
    read(r, "P_from_L", trace.P_from_L);
    require(r, "run", "an object");
    read_object(r, "run", [&](Reading& inner) { read_run(inner, trace.run); });
    if (const Json* fault = r.find("fault"); fault && !fault->is_null())
        read_object(r, "fault", [&](Reading& inner) { read_fault(inner, trace.fault); });
    require(r, "problem", "an object");
    read_object(r, "problem", [&](Reading& inner) { read_problem(inner, trace.problem); });
}

}  // namespace

OrderedJson json_of(const KernelRun& run) { return json_of_fields<OrderedJson>(run_fields, run); }

OrderedJson json_of(const KernelFault& fault) {
    if (fault.quantity == Quantity::none) return nullptr;
    return {{"quantity", info(fault.quantity).name},
            {"i", fault.i},
            {"j", fault.j},
            {"row", fault.row},
            {"column", fault.column < 0 ? OrderedJson() : OrderedJson(fault.column)},
            {"amount", fault.amount}};
}

std::string bundle_to_json(const KernelTrace& trace) {
    const JsonStyle style{.colon = ":"};
    std::string out =
        std::string("{\"schema\":\"") + schema + "\",\n \"kernel\":" + json_string(trace.kernel) +
        ", \"title\":" + json_string(trace.title) + ",\n \"run\":" + json_line(json_of(trace.run), style) +
        ",\n \"dtype\":\"" + name_of(trace.dtype) + "\", \"kernel_d\":" + str(trace.kernel_d) +
        (trace.split_blocks > 0 ? ", \"split_blocks\":" + str(trace.split_blocks) : "") +
        ", \"backward\":" + (trace.backward ? "true" : "false") +
        (trace.P_from_L ? ", \"P_from_L\":true" : "") +
        ",\n \"fault\":" + json_line(json_of(trace.fault), style) +
        ",\n \"problem\":" + problem_to_json(trace.problem) + " ,\"tiles\":[\n";
    for (const KernelTile& tile : trace.tiles) {
        append(out, tile);
        out += &tile == &trace.tiles.back() ? "\n" : ",\n";
    }
    out += " ]";
    for (const auto& [key, values] : outputs) {
        if ((trace.*values).empty()) continue;
        out += ",\n ";
        append(out, key, trace.*values);
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
    const auto json = parse_document(text, schema);
    if (!json) return failure_at(where, json.error);
    Reading r{*json};
    check_keys(r, {"schema", "kernel", "title", "run", "dtype", "kernel_d", "split_blocks", "backward",
                   "P_from_L", "fault", "problem", "tiles", "O", "L", "dQ", "dK", "dV"});
    KernelTrace trace;
    read_head(r, trace);
    read_objects(r, "tiles", "an array", [&](Reading& tile) { read_tile(tile, trace.tiles.emplace_back()); });
    for (const auto& [key, values] : outputs) read_floats(r, key, trace.*values);
    if (!r.error.empty()) return failure_at(where, r.error);
    if (auto sentence = refuse(trace)) return failure_at(where, *sentence);
    return trace;
}

Result<KernelTrace> load_bundle_file(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return Failure{text.error};
    return bundle_from_json(*text, path);
}

Result<void> save_bundle_file(const std::string& path, const KernelTrace& trace) {
    const std::string text = bundle_to_json(trace);
    if (text.size() > max_file_bytes) return failure_at(path, "not saved: it would have more than 256 MiB");
    return write_file_atomic(path, text);
}

}  // namespace tilewalk

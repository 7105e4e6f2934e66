#include "app/io/json_text.h"

#include "app/io/text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace tilewalk {
namespace {

using Json = nlohmann::json;

// A tree takes more memory than its text: these limits keep hostile files from taking all of it.
constexpr std::size_t max_text_bytes = std::size_t{64} << 20;
constexpr std::size_t max_depth = 32;
constexpr std::size_t max_keys = 100;

/// Line and column, from 1, of the character before `position`, where the parser gave up.
std::string place(std::string_view text, std::size_t position) {
    text = text.substr(0, std::min(position == 0 ? 0 : position - 1, text.size()));
    const auto line = 1 + std::count(text.begin(), text.end(), '\n');
    text.remove_prefix(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
    const auto column =
        1 + std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The parser's reason, without its number and its own place; bytes that are no plain text are dropped.
std::string parser_reason(std::string reason) {
    if (const std::size_t at = reason.find("] "); at != std::string::npos) reason.erase(0, at + 2);
    if (reason.starts_with("parse error") && reason.find(": ") != std::string::npos)
        reason.erase(0, reason.find(": ") + 2);
    std::erase_if(reason, [](char c) { return c < 0x20 || c > 0x7E; });
    return reason.size() > 200 ? reason.substr(0, 200) + "..." : reason;
}

/// Follows the parser without building anything: what it learns decides whether and how the tree is built.
struct Scan {
    std::string_view text;
    std::string error;
    std::string schema;                       ///< value of the outermost "schema"
    std::vector<std::set<std::string>> open;  ///< keys so far of every container around; none in arrays
    std::string last_key;

    bool fail(std::string sentence) {
        error = std::move(sentence);
        return false;
    }
    bool enter() {
        open.emplace_back();
        return open.size() <= max_depth ||
               fail("the nesting is deeper than " + std::to_string(max_depth) + " levels");
    }
    bool leave() {
        open.pop_back();
        return true;
    }

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(std::int64_t) { return true; }
    bool number_unsigned(std::uint64_t) { return true; }
    bool number_float(double, const std::string&) { return true; }
    bool binary(Json::binary_t&) { return true; }
    bool string(std::string& value) {
        if (open.size() == 1 && last_key == "schema") schema = value;
        return true;
    }
    bool start_object(std::size_t) { return enter(); }
    bool end_object() { return leave(); }
    bool start_array(std::size_t) { return enter(); }
    bool end_array() { return leave(); }
    bool key(std::string& name) {
        if (!open.back().insert(name).second) return fail("the key " + in_quotes(name) + " is there twice");
        if (open.back().size() > max_keys)
            return fail("an object has more than " + std::to_string(max_keys) + " keys");
        last_key = name;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const Json::exception& problem) {
        return fail(place(text, position) + ": " + parser_reason(problem.what()));
    }
};

Json build(std::string_view text, bool is_trace) {
    const auto keep = [is_trace](int depth, Json::parse_event_t event, Json& parsed) {
        return !is_trace || depth != 1 || event != Json::parse_event_t::key ||
               (parsed != "steps" && parsed != "result");
    };
    return Json::parse(text, keep);
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
    if (text.size() > max_text_bytes) return Failure{"the text has more than 64 MiB"};
    try {
        Scan scan;
        scan.text = text;
        if (!Json::sax_parse(text, &scan)) return Failure{scan.error};
        return build(text, scan.schema == "tilewalk-trace-1");
    } catch (const std::exception& problem) {
        return Failure{"the JSON could not be read: " + parser_reason(problem.what())};
    }
}

}  // namespace tilewalk

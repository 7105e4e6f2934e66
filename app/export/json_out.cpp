#include "app/export/json_out.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace tilewalk {

std::string json_number(double value) {
    if (std::isnan(value)) return "\"nan\"";
    if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
    // Readers take "-0" for the integer 0; the point keeps the sign.
    if (value == 0 && std::signbit(value)) return "-0.0";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 17).ptr;
    return {buffer, end};
}

std::string json_string(const std::string& text) {
    using Json = nlohmann::json;
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tilewalk

#include "app/cli/listings.h"

#include "app/cli/devices.h"
#include "app/cli/output.h"
#include "app/cli/text_layout.h"
#include "app/cli/values.h"
#include "app/io/examples.h"
#include "core/cpu/kernel.h"
#include "core/lessons/lesson.h"
#include "core/numbers.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

std::string mask_text(const Problem& p) {
    const std::string window = p.window ? "window " + std::to_string(*p.window) : "";
    if (p.causal && p.window) return "causal, " + window;
    return p.causal ? "causal" : p.window ? window : "none";
}

std::string shape(int rows, int cols) { return std::to_string(rows) + "×" + std::to_string(cols); }

std::string examples_text() {
    std::vector<std::vector<std::string>> rows{{"name", "title", "Q", "K, V", "tiles", "mask"}};
    for (const Problem& p : examples())
        rows.push_back(
            {p.name, p.title, shape(p.N(), p.d()), shape(p.N_kv(), p.d()), shape(p.Br, p.Bc), mask_text(p)});
    const Block lines = table(rows);
    std::string text = lines[0] + "\n";
    for (std::size_t n = 1; n < lines.size(); ++n) {
        text += lines[n] + "\n";
        for (const std::string& line : wrap(examples()[n - 1].watch, 96)) text += "    " + line + "\n";
    }
    return text;
}

Json example_json(const Problem& p) {
    Json entry{{"name", p.name},    {"title", p.title},
               {"n", p.N()},        {"n_kv", p.N_kv()},
               {"d", p.d()},        {"br", p.Br},
               {"bc", p.Bc},        {"causal", p.causal},
               {"window", nullptr}, {"scale", p.softmax_scale()},
               {"watch", p.watch}};
    if (p.window) entry["window"] = *p.window;
    return entry;
}

std::string examples_json() {
    Json list = Json::array();
    for (const Problem& p : examples()) list.push_back(example_json(p));
    return Json{{"schema", "tilewalk-examples-1"}, {"examples", list}}.dump(2) + "\n";
}

std::string lessons_text() {
    std::string text;
    for (const Lesson& lesson : lessons()) {
        text += std::string(lesson.id) + "  " + lesson.title + "\n";
        for (const std::string& line : wrap(lesson.summary, 96)) text += "    " + line + "\n";
    }
    return text;
}

std::string lessons_json() {
    Json list = Json::array();
    for (const Lesson& lesson : lessons())
        list.push_back({{"id", lesson.id}, {"title", lesson.title}, {"summary", lesson.summary}});
    return Json{{"schema", "tilewalk-lessons-1"}, {"lessons", list}}.dump(2) + "\n";
}

std::string kernels_text() {
    const auto engine = cpu::make_engine();
    std::vector<std::vector<std::string>> rows{{"device", "name", "title", "file"}};
    for (const KernelInfo& kernel : engine->kernels())
        rows.push_back({engine->device(), kernel.name, kernel.title, kernel.file});
    const Block lines = table(rows);
    std::string text = lines[0] + "\n";
    for (std::size_t n = 1; n < lines.size(); ++n) {
        text += lines[n] + "\n";
        for (const std::string& line : wrap(engine->kernels()[n - 1].teaches, 96))
            text += "    " + line + "\n";
    }
    return text;
}

std::string kernels_json() {
    const auto engine = cpu::make_engine();
    Json list = Json::array();
    for (const KernelInfo& kernel : engine->kernels())
        list.push_back({{"device", engine->device()},
                        {"name", kernel.name},
                        {"title", kernel.title},
                        {"teaches", kernel.teaches},
                        {"file", kernel.file},
                        {"materialises", kernel.materialises}});
    return Json{{"schema", "tilewalk-kernels-1"}, {"kernels", list}}.dump(2) + "\n";
}

}  // namespace

Outcome run_listing(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    const bool json = *format == 1;
    std::string text;
    if (a.command == Command::examples) text = json ? examples_json() : examples_text();
    if (a.command == Command::lessons) text = json ? lessons_json() : lessons_text();
    if (a.command == Command::kernels) text = json ? kernels_json() : kernels_text();
    if (a.command == Command::devices) text = json ? devices_json() : devices_text();
    return written(write_to_stream(out, [&text](std::ostream& stream) { stream << text; }));
}

}  // namespace tilewalk

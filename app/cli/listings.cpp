#include "app/cli/listings.h"

#include "app/cli/devices.h"
#include "app/cli/output.h"
#include "app/cli/values.h"
#include "app/export/text_layout.h"
#include "app/io/examples.h"
#include "core/base/numbers.h"
#include "core/cpu/kernel.h"
#include "core/lessons/table.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>

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

// What a kernel takes, asked of its engine for sizes that one meets.
struct Takes {
    std::vector<std::string> directions, types;
    std::vector<int> head_dims;
    bool any_head_dim = false;
};
Takes what_it_takes(const Engine& engine, const KernelInfo& kernel) {
    constexpr int dims[] = {16, 32, 48, 64, 80, 96, 112, 128, 192, 256};
    Takes takes;
    std::set<int> taken;
    for (const Direction direction : {Direction::forward, Direction::backward}) {
        bool any = false;
        for (const DType type : {DType::f32, DType::f16, DType::bf16})
            for (const int d : dims) {
                const Workload w{.direction = direction, .dtype = type, .d = d};
                if (engine.why_not(kernel, w)) continue;
                any = true;
                taken.insert(d);
                if (std::find(takes.types.begin(), takes.types.end(), name_of(type)) == takes.types.end())
                    takes.types.emplace_back(name_of(type));
            }
        if (any) takes.directions.emplace_back(name_of(direction));
    }
    takes.head_dims.assign(taken.begin(), taken.end());
    takes.any_head_dim = taken.size() == std::size(dims);
    return takes;
}

// The kernels of the CPU, then those of CUDA as a GPU of compute capability 9.0 takes them; the emulator has
// the same.
struct Listed {
    const char* device;
    KernelInfo info;
    Takes takes;
};
std::vector<Listed> all_kernels() {
    std::vector<Listed> all;
    const auto list = [&all](const char* device, const Engine& engine) {
        for (const KernelInfo& kernel : engine.kernels())
            all.push_back({device, kernel, what_it_takes(engine, kernel)});
    };
    list("cpu", *cpu::make_engine(1));
    list("cuda", *gpu::make_engine(gpu::Where::emulator));
    return all;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}
std::string head_dims_text(const Takes& takes) {
    std::vector<std::string> words;
    for (const int d : takes.head_dims) words.push_back(std::to_string(d));
    return takes.any_head_dim ? "any" : joined(words);
}

std::string kernels_text() {
    const std::vector<Listed> all = all_kernels();
    std::vector<std::vector<std::string>> rows{
        {"device", "name", "title", "direction", "types", "d", "file"}};
    for (const Listed& one : all)
        rows.push_back({one.device, one.info.name, one.info.title, joined(one.takes.directions),
                        joined(one.takes.types), head_dims_text(one.takes), one.info.file});
    const Block lines = table(rows);
    std::string text = lines[0] + "\n";
    for (std::size_t n = 1; n < lines.size(); ++n) {
        text += lines[n] + "\n";
        for (const std::string& line : wrap(all[n - 1].info.teaches, 96)) text += "    " + line + "\n";
    }
    return text;
}

std::string kernels_json() {
    Json list = Json::array();
    for (const Listed& one : all_kernels())
        list.push_back({{"device", one.device},
                        {"name", one.info.name},
                        {"title", one.info.title},
                        {"directions", one.takes.directions},
                        {"types", one.takes.types},
                        {"head_dims", one.takes.head_dims},
                        {"teaches", one.info.teaches},
                        {"file", one.info.file},
                        {"materialises", one.info.materialises}});
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

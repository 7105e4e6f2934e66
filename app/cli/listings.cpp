// tilewalk examples, lessons, kernels, devices: what there is.
#include "app/cli/commands.h"
#include "app/cli/values.h"
#include "app/export/text_layout.h"
#include "app/io/examples.h"
#include "app/io/problem_extras.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/bench/machine.h"
#include "core/cpu/kernel.h"
#include "core/lessons/table.h"
#include "cuda/host/gpu.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <thread>

namespace tilewalk {
namespace {

using Json = nlohmann::ordered_json;

std::string mask_text(const Problem& p) {
    const std::string window = p.window ? "window " + str(*p.window) : "";
    if (p.causal && p.window) return "causal, " + window;
    return p.causal ? "causal" : p.window ? window : "none";
}

std::string shape(int rows, int cols) { return str(rows) + "×" + str(cols); }

std::string remark(const std::string& text) { return lines_of(wrap(text, 96), "    "); }

// A table with a heading and, below each of its rows, the remark on it.
std::string table_with_remarks(const std::vector<std::vector<std::string>>& rows, const auto& remark_on) {
    const Block lines = table(rows);
    std::string text = lines[0] + "\n";
    for (std::size_t n = 1; n < lines.size(); ++n) text += lines[n] + "\n" + remark(remark_on(n - 1));
    return text;
}

std::string examples_text() {
    std::vector<std::vector<std::string>> rows{{"name", "title", "Q", "K, V", "tiles", "mask"}};
    for (const Problem& p : examples())
        rows.push_back(
            {p.name, p.title, shape(p.N(), p.d()), shape(p.N_kv(), p.d()), shape(p.Br, p.Bc), mask_text(p)});
    return table_with_remarks(rows, [](std::size_t n) { return examples()[n].watch; });
}

std::string text_of(const char* schema, const char* key, const Json& list) {
    return Json{{"schema", schema}, {key, list}}.dump(2) + "\n";
}

Json example_json(const Problem& p) {
    Json entry{{"name", p.name}, {"title", p.title}};
    entry.update(json_of_sizes(p));
    entry["watch"] = p.watch;
    return entry;
}

std::string examples_json() {
    Json list = Json::array();
    for (const Problem& p : examples()) list.push_back(example_json(p));
    return text_of("tilewalk-examples-1", "examples", list);
}

std::string lessons_text() {
    std::string text;
    for (const Lesson& lesson : lessons())
        text += std::string(lesson.id) + "  " + lesson.title + "\n" + remark(lesson.summary);
    return text;
}

std::string lessons_json() {
    Json list = Json::array();
    for (const Lesson& lesson : lessons())
        list.push_back({{"id", lesson.id}, {"title", lesson.title}, {"summary", lesson.summary}});
    return text_of("tilewalk-lessons-1", "lessons", list);
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
                const std::int64_t N_q = kernel.most_queries > 0 ? kernel.most_queries : 1024;
                const Workload w{.direction = direction, .dtype = type, .N_q = N_q, .d = d};
                if (engine.why_not(kernel, w)) continue;
                any = true;
                taken.insert(d);
                if (std::ranges::find(takes.types, name_of(type)) == takes.types.end())
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

std::string head_dims_text(const Takes& takes) {
    return takes.any_head_dim ? "any" : joined(names_of(takes.head_dims, [](int d) { return str(d); }));
}

std::string kernels_text() {
    const std::vector<Listed> all = all_kernels();
    std::vector<std::vector<std::string>> rows{
        {"device", "name", "title", "direction", "types", "d", "file"}};
    for (const Listed& one : all)
        rows.push_back({one.device, one.info.name, one.info.title, joined(one.takes.directions),
                        joined(one.takes.types), head_dims_text(one.takes), one.info.file});
    return table_with_remarks(rows, [&](std::size_t n) { return all[n].info.teaches; });
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
    return text_of("tilewalk-kernels-1", "kernels", list);
}

// ---- Devices

constexpr const char* emulator = "runs the CUDA kernels on the CPU, for checking; never timed";

unsigned thread_count() { return std::max(1u, std::thread::hardware_concurrency()); }

std::string capability(const gpu::GpuInfo& device) { return str(device.major) + "." + str(device.minor); }

std::string device_line(const gpu::GpuInfo& device) {
    return device.name + ", compute capability " + capability(device) + ", " + str(device.multiprocessors) +
           " multiprocessors, " + format_size(device.memory_total) +
           (device.memory_free < 0 ? "" : " (" + format_size(device.memory_free) + " free)") +
           (device.watched ? ", drives a display: kernels that run for seconds are ended by the driver" : "");
}

std::string versions(const gpu::Probe& found) {
    std::string text;
    if (!found.driver_version.empty()) text += "driver " + found.driver_version;
    if (!found.runtime_version.empty())
        text += (text.empty() ? "runtime " : ", runtime ") + found.runtime_version;
    return text;
}

Json device_json(const gpu::GpuInfo& device) {
    return {{"name", device.name},
            {"compute_capability", capability(device)},
            {"multiprocessors", device.multiprocessors},
            {"memory_total", device.memory_total},
            {"memory_free", device.memory_free < 0 ? Json() : Json(device.memory_free)},
            {"watched", device.watched}};
}

std::string devices_text() {
    const unsigned threads = thread_count();
    std::string text = "CPU   " + this_machine().cpu + ", " + counted(threads, "thread") + "\n";
    const gpu::Probe found = gpu::probe();
    const std::string with = versions(found);
    for (const gpu::GpuInfo& device : found.devices) text += "CUDA  " + device_line(device) + "\n";
    if (found.devices.empty()) text += "CUDA  none: " + found.why_none + "\n";
    if (!with.empty()) text += "      " + with + "\n";
    return text + "EMU   " + emulator + "\n";
}

std::string devices_json() {
    const gpu::Probe found = gpu::probe();
    Json devices = Json::array();
    for (const gpu::GpuInfo& device : found.devices) devices.push_back(device_json(device));
    Json cuda{{"devices", devices},
              {"why_none", nullptr},
              {"driver_version", found.driver_version},
              {"runtime_version", found.runtime_version}};
    if (found.devices.empty()) cuda["why_none"] = found.why_none;
    const Json cpu{{"model", this_machine().cpu}, {"threads", thread_count()}};
    const Json all{
        {"schema", "tilewalk-devices-1"}, {"cpu", cpu}, {"cuda", cuda}, {"emulator", {{"what", emulator}}}};
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Outcome list(const Arguments& a, std::ostream& out, std::string (*text)(), std::string (*json)()) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    return put(a.output, out, *format == 1 ? json() : text());
}

}  // namespace

Outcome list_examples(const Arguments& a, std::ostream& out) {
    return list(a, out, examples_text, examples_json);
}
Outcome list_lessons(const Arguments& a, std::ostream& out) {
    return list(a, out, lessons_text, lessons_json);
}
Outcome list_kernels(const Arguments& a, std::ostream& out) {
    return list(a, out, kernels_text, kernels_json);
}
Outcome list_devices(const Arguments& a, std::ostream& out) {
    return list(a, out, devices_text, devices_json);
}

}  // namespace tilewalk

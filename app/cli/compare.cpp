// tilewalk compare
#include "app/cli/commands.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/kernel_bundle.h"
#include "app/io/text.h"
#include "core/compare/kernel_compare.h"
#include "cuda/host/gpu.h"

#include <algorithm>
#include <ostream>

namespace tilewalk {
namespace {

constexpr const char* default_kernel = "f5-flash2";
constexpr const char* expected_fault = "QUANTITY@i,j[,row[,column]][=AMOUNT], such as P@0,1,3=0.001";
constexpr DType types[] = {DType::f32, DType::f16, DType::bf16};

Failure bad_fault(const std::string& text) {
    return Failure{"--fault is " + in_quotes(text) + ", expected " + expected_fault + "."};
}

// A device and the reason for it, as a phrase: {cuda, "the GPU of this machine"}.
struct ChosenDevice {
    gpu::Where where = gpu::Where::emulator;
    std::string why;
};

// The outcome of choosing when that ends the command.
std::optional<Outcome> choose_device(const Word& word, ChosenDevice& chosen) {
    const auto index = choice("--device", word.value_or("cuda"), {"cuda", "emulator"});
    if (!index) return bad_input(index.error);
    chosen = {*index == 0 ? gpu::Where::cuda : gpu::Where::emulator, ""};
    if (*index == 1) return std::nullopt;
    const gpu::Probe found = gpu::probe();
    if (!found.devices.empty()) return std::nullopt;
    if (word)
        return Outcome{Exit::no_device, "There is no GPU to run on: " + found.why_none +
                                            "; --device emulator runs the same kernel on the CPU."};
    chosen = {gpu::Where::emulator, "there is no GPU: " + found.why_none};
    return std::nullopt;
}

Outcome write_comparison(const Arguments& a, bool json, const KernelComparison& c, const std::string& why,
                         std::ostream& out) {
    Outcome outcome = put(a.output, out, json ? compare_json(c) : compare_text(c, why));
    if (outcome.exit != Exit::done) return outcome;
    if (!c.passed())
        return {Exit::failed, std::string(info(c.nearest().slot).name) + " of " + c.kernel->kernel +
                                  " is beyond the rule: " + formula_text(c.nearest()) + "."};
    if (c.finding) return {Exit::failed, c.kernel->kernel + ": " + finding_text(c) + "."};
    return {};
}

Outcome show(const Arguments& a, bool json, KernelTrace trace, const std::string& why, std::ostream& out) {
    const auto comparison = compare_kernel(std::make_shared<const KernelTrace>(std::move(trace)));
    if (!comparison) return bad_input(comparison.error);
    return write_comparison(a, json, *comparison, why, out);
}

Outcome show_again(const Arguments& a, bool json, std::ostream& out) {
    const CompareWords& w = a.compare;
    if (w.device || w.kernel || w.dtype || w.fault || w.save || !a.problem.empty())
        return bad_input("--load-bundle shows what was recorded; leave out the other options of the run.");
    auto trace = load_bundle_file(*w.load_bundle);
    if (!trace) return bad_input(trace.error);
    return show(a, json, std::move(*trace), "recorded", out);
}

// What the words ask for; type and kernel must go together.
Result<gpu::TraceRequest> make_trace_request(const CompareWords& words, Problem problem) {
    gpu::TraceRequest request;
    const auto kernel = find_kernel(words.kernel.value_or(default_kernel));
    if (!kernel) return Failure{kernel.error};
    const auto type = find_type(*kernel, words.dtype);
    if (!type) return Failure{type.error};
    request.kernel = kernel->name, request.dtype = *type;
    if (words.fault) {
        const auto fault = read_fault(*words.fault);
        if (!fault) return Failure{fault.error};
        request.fault = *fault;
    }
    request.problem = std::move(problem);
    return request;
}

Outcome not_traced(gpu::TraceFailed how, std::string sentence) {
    if (how == gpu::TraceFailed::input) return bad_input(std::move(sentence));
    if (how == gpu::TraceFailed::device) return {Exit::failed, std::move(sentence)};
    sentence.back() = ';';
    return {Exit::no_device, sentence + " --device emulator runs the same kernel on the CPU."};
}

// The command line that asks for the same again, also where what was left out is decided otherwise.
std::string repeated(const Arguments& a, gpu::Where where) {
    return a.repeated + (a.compare.device ? "" : std::string(" --device ") + gpu::name_of(where)) +
           (a.compare.kernel ? "" : std::string(" --kernel ") + default_kernel);
}

}  // namespace

Result<gpu::TraceableKernel> find_kernel(const std::string& name) {
    const auto& kernels = gpu::traceable_kernels();
    const auto found = std::ranges::find(kernels, name, &gpu::TraceableKernel::name);
    if (found != kernels.end()) return *found;
    const auto names = names_of(kernels, &gpu::TraceableKernel::name);
    return Failure{"There is no CUDA kernel " + in_quotes(name) +
                   did_you_mean(name, names, "; there are " + listed(names, "and") + ".")};
}

Result<DType> find_type(const gpu::TraceableKernel& kernel, const Word& word) {
    if (kernel.types.empty()) return Failure{kernel.name + " cannot be set beside the CPU's walk."};
    if (!word) return kernel.types.front();
    const auto index = choice("--dtype", *word, {"f32", "f16", "bf16"});
    if (!index) return Failure{index.error};
    const DType type = types[*index];
    if (std::ranges::find(kernel.types, type) != kernel.types.end()) return type;
    const auto names = names_of(kernel.types, [](DType one) { return name_of(one); });
    return Failure{kernel.name + " takes " + listed(names) + ", not " + *word + "."};
}

Result<KernelFault> read_fault(const std::string& text) {
    KernelFault fault;
    const std::size_t at = text.find('@'), equals = text.find('=');
    if (at == text.npos || (equals != text.npos && equals < at)) return bad_fault(text);
    const auto quantity = find_quantity(text.substr(0, at));
    if (!quantity)
        return Failure{"--fault is " + in_quotes(text) +
                       "; what can be made wrong is S, m, alpha, P, l or O."};
    fault.quantity = *quantity;
    int* const places[] = {&fault.i, &fault.j, &fault.row, &fault.column};
    const auto parts = split(text.substr(at + 1, equals == text.npos ? text.npos : equals - at - 1), ",");
    if (parts.size() < 2 || parts.size() > 4) return bad_fault(text);
    const bool one_column = info(*quantity).slot == Slot::m || info(*quantity).slot == Slot::alpha ||
                            info(*quantity).slot == Slot::l;
    if (parts.size() == 4 && one_column)
        return Failure{"--fault is " + in_quotes(text) +
                       "; m, alpha and l have one number in each row, and no column."};
    for (std::size_t n = 0; n < parts.size(); ++n) {
        const auto number = whole_number("--fault", parts[n], 0, 1 << 24);
        if (!number) return bad_fault(text);
        *places[n] = static_cast<int>(*number);
    }
    if (equals == text.npos) return fault;
    const auto amount = finite_number("--fault", text.substr(equals + 1), "a number after =");
    if (!amount || *amount == 0) return bad_fault(text);
    fault.amount = *amount;
    return fault;
}

Outcome run_compare(const Arguments& a, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "json"});
    if (!format) return bad_input(format.error);
    if (a.compare.load_bundle) return show_again(a, *format == 1, out);
    auto problem = make_problem(a.problem);
    if (!problem) return bad_input(problem.error);
    const auto request = make_trace_request(a.compare, std::move(*problem));
    if (!request) return bad_input(request.error);
    ChosenDevice device;
    if (const auto outcome = choose_device(a.compare.device, device)) return *outcome;
    if (auto refused = validate(request->problem)) return bad_input(*refused);

    gpu::TraceFailed how{};
    auto trace = gpu::trace_kernel(device.where, *request, {}, &how);
    if (!trace) return not_traced(how, trace.error);
    trace->run.command = repeated(a, device.where);
    if (a.compare.save)
        if (const auto saved = save_bundle_file(*a.compare.save, *trace); !saved) return written(saved);
    return show(a, *format == 1, std::move(*trace), device.why, out);
}

}  // namespace tilewalk

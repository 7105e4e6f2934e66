// What is run: kernel, type, device, a fault on purpose; run and cancel; the file.
#include "app/ui/chapters/compare/compare.h"
#include "app/ui/kit/items.h"
#include "app/ui/kit/open_field.h"
#include "app/ui/kit/page_frame.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <array>

namespace tilewalk::ui {

namespace {

using Quantity = KernelFault::Quantity;
constexpr std::array amounts = {1e-3, 1e-2, 1e-1, -1e-3};

std::string fault_letter(Quantity quantity) {
    if (quantity == Quantity::none) return "none";
    return quantity == Quantity::alpha ? "α" : quantity == Quantity::l ? "ℓ" : info(quantity).name;
}

Rect control_at(float x, float y, float w) { return {x, y - space::control / 2, w, space::control}; }

void kernels(const Canvas& c, AppState& state, float& x, float y, float w) {
    if (const Dropdown list{c, "##compare kernel", control_at(x, y, w), state.compare.kernel})
        for (const gpu::TraceableKernel& kernel : state.comparing->kernels) {
            const char* note = !kernel.tiles                             ? "outputs only"
                               : kernel.direction == Direction::backward ? "backward"
                                                                         : "";
            if (dropdown_item(c, kernel.name, kernel.name, kernel.name == state.compare.kernel, note))
                choose_kernel(state, kernel.name);
        }
    x += w;
}

void types(const Canvas& c, AppState& state, float& x, float y) {
    const gpu::TraceableKernel* kernel = chosen_kernel(state);
    if (!kernel || kernel->types.empty()) return;
    std::vector<std::string> names;
    int current = 0;
    for (std::size_t n = 0; n < kernel->types.size(); ++n) {
        names.emplace_back(name_of(kernel->types[n]));
        if (kernel->types[n] == state.compare.dtype) current = static_cast<int>(n);
    }
    if (segmented(c, "##compare type", x, y - space::control / 2, names, current))
        state.compare.dtype = kernel->types[static_cast<std::size_t>(current)];
    x += segmented_width(names);
}

// Of several tiles, or the walk's.
void problems(const Canvas& c, AppState& state, float& x, float y) {
    const auto size = [](const Problem& p) { return str(p.N()) + " × " + str(p.d()); };
    const std::vector<std::string> names{size(*state.comparing->several), size(*state.problem)};
    int current = state.comparing->own ? 1 : 0;
    if (segmented(c, "##compare problem", x, y - space::control / 2, names, current))
        state.comparing->own = current == 1;
    x += segmented_width(names);
}

// CUDA where there is a GPU; otherwise the reason why not is a tooltip away.
void devices(const Canvas& c, AppState& state, float& x, float y) {
    const std::string why = why_no_cuda(state);
    const bool cuda = chosen_device(state) == gpu::Where::cuda;
    const float first = button_width("emulator"), second = button_width("cuda");
    const ButtonLook emulator{.active = !cuda,
                              .tooltip = "The kernel's source, run by the CPU: any machine has it"};
    if (button(c, "##emulator", x, y - space::control / 2, first, space::control, "emulator", emulator))
        state.compare.device = 0;
    x += first + 4;
    const std::string tip = why.empty() ? "The GPU of this machine" : "No GPU: " + why;
    const ButtonLook gpu{
        .active = cuda, .enabled = state.comparing->probe && why.empty(), .tooltip = tip.c_str()};
    if (button(c, "##cuda", x, y - space::control / 2, second, space::control, "cuda", gpu))
        state.compare.device = 1;
    x += second;
}

KernelFault fault_at(const AppState& state, Quantity quantity) {
    const Place at = place_of(state);
    KernelFault fault{quantity, at.i, at.j, 0, -1, state.compare.fault_amount};
    if (state.comparing->shown) fault.row = at.row - at.i * state.comparing->shown->kernel->problem.Br;
    return fault;
}

void fault_quantity(const Canvas& c, AppState& state, float& x, float y, float w) {
    const gpu::TraceableKernel* kernel = chosen_kernel(state);
    const bool possible =
        kernel && kernel->tiles && state.comparing->shown && !state.comparing->shown->tiles.empty();
    const std::string tip = possible
                                ? "Make a number of the chosen tile and row wrong, and see where it is found"
                                : "A fault needs a kernel that records its tiles, and a first run";
    const ButtonLook look{.enabled = possible, .tooltip = tip.c_str()};
    const Quantity now = state.compare.fault.quantity;
    if (const Dropdown list{c, "##fault", control_at(x, y, w), fault_letter(now), look}) {
        const auto item = [&](Quantity quantity, const char* note, const KernelFault& fault) {
            if (dropdown_item(c, info(quantity).name, fault_letter(quantity), now == quantity, note))
                inject(state, fault);
        };
        item(Quantity::none, "", {});
        for (Quantity quantity : kernel_quantities())
            item(quantity, info(quantity).title, fault_at(state, quantity));
    }
    x += w;
}

void fault_amount(const Canvas& c, AppState& state, float& x, float y, float w) {
    const auto label = [](double amount) { return "× " + format_short(1 + amount); };
    const ButtonLook look{.tooltip = "How far the number is made wrong"};
    if (const Dropdown list{c, "##amount", control_at(x, y, w), label(state.compare.fault_amount), look})
        for (double amount : amounts) {
            if (!dropdown_item(c, label(amount), label(amount), amount == state.compare.fault_amount))
                continue;
            state.compare.fault_amount = amount;
            KernelFault fault = state.compare.fault;
            fault.amount = amount;
            if (fault.quantity != Quantity::none) inject(state, fault);
        }
    x += w;
}

void fault_buttons(const Canvas& c, AppState& state, float& x, float y) {
    const ButtonLook undo{.enabled = !state.compare.undo.empty(),
                          .tooltip = "Back to the fault before (Ctrl Z)"};
    if (icon_button(c, "##undo fault", x, y - space::control / 2, space::control, space::control, Icon::undo,
                    undo))
        undo_fault(state);
    x += 36;
    const ButtonLook clear{.enabled = state.compare.fault.quantity != Quantity::none, .tooltip = "No fault"};
    if (icon_button(c, "##clear fault", x, y - space::control / 2, space::control, space::control,
                    Icon::close, clear))
        inject(state, {});
    x += 32;
}

}  // namespace

void compare_choices(const Canvas& c, AppState& state, const Rect& a) {
    constexpr const char* title = "Kernel";
    const Panel panel(c, "Choices", a, title);
    const bool wide = a.w > 1350, named = a.w > 1100;
    const float gap = wide ? 22 : 12, y = a.title_y();
    float x = a.inner_x() + text_width(Face::semibold, size::lead, title) + 14;
    const auto label = [&](const char* text, bool always = false) {
        if (named || always) x += c.text(x, y, text, size::body, c.theme->t3) + 10;
    };
    kernels(c, state, x, y, wide ? 190 : 160);
    x += gap;
    label("Type");
    types(c, state, x, y);
    x += gap;
    label("Device");
    devices(c, state, x, y);
    x += gap;
    label("Fault", true);
    fault_quantity(c, state, x, y, 84);
    x += 6;
    fault_amount(c, state, x, y, 96);
    x += 8;
    fault_buttons(c, state, x, y);
    x += gap;
    if (offers_several_tiles(state)) {
        label("Problem");
        problems(c, state, x, y);
        x += gap;
    }
    const KernelFault& fault = state.compare.fault;
    const std::string text =
        fault.quantity != Quantity::none ? tile_text(fault.i, fault.j) + ", row " + str(fault.row) : "";
    if (a.inner_right() - x > 60) c.text_within(x, y, a.inner_right() - x, text, size::small, c.theme->t2);
}

std::string compare_status(const AppState& state) {
    const ComparePage& page = *state.comparing;
    if (page.run) {
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - page.run->started).count();
        return std::string(*page.run->stage == 0 ? "The kernel runs"
                                                 : "The CPU walks through the same tiles") +
               ", " + format_fixed(seconds, 0) + " s";
    }
    if (!page.shown) return page.failure.empty() ? "Not run yet" : page.failure;
    if (page.asked != page.done && !page.settling) return "What is shown is of other choices; run it again";
    return describe(*page.shown->kernel);
}

namespace {

std::string origin(const AppState& state, bool brief) {
    const ComparePage& page = *state.comparing;
    if (!page.shown) return "";
    const KernelRun& run = page.shown->kernel->run;
    std::string text = device_text(run);
    if (brief) return run.device == "cuda" ? run.device_name : text.substr(0, text.find(':'));
    if (!run.date.empty()) text += ", " + run.date + " UTC";
    if (!run.commit.empty()) text += ", commit " + run.commit.substr(0, 10);
    if (page.source.empty() && run.device != "cuda" && !why_no_cuda(state).empty())
        text += " (no GPU: " + why_no_cuda(state) + ")";
    return text;
}

void files(const Canvas& c, AppState& state, float x, float y, float field) {
    const OpenField open{"##compare path",
                         "##bundle open",
                         "comparison.json",
                         "Show a run that was saved; its file can also be dropped on the window",
                         state.hooks.load_bundle != nullptr,
                         std::exchange(state.ask_path, false),
                         &state.hooks.choose_file};
    if (open_field(c, x, y, field, state.compare.path, sizeof state.compare.path, open))
        open_bundle(state, with_json_ending(state.compare.path));
    x += field + 2 * open_gap + open_button_w;
    const ButtonLook save{.enabled = state.hooks.save_bundle && state.comparing->shown,
                          .tooltip = "Keep this run in a file; it opens without a GPU"};
    if (button(c, "##bundle save", x, y - space::bar / 2, 60, space::bar, "Save", save)) save_bundle(state);
    x += 66;
    const ButtonLook copy{.enabled = state.comparing->shown != nullptr,
                          .tooltip = "Copy verdict and finding as text (Ctrl C)"};
    if (button(c, "##compare copy", x, y - space::bar / 2, 60, space::bar, "Copy", copy)) copy_verdict(state);
}

void run_and_files(const Canvas& c, AppState& state, const Rect& a, float y) {
    const Theme& t = *c.theme;
    const ComparePage& page = *state.comparing;
    float x = a.inner_x();
    const ButtonLook run{.primary = !page.run && !page.settling && page.asked != page.done,
                         .enabled = !page.run,
                         .tooltip = "Run the kernel and the CPU's walk (Space)"};
    if (button(c, "##compare run", x, y - run_button::h / 2, run_button::w, run_button::h, "Run", run))
        start_comparison(state);
    x += run_button::w + run_button::gap;
    const ButtonLook stop{.enabled = page.run != nullptr, .tooltip = "Stop; what is shown stays (Esc)"};
    if (button(c, "##compare cancel", x, y - run_button::h / 2, run_button::w, run_button::h, "Cancel", stop))
        cancel_comparison(state);
    x += run_button::w + 16;
    const float field = std::clamp(a.inner_right() - x - 6 - 192 - 12 - 320, 90.0f, 220.0f),
                from = a.inner_right() - field - 6 - 192, room = from - 16 - x;
    c.text_within(x, y - 9, room, compare_status(state), size::small, t.t1, Face::medium);
    const std::string from_where = origin(state, false);
    const bool brief = text_width(Face::regular, size::small, from_where) > room;
    c.text_within(x, y + 10, room, brief ? origin(state, true) : from_where, size::small, t.t2);
    files(c, state, from, y, field);
}

}  // namespace

void compare_controls(const Canvas& c, AppState& state, const Rect& a) {
    const Panel panel(c, "Run", a);
    run_and_files(c, state, a, a.middle());
}

}  // namespace tilewalk::ui

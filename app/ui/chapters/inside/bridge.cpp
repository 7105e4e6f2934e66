#include "app/ui/chapters/inside/bridge.h"

#include "app/ui/chapters/inside/inside.h"

#include "app/ui/state/state.h"
#include "core/base/background.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <utility>

namespace tilewalk::ui {

namespace {

using inside::Bridge;
using inside::HeldAt;
using inside::KernelNumber;

/// Which of the launches that are walked through this one of the record is; −1: none.
int walked_launch(const InsideWalk& walk, int launch) {
    for (std::size_t n = 0; n < walk.launches.size(); ++n)
        if (walk.launches[n]->launch == &walk.record.launches[static_cast<std::size_t>(launch)])
            return static_cast<int>(n);
    return -1;
}

int launch_of_record(const InsidePlace& at) {
    return static_cast<int>(at.launch->launch - at.record().launches.data());
}

std::optional<HeldAt> find_held(const InsideWalk& walk, const Bridge* bridge, const KernelNumber& number) {
    if (number.number) {
        auto held = bridge ? bridge->find(*number.number) : std::nullopt;
        if (held) held->launch = walked_launch(walk, held->launch);
        return held;
    }
    for (std::size_t n = 0; n < walk.launches.size(); ++n) {
        const InsideWalk::Launch& launch = *walk.launches[n];
        auto held = find_element(walk.record, *launch.block, launch.steps, number.region, number.row,
                                 number.column, number.writes);
        if (held) return held->launch = static_cast<int>(n), held;
    }
    return std::nullopt;
}

void give_up(AppState& state, const std::string& why) {
    inside_page(state).wanted.reset();
    notify(state, why);
}

// Whether the block that is shown computes it; else the other one is asked for.
bool in_shown_block(AppState& state, const Bridge* bridge, const KernelNumber& number) {
    const inside::Record& record = state.kernel_walk->shown->record;
    const int block = number.writes ? block_of_element(record, number.region, number.row, number.column)
                      : bridge      ? bridge->block_of(number.beside)
                                    : -1;
    if (block < 0 || block == state.kernel_walk->shown->block) return true;
    state.inside.block = block;
    return false;
}

void go_to_held(AppState& state, InsideArrival arrival) {
    InsidePage& page = inside_page(state);
    const HeldAt& held = arrival.held;
    InsideForm& f = state.inside;
    f.launch = held.launch, f.playing = false;
    go_to_word(state, held.warp, held.step, held.lane, held.word);
    page.wanted.reset();
    page.arrived = std::make_shared<const InsideArrival>(std::move(arrival));
}

void go_to_target(AppState& state, const Bridge* bridge) {
    const InsideWalk& walk = *state.kernel_walk->shown;
    const InsideTarget target = *state.kernel_walk->wanted;
    InsideArrival arrival{target, {}, {}, "", ""};
    if (target.number) {
        arrival.number = *target.number;
    } else {
        const auto number = kernel_number(*target.walk, target.step, target.cell, walk.record);
        if (!number) return give_up(state, number.error);
        arrival.number = *number;
        arrival.other = other_keys_text(*target.walk, target.step, *number, walk.record);
    }
    arrival.symbol = symbol_text(target.cell.slot, target.cell.row, target.cell.col);
    if (!in_shown_block(state, bridge, arrival.number)) return;
    const auto held = find_held(walk, bridge, arrival.number);
    if (!held || held->launch < 0)
        return give_up(state, "The kernel has no step for " + arrival.symbol + ": the mask leaves it out.");
    arrival.held = *held;
    go_to_held(state, std::move(arrival));
}

void start_bridge(AppState& state) {
    InsidePage& page = inside_page(state);
    give_up_beside(std::exchange(page.bridge, nullptr));
    page.bridge_of = page.shown;
    page.bridge_failure.clear();
    const gpu::TraceableKernel* kernel = inside_kernel(state);
    if (!kernel || !kernel->tiles) {
        page.bridge_run.reset();
        page.bridge_failure = inside_kernel_name(state) + " has no tiles that it writes down.";
        return;
    }
    gpu::RecordRequest request;
    request.kernel = state.inside.kernel, request.dtype = state.inside.dtype;
    request.problem = recorded_problem(state);
    request.blocks = {page.shown->block};
    request.twin = true;
    page.bridge_run = std::make_shared<BridgeRun>();
    page.bridge_run->of = page.shown;
    using Made = Result<std::shared_ptr<const Bridge>>;
    page.bridge_run->result =
        Background<Made>([request, walk = page.shown](std::stop_token stop) mutable -> Made {
            request.stop = stop;
            const auto twin = gpu::record_kernel(request);
            if (!twin) return Failure{twin.error};
            auto bridge = Bridge::make(walk->record, *twin, request.problem);
            if (!bridge) return Failure{bridge.error};
            return std::make_shared<const Bridge>(std::move(*bridge));
        });
}

void take_bridge(InsidePage& page) {
    auto result = page.bridge_run->result.take();
    const bool current = page.bridge_run->of == page.shown;
    page.bridge_run.reset();
    if (!current) return;
    if (result)
        page.bridge = std::move(*result);
    else
        page.bridge_failure = result.error;
}

/// An element of a named matrix that the lane's step reads from device memory or writes there.
std::optional<LessonNumber> element_number(const InsidePlace& at) {
    const auto words = at.block().words_of(*at.event, at.lane);
    if (words.empty()) return std::nullopt;
    const bool fetches = at.event->op == inside::Op::fetch_tile;
    const bool copies = at.event->op == inside::Op::copy_issued || fetches;
    if (!copies && at.event->op != inside::Op::load && at.event->op != inside::Op::store) return std::nullopt;
    if (copies && words[fetches ? 1 : 2] == 0) return std::nullopt;
    const std::uint32_t address = words[copies ? 1 : 0];
    const auto element = inside::is_shared(address) ? std::nullopt : inside::element_of(at.record(), address);
    if (!element) return std::nullopt;
    LessonNumber out;
    out.region = at.record().regions[static_cast<std::size_t>(element->region)].name;
    out.row = element->row, out.column = element->column;
    constexpr std::pair<const char*, Slot> slots[] = {
        {"Q", Slot::Qi}, {"K", Slot::Kj}, {"V", Slot::Vj}, {"O", Slot::O}, {"L", Slot::L}};
    for (const auto& [name, slot] : slots)
        if (out.region == name) return out.symbol = symbol_text(slot, out.row, out.column), out;
    return std::nullopt;
}

/// What is packed to be stored: the element that the store writes, a few steps on.
std::optional<LessonNumber> packed_number(const InsidePlace& at) {
    if (at.event->op != inside::Op::pack) return std::nullopt;
    const auto store = inside::stored_behind(at.block(), at.n, at.lane);
    if (!store) return std::nullopt;
    InsidePlace there = at;
    there.n = *store, there.event = &at.block().events[*store];
    there.words = at.block().words_of(*there.event);
    return element_number(there);
}

/// The chosen cell of a product: S and O may become whole in a later one.
std::optional<LessonNumber> number_of_cell(const AppState& state, const InsidePlace& at,
                                           const Bridge& bridge) {
    if (at.event->op != inside::Op::multiply_add) return std::nullopt;
    const NamedProduct named = named_product(at);
    if (!named.known() || bridge.Bc() == 0) return std::nullopt;
    inside::FragmentCell cell = index_inside(at, cell_inside(state));
    if (named.turned()) std::swap(cell.row, cell.column);
    const bool scores = named.C == inside::Matter::S;
    const inside::Number n{scores ? inside::Quantity::S : inside::Quantity::O, cell.row, cell.column,
                           (scores ? cell.column : named.k) / bridge.Bc()};
    const auto held = bridge.find(n);
    if (!held) return std::nullopt;
    LessonNumber out;
    out.entry = Bridge::Entry{n, *held};
    out.symbol = symbol_text(info(n.quantity).slot, n.row, n.column);
    return out;
}

}  // namespace

std::string symbol_text(Slot slot, int row, int column) {
    const SlotInfo& of = info(slot);
    const std::string text = std::string(of.symbol) + (of.tilde ? "\u0303" : "") + " of row " + str(row);
    return one_column(slot) ? text : text + ", column " + str(column);
}

void ask_inside(AppState& state, InsideTarget target) {
    InsidePage& page = inside_page(state);
    const gpu::TraceableKernel* kernel = inside_kernel(state);
    if (target.walk && (!kernel || !kernel->tiles || kernel->direction != Direction::forward))
        choose_inside_kernel(state, InsideForm{}.kernel);
    page.wanted = std::make_shared<const InsideTarget>(std::move(target));
    page.arrived.reset();
    state.page = Page::inside;
    state.inside.ladder = false;
    state.inside.fault.clear();  // the way leads into the sound run
}

void refresh_bridge(AppState& state) {
    InsidePage& page = inside_page(state);
    if (page.bridge_run && page.bridge_run->result.ready()) take_bridge(page);
    if (page.run || page.asked != page.done) return;  // another record is on its way
    if (!page.shown) {
        if (page.wanted) give_up(state, page.failure);
        return;
    }
    if (page.bridge_of != page.shown) start_bridge(state);
    if (!page.wanted || page.bridge_run) return;
    // What a kernel reads and writes is known of one without tiles as well.
    const bool element = page.wanted->number && !page.wanted->number->number;
    if (page.bridge || element)
        go_to_target(state, page.bridge.get());
    else
        give_up(state, page.bridge_failure);
}

void wait_for_bridge(AppState& state) {
    InsidePage& page = inside_page(state);
    refresh_bridge(state);
    if (page.bridge_run) page.bridge_run->result.wait();
    refresh_bridge(state);
}

bool bridge_under_way(const AppState& state) { return state.kernel_walk && state.kernel_walk->bridge_run; }

const Bridge* inside_bridge(const AppState& state) {
    const InsidePage* const page = state.kernel_walk.get();
    return page && page->shown && page->bridge_of == page->shown ? page->bridge.get() : nullptr;
}

std::optional<LessonNumber> lesson_number(const AppState& state) {
    const InsidePlace at = place_inside(state);
    const Bridge* const bridge = inside_bridge(state);
    if (!at || !bridge) return std::nullopt;
    if (auto element = element_number(at)) return element;
    if (auto packed = packed_number(at)) return packed;
    const int launch = launch_of_record(at);
    if (auto cell = number_of_cell(state, at, *bridge)) return cell;
    const auto here = bridge->at(launch, at.warp, at.k, at.lane,
                                 std::max(0, inside::first_sum(at.event->op)) + state.inside.cell);
    LessonNumber out;
    out.entry = here.empty() ? bridge->next(launch, at.warp, at.k, at.lane) : here.front();
    if (!out.entry) return std::nullopt;
    const inside::Number& n = out.entry->number;
    out.symbol = symbol_text(info(n.quantity).slot, n.row, n.column);
    return out;
}

}  // namespace tilewalk::ui

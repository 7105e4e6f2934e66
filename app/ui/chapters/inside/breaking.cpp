// Breaking the kernel on purpose: what can be left out, the run without it, where that shows.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"

#include <algorithm>
#include <bit>

namespace tilewalk::ui {

using inside::Fault;
using inside::FaultKind;

namespace {

/// The launch with the crossing that shows most: the first that has one which is crossed.
void find_crossing(BrokenWalk& told, const InsideWalk& broken, const InsideWalk& sound) {
    for (std::size_t n = 0; n < std::min(broken.launches.size(), sound.launches.size()); ++n) {
        const auto run = [n](const InsideWalk& walk) {
            const InsideWalk::Launch& of = *walk.launches[n];
            return inside::BlockRun{walk.record, *of.launch, *of.block, of.steps, walk.block};
        };
        const auto found = inside::crossing_of(run(broken), run(sound));
        if (!found || (told.crossing && !found->crossed)) continue;
        told.crossing = found, told.launch = static_cast<int>(n);
        if (found->crossed) return;
    }
}

void find_gaps(BrokenWalk& told, const InsideWalk& broken) {
    for (const auto& launch : broken.launches)
        for (std::uint32_t n = 0; n < launch->block->events.size(); ++n) {
            const inside::Event& event = launch->block->events[n];
            if (event.op != inside::Op::left_out) continue;
            const int k = launch->origins.step_number(n);
            told.gaps.push_back({launch.get(), event.warp, launch->steps.slot(event.warp, k)});
        }
}

/// The first event that asks banks twice, or whose words are not those of the sound run.
std::optional<std::uint32_t> first_sign(const InsideWalk::Launch& broken, const InsideWalk::Launch& sound) {
    const auto& events = broken.block->events;
    for (std::uint32_t n = 0; n < events.size(); ++n) {
        const auto words = broken.block->words_of(events[n]);
        for (const inside::Access& access : inside::accesses_of(events[n], words)) {
            if (!access.shared || inside::info(events[n].op).writes) continue;
            if (inside::bank_turns(access.addresses, access.lanes, events[n].bytes).ways > 1) return n;
        }
    }
    for (std::uint32_t n = 0; n < std::min(events.size(), sound.block->events.size()); ++n)
        if (!std::ranges::equal(broken.block->words_of(events[n]),
                                sound.block->words_of(sound.block->events[n])))
            return n;
    return std::nullopt;
}

void go_to_event(AppState& state, const InsideWalk::Launch& launch, std::uint32_t event) {
    const int k = launch.origins.step_number(event);
    if (k >= 0) go_inside(state, launch.block->events[event].warp, k);
}

void note_when(BrokenWalk& told, const InsideWalk::Launch& of, const inside::Schedule& schedule) {
    const inside::Crossing& crossing = *told.crossing;
    told.first =
        happened_with(*of.block, of.steps, schedule, crossing.crossed ? crossing.second : crossing.first);
    told.second =
        happened_with(*of.block, of.steps, schedule, crossing.crossed ? crossing.first : crossing.second);
}

}  // namespace

std::shared_ptr<const BrokenWalk> own_race(const InsideWalk& walk) {
    auto told = std::make_shared<BrokenWalk>();
    told->own = true, told->tried = 1;
    find_crossing(*told, walk, walk);
    if (!told->crossing) return nullptr;
    note_when(*told, *walk.launches[static_cast<std::size_t>(told->launch)], walk.record.schedule);
    return told;
}

std::string size_of_recorded(const Problem& p) {
    return (p.N() == p.N_kv() ? str(p.N()) : str(p.N()) + ", " + str(p.N_kv())) + " × " + str(p.d());
}

Result<MadeWalks> make_walks(const gpu::RecordRequest& request, std::shared_ptr<const InsideWalk> sound,
                             const std::string& name) {
    const std::string size = size_of_recorded(request.problem);
    const int block = request.blocks.front();
    if (!sound) {
        auto record = gpu::record_kernel(request);
        if (!record) return Failure{record.error};
        sound = std::make_shared<const InsideWalk>(std::move(*record), size, block);
        if (sound->launches.empty())
            return Failure{"There is no block " + str(block) + " of a kernel of " + request.kernel +
                           " to walk through."};
    }
    if (name.empty()) return MadeWalks{sound, sound, nullptr, ""};
    const auto fault = inside::fault_named(sound->record, name);
    if (!fault) return MadeWalks{sound, sound, nullptr, fault.error};
    gpu::RecordRequest with_fault = request;
    with_fault.fault = *fault;
    auto broken = gpu::break_kernel(with_fault, sound->record);
    if (!broken) return MadeWalks{sound, sound, nullptr, inside::title_of(*fault) + ": " + broken.error};
    auto shown = std::make_shared<const InsideWalk>(std::move(broken->record), size, block);
    auto told = std::make_shared<BrokenWalk>();
    told->fault = *fault, told->damage = broken->damage, told->tried = broken->tried;
    find_crossing(*told, *shown, *sound);
    if (told->crossing) {
        const auto of_crossing = [&]() -> const InsideWalk::Launch& {
            return *shown->launches[static_cast<std::size_t>(told->launch)];
        };
        const inside::Schedule& schedule = shown->record.schedule;
        const inside::Crossing& crossing = *told->crossing;
        // The timeline has the order that this run took.
        if (const auto turned =
                turned_in_slots(*of_crossing().block, of_crossing().steps, schedule, crossing))
            shown = std::make_shared<const InsideWalk>(shown->record, size, block, "",
                                                       std::map{std::pair(told->launch, *turned)});
        note_when(*told, of_crossing(), schedule);
    }
    find_gaps(*told, *shown);
    return MadeWalks{sound, shown, told, ""};
}

std::vector<InsideFault> inside_faults(const AppState& state) {
    std::vector<InsideFault> all;
    if (!state.kernel_walk || !state.kernel_walk->sound) return all;
    const inside::Record& record = state.kernel_walk->sound->record;
    for (const Fault& fault : inside::faults_of(record)) {
        InsideFault row{fault, inside::name_of(fault), inside::title_of(fault),
                        inside::info(fault.kind).what};
        const inside::SourceText* source = fault.line > 0 ? source_of(state, fault.file) : nullptr;
        const std::string remark = source ? inside::remark_on(*source, fault.line) : "";
        if (!remark.empty()) row.words = remark;
        all.push_back(std::move(row));
    }
    for (int kind = 0; kind < static_cast<int>(FaultKind::count); ++kind)
        if (const auto lacks = inside::fault_lacks(record, static_cast<FaultKind>(kind)); !lacks.empty()) {
            const inside::FaultInfo& of = inside::info(static_cast<FaultKind>(kind));
            all.push_back({{static_cast<FaultKind>(kind)}, of.id, of.title, lacks, false});
        }
    return all;
}

void choose_inside_fault(AppState& state, const std::string& name) {
    InsideForm& f = state.inside;
    state.lists.faults = false;
    if (f.fault == name || name.empty()) {
        if (!f.fault.empty()) inside_page(state).broken_last = f.fault;
        f.fault.clear();
        return;
    }
    f.fault = name, f.step_told = false, f.to_fault = true, f.playing = false;
}

void break_or_repair_inside(AppState& state) {
    InsidePage& page = inside_page(state);
    if (!state.inside.fault.empty()) return choose_inside_fault(state, state.inside.fault);
    if (state.lists.faults && !page.broken_last.empty()) return choose_inside_fault(state, page.broken_last);
    state.lists.faults = !state.lists.faults;
    state.lists.fault_at = 0;
}

bool tells_fault(const AppState& state) {
    return state.kernel_walk && state.kernel_walk->broken && !state.inside.step_told;
}

void go_to_inside_fault(AppState& state) {
    const InsidePage& page = *state.kernel_walk;
    if (!page.broken || !page.shown) return;
    InsideForm& f = state.inside;
    if (const auto& crossing = page.broken->crossing) {
        f.launch = page.broken->launch;
        const inside::CrossingSide& told = crossing->second.writes ? crossing->first : crossing->second;
        choose_lane(state, told.lane);
        return go_to_event(state, *page.shown->launches[static_cast<std::size_t>(f.launch)], told.event);
    }
    for (std::size_t n = 0; n < page.shown->launches.size(); ++n)
        if (const auto event = first_sign(*page.shown->launches[n], *page.sound->launches[n])) {
            f.launch = static_cast<int>(n);
            return go_to_event(state, *page.shown->launches[n], *event);
        }
    go_inside(state, f.warp, f.step);
}

}  // namespace tilewalk::ui

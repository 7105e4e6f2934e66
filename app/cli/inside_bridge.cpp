// tilewalk inside --step K, and --place WARP.INSTRUCTION.LANE
#include "app/cli/inside.h"
#include "app/cli/session.h"
#include "app/cli/values.h"
#include "app/io/text.h"
#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/inside/calls.h"
#include "core/inside/lesson_step.h"
#include "core/lessons/table.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewalk {
namespace {

using inside::HeldAt;
using inside::KernelNumber;
using inside::LessonCell;
using BridgeJson = nlohmann::ordered_json;

/// A run of the kernel with one block kept, and what is walked through in it.
struct Walked {
    gpu::BridgedRecord run;
    int block = 0;

    const inside::Launch& launch(int n) const { return run.record.launches[static_cast<std::size_t>(n)]; }
    inside::Steps steps(int n) const { return {run.record, launch(n), launch(n).blocks.front()}; }
    const inside::Event& event(const HeldAt& at) const {
        const inside::BlockRecord& kept = launch(at.launch).blocks.front();
        return kept.events[steps(at.launch).event(at.warp, at.step)];
    }
};

std::string words_of_cell(const CellRef& cell) {
    const bool column = !one_column(cell.slot);
    return std::string(info(cell.slot).symbol) + " of row " + str(cell.row) +
           (column ? ", column " + str(cell.col) : "");
}

// What the step writes: the one that was asked for, or of K and V, O and L both.
std::vector<CellRef> cells_of(const Trace& walk, int k, const CellRef& cell) {
    const auto with = [&](Slot slot) {
        CellRef other{slot, cell.row, one_column(slot) ? 0 : cell.col};
        return other;
    };
    if (walk.step(k).op == Op::load_kv) return {with(Slot::Kj), with(Slot::Vj)};
    if (walk.step(k).op == Op::store) return {with(Slot::O), with(Slot::L)};
    return {cell};
}

Result<CellRef> read_cell_at(const Trace& walk, int k, const Word& word) {
    const Region region = step_region(walk, k);
    if (!word) return cell_of_row(walk, k, region.row);
    const auto cell = cell_at(walk, k, *word);
    if (!cell) return Failure{cell.error};
    return cell_of_row(walk, k, region.row + cell->row, cell->col);
}

Result<Walked> record_block(gpu::RecordRequest request, int block, gpu::TraceFailed& how) {
    request.blocks = {block};
    auto run = gpu::record_bridged(request, &how);
    if (!run) return Failure{run.error};
    return Walked{std::move(*run), block};
}

std::optional<HeldAt> find(const Walked& w, const KernelNumber& number) {
    if (number.number) return w.run.bridge.find(*number.number);
    for (std::size_t n = 0; n < w.run.record.launches.size(); ++n) {
        const inside::Launch& launch = w.launch(static_cast<int>(n));
        if (launch.blocks.empty()) continue;
        auto held = inside::find_element(w.run.record, launch.blocks.front(), w.steps(static_cast<int>(n)),
                                         number.region, number.row, number.column, number.writes);
        if (held) return held->launch = static_cast<int>(n), held;
    }
    return std::nullopt;
}

// ---- What is said

std::string place_of_held(const Walked& w, const HeldAt& held) {
    const inside::Event& event = w.event(held);
    std::vector<inside::SourceText> sources;
    for (const EmbeddedFile& file : gpu::kernel_sources())
        sources.push_back(inside::source_text(std::string("cuda/kernels/") + file.name, file.text));
    const inside::BlockRecord& block = w.launch(held.launch).blocks.front();
    const inside::Steps steps = w.steps(held.launch);
    const std::string called = calls_text(
        inside::Calls(w.run.record, block, steps, inside::Origins(w.run.record, block, steps), sources)
            .of(held.warp, held.step));
    return "block " + str(w.block) + ", " + lane_text(held) + ", step " + str(held.step + 1) + " of " +
           str(w.steps(held.launch).count(held.warp)) + "\n    " + inside::info(event.op).name + " at " +
           place_text(w.run.record, event.place) + (called.empty() ? "" : ", " + called) + ": " +
           held_text(held);
}

std::string forth_text(const Walked& w, const Trace& walk, int k, const CellRef& cell,
                       const KernelNumber& number, const HeldAt& held) {
    const std::string kernel = w.run.record.kernel + " (" + name_of(w.run.record.dtype) + ")";
    std::string text = "step " + str(k + 1) + " of " + str(walk.size()) + " of flash-forward, " +
                       words_of_cell(cell) + ": " + format_number(number.value) + "\n" + kernel + ": " +
                       place_of_held(w, held) + "\n    ";
    text += there_text(number, held, "there");
    const std::string other = other_keys_text(walk, k, number, w.run.record);
    return text + "\n" + (other.empty() ? "" : "    " + other + "\n");
}

BridgeJson forth_json(const Walked& w, int k, const CellRef& cell, const KernelNumber& number,
                      const HeldAt& held) {
    const inside::Event& event = w.event(held);
    const inside::Place& place = w.run.record.places[event.place];
    return {{"step", k + 1},
            {"slot", info(cell.slot).name},
            {"row", cell.row},
            {"column", cell.col},
            {"value", number.value},
            {"kernel", w.run.record.kernel},
            {"block", w.block},
            {"launch", held.launch + 1},
            {"warp", held.warp},
            {"instruction", held.step + 1},
            {"lane", held.lane},
            {"lanes", inside::lanes_text(held.lanes)},
            {"op", inside::info(event.op).name},
            {"file", place.file},
            {"line", place.line},
            {"held", held_text(held)},
            {"kernel_value", scaled(number, held)},
            {"same_keys", number.same}};
}

// ---- Both ways

Outcome go_forth(const Arguments& a, const gpu::RecordRequest& request, const Trace& walk, bool json,
                 std::ostream& out) {
    const auto step = whole_number("--step", *a.step, 1, walk.size());
    if (!step) return bad_input(step.error);
    const int k = static_cast<int>(*step) - 1;
    const auto cell = read_cell_at(walk, k, a.at);
    if (!cell) return bad_input(cell.error);
    gpu::TraceFailed how{};
    auto walked = record_block(request, 0, how);
    if (!walked) return not_recorded(how, walked.error);
    std::string text;
    BridgeJson all = BridgeJson::array();
    for (const CellRef& one : cells_of(walk, k, *cell)) {
        const auto number = inside::kernel_number(walk, k, one, walked->run.record);
        if (!number) return bad_input(number.error);
        const int block = number->writes ? inside::block_of_element(walked->run.record, number->region,
                                                                    number->row, number->column)
                                         : walked->run.bridge.block_of(number->beside);
        if (block >= 0 && block != walked->block) walked = record_block(request, block, how);
        if (!walked) return not_recorded(how, walked.error);
        const auto held = find(*walked, *number);
        if (!held)
            return bad_input(request.kernel + " has no step for " + words_of_cell(one) +
                             ": the mask leaves it out.");
        text += forth_text(*walked, walk, k, one, *number, *held);
        all.push_back(forth_json(*walked, k, one, *number, *held));
    }
    return put(a.output, out, json ? all.dump(2) + "\n" : text);
}

struct LanePlace {
    int warp, instruction, lane;
};
Result<LanePlace> read_place(const Walked& w, const std::string& word) {
    const std::vector<std::string> parts = split(word, ".");
    LanePlace at{};
    bool known = parts.size() == 3;
    int* const numbers[] = {&at.warp, &at.instruction, &at.lane};
    for (std::size_t n = 0; known && n < parts.size(); ++n) {
        const auto number = number_in<int>(parts[n]);
        known = number && *number >= 0;
        *numbers[n] = number.value_or(0);
    }
    const inside::Steps steps = w.steps(0);
    known = known && at.warp < steps.warps() && at.instruction >= 1 &&
            at.instruction <= steps.count(at.warp) && at.lane < 32;
    if (known) return at;
    return Failure{"--place is " + in_quotes(word) +
                   ", expected WARP.INSTRUCTION.LANE with a warp from 0 to " + str(steps.warps() - 1) +
                   ", one of its instructions from 1, and a lane from 0 to 31."};
}

Outcome go_back(const Arguments& a, const gpu::RecordRequest& request, const Trace& walk, bool json,
                std::ostream& out) {
    gpu::TraceFailed how{};
    const auto walked = record_block(request, 0, how);
    if (!walked) return not_recorded(how, walked.error);
    const auto at = read_place(*walked, *a.place);
    if (!at) return bad_input(at.error);
    const auto next = walked->run.bridge.next(0, at->warp, at->instruction - 1, at->lane);
    if (!next)
        return bad_input("Lane " + str(at->lane) + " of warp " + str(at->warp) +
                         " holds no number of the problem.");
    const LessonCell to = inside::lesson_cell(walk, next->number, walked->run.record);
    if (to.step < 0) return bad_input("The walk has no step for " + inside::number_text(next->number) + ".");
    const auto number = inside::kernel_number(walk, to.step, to.cell, walked->run.record);
    if (!number) return bad_input(number.error);
    if (json)
        return put(a.output, out,
                   BridgeJson::array({forth_json(*walked, to.step, to.cell, *number, next->held)}).dump(2) +
                       "\n");
    return put(a.output, out, forth_text(*walked, walk, to.step, to.cell, *number, next->held));
}

}  // namespace

Outcome run_inside_bridge(const Arguments& a, bool json, std::ostream& out) {
    const auto request = make_record_request(a, a.compare.kernel);
    if (!request) return bad_input(request.error);
    const auto walk = build_trace(*find_lesson("flash-forward"), request->problem);
    if (!walk) return bad_input(walk.error);
    return a.step ? go_forth(a, *request, **walk, json, out) : go_back(a, *request, **walk, json, out);
}

}  // namespace tilewalk

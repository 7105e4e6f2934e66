#include "core/inside/lesson_step.h"

#include "core/base/numbers.h"
#include "core/base/words.h"
#include "core/compare/kernel_compare.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tilewalk::inside {

namespace {

using StepOp = tilewalk::Op;

/// The keys that a step of the lesson has behind it when it is done.
struct Keys {
    int first, last;
};
Keys keys_of(const Trace& walk, const Step& step) {
    const Problem& p = walk.walked();
    return {step.j * p.Bc, std::min((step.j + 1) * p.Bc, p.N_kv()) - 1};
}

std::optional<Quantity> quantity_of(StepOp op) {
    if (op == StepOp::mask) return Quantity::S;
    if (op == StepOp::tile_max) return Quantity::m;  // kernels take it together with the new m
    for (const Quantity quantity : kernel_quantities())
        if (info(quantity).op == op) return quantity;
    return std::nullopt;
}

bool by_key(Quantity quantity) { return quantity == Quantity::S || quantity == Quantity::P; }

double number_of_cell(const Trace& walk, int step, const CellRef& cell) {
    const auto tile = holding(walk, cell, step);
    return tile.value ? value_at(*tile.value, cell) : 0;
}

// m, ℓ and O are the same where a tile of the kernel ends with the step's, or with the last key; α where both
// also begin together.
bool same_number(Quantity quantity, const Keys& keys, int N_kv, const Record& record) {
    if (quantity == Quantity::S) return true;
    const bool end = keys.last + 1 == N_kv || (keys.last + 1) % record.Bc == 0;
    const bool begin = keys.first % record.Bc == 0;
    const bool anew = record.split_blocks > 0 && keys.last / record.Bc >= record.split_blocks;
    return end && !anew && (quantity != Quantity::alpha || begin);
}

KernelNumber element(std::string region, const CellRef& cell, bool writes, int query) {
    KernelNumber out;
    out.region = std::move(region), out.row = cell.row, out.column = cell.col, out.writes = writes;
    out.beside = {Quantity::m, query, 0, 0};
    return out;
}

int find_step(const Trace& walk, StepOp op, int i, int j) {
    for (int k = 0; k < walk.size(); ++k) {
        const Step& step = walk.step(k);
        if (step.op == op && step.i == i && (j < 0 || step.j == j)) return k;
    }
    return -1;
}

}  // namespace

Result<KernelNumber> kernel_number(const Trace& walk, int k, const CellRef& cell, const Record& record) {
    const Step& step = walk.step(k);
    const Problem& p = walk.walked();
    KernelNumber out;
    if (step.op == StepOp::load_q)
        out = element("Q", cell, false, cell.row);
    else if (step.op == StepOp::load_kv)
        out = element(info(cell.slot).role == Role::V ? "V" : "K", cell, false, step.i * p.Br);
    else if (step.op == StepOp::normalize || step.op == StepOp::store)
        out = element(cell.slot == Slot::L ? "L" : "O", cell, true, cell.row);
    else if (const auto quantity = quantity_of(step.op)) {
        const Keys keys = keys_of(walk, step);
        const int tile = (by_key(*quantity) ? cell.col : keys.last) / record.Bc;
        out.number =
            Number{*quantity, cell.row, by_key(*quantity) || *quantity == Quantity::O ? cell.col : 0, tile};
        out.beside = {Quantity::m, cell.row, 0, tile};
        out.same = same_number(*quantity, keys, p.N_kv(), record);
        if (*quantity == Quantity::S || *quantity == Quantity::m) out.factor = std::abs(p.softmax_scale());
    } else {
        return Failure{step.op == StepOp::skip
                           ? "The mask removes this tile; the kernel does not come there, either."
                           : "In the kernel this is plain code of registers, which is not written down."};
    }
    if (out.region == "Q" && p.softmax_scale() < 0) out.factor = -1;  // a negative scale is a negative Q
    out.value = number_of_cell(walk, k, cell);
    return out;
}

std::string other_keys_text(const Trace& walk, int k, const KernelNumber& number, const Record& record) {
    if (number.same || !number.number) return "";
    const int first = number.number->tile * record.Bc;
    const int last = std::min(first + record.Bc, walk.walked().N_kv()) - 1;
    const Keys keys = keys_of(walk, walk.step(k));
    return record.kernel + " takes " + str(record.Bc) + " keys at once: its " +
           info(number.number->quantity).name + " is that behind key " + str(last) +
           ", the step's that behind key " + str(keys.last) + ".";
}

LessonCell lesson_cell(const Trace& walk, const Number& n, const Record& record) {
    const Problem& p = walk.walked();
    const int last = std::min((n.tile + 1) * record.Bc, p.N_kv()) - 1;
    LessonCell out;
    for (int j = (by_key(n.quantity) ? n.column : last) / p.Bc; j >= 0 && out.step < 0; --j) {
        out.step = step_of(walk, n.quantity, n.row / p.Br, j);
        if (by_key(n.quantity)) break;
    }
    out.cell = {info(n.quantity).slot, n.row, n.column};
    return out;
}

LessonCell lesson_cell(const Trace& walk, const std::string& region, int row, int column, int query) {
    const Problem& p = walk.walked();
    if (region == "Q") return {find_step(walk, StepOp::load_q, row / p.Br, -1), {Slot::Qi, row, column}};
    if (region == "K" || region == "V")
        return {find_step(walk, StepOp::load_kv, query / p.Br, row / p.Bc),
                {region == "K" ? Slot::Kj : Slot::Vj, row, column}};
    if (region == "O" || region == "L")
        return {find_step(walk, StepOp::store, row / p.Br, -1),
                {region == "O" ? Slot::O : Slot::L, row, column}};
    return {};
}

std::string lane_text(const HeldAt& held) { return "warp " + str(held.warp) + ", lane " + str(held.lane); }

std::string there_text(const KernelNumber& number, const HeldAt& held, const std::string& place) {
    if (std::isnan(held.value)) return "what comes is not written down";
    if (number.factor == 1) return place + " " + format_number(held.value);
    return place + " " + format_number(held.value) + ", times " + format_number(number.factor) + " " +
           format_number(scaled(number, held));
}

std::string held_text(const HeldAt& held) {
    const bool shared = std::popcount(held.lanes) > 1;
    switch (held.how) {
    case HeldAt::How::given:
        return shared ? "the step gives it to " + lanes_text(held.lanes) : "the step gives it";
    case HeldAt::How::stored: return "plain arithmetic made it, and the step stores it to shared memory";
    case HeldAt::How::behind:
        return held.value == -std::numeric_limits<double>::infinity()
                   ? "the mask makes it −∞ behind this step, in a register of the lane"
                   : "plain arithmetic makes it behind this step, in a register of the lane";
    case HeldAt::How::parts: return lanes_text(held.lanes) + " have a part of the sum each behind this step";
    case HeldAt::How::loaded: return "the step reads it from HBM";
    case HeldAt::How::written: return "the step writes it to HBM";
    }
    return "";
}

}  // namespace tilewalk::inside

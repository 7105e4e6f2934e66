#include "core/walk/trace.h"

#include "core/problem/heads.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <utility>

namespace tilewalk {

namespace {

// name, symbol, below it, tilde, HBM, counted by element_bytes, role, words. L is on the scale of the scores,
// as m is, and is subtracted from them in its place; the weights of parts are weights, as P is.
constexpr SlotInfo slots[] = {
    {"Q", "Q", "", false, true, true, Role::Q, "queries"},
    {"K", "K", "", false, true, true, Role::K, "keys"},
    {"V", "V", "", false, true, true, Role::V, "values"},
    {"O", "O", "", false, true, true, Role::O, "output"},
    {"L", "L", "", false, true, false, Role::m, "log-sum-exp of the row"},
    {"Qi", "Q", "", false, false, true, Role::Q, "query block"},
    {"Kj", "K", "", false, false, true, Role::K, "key block"},
    {"Vj", "V", "", false, false, true, Role::V, "value block"},
    {"S", "S", "", false, false, false, Role::S, "scores"},
    {"m_tile", "m", "", true, false, false, Role::m, "row maximum of this tile"},
    {"m", "m", "", false, false, false, Role::m, "running row maximum"},
    {"alpha", "α", "", false, false, false, Role::alpha, "correction factor"},
    {"P", "P", "", true, false, false, Role::S, "weights before normalisation"},
    {"l", "ℓ", "", false, false, false, Role::l, "running row sum"},
    {"Oi", "O", "", false, false, false, Role::O, "output accumulator"},
    {"dO", "dO", "", false, true, true, Role::O, "gradient of the output, from the loss"},
    {"D", "D", "", false, true, false, Role::D, "mean of dP under P, per row"},
    {"dQ", "dQ", "", false, true, true, Role::Q, "gradient of the queries"},
    {"dK", "dK", "", false, true, true, Role::K, "gradient of the keys"},
    {"dV", "dV", "", false, true, true, Role::V, "gradient of the values"},
    {"sink", "sink", "", false, true, false, Role::S, "a logit without a value"},
    {"dsink", "dsink", "", false, true, false, Role::S, "gradient of the sink"},
    {"X", "X", "", false, true, true, Role::none, "input of the layer"},
    {"X_kv", "X", "kv", false, true, true, Role::none, "input that keys and values come from"},
    {"W_Q", "W", "Q", false, true, true, Role::Q, "weights of the queries"},
    {"W_K", "W", "K", false, true, true, Role::K, "weights of the keys"},
    {"W_V", "W", "V", false, true, true, Role::V, "weights of the values"},
    {"dW_Q", "dW", "Q", false, true, true, Role::Q, "gradient of W_Q"},
    {"dW_K", "dW", "K", false, true, true, Role::K, "gradient of W_K"},
    {"dW_V", "dW", "V", false, true, true, Role::V, "gradient of W_V"},
    {"S_hbm", "S", "", false, true, true, Role::S, "scores in HBM"},
    {"P_hbm", "P", "", false, true, true, Role::S, "attention weights in HBM"},
    {"dP_hbm", "dP", "", false, true, true, Role::S, "gradient of the weights, in HBM"},
    {"dS_hbm", "dS", "", false, true, true, Role::S, "gradient of the scores, in HBM"},
    {"m_hbm", "m", "", false, true, false, Role::m, "running row maximum, in HBM"},
    {"l_hbm", "ℓ", "", false, true, false, Role::l, "running row sum, in HBM"},
    {"x", "x", "", false, true, true, Role::S, "one row of scores"},
    {"E", "P", "", true, false, false, Role::S, "exponentials, before the division"},
    {"P", "P", "", false, false, false, Role::S, "attention weights"},
    {"dOi", "dO", "", false, false, true, Role::O, "block of the output gradient"},
    {"Li", "L", "", false, false, false, Role::m, "log-sum-exp of the block's rows"},
    {"Di", "D", "", false, false, false, Role::D, "mean of dP under P, per row"},
    {"dP", "dP", "", false, false, false, Role::S, "gradient of the weights"},
    {"dS", "dS", "", false, false, false, Role::S, "gradient of the scores"},
    {"dQi", "dQ", "", false, false, false, Role::Q, "gradient of the query block"},
    {"dKj", "dK", "", false, false, false, Role::K, "gradient of the key block"},
    {"dVj", "dV", "", false, false, false, Role::V, "gradient of the value block"},
    {"S_cap", "S", "cap", false, false, false, Role::S, "scores as the softcap left them"},
    {"loss", "loss", "", false, false, false, Role::none, "the loss whose gradient is dO"},
    {"m_part", "m", "i", false, false, false, Role::m, "maximum of a part"},
    {"w_part", "w", "i", false, false, false, Role::S, "weight of a part"},
    {"l_part", "ℓ", "i", false, false, false, Role::l, "sum of a part"},
    {"O_part", "O", "i", false, false, false, Role::O, "output of a part"},
    {"L_part", "L", "i", false, false, false, Role::m, "log-sum-exp of a part"},
    {"O_parts", "O", "i", false, true, false, Role::O, "outputs of the parts, in HBM"},
    {"L_parts", "L", "i", false, true, false, Role::m, "log-sum-exp of the parts, in HBM"},
    {"K_in", "K", "", false, true, true, Role::K, "keys that another rank has sent"},
    {"V_in", "V", "", false, true, true, Role::V, "values that another rank has sent"},
    {"dK_in", "dK", "", false, true, false, Role::K, "gradient of the keys on its way round a ring"},
    {"dV_in", "dV", "", false, true, false, Role::V, "gradient of the values on its way round a ring"},
    {"dK_part", "ΔK", "", false, true, false, Role::K, "what one rank adds to dK of a shard"},
    {"dV_part", "ΔV", "", false, true, false, Role::V, "what one rank adds to dV of a shard"},
    {"dsink_in", "dsink", "", false, true, false, Role::S, "gradient of the sink on its way round a ring"},
};
static_assert(std::size(slots) == slot_count, "one row for each slot, in the order of the enum");

}  // namespace

const SlotInfo& info(Slot slot) { return slots[static_cast<std::size_t>(slot)]; }

bool one_column(Slot slot) {
    const Role role = info(slot).role;
    return role == Role::m || role == Role::l || role == Role::alpha || role == Role::D ||
           slot == Slot::w_part;
}

namespace {

constexpr Slot none = Slot::count;
using enum OpKind;

// op, name, title, kind, word and slots on the timeline, card of the glossary
constexpr OpInfo ops[] = {
    {Op::load_q, "load_q", "Load Q block", load, "", {Slot::Qi, none}, ""},
    {Op::init, "init", "Initialize", start, "init", {none, none}, "start-values"},
    {Op::exchange, "exchange", "Hand on K, V", load, "", {Slot::K_in, Slot::V_in}, "ring"},
    {Op::exchange_gradients,
     "exchange_gradients",
     "Hand on dK, dV",
     load,
     "",
     {Slot::dK_in, Slot::dV_in},
     "gradients-on-a-ring"},
    {Op::load_kv, "load_kv", "Load K, V block", load, "", {Slot::Kj, Slot::Vj}, ""},
    {Op::load_state, "load_state", "Load state", load, "", {Slot::Oi, Slot::m}, "hbm"},
    {Op::preprocess, "preprocess", "Weighted mean ahead", compute, "", {Slot::D, none}, ""},
    {Op::load, "load", "Load", load, "load", {none, none}, "hbm"},
    {Op::load_x, "load_x", "Load element", load, "", {Slot::x, none}, ""},
    {Op::project, "project", "Project", compute, "X W", {none, none}, ""},
    {Op::scores, "scores", "Scores", compute, "", {Slot::S, none}, ""},
    {Op::scale, "scale", "Scale", compute, "scale", {none, none}, "scale"},
    {Op::softcap, "softcap", "Softcap", compute, "cap", {none, none}, "softcap"},
    {Op::bias, "bias", "ALiBi bias", compute, "bias", {none, none}, "alibi"},
    {Op::mask, "mask", "Mask", compute, "mask", {none, none}, "mask"},
    {Op::row_max, "row_max", "Row maximum", compute, "", {Slot::m, none}, ""},
    {Op::tile_max, "tile_max", "Tile maximum", compute, "", {Slot::m_tile, none}, ""},
    {Op::new_max, "new_max", "New maximum", compute, "", {Slot::m, none}, ""},
    {Op::correction, "correction", "Correction", compute, "", {Slot::alpha, none}, ""},
    {Op::exponentials, "exponentials", "Exponentials", compute, "", {Slot::P, none}, ""},
    {Op::row_sum, "row_sum", "Row sum", compute, "", {Slot::l, none}, ""},
    {Op::divide, "divide", "Divide", compute, "", {Slot::Prob, none}, ""},
    {Op::output, "output", "Output", compute, "", {Slot::Oi, none}, ""},
    {Op::normalize, "normalize", "Normalize", compute, "÷ ", {Slot::l, none}, "normalisation"},
    {Op::part, "part", "Partial result", compute, "", {Slot::O_part, none}, "partial-result"},
    {Op::merge_max, "merge_max", "Common maximum", compute, "", {Slot::m, none}, "merge"},
    {Op::merge_lse, "merge_lse", "Common log-sum-exp", compute, "", {Slot::L, none}, "merge"},
    {Op::merge_weights, "merge_weights", "Weights of the parts", compute, "", {Slot::w_part, none}, ""},
    {Op::merge_sum, "merge_sum", "Sum of the parts", compute, "", {Slot::l, none}, "merge"},
    {Op::merge_output, "merge_output", "Output of the parts", compute, "", {Slot::O, none}, "merge"},
    {Op::recompute, "recompute", "Recompute P", compute, "", {Slot::Prob, none}, "recomputation"},
    {Op::loss, "loss", "Loss", compute, "loss", {none, none}, ""},
    {Op::dv, "dv", "Value gradient", compute, "", {Slot::dV, none}, ""},
    {Op::dp, "dp", "Gradient of P", compute, "", {Slot::dP, none}, ""},
    {Op::row_dot, "row_dot", "Weighted mean", compute, "", {Slot::D, none}, ""},
    {Op::sink_gradient, "sink_gradient", "Sink gradient", compute, "", {Slot::dsink, none}, "sink"},
    {Op::ds, "ds", "Score gradient", compute, "", {Slot::dS, none}, ""},
    {Op::cap_gradient,
     "cap_gradient",
     "Gradient through the softcap",
     compute,
     "cap′",
     {none, none},
     "softcap"},
    {Op::dq, "dq", "Query gradient", compute, "", {Slot::dQ, none}, ""},
    {Op::dk, "dk", "Key gradient", compute, "", {Slot::dK, none}, ""},
    {Op::add_share,
     "add_share",
     "Add the share",
     compute,
     "+ ",
     {Slot::dK_part, none},
     "gradients-on-a-ring"},
    {Op::weight_gradient, "weight_gradient", "Gradient of W", compute, "dW", {none, none}, ""},
    {Op::update, "update", "Update", compute, "W", {none, none}, "learning-rate"},
    {Op::store_state, "store_state", "Store state", store, "", {Slot::Oi, Slot::m}, "hbm"},
    {Op::store, "store", "Store", store, "", {Slot::O, Slot::L}, "hbm"},
    {Op::skip, "skip", "Skip tile", skip, "skip", {none, none}, "skipped-tile"},
};
constexpr bool in_order() {
    for (std::size_t n = 0; n < std::size(ops); ++n)
        if (ops[n].op != static_cast<Op>(n)) return false;
    return true;
}
static_assert(std::size(ops) == op_count && in_order(), "one row for each op, in the order of the enum");

}  // namespace

const OpInfo& info(Op op) { return ops[static_cast<std::size_t>(op)]; }

std::span<const Access> Trace::reads(int k) const {
    const Step& s = step(k);
    return {accesses_.data() + s.first_access, static_cast<std::size_t>(s.reads)};
}

std::span<const Access> Trace::writes(int k) const {
    const Step& s = step(k);
    return {accesses_.data() + s.first_access + s.reads, static_cast<std::size_t>(s.writes)};
}

bool Trace::tells_what_to_watch() const {
    // It is written of FlashAttention-2's forward pass: its tiles, its maxima, how often it loads K and V.
    const bool written_of = lesson().picture == Picture::forward;
    const bool broken = problem().switches.any() && breaks(lesson(), problem());
    return !problem().watch.empty() && written_of && !broken;
}

int Trace::chip_start(int k) const {
    const auto after = std::upper_bound(chip_starts_.begin(), chip_starts_.end(), k);
    return after == chip_starts_.begin() ? 0 : *std::prev(after);
}

Held Trace::live(Slot slot, int tile, int k) const {
    const auto& slots = histories_[static_cast<std::size_t>(slot)];
    if (tile < 0 || tile >= static_cast<int>(slots.size())) return {};
    const History& history = slots[static_cast<std::size_t>(tile)];
    const auto after = std::upper_bound(history.begin(), history.end(), k,
                                        [](int at, const Event& event) { return at < event.step; });
    if (after == history.begin()) return {};
    const Event& event = *std::prev(after);
    if (!info(slot).hbm && event.step < chip_start(k)) return {};
    return {event.step, &value(event.value)};
}

int Trace::workers() const {
    int last = -1;
    for (const Step& s : steps_) last = std::max(last, s.when.worker);
    return last + 1;
}

int Trace::ticks() const {
    int last = 0;
    for (const Step& s : steps_)
        if (s.when) last = std::max(last, s.when.end);
    return last;
}

Matrix Trace::together(Slot slot, int k) const {
    Region all;
    int first_row = 1 << 30;
    for (int t = 0; t < tiles(slot); ++t)
        if (const Held held = live(slot, t, k)) {
            first_row = std::min(first_row, held.value->region.row);
            all.rows = std::max(all.rows, held.value->region.row + held.value->region.rows);
            all.cols = std::max(all.cols, held.value->region.col + held.value->region.cols);
        }
    if (all.rows == 0) return {};
    Matrix out = Matrix::Zero(all.rows - first_row, all.cols);
    for (int t = 0; t < tiles(slot); ++t)
        if (const Held held = live(slot, t, k)) {
            const Region& at = held.value->region;
            out.block(at.row - first_row, at.col, at.rows, at.cols) = held.value->data;
        }
    return out;
}

std::int64_t Trace::element_bytes(Slot slot) const {
    const bool fp32 = !info(slot).counts_elements || fp32_[static_cast<std::size_t>(slot)];
    return fp32 ? 4 : problem_.element_bytes;
}

std::size_t Trace::bytes() const {
    std::size_t total = steps_.capacity() * sizeof(Step) + accesses_.capacity() * sizeof(Access);
    for (const Value& v : values_)
        total += sizeof(Value) + static_cast<std::size_t>(v.data.size()) * sizeof(double) + 16;
    for (const auto& slots : histories_)
        for (const History& history : slots) total += sizeof(History) + history.capacity() * sizeof(Event);
    return total;
}

Recorder::Recorder(const Problem& problem, const Lesson& lesson) : trace_(std::make_shared<Trace>()) {
    trace_->problem_ = problem;
    if (lesson.uses(packs_heads)) trace_->packed_ = packed_group(problem);
    trace_->lesson_ = &lesson;
    for (int s = 0; s < slot_count; ++s)
        if (!info(static_cast<Slot>(s)).hbm) trace_->histories_[static_cast<std::size_t>(s)].resize(1);
}

void Recorder::clear_chip() {
    total_.sram_live = 0;
    trace_->chip_starts_.push_back(trace_->size());
}

void Recorder::worker(int n) {
    worker_ = n;
    if (n >= static_cast<int>(free_.size())) free_.resize(static_cast<std::size_t>(n) + 1);
}

int Recorder::free_at(int worker) const {
    return worker < static_cast<int>(free_.size()) ? free_[static_cast<std::size_t>(worker)] : 0;
}

void Recorder::wait_until(int tick) {
    int& free = free_[static_cast<std::size_t>(worker_)];
    free = std::max(free, tick);
}

void Recorder::runs_beneath(int start, int end) { apart_ = When{worker_, start, end, true}; }

void Recorder::runs(int start, int end) { apart_ = When{worker_, start, end, false}; }

// The clock of the worker goes on, unless the step has a time of its own.
When Recorder::next_time() {
    if (worker_ < 0) return {};
    if (apart_) return *std::exchange(apart_, std::nullopt);
    int& free = free_[static_cast<std::size_t>(worker_)];
    const int start = free;
    free += std::exchange(takes_, 1);
    return {worker_, start, free};
}

void Recorder::give(Slot slot, const Matrix& A, int block_rows, int block_cols, int first_row,
                    int first_col) {
    const int rows = static_cast<int>(A.rows()), cols = static_cast<int>(A.cols());
    block_rows = std::min(block_rows, rows), block_cols = std::min(block_cols, cols);
    for (int r = 0; r < rows; r += block_rows)
        for (int c = 0; c < cols; c += block_cols) {
            const Region region{first_row + r, first_col + c, std::min(block_rows, rows - r),
                                std::min(block_cols, cols - c)};
            const auto id = add(A.block(r, c, region.rows, region.cols), region);
            trace_->histories_[static_cast<std::size_t>(slot)].push_back({{-1, id}});
        }
}

std::int32_t Recorder::add(Matrix data, Region region) {
    assert(data.rows() == region.rows && data.cols() == region.cols);
    trace_->values_.push_back({std::move(data), region});
    return static_cast<std::int32_t>(trace_->values_.size()) - 1;
}

std::int64_t Recorder::bytes_of(Slot slot, const Value& value) const {
    return static_cast<std::int64_t>(value.data.size()) * trace_->element_bytes(slot);
}

void Recorder::begin(Op op, int i, int j) {
    step_ = {.op = op, .i = i, .j = j, .phase = phase_, .traffic = {}};
    reads_.clear();
    writes_.clear();
}

void Recorder::end(std::int64_t flops) {
    total_.flops += flops;
    step_.traffic = total_;
    step_.when = next_time();
    step_.first_access = static_cast<std::int32_t>(trace_->accesses_.size());
    step_.reads = static_cast<std::int32_t>(reads_.size());
    step_.writes = static_cast<std::int32_t>(writes_.size());
    trace_->accesses_.insert(trace_->accesses_.end(), reads_.begin(), reads_.end());
    trace_->accesses_.insert(trace_->accesses_.end(), writes_.begin(), writes_.end());
    trace_->steps_.push_back(step_);
}

void Recorder::note_read(Slot slot, int tile, std::int32_t value) { reads_.push_back({slot, tile, value}); }

void Recorder::note_write(Slot slot, int tile, std::int32_t value) {
    auto& slots = trace_->histories_[static_cast<std::size_t>(slot)];
    if (tile >= static_cast<int>(slots.size())) slots.resize(static_cast<std::size_t>(tile) + 1);
    auto& history = slots[static_cast<std::size_t>(tile)];
    if (!info(slot).hbm &&
        count_sram_) {  // a buffer on chip is reused: the new tile takes the place of the old one
        if (!history.empty() && history.back().step >= trace_->chip_start(trace_->size()))
            total_.sram_live -= bytes_of(slot, trace_->value(history.back().value));
        total_.sram_live += bytes_of(slot, trace_->value(value));
    }
    history.push_back({trace_->size(), value});
    writes_.push_back({slot, tile, value});
}

const Matrix& Recorder::read(Slot slot, int tile) {
    assert(!history(slot, tile).empty());
    const std::int32_t id = history(slot, tile).back().value;
    note_read(slot, tile, id);
    return trace_->value(id).data;
}

const Matrix& Recorder::fetch(Slot slot, int tile) {
    const Matrix& A = read(slot, tile);
    total_.hbm_read += bytes_of(slot, trace_->value(reads_.back().value));
    return A;
}

const Matrix& Recorder::read_previous(Slot slot) {
    assert(history(slot).size() >= 2);
    const std::int32_t id = std::prev(history(slot).end(), 2)->value;
    note_read(slot, 0, id);
    return trace_->value(id).data;
}

const Matrix& Recorder::load(Slot from, int tile, Slot to, int to_tile) {
    const std::int32_t id = history(from, tile).back().value;
    note_read(from, tile, id);
    total_.hbm_read += bytes_of(from, trace_->value(id));
    note_write(to, to_tile, id);
    return trace_->value(id).data;
}

const Matrix& Recorder::write(Slot slot, Matrix data, Region region, int tile) {
    const std::int32_t id = add(std::move(data), region);
    note_write(slot, tile, id);
    return trace_->value(id).data;
}

void Recorder::receive(Slot from, int tile, Slot to) {
    const std::int32_t id = history(from, tile).back().value;
    note_read(from, tile, id);
    total_.sent += bytes_of(from, trace_->value(id));
    note_write(to, tile, id);
}

void Recorder::receive(Slot from, int tile, Slot to, int to_tile, Region region) {
    const std::int32_t id = history(from, tile).back().value;
    note_read(from, tile, id);
    total_.sent += bytes_of(from, trace_->value(id));
    note_write(to, to_tile, add(trace_->value(id).data, region));
}

void Recorder::store(Slot to, int tile, Matrix data, Region region) {
    const std::int32_t id = add(std::move(data), region);
    total_.hbm_write += bytes_of(to, trace_->value(id));
    note_write(to, tile, id);
}

std::span<const std::pair<Slot, Slot>> matrices_and_tiles() {
    static constexpr std::pair<Slot, Slot> table[] = {
        {Slot::Q, Slot::Qi},          {Slot::K, Slot::Kj},       {Slot::V, Slot::Vj},
        {Slot::m, Slot::m_tile},      {Slot::m, Slot::m_hbm},    {Slot::l, Slot::l_hbm},
        {Slot::S, Slot::S_hbm},       {Slot::Prob, Slot::P_hbm}, {Slot::dP, Slot::dP_hbm},
        {Slot::dS, Slot::dS_hbm},     {Slot::dO, Slot::dOi},     {Slot::L, Slot::Li},
        {Slot::D, Slot::Di},          {Slot::dQ, Slot::dQi},     {Slot::dK, Slot::dKj},
        {Slot::dV, Slot::dVj},        {Slot::K, Slot::K_in},     {Slot::V, Slot::V_in},
        {Slot::dK, Slot::dK_in},      {Slot::dV, Slot::dV_in},   {Slot::O_part, Slot::O_parts},
        {Slot::L_part, Slot::L_parts}};
    return table;
}

// What stands together in a formula has the same decimals: 1.000 × 2.503, and no 1 beside 0.368.
static std::span<const std::vector<Slot>> written_alike() {
    static const std::vector<Slot> table[] = {
        {Slot::S, Slot::x, Slot::m, Slot::m_part},
        {Slot::P, Slot::E, Slot::alpha, Slot::w_part, Slot::l, Slot::l_part}};
    return table;
}

void Recorder::find_digits() {
    for (int s = 0; s < slot_count; ++s)
        for (const Trace::History& history : trace_->histories_[static_cast<std::size_t>(s)])
            for (const Trace::Event& event : history) {
                const Matrix& data = trace_->value(event.value).data;
                trace_->digits_[static_cast<std::size_t>(s)].take(
                    {data.data(), static_cast<std::size_t>(data.size())});
            }
    // What one of its tiles has, the whole has, and then every tile.
    const auto digits = [this](Slot slot) -> MatrixDigits& {
        return trace_->digits_[static_cast<std::size_t>(slot)];
    };
    for (const auto& [whole, tile] : matrices_and_tiles()) digits(whole).join(digits(tile));
    for (const std::vector<Slot>& group : written_alike()) {
        int exact = 0;
        for (const Slot slot : group) exact = std::max(exact, digits(slot).exact);
        for (const Slot slot : group) digits(slot).exact = exact;
    }
    for (const auto& [whole, tile] : matrices_and_tiles()) digits(tile) = digits(whole);
}

// Ranks send at the same time, so the order of recording does not say what has arrived.
void Recorder::count_messages() {
    if (total_.sent == 0) return;
    std::map<int, std::int64_t> arrived;  // by tick
    std::int64_t sum = 0;
    for (const Step& step : trace_->steps_)
        arrived[step.when.end] += step.traffic.sent - std::exchange(sum, step.traffic.sent);
    sum = 0;
    for (auto& [tick, bytes] : arrived) sum = bytes += sum;
    for (Step& step : trace_->steps_) step.traffic.sent = arrived[step.when.end];
    trace_->steps_.back().traffic.sent = total_.sent;
}

std::shared_ptr<const Trace> Recorder::finish() {
    count_messages();
    find_digits();
    return std::move(trace_);
}

}  // namespace tilewalk

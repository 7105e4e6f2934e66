// The lines of one step: its arithmetic, and the matrices that it read and wrote.
#include "app/cli/trace_parts.h"

#include "app/ui/trace_look.h"
#include "core/explain.h"

#include <algorithm>

namespace tilewalk {
namespace {

constexpr int most_cells = 8, most_rows = 4, longest_line = 110;

// Long sums keep their first three terms and the last: "a × b + c × d + e × f + … + y × z".
std::string shortened(const std::string& numbers) {
    if (ui::letter_count(numbers) <= longest_line) return numbers;
    const std::string between = numbers.find(" + ") != std::string::npos ? " + " : ", ";
    std::size_t head = 0;
    for (int terms = 0; terms < 3 && head != std::string::npos; ++terms)
        head = numbers.find(between, head + (terms > 0 ? between.size() : 0));
    const std::size_t tail = numbers.rfind(between);
    if (head == std::string::npos || tail == std::string::npos || tail <= head) return numbers;
    return numbers.substr(0, head) + between + "…" + numbers.substr(tail);
}

// "row 0: 0.368 × 1.368 + (1.000 + 0.135) = 1.639" or, without arithmetic, "S[0,2] = −∞".
std::string number_line(const Explanation& e, bool by_row) {
    const std::string shown = e.result.empty() ? "" : e.result.back().text;
    std::string label = by_row ? "row " + std::to_string(e.target.row) : "";
    if (label.empty() && e.result.size() >= 2) label = plain({e.result.begin(), e.result.end() - 2});
    if (e.numbers.empty()) return label + " = " + shown;
    return label + ": " + shortened(plain(e.numbers)) + " = " + shown;
}

const Value& principal_value(const Trace& trace, int k, Slot slot) {
    for (const Access& a : trace.writes(k))
        if (a.slot == slot) return trace.value(a.value);
    return trace.value(trace.writes(k).front().value);
}

bool moves_only(Op op) { return op == Op::load_q || op == Op::load_kv; }

bool written(const Trace& trace, int k, Slot slot) {
    return std::ranges::any_of(trace.writes(k), [slot](const Access& a) { return a.slot == slot; });
}

bool same_value_written(const Trace& trace, int k, std::int32_t value) {
    return std::ranges::any_of(trace.writes(k), [value](const Access& a) { return a.value == value; });
}

// The value that the same step read of this slot before or besides; null when there is none.
const Value* other_read(const Trace& trace, int k, const Access& access) {
    for (const Access& a : trace.reads(k))
        if (a.slot == access.slot && a.value != access.value) return &trace.value(a.value);
    return nullptr;
}

std::string heading(const Trace& trace, int k, const Access& access) {
    const Step& step = trace.step(k);
    const bool of_keys = access.slot == Slot::Kj || access.slot == Slot::Vj;
    const bool of_queries = access.slot == Slot::Qi;
    const int block = info(access.slot).hbm ? access.tile : of_keys ? step.j : of_queries ? step.i : -1;
    return plain(slot_symbol(access.slot, block)) + (info(access.slot).hbm ? " in HBM" : "");
}

// A column that changes is one block, old → new; a matrix that changes is two.
Block block_of(const Trace& trace, int k, const Access& access, bool is_write) {
    const Value& now = trace.value(access.value);
    const Value* before = other_read(trace, k, access);
    const std::string name = heading(trace, k, access);
    if (before && now.region.cols == 1) return change_block(name + " old → new", before->data, now.data);
    if (is_write) return matrix_block(before ? name + " new" : name, now.data);
    return matrix_block(written(trace, k, access.slot) ? name + " old" : name, now.data);
}

// Before the first block that was written, so that reads stand left and writes right of the arrow.
void put_arrow(Block& block) {
    for (std::size_t n = 0; n < block.size(); ++n) block[n] = (n == 1 ? "→   " : "    ") + block[n];
}

// Left out: what a load passes on unchanged, and a column whose change is shown on the written side (or with
// the later of two reads).
bool shows_read(const Trace& trace, int k, std::size_t nth) {
    const auto reads = trace.reads(k);
    const Access& access = reads[nth];
    if (same_value_written(trace, k, access.value)) return false;
    if (trace.value(access.value).region.cols > 1) return true;
    if (written(trace, k, access.slot)) return false;
    return std::none_of(reads.begin() + static_cast<std::ptrdiff_t>(nth) + 1, reads.end(),
                        [&](const Access& later) { return later.slot == access.slot; });
}

}  // namespace

Block number_lines(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (op == Op::init || trace.writes(k).empty()) return {};
    if (moves_only(op)) return {number_line(explain(trace, k), false)};

    const Region region = principal_value(trace, k, explain(trace, k).target.slot).region;
    const bool by_row = region.cols == 1, every_cell = by_row || region.rows * region.cols <= most_cells;
    const int rows = by_row       ? std::min(region.rows, most_cells)
                     : every_cell ? region.rows
                                  : std::min(region.rows, most_rows);
    Block lines;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < (every_cell ? region.cols : 1); ++c) {
            const CellRef cell = cell_of_row(trace, k, region.row + r, every_cell ? c : -1);
            lines.push_back(number_line(explain(trace, k, cell), by_row));
        }
    const int left = region.rows * region.cols - static_cast<int>(lines.size());
    if (left > 0) lines.push_back("… " + std::to_string(left) + " more");
    return lines;
}

Block state_lines(const Trace& trace, int k) {
    std::vector<Block> blocks;
    const auto reads = trace.reads(k), writes = trace.writes(k);
    for (std::size_t n = 0; n < reads.size(); ++n)
        if (shows_read(trace, k, n)) blocks.push_back(block_of(trace, k, reads[n], false));
    const bool reads_shown = !blocks.empty();
    for (const Access& access : writes) blocks.push_back(block_of(trace, k, access, true));
    if (reads_shown && !writes.empty()) put_arrow(blocks[blocks.size() - writes.size()]);
    return writes.empty() ? Block{} : side_by_side(blocks, text_width - 4);
}

}  // namespace tilewalk

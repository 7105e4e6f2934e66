// The lines of one step: its arithmetic, and the matrices that it read and wrote.

#include "app/export/parts.h"
#include "app/io/text.h"
#include "app/ui/state/trace_look.h"
#include "core/lessons/shared/parts.h"

#include <algorithm>
#include <set>

namespace tilewalk {
namespace {

constexpr int most_cells = 8, most_rows = 4;

// Long sums keep their first terms, as many as there is room for, and the last:
// "a × b + c × d + … (60 more) … + y × z".
std::string shortened(const std::string& numbers, int room) {
    if (ui::letter_count(numbers) <= room) return numbers;
    const std::string between = numbers.find(" + ") != std::string::npos ? " + " : ", ";
    const std::vector<std::string> terms = split(numbers, between);
    if (terms.size() < 3) return numbers;
    std::string head = terms[0], shown;
    for (std::size_t n = 1; n + 1 < terms.size(); ++n) {
        std::string longer =
            head + between + "… (" + str(terms.size() - n - 1) + " more) …" + between + terms.back();
        if (n > 1 && ui::letter_count(longer) > room) break;
        shown = std::move(longer);
        head += between + terms[n];
    }
    return shown;
}

struct LineOfNumbers {
    std::string label, numbers, result, sign;
};

LineOfNumbers number_line(const Trace& trace, int k, const Explanation& e, bool by_row) {
    const std::string result = e.result.empty() ? "" : e.result.back().text;
    // The rows of what belongs to parts are not those of queries; its symbol says which part is meant.
    const Indices at = indices(trace, e.target.slot, {e.target.row, e.target.col, 1, 1}, k);
    std::string label = by_row && !is_of_parts(e.target.slot) ? "row " + str(at.rows.front()) : "";
    if (label.empty() && e.result.size() >= 2) label = plain({e.result.begin(), e.result.end() - 2});
    return {label, plain(e.numbers), result, sign_before(e.numbers, result)};
}

// "row 0: 0.368 × 1.368 + (1.000 + 0.135) = 1.639" or, without arithmetic, "S[0,2] = −∞"; the numbers of all
// lines begin in the same column.
Block aligned(const std::vector<LineOfNumbers>& lines) {
    int width = 0;
    for (const LineOfNumbers& line : lines) width = std::max(width, ui::letter_count(line.label));
    Block block;
    for (const auto& [label, numbers, result, sign] : lines) {
        const std::string after = " " + sign + " " + result;
        const int room = number_width - width - 2 - ui::letter_count(after);
        block.push_back(numbers.empty()
                            ? pad_right(label, width) + after
                            : pad_right(label + ":", width + 2) + shortened(numbers, room) + after);
    }
    return block;
}

const Value& principal_value(const Trace& trace, int k, Slot slot) {
    // The last one: dQ is loaded, increased and stored within one step.
    const auto writes = trace.writes(k);
    for (auto at = writes.rbegin(); at != writes.rend(); ++at)
        if (at->slot == slot) return trace.value(at->value);
    return trace.value(writes.front().value);
}

bool same_tile(const Access& a, const Access& b) { return a.slot == b.slot && a.tile == b.tile; }

// What the same step read of this slot before or besides; null when there is nothing.
const Access* other_read(const Trace& trace, int k, const Access& access) {
    for (const Access& a : trace.reads(k))
        if (same_tile(a, access) && a.value != access.value) return &a;
    return nullptr;
}

std::string heading(const Trace& trace, int k, const Access& access) {
    return plain(symbol_of(trace, k, access)) + (info(access.slot).hbm ? " in HBM" : "");
}

// A column that changes is one block, old → new; a matrix that changes is two. Where the symbol changes with
// it, d′₂ → d′₃, it says so itself.
Block block_of(const Trace& trace, int k, const Access& access, bool is_write) {
    const Value& now = trace.value(access.value);
    const Access* const before = other_read(trace, k, access);
    const std::string name = heading(trace, k, access), old = before ? heading(trace, k, *before) : "";
    if (before && now.region.cols == 1)
        return change_block(old == name ? name + " old → new" : old + " → " + name,
                            trace.value(before->value).data, now.data);
    if (is_write) return matrix_block(old == name ? name + " new" : name, now.data);
    const bool overwritten = std::ranges::any_of(trace.writes(k), [&](const Access& a) {
        return a.slot == access.slot && heading(trace, k, a) == name;
    });
    return matrix_block(overwritten ? name + " old" : name, now.data);
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
    if (writes_value(trace, k, access.value)) return false;
    if (trace.value(access.value).region.cols > 1) return true;
    const auto is_it = [&](const Access& other) { return same_tile(other, access); };
    return std::ranges::none_of(trace.writes(k), is_it) &&
           std::none_of(reads.begin() + static_cast<std::ptrdiff_t>(nth) + 1, reads.end(), is_it);
}

}  // namespace

Block number_lines(const Trace& trace, int k) {
    const Op op = trace.step(k).op;
    if (op == Op::init || trace.writes(k).empty()) return {};
    if (is_load(op)) return aligned({number_line(trace, k, explain(trace, k), false)});

    const Region region = principal_value(trace, k, explain(trace, k).target.slot).region;
    const bool by_row = region.cols == 1, every_cell = by_row || region.rows * region.cols <= most_cells;
    const int rows = by_row       ? std::min(region.rows, most_cells)
                     : every_cell ? region.rows
                                  : std::min(region.rows, most_rows);
    std::vector<LineOfNumbers> lines;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < (every_cell ? region.cols : 1); ++c) {
            const CellRef cell = cell_of_row(trace, k, region.row + r, every_cell ? c : -1);
            lines.push_back(number_line(trace, k, explain(trace, k, cell), by_row));
        }
    const int left = region.rows * region.cols - static_cast<int>(lines.size());
    Block block = aligned(lines);
    if (left > 0) block.push_back("… " + str(left) + " more");
    return block;
}

Block why_sentences(const Trace& trace, int k) {
    const Explanation first = explain(trace, k);
    Block sentences{first.why};
    if (trace.writes(k).empty() || is_load(trace.step(k).op)) return sentences;
    std::set<int> kinds{first.kind};
    const Region region = principal_value(trace, k, first.target.slot).region;
    for (int row = first.target.row + 1; row < region.row + region.rows; ++row) {
        const Explanation e = explain(trace, k, cell_of_row(trace, k, row));
        if (kinds.insert(e.kind).second) sentences.push_back(e.why);
    }
    return sentences;
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

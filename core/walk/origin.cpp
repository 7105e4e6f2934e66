#include "core/walk/origin.h"

#include "core/problem/mask.h"
#include "core/walk/formula.h"
#include "core/walk/lesson.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tilewalk {

namespace {

// The tile of the slot that held the cell when the place was made, and the value; −1 if there is none.
struct TileOf {
    int tile = -1;
    const Value* value = nullptr;
};
TileOf tile_of(const Trace& trace, const Place& place) {
    for (int tile = 0; tile < trace.tiles(place.cell.slot); ++tile) {
        const Held held = trace.live(place.cell.slot, tile, place.step);
        if (held && held.step == place.step && held.value->region.contains(place.cell.row, place.cell.col))
            return {tile, held.value};
    }
    return {};
}

// The step that put the value there which step k read.
Held version_read(const Trace& trace, const Access& access, int k) {
    const Value* value = &trace.value(access.value);
    Held held = trace.live(access.slot, access.tile, k - 1);
    while (held && held.value != value) held = trace.live(access.slot, access.tile, held.step - 1);
    return held;
}

// A masked score is −∞ whatever was there before.
bool overruled(const Trace& trace, const Place& place) {
    if (trace.step(place.step).op != Op::mask) return false;
    // Ranks of a ring and sequences have rows, or positions, of their own: there the number says it.
    if (trace.lesson().uses(parts_of_rows)) return value_of(trace, place) == minus_infinity;
    return !passes_mask(trace.walked(), place.cell.row, place.cell.col);
}

bool feeds(const Trace& trace, const Place& from, const Place& to) {
    return std::ranges::count(sources(trace, to), from) > 0;
}

// Coordinates to try along one axis of a written tile: those of the source, and one that is neither.
std::vector<int> candidates(int first, int count, const CellRef& source) {
    std::vector<int> out;
    int other = first;
    while (other == source.row || other == source.col) ++other;
    for (int at : {source.row, source.col, other})
        if (at >= first && at < first + count && !std::ranges::count(out, at)) out.push_back(at);
    return out;
}

// Where rows of partial results count from 0, they are not those of the queries: every row and column is
// tried.
std::optional<Patch> fed_anywhere(const Trace& trace, const Place& from, int reader, const Access& write) {
    const Region at = trace.value(write.value).region;
    const auto fed = [&](int r, int c) { return feeds(trace, from, {{write.slot, r, c}, reader}); };
    Region hit;
    for (int r = at.row; r < at.row + at.rows; ++r)
        for (int c = at.col; c < at.col + at.cols && hit.rows == 0; ++c)
            if (fed(r, c)) hit = {r, c, 1, 1};
    if (hit.rows == 0) return {};
    while (hit.row + hit.rows < at.row + at.rows && fed(hit.row + hit.rows, hit.col)) ++hit.rows;
    while (hit.col + hit.cols < at.col + at.cols && fed(hit.row, hit.col + hit.cols)) ++hit.cols;
    return Patch{write.slot, reader, hit};
}

// Every op links cells by rows and columns: a source belongs to one row of the result or to all of them, and
// so with columns. A few probes tell which.
std::optional<Patch> fed_in(const Trace& trace, const Place& from, int reader, const Access& write) {
    const bool in_tables = trace.lesson().uses(chooses_queries) && trace.problem().options.queries > 1;
    if (in_tables || trace.lesson().uses(parts_of_rows)) return fed_anywhere(trace, from, reader, write);
    const Region at = trace.value(write.value).region;
    const std::vector<int> rows = candidates(at.row, at.rows, from.cell),
                           cols = candidates(at.col, at.cols, from.cell);
    Region hit;
    const auto fed = [&](int r, int c) { return feeds(trace, from, {{write.slot, r, c}, reader}); };
    for (int r : rows)
        for (int c : cols)
            if (hit.rows == 0 && fed(r, c)) hit = {r, c, 1, 1};
    if (hit.rows == 0) return {};
    const auto own = [&](int n) { return n == from.cell.row || n == from.cell.col; };
    const Region one = hit;
    if (!own(one.row) || std::ranges::any_of(rows, [&](int r) { return r != one.row && fed(r, one.col); }))
        hit.row = at.row, hit.rows = at.rows;
    if (!own(one.col) || std::ranges::any_of(cols, [&](int c) { return c != one.col && fed(one.row, c); }))
        hit.col = at.col, hit.cols = at.cols;
    return Patch{write.slot, reader, hit};
}

}  // namespace

bool operator<(const Place& a, const Place& b) {
    return std::tie(a.cell.slot, a.cell.row, a.cell.col, a.step) <
           std::tie(b.cell.slot, b.cell.row, b.cell.col, b.step);
}

std::optional<Place> place_of(const Trace& trace, const CellRef& cell, int k) {
    const Held held = holding(trace, cell, k);
    return held ? std::optional(Place{cell, held.step}) : std::nullopt;
}

double value_of(const Trace& trace, const Place& place) {
    return value_at(*tile_of(trace, place).value, place.cell);
}

const Value* tile_with(const Trace& trace, const Place& place) { return tile_of(trace, place).value; }

std::vector<Place> sources(const Trace& trace, const Place& place) {
    std::vector<Place> out;
    if (place.step < 0 || overruled(trace, place)) return out;
    std::set<Place> seen;  // a loss has every cell of a matrix
    const FormulasLeftOut sources_alone;
    for (const CellRef& cell : explain(trace, place.step, place.cell).sources)
        for (const Access& a : trace.reads(place.step)) {
            if (a.slot != cell.slot || !trace.value(a.value).region.contains(cell.row, cell.col)) continue;
            const Place source{cell, version_read(trace, a, place.step).step};
            if (seen.insert(source).second) out.push_back(source);
        }
    return out;
}

std::optional<std::vector<Place>> inputs_of(const Trace& trace, const Place& place, int most) {
    std::set<Place> seen{place};
    std::vector<Place> to_do{place}, out;
    while (!to_do.empty()) {
        const Place at = to_do.back();
        to_do.pop_back();
        if (at.step < 0) out.push_back(at);
        for (const Place& source : sources(trace, at))
            if (seen.insert(source).second) to_do.push_back(source);
        if (static_cast<int>(seen.size()) > most) return {};
    }
    std::ranges::sort(out, [](const Place& a, const Place& b) { return a < b; });
    return out;
}

std::vector<Patch> patches(const std::vector<Place>& places) {
    std::vector<Patch> runs, out;
    for (const auto& [cell, step] : places) {
        Patch* last = runs.empty() ? nullptr : &runs.back();
        if (last && last->slot == cell.slot && last->step == step && last->cells.row == cell.row &&
            last->cells.col + last->cells.cols == cell.col)
            ++last->cells.cols;
        else
            runs.push_back({cell.slot, step, {cell.row, cell.col, 1, 1}});
    }
    for (const Patch& run : runs) {
        const auto above = std::ranges::find_if(out, [&](const Patch& p) {
            return p.slot == run.slot && p.step == run.step && p.cells.col == run.cells.col &&
                   p.cells.cols == run.cells.cols && p.cells.row + p.cells.rows == run.cells.row;
        });
        if (above != out.end())
            ++above->cells.rows;
        else
            out.push_back(run);
    }
    return out;
}

Readers::Readers(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {
    for (int k = 0; k < trace_->size(); ++k)
        for (const Access& a : trace_->reads(k))
            uses_.push_back({a.slot, a.tile, version_read(*trace_, a, k).step, k});
    std::ranges::sort(uses_);
}

std::vector<Patch> Readers::fed_by(const Place& place, int most) const {
    std::vector<Patch> out;
    const int tile = tile_of(*trace_, place).tile;
    const auto first = std::ranges::lower_bound(uses_, Use{place.cell.slot, tile, place.step, -1});
    for (auto use = first; use != uses_.end(); ++use) {
        if (use->slot != place.cell.slot || use->tile != tile || use->made != place.step) break;
        if (use != first && *use == *std::prev(use)) continue;
        for (const Access& write : trace_->writes(use->reader)) {
            if (static_cast<int>(out.size()) >= most) return out;
            if (const auto patch = fed_in(*trace_, place, use->reader, write)) out.push_back(*patch);
        }
    }
    return out;
}

}  // namespace tilewalk

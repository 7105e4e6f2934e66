// Which tile, row and cell the page is about, and the way from a cell to its step.
#include "app/ui/chapters/compare/page.h"
#include "app/ui/kit/layout.h"
#include "app/ui/state/state.h"
#include "app/ui/state/tour.h"
#include "core/base/matrix.h"
#include "core/lessons/table.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::ui {

namespace {

using Quantity = KernelFault::Quantity;
const KernelComparison* shown(const AppState& state) {
    return state.comparing ? state.comparing->shown.get() : nullptr;
}

// The last tile of a block of queries that was computed; most has come together there.
int last_tile(const KernelComparison& c, int i) {
    for (int j = c.kernel->problem.Tc() - 1; j >= 0; --j)
        if (const TileComparison* tile = c.tile(i, j); tile && tile->visited) return j;
    return 0;
}

double measured(int measure, Format format, double kernel, double other) {
    if (std::isinf(other) && kernel == other) return std::numeric_limits<double>::quiet_NaN();
    const double far = kernel == other ? 0 : std::abs(kernel - other);
    if (std::isnan(far)) return infinity;
    if (measure == 0 || far == 0) return far;
    return measure == 1 ? ulp_distance(format, kernel, other)
                        : far / std::max(std::abs(kernel), std::abs(other));
}

void measure_cells(Map& map, int measure) {
    const Matrix &kernel = map.values.kernel, &other = map.from_exact ? map.values.exact : map.values.cpu;
    map.far.resize(kernel.rows(), kernel.cols());
    double most = -1;
    std::vector<double> all;
    for (int r = 0; r < kernel.rows(); ++r)
        for (int c = 0; c < kernel.cols(); ++c) {
            const double far = map.far(r, c) = measured(measure, map.format, kernel(r, c), other(r, c));
            if (far > most) most = far, map.worst = {r, c};
            all.push_back(far);
        }
    map.scale = scale_of(std::move(all));
    map.most = map.scale.to;
}

// A right output is nearly all as the CPU's, and a picture of that is empty; what the rule measures, how far
// it is from fp64, is of every cell. Of a wrong one the few cells that differ are what is looked for.
bool shows_more_from_exact(const KernelComparison& c, const Map& map) {
    return !map.quantity && !c.finding && map.compared > 0 && map.is_sparse();
}

// The step that writes row `row` of an output
int output_step(const Trace& walk, Slot slot, const Problem& p, int row) {
    const bool of_keys = slot == Slot::dK || slot == Slot::dV;
    const int block = row / (of_keys ? p.Bc : p.Br);
    int found = 0;
    for (int k = 0; k < walk.size(); ++k) {
        const Step& step = walk.step(k);
        if ((of_keys ? step.j : step.i) != block) continue;
        if (step.op == (slot == Slot::dQ ? Op::dq : Op::store)) found = k;
    }
    return found;
}

}  // namespace

DifferenceScale scale_of(std::vector<double> differences) {
    std::erase_if(differences, [](double far) { return !(far > 0) || !std::isfinite(far); });
    if (differences.empty()) return {};
    std::ranges::sort(differences);
    constexpr double far_apart = 20, decades = 1e6;
    const auto at = [&](double part) {
        return differences[static_cast<std::size_t>(part * static_cast<double>(differences.size() - 1))];
    };
    const double most = differences.back();
    if (most <= far_apart * at(.5)) return {false, 0, most};
    return {true, std::max(at(.05), most / decades), most};
}

float DifferenceScale::place(double far) const {
    if (!(far > 0)) return 0;
    if (!std::isfinite(far) || far >= to) return 1;
    if (!logarithmic) return px(far / to);
    // What is not 0 is seen to be none.
    constexpr float least = .06f;
    if (far <= from) return least;
    return least + (1 - least) * px((std::log(far) - std::log(from)) / (std::log(to) - std::log(from)));
}

Place place_of(const AppState& state) {
    const KernelComparison* c = shown(state);
    if (!c) return {};
    const CompareForm& form = state.compare;
    const Problem& p = c->kernel->problem;
    Place at;
    at.row = c->nearest().worst.row;
    const bool of_queries = !c->kernel->backward || c->nearest().slot == Slot::dQ;
    if (!of_queries) at.row = 0;
    if (c->finding) at.row = c->finding.i * p.Br;
    if (c->finding.kind == KernelFinding::Kind::value) at.row += c->finding.row;
    if (form.row >= 0) at.row = form.row;
    at.row = std::clamp(at.row, 0, p.N() - 1);
    at.i = at.row / p.Br;
    at.j = c->finding && c->finding.i == at.i ? c->finding.j : last_tile(*c, at.i);
    if (form.j >= 0 && form.i == at.i) at.j = std::min(form.j, p.Tc() - 1);
    return at;
}

void choose_tile(AppState& state, int i, int j) {
    const KernelComparison* c = shown(state);
    if (!c || c->tiles.empty()) return;
    const Problem& p = c->kernel->problem;
    const Place now = place_of(state);
    CompareForm& form = state.compare;
    form.i = std::clamp(i, 0, p.Tr() - 1), form.j = std::clamp(j, 0, p.Tc() - 1);
    if (now.i != form.i) {
        const TileComparison& tile = *c->tile(form.i, form.j);
        const int within = std::max(0, tile[Quantity::l].worst_ulp.row);
        form.row = std::min(form.i * p.Br + within, p.N() - 1);
    } else {
        form.row = now.row;
    }
    form.cell_row = form.cell_column = -1;
}

void choose_query(AppState& state, int row) {
    const KernelComparison* c = shown(state);
    if (!c) return;
    const Place now = place_of(state);
    state.compare.row = std::clamp(row, 0, c->kernel->problem.N() - 1);
    state.compare.i = state.compare.row / c->kernel->problem.Br, state.compare.j = now.j;
    state.compare.cell_row = state.compare.cell_column = -1;
}

void show_finding(AppState& state) {
    const KernelComparison* c = shown(state);
    if (!c || !c->finding)
        return notify(state, "Every number lies within rounding; there is nothing to find.");
    const KernelFinding& f = c->finding;
    CompareForm& form = state.compare;
    form.i = f.i, form.j = f.j;
    const bool whole = f.kind == KernelFinding::Kind::output || f.kind == KernelFinding::Kind::log_sum;
    form.row = whole ? f.row : f.i * c->kernel->problem.Br + f.row;
    form.cell_row = f.row, form.cell_column = f.column;
    if (f.kind == KernelFinding::Kind::log_sum) form.map = "L";
    if (f.kind == KernelFinding::Kind::output) form.map = "O";
    if (f.kind == KernelFinding::Kind::value) form.map = std::string(info(f.quantity).name) + " tile";
}

std::vector<std::string> map_names(const AppState& state) {
    const KernelComparison* c = shown(state);
    std::vector<std::string> names;
    if (!c) return {"O"};
    for (const OutputVerdict& v : c->outputs) names.emplace_back(info(v.slot).name);
    if (c->tiles.empty()) return names;
    for (Quantity quantity : {Quantity::S, Quantity::P, Quantity::O})
        names.push_back(std::string(info(quantity).name) + " tile");
    // The others are columns; they have a map while one of them is looked at.
    for (Quantity quantity : {Quantity::m, Quantity::alpha, Quantity::l})
        if (state.compare.map == std::string(info(quantity).name) + " tile")
            names.push_back(state.compare.map);
    return names;
}

std::optional<Map> map_of(const AppState& state) {
    const KernelComparison* c = shown(state);
    if (!c) return {};
    Map map;
    const std::string& name = state.compare.map;
    const std::size_t space = name.find(' ');
    if (space != name.npos) map.quantity = find_quantity(name.substr(0, space));
    if (map.quantity && !c->tiles.empty()) {
        const Place at = place_of(state);
        const CellRef first = cell_of(*c->kernel, *map.quantity, at.i, at.j, 0, 0);
        map.slot = first.slot, map.row0 = first.row, map.column0 = first.col;
        map.values = tile_values(*c, *map.quantity, at.i, at.j);
        map.format = format_of(*c->kernel, *map.quantity);
    } else {
        map.quantity.reset();
        map.slot = c->outputs.front().slot;
        for (const OutputVerdict& v : c->outputs)
            if (name == info(v.slot).name) map.slot = v.slot;
        map.values = output_values(*c, map.slot);
        map.format = format_of(*c->kernel, map.slot);
    }
    if (map.values.kernel.size() != map.values.cpu.size()) map.values = {};
    measure_cells(map, state.compare.measure);
    map.unlike = (map.far.array() > 0).count();
    map.compared = map.far.size() - map.far.array().isNaN().count();
    // Where a tour speaks of the verdict: what the rule measures, whatever is found.
    const bool of_rule = points_at(state, "Verdict") && !map.quantity;
    map.from_exact =
        state.compare.from >= 0 ? state.compare.from == 0 : of_rule || shows_more_from_exact(*c, map);
    if (!map.from_exact) return map;
    measure_cells(map, state.compare.measure);
    for (const OutputVerdict& v : c->outputs)
        if (!map.quantity && v.slot == map.slot && state.compare.measure == 0)
            map.limit = v.limit(), map.limit_words = limit_text(v);
    return map;
}

MapCell shown_cell(const AppState& state, const Map& map) {
    const CompareForm& f = state.compare;
    const bool chosen = f.cell_row >= 0 && f.cell_row < map.far.rows() && f.cell_column < map.far.cols();
    return chosen ? MapCell{f.cell_row, std::max(0, f.cell_column)} : map.worst;
}

void choose_cell(AppState& state, const Map& map, int row, int column) {
    const bool of_keys = map.slot == Slot::dK || map.slot == Slot::dV;
    if (!of_keys) choose_query(state, map.row0 + row);
    state.compare.cell_row = row, state.compare.cell_column = column;
}

void go_to_cell(AppState& state, const Map& map, int row, int column) {
    const KernelComparison* c = shown(state);
    if (!c) return;
    const Place at = place_of(state);
    const Problem& p = c->kernel->problem;
    const int step = map.quantity ? step_of(*c->cpu, *map.quantity, at.i, at.j)
                                  : output_step(*c->cpu, map.slot, p, map.row0 + row);
    if (step < 0) return notify(state, "The mask removes this tile; the walk has no step for it.");
    // The same problem with the kernel's tiles, rounded where it rounds: the walk that stands beside it.
    Problem walked = rounded_problem(*c->kernel);
    if (state.problem->Br != walked.Br || state.problem->Bc != walked.Bc) mark_changed(walked);
    const WalkPlace place{c->cpu->lesson().id, step, map.row0 + row, map.column0 + column};
    state.page = Page::walk;
    state.presenter = false;
    set_lesson(state, *find_lesson(place.lesson));
    if (!set_problem(state, std::move(walked))) return void(state.page = Page::compare);
    state.going_to = place;
    arrive(state);
}

void arrive(AppState& state) {
    if (!state.going_to || state.pending) return;
    const WalkPlace place = *state.going_to;
    state.going_to.reset();
    if (state.lesson->id != std::string(place.lesson) || place.step >= state.trace->size()) return;
    go_to(state, at_step(*state.trace, place.step));
    const Region region = step_region(*state.trace, place.step);
    state.col = std::clamp(place.column - region.col, 0, std::max(0, region.cols - 1));
    choose_row(state, place.row - region.row);
}

}  // namespace tilewalk::ui

#include "core/inside/meeting.h"

#include "core/base/words.h"
#include "core/inside/source.h"

#include <algorithm>
#include <bit>
#include <map>

namespace tilewalk::inside {

namespace {

constexpr std::uint32_t cell_bytes = 2, none = 0xFFFFFFFF;

std::size_t index_of(std::integral auto n) { return static_cast<std::size_t>(n); }

/// Of the accesses to a cell before the barrier those of one warp at one place.
struct Before {
    std::uint32_t event, next;  ///< the next one of the cell
    std::uint32_t lanes;
    bool writes;
};

class Finder {
public:
    Finder(const BlockRecord& of_block, const Steps& of_steps, const Origins& of_origins)
        : block(of_block), steps(of_steps), origins(of_origins) {}

    std::vector<Protected> run(const Stretch& before, const Stretch& behind) {
        for (int w = 0; w < steps.warps(); ++w) each_access(before.warps[index_of(w)], w, true);
        for (int w = 0; w < steps.warps(); ++w) each_access(behind.warps[index_of(w)], w, false);
        std::vector<Protected> all;
        for (const auto& [key, pair] : found)
            if (pair.needed) all.push_back(pair.told);
        std::ranges::stable_sort(all, {}, [](const Protected& p) { return -p.bytes; });
        return all;
    }

private:
    void each_access(const Stretch::Of& of, int warp, bool is_before) {
        for (int k = of.begin; k < of.end; ++k) {
            const std::uint32_t n = steps.event(warp, k);
            const Event& event = block.events[n];
            // A copy has written when it has come; from its issue on it may write.
            const bool issued = event.op == Op::copy_issued;
            if (info(event.op).reads || info(event.op).writes)
                if (!(issued && is_before)) take(n, is_before);
            if (is_before)
                for (const std::uint32_t arrival : steps.arrivals(warp, k)) take(arrival, true);
        }
    }

    void take(std::uint32_t n, bool is_before) {
        const Event& event = block.events[n];
        block.each_lane(event, [&](int lane, auto words) {
            const std::uint32_t address = words[0];
            if (!is_shared(address)) return;
            for (std::uint32_t b = 0; b < event.bytes; b += cell_bytes)
                is_before ? note(n, lane, address + b) : meet(n, lane, address + b);
        });
    }

    static bool writes(Op op) { return info(op).writes || op == Op::copy_arrived; }

    void note(std::uint32_t n, int lane, std::uint32_t address) {
        const std::size_t cell = address / cell_bytes;
        if (cell >= heads.size()) heads.resize(cell + 1, none);
        const Event& event = block.events[n];
        for (std::uint32_t at = heads[cell]; at != none; at = list[at].next) {
            const Event& other = block.events[list[at].event];
            if (other.place != event.place || other.warp != event.warp || other.op != event.op) continue;
            list[at].lanes |= 1u << lane;
            return;
        }
        list.push_back({n, heads[cell], 1u << lane, writes(event.op)});
        heads[cell] = static_cast<std::uint32_t>(list.size() - 1);
    }

    void meet(std::uint32_t n, int lane, std::uint32_t address) {
        const std::size_t cell = address / cell_bytes;
        if (cell >= heads.size()) return;
        const Event& event = block.events[n];
        for (std::uint32_t at = heads[cell]; at != none; at = list[at].next) {
            const Before& b = list[at];
            const Event& first = block.events[b.event];
            if (!b.writes && !writes(event.op)) continue;
            // A lane's own steps need no barrier; beside those of others they are told with them.
            add(b, n, lane, address, first.warp != event.warp || b.lanes != 1u << lane);
        }
    }

    void add(const Before& b, std::uint32_t n, int lane, std::uint32_t address, bool of_others) {
        const Event &first = block.events[b.event], &second = block.events[n];
        const Key key{first.place, static_cast<int>(first.op), second.place, static_cast<int>(second.op)};
        // Neighbouring cells are mostly of one pair of places.
        if (!last || last_key != key) last = &found[key], last_key = key;
        Pair& pair = *last;
        Protected& p = pair.told;
        const bool is_new = pair.cells.empty();
        if (is_new || (of_others && !pair.needed)) {
            p.first_writes = b.writes, p.second_writes = writes(second.op);
            p.first_place = first.place, p.second_place = second.place;
            p.first_op = first.op, p.second_op = second.op;
            p.first = origins.matter(b.event), p.second = origins.matter(n);
            if (is_new) p.begin = address, p.end = address + cell_bytes;
            p.first_event = b.event, p.second_event = n;
            p.first_lane = std::countr_zero(b.lanes), p.second_lane = lane;
        }
        if (is_new) pair.cells.resize(heads.size());
        pair.needed |= of_others;
        p.first_warps |= 1u << first.warp, p.second_warps |= 1u << second.warp;
        p.begin = std::min(p.begin, address), p.end = std::max(p.end, address + cell_bytes);
        // Each cell counts once.
        const std::size_t cell = address / cell_bytes;
        if (!pair.cells[cell]) p.bytes += cell_bytes;
        pair.cells[cell] = true;
    }

    /// Of two places: what is told of them, which cells were counted, and whether lanes are others.
    struct Pair {
        Protected told;
        std::vector<bool> cells;
        bool needed = false;
    };
    using Key = std::array<std::int64_t, 4>;
    const BlockRecord& block;
    const Steps& steps;
    const Origins& origins;
    std::vector<std::uint32_t> heads;  ///< of each cell, in `list`
    std::vector<Before> list;
    std::map<Key, Pair> found;
    Pair* last = nullptr;
    Key last_key{};
};

}  // namespace

int Meeting::last() const { return static_cast<int>(std::ranges::max_element(steps) - steps.begin()); }

bool Meeting::together() const {
    return std::ranges::all_of(steps, [this](int n) { return n == steps.front(); });
}

std::optional<Meeting> meeting_at(const BlockRecord& block, const Steps& steps, const Origins& origins,
                                  int warp, int k) {
    if (block.events[steps.event(warp, k)].op != Op::sync_block) return std::nullopt;
    const auto& all = steps.barriers();
    const auto here = std::ranges::lower_bound(all, steps.slot(warp, k));
    if (here == all.end()) return std::nullopt;
    const int before = here == all.begin() ? -1 : *(here - 1);
    const int next = here + 1 == all.end() ? steps.slots() : *(here + 1);
    Meeting out;
    for (int w = 0; w < steps.warps(); ++w) {
        // The step behind the last one in this slot or before it
        const auto behind = [&](int slot) {
            const bool any = steps.count(w) > 0 && slot >= 0;
            const int at = any ? steps.at_slot(w, slot) : 0;
            return any && steps.slot(w, at) <= slot ? at + 1 : 0;
        };
        const int first = behind(before), middle = behind(*here), end = behind(next);
        out.before.warps.push_back({first, middle});
        out.behind.warps.push_back({middle, end});
        out.steps.push_back(middle - first);
    }
    out.orders = Finder(block, steps, origins).run(out.before, out.behind);
    return out;
}

std::string warps_text(std::uint32_t warps) {
    std::string text = lanes_text(warps);
    return "warp" + text.substr(4);  // in place of "lane"
}

std::string stored_name(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == line.npos) return {};
    // The last name before the "=" that a bracket follows: "if (owner) factor[own_row] = …"
    const std::size_t equals = line.find(" = ");
    const std::size_t bracket = line.find('[');
    if (equals == line.npos || bracket == line.npos || bracket > equals) return {};
    std::size_t from = bracket;
    while (from > begin && in_name(line[from - 1])) --from;
    return std::string(line.substr(from, bracket - from));
}

}  // namespace tilewalk::inside

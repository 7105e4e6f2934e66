#include "core/inside/record.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace tilewalk::inside {

const OpInfo& info(Op op) {
    static constexpr OpInfo table[] = {
        {"load", "address, value", true, false, false},
        {"store", "address, value", false, true, false},
        {"atomic_add", "address, what is added, sum", true, true, false},
        {"load_matrices", "address of a row, 4 registers", true, false, true},
        {"load_transposed", "address of a row, 4 registers", true, false, true},
        {"multiply_add", "4 of A, 2 of B, 4 of C before, 4 of C after", false, false, true},
        {"copy_async", "to, from, inside, group", false, true, false},
        {"commit_copies", "group", false, false, false},
        {"wait_copies", "groups that may be under way, groups waited for", false, false, false},
        {"copy arrived", "to, group, 4 words", false, false, false},
        {"sync_block", "", false, false, true},
        {"sync_warp", "", false, false, true},
        {"shuffle", "given, lane asked, got", false, false, true},
        {"exp2_of", "x, 2^x", false, false, false},
        {"exp_of", "x, exp x", false, false, false},
        {"log_of", "x, ln x", false, false, false},
        {"from_float", "float, 16 bits", false, false, false},
        {"pack", "low, high, both", false, false, false},
        {"fetch_tile",
         "to, from or 0, rows, bytes of each, bytes from row to row, barrier, phase, bytes in all", false,
         false, false},
        {"tile arrived", "to, barrier, phase", false, false, false},
        {"init_barrier", "barrier, arrivals of a phase", false, false, false},
        {"publish_barriers", "", false, false, false},
        {"arrive_at", "barrier, phase", false, false, false},
        {"expect_bytes", "barrier, phase, bytes", false, false, false},
        {"wait_for", "barrier, phases that have ended", false, false, false},
        {"arrive_named", "number, threads", false, false, true},
        {"sync_named", "number, threads", false, false, true},
        {"shrink_registers", "registers", false, false, true},
        {"grow_registers", "registers", false, false, true},
        {"fence_products", "", false, false, true},
        {"multiply_async", "descriptors of A and B, columns, whether it adds, group, which sums, 4 of A",
         false, false, true},
        {"commit_products", "group", false, false, true},
        {"wait_products", "groups that may be under way, groups waited for, which sums, these", false, false,
         true},
        {"left out", "", false, false, false},
    };
    static_assert(std::size(table) == static_cast<std::size_t>(Op::count));
    return table[static_cast<std::size_t>(op)];
}

std::optional<Op> find_op(std::string_view name) {
    for (int n = 0; n < static_cast<int>(Op::count); ++n)
        if (name == info(static_cast<Op>(n)).name) return static_cast<Op>(n);
    return std::nullopt;
}

std::span<const std::uint32_t> BlockRecord::words_of(const Event& event) const {
    ++events_visited;
    return std::span(words).subspan(event.at,
                                    static_cast<std::size_t>(std::popcount(event.lanes) * event.words));
}

std::span<const std::uint32_t> BlockRecord::words_of(const Event& event, int lane) const {
    if (!event.has(lane)) return {};
    // Of a whole warp nothing need be counted.
    const int before = event.lanes == whole_warp ? lane : std::popcount(event.lanes & ((1u << lane) - 1));
    return words_of(event).subspan(static_cast<std::size_t>(before * event.words), event.words);
}

std::int64_t BlockRecord::bytes() const {
    return static_cast<std::int64_t>(events.size() * sizeof(Event) + words.size() * sizeof(words[0]));
}

std::int64_t Launch::steps() const {
    std::int64_t all = 0;
    for (const Counts& c : counts) all += c.warps;
    return all;
}

std::int64_t Record::races() const {
    std::int64_t all = 0;
    for (const Launch& launch : launches) all += static_cast<std::int64_t>(launch.races.size());
    return all;
}

std::int64_t Record::lost_turns() const {
    std::int64_t all = 0;
    for (const Launch& launch : launches)
        for (const Race& race : launch.races) all += is_numbered_barrier(race.address);
    return all;
}

std::int64_t Record::bytes() const {
    std::int64_t all = 0;
    for (const Launch& launch : launches)
        for (const BlockRecord& block : launch.blocks) all += block.bytes();
    return all;
}

int Record::writer(const Launch& launch, std::uint32_t address) const {
    for (std::size_t n = 0; n < regions.size() && n < launch.writers.size(); ++n)
        if (regions[n].holds(address)) {
            const auto word = static_cast<std::size_t>((address - regions[n].begin) / 4);
            return word < launch.writers[n].size() ? launch.writers[n][word] : -1;
        }
    return -1;
}

std::string place_text(const Record& record, std::uint32_t place) {
    if (place == Place::none) return "";
    const Place& p = record.places[place];
    return p.file + ":" + std::to_string(p.line);
}

std::string head_text(int head) { return head < 0 ? "" : " of head " + std::to_string(head); }

std::string address_text(const Record& record, std::uint32_t address) {
    if (is_numbered_barrier(address)) return "barrier " + std::to_string(address - numbered_base);
    if (is_register(address))
        return "register " + std::to_string(held_register(address).reg) + " of the product's sums";
    char number[16];
    std::snprintf(number, sizeof number, "0x%x", is_shared(address) ? address : address - global_base);
    if (is_shared(address)) return std::string("shared memory, byte ") + number;
    for (const Region& r : record.regions) {
        const std::int64_t at = std::int64_t(address) - r.begin;
        if (at < 0 || at >= r.bytes) continue;
        if (r.row_bytes == 0) return r.name + ", byte " + std::to_string(at);
        return r.name + head_text(r.head) + ", row " + std::to_string(at / r.row_bytes) + ", column " +
               std::to_string(at % r.row_bytes / r.element_bytes);
    }
    return std::string("device memory, byte ") + number;
}

std::string lanes_text(std::uint32_t lanes) {
    std::string text;
    for (int l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        int end = l;
        while (end < 31 && (lanes >> (end + 1) & 1)) ++end;
        text += (text.empty() ? "" : ", ") + std::to_string(l) + (end > l ? "–" + std::to_string(end) : "");
        l = end;
    }
    return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + text;
}

std::string no_race_text(const Record& record) {
    const bool all = std::ranges::all_of(record.launches, [](const Launch& l) { return l.name.empty(); });
    return std::string("No two accesses race") + (all ? "" : " in what is looked into") + ".";
}

std::string race_text(const Record& record, const Race& race) {
    std::string text = address_text(record, race.address);
    for (const RaceAccess& a : {race.first, race.second})
        text += std::string("\n    ") + info(a.op).name + " at " + place_text(record, a.place) + ", block " +
                std::to_string(a.block) + ", warp " + std::to_string(a.warp) + ", " + lanes_text(a.lanes);
    const std::string times = std::to_string(race.times);
    if (is_numbered_barrier(race.address))
        return text + "\n    the turn is given twice, and nobody takes it between; so often: " + times;
    return text + "\n    nothing orders them; accesses that race so: " + times;
}

}  // namespace tilewalk::inside

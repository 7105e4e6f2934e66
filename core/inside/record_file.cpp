#include "core/inside/record_file.h"

#include "core/base/bytes.h"

#include <ostream>

namespace tilewalk::inside {

namespace {

constexpr std::string_view record_begin = "tilewalk-record-1\n", record_end = "end\n";

}  // namespace

// What a record is made of, in both directions. A new field does not compile before it has its name here.
template <class Way, class T> static void fields(Way& way, T& x) {
    using Kind = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Kind, Place>) {
        auto& [file, line, column] = x;
        take_all(way, file, line, column);
    } else if constexpr (std::is_same_v<Kind, Region>) {
        auto& [name, begin, bytes, row_bytes, element_bytes, head] = x;
        take_all(way, name, begin, bytes, row_bytes, element_bytes, head);
    } else if constexpr (std::is_same_v<Kind, BlockRecord>) {
        auto& [bx, by, bz, events, words] = x;
        take_all(way, bx, by, bz, events, words);
    } else if constexpr (std::is_same_v<Kind, Launch>) {
        auto& [name, gx, gy, gz, threads, shared_bytes, blocks, counts, races, writers, clocks] = x;
        take_all(way, name, gx, gy, gz, threads, shared_bytes, blocks, counts, races, writers, clocks);
    } else if constexpr (std::is_same_v<Kind, Output>) {
        auto& [name, rows, columns, values] = x;
        take_all(way, name, rows, columns, values);
    } else {
        auto& [kernel, title, teaches, dtype, Br, Bc, tiles, split_blocks, schedule, fault, swizzles, heads,
               key_heads, open_keys, outputs, places, regions, launches] = x;
        static_cast<void>(fault);  // kernels of the ladder alone are broken, and their records stay in memory
        take_all(way, kernel, title, teaches, dtype, Br, Bc, tiles, split_blocks, schedule.early,
                 schedule.stalls, schedule.seed, swizzles, heads, key_heads, open_keys, outputs, places,
                 regions, launches);
    }
}

namespace {

// Numbers that lead to somewhere in the record.
bool leads_somewhere(const Record& record) {
    const auto place = [&](std::uint32_t n) { return n < record.places.size(); };
    for (const Launch& launch : record.launches) {
        for (const BlockRecord& block : launch.blocks)
            for (const Event& e : block.events) {
                const std::uint64_t words =
                    std::uint64_t(e.words) * static_cast<std::uint64_t>(__builtin_popcount(e.lanes));
                if (!place(e.place) || e.op >= Op::count || e.warp >= launch.warps() ||
                    e.at + words > block.words.size())
                    return false;
            }
        for (const Counts& c : launch.counts)
            if (!place(c.place) || c.op >= Op::count) return false;
        for (const Race& race : launch.races)
            if (!place(race.first.place) || !place(race.second.place)) return false;
    }
    return true;
}

}  // namespace

void write_record(std::ostream& out, const Record& record) {
    out << record_begin;
    BytesOut<std::ostream> way{out};
    fields(way, record);
    out << record_end;
}

std::string record_bytes(const Record& record) {
    BytesOfString out{std::string(record_begin)};
    BytesOut<BytesOfString> way{out};
    fields(way, record);
    return std::move(out.all.append(record_end));
}

Result<Record> read_record(std::string_view bytes) {
    const auto broken = [] { return Failure{"The record of the kernel's run is not whole."}; };
    if (!bytes.starts_with(record_begin)) return broken();
    BytesIn way{bytes.substr(record_begin.size())};
    Record record;
    fields(way, record);
    if (!way.whole || way.left != record_end || !leads_somewhere(record)) return broken();
    return record;
}

}  // namespace tilewalk::inside

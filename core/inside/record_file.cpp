#include "core/inside/record_file.h"

#include <cstring>
#include <ostream>
#include <type_traits>

namespace tilewalk::inside {

namespace {

constexpr std::string_view record_begin = "tilewalk-record-1\n", record_end = "end\n";

template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

struct Out {
    std::ostream& stream;

    template <Plain T> void take(const T& x) {
        stream.write(reinterpret_cast<const char*>(&x), static_cast<std::streamsize>(sizeof x));
    }
    void take(const std::string& text) {
        take(static_cast<std::uint64_t>(text.size()));
        stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    }
    template <class T> void take(const std::vector<T>& all) {
        take(static_cast<std::uint64_t>(all.size()));
        if constexpr (Plain<T>)
            stream.write(reinterpret_cast<const char*>(all.data()),
                         static_cast<std::streamsize>(all.size() * sizeof(T)));
        else
            for (const T& one : all)
                if constexpr (requires { take(one); })
                    take(one);
                else
                    fields(*this, one);
    }
};

/// Takes what it finds as long as there is enough of it.
struct In {
    std::string_view left;
    bool whole = true;

    void bytes(void* to, std::uint64_t count) {
        whole = whole && count <= left.size();
        if (!whole || count == 0) return;
        std::memcpy(to, left.data(), static_cast<std::size_t>(count));
        left.remove_prefix(static_cast<std::size_t>(count));
    }
    std::uint64_t size(std::size_t of_each) {
        std::uint64_t n = 0;
        take(n);
        whole = whole && n <= left.size() / of_each;
        return whole ? n : 0;
    }
    template <Plain T> void take(T& x) { bytes(&x, sizeof x); }
    void take(bool& x) {
        std::uint8_t byte = 0;
        take(byte);
        x = byte != 0;
    }
    void take(std::string& text) {
        text.resize(size(1));
        bytes(text.data(), text.size());
    }
    template <class T> void take(std::vector<T>& all) {
        all.resize(size(Plain<T> ? sizeof(T) : 1));
        if constexpr (Plain<T>)
            bytes(all.data(), all.size() * sizeof(T));
        else
            for (T& one : all)
                if constexpr (requires { take(one); })
                    take(one);
                else
                    fields(*this, one);
    }
};

template <class Way, class... Fields> void take_all(Way& way, Fields&... all) { (way.take(all), ...); }

// What a record is made of, in both directions. A new field does not compile before it has its name here.
template <class Way, class T> void fields(Way& way, T& x) {
    using Kind = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Kind, Place>) {
        auto& [file, line, column, caller] = x;
        take_all(way, file, line, column, caller);
    } else if constexpr (std::is_same_v<Kind, Region>) {
        auto& [name, begin, bytes, row_bytes, element_bytes] = x;
        take_all(way, name, begin, bytes, row_bytes, element_bytes);
    } else if constexpr (std::is_same_v<Kind, BlockRecord>) {
        auto& [bx, by, bz, events, words] = x;
        take_all(way, bx, by, bz, events, words);
    } else if constexpr (std::is_same_v<Kind, Launch>) {
        auto& [name, gx, gy, gz, threads, shared_bytes, blocks, counts, races, writers] = x;
        take_all(way, name, gx, gy, gz, threads, shared_bytes, blocks, counts, races, writers);
    } else if constexpr (std::is_same_v<Kind, Output>) {
        auto& [name, rows, columns, values] = x;
        take_all(way, name, rows, columns, values);
    } else {
        auto& [kernel, title, teaches, dtype, Br, Bc, tiles, split_blocks, schedule, fault, swizzles,
               open_keys, outputs, places, regions, launches] = x;
        static_cast<void>(fault);  // kernels of the ladder alone are broken, and their records stay in memory
        take_all(way, kernel, title, teaches, dtype, Br, Bc, tiles, split_blocks, schedule.early,
                 schedule.stalls, schedule.seed, swizzles, open_keys, outputs, places, regions, launches);
    }
}

// Numbers that lead to somewhere in the record.
bool leads_somewhere(const Record& record) {
    const auto place = [&](std::uint32_t n) { return n < record.places.size(); };
    for (const Place& p : record.places)
        if (p.caller != Place::none && !place(p.caller)) return false;
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
    Out way{out};
    fields(way, record);
    out << record_end;
}

Result<Record> read_record(std::string_view bytes) {
    const auto broken = [] { return Failure{"The record of the kernel's run is not whole."}; };
    if (!bytes.starts_with(record_begin)) return broken();
    In way{bytes.substr(record_begin.size())};
    Record record;
    fields(way, record);
    if (!way.whole || way.left != record_end || !leads_somewhere(record)) return broken();
    return record;
}

}  // namespace tilewalk::inside

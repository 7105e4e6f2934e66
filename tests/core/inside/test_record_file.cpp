// A record goes through bytes and comes back whole, or is refused.
#include "core/inside/record_file.h"

#include "tests/good.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace tilewalk;
using namespace tilewalk::inside;
using namespace tilewalk::test;

namespace {

Record small_record() {
    Record record;
    record.kernel = "my.cu", record.title = "ü", record.dtype = DType::f16;
    record.schedule = {false, true, 7}, record.swizzles = true, record.open_keys = 28;
    record.outputs = {{"O", 2, 1, {1.5f, -2}}};
    record.places = {{"my.cu", 3, 5}, {"my.cu", 9, 1}};
    record.regions = {{"K", global_base, 256, 64, 2}};
    Launch& launch = record.launches.emplace_back();
    launch.x = 2, launch.threads = 64, launch.shared_bytes = 128;
    launch.blocks.push_back({1, 0, 0, {{1, 5, 0, Op::load, 1, 4, 2}}, {8, 1, 12, 2}});
    launch.counts = {{0, Op::store, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
    launch.races = {{{0, Op::store, 0, 0, 1}, {1, Op::load, 1, 1, 2}, 8, 13}};
    record.launches.emplace_back().name = "a product";
    return record;
}

std::string bytes_of(const Record& record) {
    std::ostringstream out;
    write_record(out, record);
    return out.str();
}

}  // namespace

TEST_CASE("record file: what was written comes back") {
    const std::string bytes = bytes_of(small_record());
    const Record back = good(read_record(bytes));
    CHECK(bytes_of(back) == bytes);
    CHECK(back.kernel == "my.cu");
    CHECK(back.dtype == DType::f16);
    CHECK(back.places[1].line == 9);
    CHECK(back.regions[0].row_bytes == 64);
    CHECK(back.schedule.stalls);
    CHECK(back.schedule.seed == 7);
    CHECK(back.outputs[0].values == std::vector<float>{1.5f, -2});
    const Launch& launch = back.launches[0];
    CHECK(launch.x == 2);
    CHECK(launch.blocks[0].events[0].lanes == 5);
    CHECK(launch.blocks[0].words == std::vector<std::uint32_t>{8, 1, 12, 2});
    CHECK(launch.counts[0].sectors_least == 11);
    CHECK(launch.races[0].times == 13);
    CHECK(back.launches[1].name == "a product");
}

TEST_CASE("record file: cut off anywhere, or with numbers that lead nowhere, it is refused") {
    const std::string bytes = bytes_of(small_record());
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_FALSE(read_record(bytes.substr(0, n)));
    CHECK_FALSE(read_record(bytes + "x"));
    const auto broken = [](auto change) {
        Record record = small_record();
        change(record.launches[0]);
        return !read_record(bytes_of(record));
    };
    CHECK(broken([](Launch& l) { l.blocks[0].events[0].place = 2; }));
    CHECK(broken([](Launch& l) { l.blocks[0].events[0].lanes = 7; }));
    CHECK(broken([](Launch& l) { l.blocks[0].events[0].warp = 2; }));
    CHECK(broken([](Launch& l) { l.counts[0].place = 7; }));
    CHECK(broken([](Launch& l) { l.races[0].second.place = 7; }));
}

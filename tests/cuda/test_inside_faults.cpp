// Runs without a barrier, a wait, the swizzle, the guard of the edge, with registers swapped: what the table
// of faults says of them comes true. Which barriers and waits there are is read from the kernels' text.
#include "core/inside/crossing.h"
#include "core/inside/faults.h"
#include "core/inside/source.h"
#include "cuda/host/gpu.h"
#include "tests/contains.h"
#include "tests/cuda/inside_kernels.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <regex>

namespace tilewalk::inside {

using test::contains;

namespace {

gpu::RecordRequest request_for(const std::string& kernel, int N, int d) {
    gpu::RecordRequest request;
    request.kernel = kernel, request.problem = *random_problem(N, d, 1), request.blocks = {0};
    for (const auto& known : gpu::traceable_kernels())
        if (known.name == kernel) request.dtype = known.types.front();
    return request;
}
Record recorded(const gpu::RecordRequest& request) {
    auto record = gpu::record_kernel(request);
    REQUIRE_MESSAGE(record, record.error);
    return std::move(*record);
}
Record recorded_with(gpu::RecordRequest request, const Fault& fault) {
    request.fault = fault;
    return recorded(request);
}

/// So many keys that every kernel goes through a second tile, and f7 through each of its buffers twice: tiles
/// of the backward kernels are larger.
gpu::RecordRequest of_two_tiles(const std::string& kernel) {
    return request_for(kernel, kernel == "f7-hopper" || kernel[0] == 'b' ? 256 : 128, 64);
}

std::string text_at(const Fault& fault) {
    for (const EmbeddedFile& file : gpu::kernel_sources())
        if (fault.file == std::string("cuda/kernels/") + file.name)
            return std::string(source_text(fault.file, file.text).line(fault.line));
    return "";
}

// A block of keys that no query sees would end with copies under way; whose turn it is at the tensor cores
// orders no memory (tests/cuda/prover/deletions.txt).
bool may_be_silent(const Fault& fault) {
    const std::string text = text_at(fault);
    return contains(text, "keys that no query sees") || contains(text, "take_turn");
}
// Registers do not race: sums of a product that nobody has waited for are no numbers.
bool ends_in_registers(const Fault& fault) { return contains(text_at(fault), "wait_products"); }

/// Lines of a file that wait, as its text has them.
std::vector<int> waiting_lines(const std::string& file_name) {
    static const std::regex waits(
        R"(^\s*(if (constexpr )?\(.*\) )?(DEVICE void \w+\(\) const \{ )?(sync_block|sync_warp|sync_named|wait_(copies|products)<[^>]*>|wait_for)\(.*\);.*)");
    std::vector<int> lines;
    for (const EmbeddedFile& file : gpu::kernel_sources()) {
        if (file.name != file_name) continue;
        const SourceText source = source_text(file_name, file.text);
        for (int n = 1; n <= source.count(); ++n)
            if (std::regex_match(std::string(source.line(n)), waits)) lines.push_back(n);
    }
    return lines;
}

bool is_kind(const Fault& fault, std::initializer_list<FaultKind> kinds) {
    return std::ranges::find(kinds, fault.kind) != kinds.end();
}

Fault first_of(const std::vector<Fault>& all, FaultKind kind) {
    const auto found = std::ranges::find(all, kind, &Fault::kind);
    REQUIRE(found != all.end());
    return *found;
}

std::optional<Crossing> crossing_in(const Record& broken, const Record& sound) {
    const auto block_of = [](const Record& record) -> const BlockRecord& {
        return record.launches[0].blocks[0];
    };
    const Steps of_broken(broken, broken.launches[0], block_of(broken)),
        of_sound(sound, sound.launches[0], block_of(sound));
    return crossing_of({broken, broken.launches[0], block_of(broken), of_broken, 0},
                       {sound, sound.launches[0], block_of(sound), of_sound, 0});
}

}  // namespace

TEST_SUITE("inside faults") {
    TEST_CASE("each barrier and each wait of each kernel, left out, is reported in one run") {
        int reported = 0, silent = 0, stopped = 0;
        for (const auto& kernel : gpu::traceable_kernels()) {
            CAPTURE(kernel.name);
            const gpu::RecordRequest request = of_two_tiles(kernel.name);
            const Record sound = recorded(request);
            CHECK(sound.races() == 0);
            for (const Fault& fault : faults_of(sound)) {
                if (!is_kind(fault, {FaultKind::barrier, FaultKind::wait})) continue;
                CAPTURE(name_of(fault));
                gpu::RecordRequest with_fault = request;
                with_fault.fault = fault;
                const auto run = gpu::record_kernel(with_fault);
                if (!run && kernel.name.ends_with("-hopper")) {
                    // Barriers that count phases are used before they are made, or fall two phases behind.
                    CHECK((contains(run.error, "nobody had made") || contains(run.error, "would hang, too")));
                    ++stopped;
                    continue;
                }
                REQUIRE_MESSAGE(run, run.error);
                const Record& broken = *run;
                if (may_be_silent(fault)) {
                    ++silent;
                    continue;
                }
                ++reported;
                if (broken.races() == 0 && ends_in_registers(fault)) {
                    CHECK(damage_of(sound, broken).wrong > 0);
                    continue;
                }
                REQUIRE(broken.races() > 0);
                for (const Launch& launch : broken.launches)
                    for (const Race& race : launch.races) {
                        CHECK(race.first.lanes != 0);
                        CHECK(race.second.lanes != 0);
                        CHECK(race.first.place < broken.places.size());
                        CHECK(race.second.place < broken.places.size());
                    }
            }
        }
        MESSAGE(reported << " reported, " << silent << " may be silent");
        CHECK(reported >= 40);
        CHECK(silent <= 3);
        CHECK(stopped <= 2);
    }

    TEST_CASE("the list has every barrier and wait of the kernel's own file") {
        for (const auto& [kernel, file] : std::initializer_list<std::pair<const char*, const char*>>{
                 {"f2-tiled-fp32", "f2_tiled_fp32.cu"},
                 {"f3-warp-rows", "f3_warp_rows.cu"},
                 {"f4-tensor-core", "f4_tensor_core.cu"},
                 {"f4b-copies-ahead", "f4b_copies_ahead.cu"},
                 {"f5-flash2", "f5_flash2.cu"},
                 {"f6-split", "f6_split.cu"},
                 {"f7-hopper", "f7_hopper.cu"},
                 {"b4-hopper", "b4_hopper.cu"}}) {
            CAPTURE(kernel);
            const std::vector<Fault> all = faults_of(recorded(of_two_tiles(kernel)));
            const std::vector<int> lines = waiting_lines(file);
            CHECK(!lines.empty());
            for (const int line : lines) {
                CAPTURE(line);
                CHECK(std::ranges::any_of(all, [&](const Fault& f) {
                    return f.line == line && f.file == std::string("cuda/kernels/") + file;
                }));
            }
        }
    }

    TEST_CASE("the other faults do to numbers and banks what their table says, and race if it says so") {
        for (const auto& kernel : gpu::traceable_kernels()) {
            CAPTURE(kernel.name);
            const gpu::RecordRequest request = request_for(kernel.name, 100, 64);
            const Record sound = recorded(request);
            for (const Fault& fault : faults_of(sound)) {
                if (is_kind(fault, {FaultKind::barrier, FaultKind::wait})) continue;
                CAPTURE(name_of(fault));
                const FaultInfo& says = info(fault.kind);
                const Record broken = recorded_with(request, fault);
                const Damage damage = damage_of(sound, broken);
                CHECK((damage.wrong > 0) == says.differs);
                CHECK((bank_totals(broken).ways > bank_totals(sound).ways) == says.conflicts);
                CHECK((broken.races() > 0) == says.races);
            }
        }
    }

    TEST_CASE("without the swizzle f5 asks a bank eight times, and no bit of O changes") {
        const gpu::RecordRequest request = request_for("f5-flash2", 128, 64);
        const Record sound = recorded(request), broken = recorded_with(request, {FaultKind::swizzle});
        CHECK(bank_totals(sound).ways == 1);
        CHECK(bank_totals(broken).ways == 8);
        CHECK(bank_totals(broken).least == bank_totals(sound).least);
        CHECK(damage_of(sound, broken).wrong == 0);
    }

    TEST_CASE("without the guard O is that of more keys: all that lie in the tile") {
        // Rows of K and V behind the 100 that there are: first memory that is nobody's, zeros, then other
        // rows.
        const gpu::RecordRequest request = request_for("f2-tiled-fp32", 100, 64);
        const Record sound = recorded(request);
        CHECK(sound.open_keys == 28);
        const Record broken = recorded_with(request, {FaultKind::guard});
        const auto reads_of = [](const Record& record) {
            std::int64_t lanes = 0;
            for (const Counts& c : record.launches[0].counts)
                if (c.op == Op::load && c.global_bytes > 0) lanes += c.lanes;
            return lanes;
        };
        // 28 rows of K and of V more, for each of the two blocks of queries
        CHECK(reads_of(broken) - reads_of(sound) == 2 * 2 * 28 * 64);
        CHECK(!faults_of(recorded(request_for("f2-tiled-fp32", 128, 64))).empty());
        CHECK(
            contains(fault_lacks(recorded(request_for("f2-tiled-fp32", 128, 64)), FaultKind::guard), "full"));
    }

    TEST_CASE("a wrong number is looked for in several orders, and is a number where one can be") {
        const gpu::RecordRequest request = request_for("f5-flash2", 128, 64);
        const Record sound = recorded(request);
        int finite = 0;
        for (const Fault& fault : faults_of(sound)) {
            if (fault.kind != FaultKind::barrier) continue;
            gpu::RecordRequest with_fault = request;
            with_fault.fault = fault;
            const auto broken = gpu::break_kernel(with_fault, sound);
            REQUIRE_MESSAGE(broken, broken.error);
            CHECK(broken->record.races() > 0);
            CHECK(broken->damage.wrong > 0);
            finite += broken->damage.finite();
            REQUIRE(broken->damage.worst);
            const WrongCell& worst = *broken->damage.worst;
            const auto at = static_cast<std::size_t>(worst.row * 64 + worst.column);
            CHECK(sound.outputs[0].values[at] == worst.sound);
            if (broken->damage.finite()) CHECK(broken->record.outputs[0].values[at] == worst.broken);
        }
        CHECK(finite > 0);
    }

    TEST_CASE("a race as two orders: who has to come first, and what each gets") {
        std::string wrong;
        const Record sound = test::record_small("has barrier", wrong);
        const std::vector<Fault> all = faults_of(sound);
        REQUIRE(all.size() == 1);
        CHECK(all[0].kind == FaultKind::barrier);
        gpu::RecordOptions options{.blocks = {0, 1}};
        options.fault = all[0];
        const Record broken = test::record_small("has barrier", wrong, options);
        CHECK(wrong.empty());
        const auto crossing = crossing_in(broken, sound);
        REQUIRE(crossing);
        CHECK(crossing->ordered);
        CHECK(crossing->first.op == Op::store);
        CHECK(crossing->second.op == Op::load);
        CHECK(crossing->first.warp != crossing->second.warp);
        CHECK(crossing->second.lane == crossing->first.lane);
        // The kernel stores the thread's number at 4 times this number. One warp comes first, and reads NaN.
        const float number = static_cast<float>(crossing->address / 4);
        CHECK(std::bit_cast<float>(crossing->first.content.word) == number);
        CHECK(std::bit_cast<float>(crossing->second.sound.word) == number);
        CHECK(crossing->crossed);
        CHECK(std::isnan(std::bit_cast<float>(crossing->second.content.word)));
        CHECK(std::ranges::count(broken.launches[0].blocks[0].events, Op::left_out, &Event::op) == 2);
    }

    TEST_CASE("an own copy that nobody waits for is read as NaN where it comes late") {
        std::string wrong;
        const Record sound = test::record_small("copies in order", wrong);
        gpu::RecordOptions options{.blocks = {0, 1}};
        options.fault = first_of(faults_of(sound), FaultKind::wait);
        for (const bool early : {false, true}) {
            options.schedule.early = early;
            const Record broken = test::record_small("copies in order", wrong, options);
            const auto crossing = crossing_in(broken, sound);
            REQUIRE(crossing);
            CHECK(crossing->ordered);
            CHECK(crossing->first.op == Op::copy_issued);
            CHECK(crossing->crossed == !early);
            CHECK(std::isnan(std::bit_cast<float>(crossing->second.content.word)) == !early);
        }
    }

    TEST_CASE("what a warp reads too late in f5 is the key of the next tile, in the same place") {
        const gpu::RecordRequest request = request_for("f5-flash2", 128, 64);
        const Record sound = recorded(request);
        const std::vector<Fault> all = faults_of(sound);
        gpu::RecordRequest with_fault = request;
        with_fault.fault = *std::find_if(all.rbegin(), all.rend(),
                                         [](const Fault& f) { return f.kind == FaultKind::barrier; });
        const auto broken = gpu::break_kernel(with_fault, sound);
        REQUIRE(broken);
        const auto crossing = crossing_in(broken->record, sound);
        REQUIRE(crossing);
        CHECK(crossing->crossed);
        // Keys of the next tile, 64 rows further, where this tile's lie; or V before it has come
        const CrossingSide& reader = crossing->first.writes ? crossing->second : crossing->first;
        REQUIRE(reader.sound.from);
        if (reader.content.from) CHECK(*reader.content.from - *reader.sound.from == 64 * 64 * 2);
    }

    TEST_CASE("faults have names that lead back, and others are refused with those that there are") {
        const Record f5 = recorded(request_for("f5-flash2", 128, 64));
        for (const Fault& fault : faults_of(f5)) {
            const auto found = fault_named(f5, name_of(fault));
            REQUIRE(found);
            CHECK(*found == fault);
        }
        CHECK(contains(fault_named(f5, "f5_flash2.cu:1").error, "swizzle, swap-a, swap-b"));
        CHECK(contains(fault_named(f5, "guard").error, "Every tile of keys is full"));
        const Record f2 = recorded(request_for("f2-tiled-fp32", 64, 32));
        CHECK(contains(fault_named(f2, "swap-a").error, "without fragments"));
        CHECK(contains(fault_named(f2, "swizzle").error, "no swizzle"));
    }
}

}  // namespace tilewalk::inside

// The views of merging: handles that move the split, both forms, two trees; workers side by side on the
// timeline.
#include "app/export/export_formats.h"
#include "app/export/parts.h"
#include "app/ui/parts/lens_parts.h"
#include "app/ui/state/state.h"
#include "core/base/numbers.h"
#include "core/lessons/merge/merge.h"
#include "core/lessons/ring/ranks.h"
#include "tests/app/ui/layout_check.h"
#include "tests/contains.h"
#include "tests/core/steps.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tilewalk::test;

TEST_SUITE("merge view") {

    TEST_CASE("S moves a key from one part to the other, and an empty part is allowed") {
        Program program;
        program.show_lesson("merge");
        const auto sizes = [&] {
            std::vector<int> out;
            for (const KeyPart& part : merge_parts(*program.state.problem)) out.push_back(part.count);
            return out;
        };
        CHECK(sizes() == std::vector{2, 2});
        program.press(Key::s);
        CHECK(sizes() == std::vector{3, 1});
        program.press(Key::s);
        program.press(Key::s);
        CHECK(sizes() == std::vector{4, 0});
        CHECK(program.state.trace->result(Slot::O)(0, 0) == doctest::Approx(7.2039).epsilon(1e-4));
    }

    TEST_CASE("the timeline of split keys has a lane for each worker, and its columns are ticks") {
        Program program(random_with_tiles(16, 4, 1, 2));
        program.show_lesson("split-kv");
        const TimelineGrid& grid = program.state.look.grid;
        CHECK(grid.timed);
        CHECK(grid.count() == 5);  // four workers, and the kernel that merges
        CHECK(grid.columns == program.state.trace->ticks());
        CHECK(grid.column_of(grid.begin(0)) == 0);
        CHECK(grid.column_of(grid.begin(1)) == 0);
        CHECK(grid.column_of(grid.begin(4)) > grid.column_of(grid.end(3) - 1));
    }

    TEST_CASE("HBM of split keys shows keys and values where the partial results leave room") {
        for (const Screen screen : {Screen{1280, 720}, Screen{1600, 900}}) {
            Program program(example("worked-4x4"), screen);
            program.show_lesson("split-kv");
            program.go_to_step(16);
            for (const char* letter : {"K", "V"}) CHECK(program.look_for(letter, "HBM"));
            CHECK(program.look_for("16", "HBM"));  // the last number of V
        }
    }

    TEST_CASE("on a ring the row that is chosen, its label and its formula have the whole problem's names") {
        Problem p = *random_problem(12, 4, 3);
        p.options.ranks = 2, p.options.shards = ShardKind::zigzag;
        Program program(p);
        program.show_lesson("ring-backward");
        const Trace& trace = *program.state.trace;
        const Ring ring(trace.problem());
        int looked = 0;
        for (int k = 0; k < trace.size(); ++k) {
            const Step& step = trace.step(k);
            const bool chosen = step.op == Op::scores || step.op == Op::dv || step.op == Op::preprocess;
            if (!chosen || step.when.worker != 1) continue;
            program.go_to_step(k, 2);
            for (int row = 0; row < step_region(trace, k).rows; ++row) {
                choose_row(program.state, row);
                program.frame(2);
                const CellRef cell = program.state.explanation.target;
                const Indices told = indices(trace, cell.slot, {cell.row, cell.col, 1, 1}, k);
                // Rank 1 has the middle of the sequence as queries; the keys are of either rank.
                const RingRows& shard = step.op == Op::dv ? ring.keys_of(step.j) : ring.queries_of(1);
                CHECK(told.rows.front() == shard.positions[static_cast<std::size_t>(row)]);
                const std::string result = plain(program.state.explanation.result);
                CHECK(result.find("[" + str(told.rows.front())) != std::string::npos);
                ++looked;
            }
        }
        CHECK(looked >= 24);
    }

    TEST_CASE("the lanes of a ring are ranks, and a message lies beneath the work of its rank") {
        Program program;
        program.show_lesson("ring");
        const TimelineGrid& grid = program.state.look.grid;
        CHECK(grid.timed);
        CHECK(grid.count() == 2);
        CHECK(grid.columns == program.state.trace->ticks());
        CHECK(grid.shares[0]);
        const int sent = nth_step(*program.state.trace, Op::exchange);
        CHECK(grid.beneath[static_cast<std::size_t>(sent)]);
        CHECK(grid.column_of(sent) == 0);
    }

    TEST_CASE("backward, lanes of gradients follow those of the ranks, in which adding is no waiting") {
        Program program(example("gradients-4x4"));
        program.show_lesson("ring-backward");
        const TimelineGrid& grid = program.state.look.grid;
        const Trace& trace = *program.state.trace;
        CHECK(grid.count() == 4);
        const int added = nth_step(trace, Op::add_share);
        const When& when = trace.step(added).when;
        CHECK(grid.lane_of(added) == 2);
        const auto waits = [&](int lane, int tick) {
            return std::ranges::any_of(grid.gaps[static_cast<std::size_t>(lane)], [&](const auto& gap) {
                return gap.first <= tick && tick < gap.second;
            });
        };
        for (int lane = 0; lane < 4; ++lane) CHECK_FALSE(waits(lane, when.start));
        CHECK(grid.gaps[2].empty());
        for (int k = grid.begin(0); k < grid.end(0); ++k)
            if (!trace.step(k).when.beneath) CHECK_FALSE(waits(0, trace.step(k).when.start));
    }

    TEST_CASE("the ring deals the sequence out as its buttons say, over as many ranks as have rows") {
        Program program(example("causal-8"));
        program.show_lesson("ring");
        program.click("shards zig-zag");
        CHECK(program.state.problem->options.shards == ShardKind::zigzag);
        CHECK(program.state.problem->options.ranks == 2);
        CHECK(program.state.trace->workers() == 2);
        program.click("shards striped");
        CHECK(program.state.problem->options.shards == ShardKind::striped);
    }

    TEST_CASE("prefix, sequences and pages are chosen on the page, and undone") {
        Program program;
        program.show_lesson("cascade");
        const auto type = [&](const char* field, const char* number) {
            program.click(field);
            program.retype(number);
            program.press(Key::enter);
            program.frame(2);
        };
        type("prefix/value", "3");
        CHECK(program.state.problem->options.prefix == 3);
        type("prefix/value", "9");  // there are four keys
        CHECK(program.state.problem->options.prefix == 4);
        type("sequences/value", "1");
        CHECK(program.state.problem->options.sequences == 1);
        type("pages/value", "1");
        CHECK(program.state.problem->options.pages == 1);
        CHECK(program.state.trace->step(0).op == Op::load_q);
        undo(program.state);
        CHECK(program.state.problem->options.pages == 0);
    }

    TEST_CASE("a block of keys is drawn before the rows that see it, and where it lies") {
        Problem p = example("worked-4x4");
        p.options.pages = 1;
        Program program(p, {1600, 900});
        program.show_lesson("cascade");
        program.go_to_step(2);
        program.check_shows({"prefix, for all", "own keys", "Pages", "HBM bytes"});
        CHECK(program.look_for("seq. 1: 2 0  | 1", "HBM"));
        for (const char* place : {"0", "1", "2", "3"}) CHECK(program.look_for(place, "HBM"));
    }

    TEST_CASE("the rows of a shared part that is stored are counted as in the formula") {
        Problem p = random_with_tiles(16, 4, 4, 4);
        p.options.prefix = 8, p.options.sequences = 2;
        Program program(p, {1600, 900});
        program.show_lesson("cascade");
        program.go_to_step(nth_step(*program.state.trace, Op::store), 2);
        CHECK(program.state.explanation.target == CellRef{Slot::L_parts, 8, 0});
        program.click("row/value");
        program.enter("9");
        CHECK(program.state.explanation.target == CellRef{Slot::L_parts, 9, 0});
    }

    TEST_CASE("nothing of a shared prefix is clipped or lies on something else") {
        for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1920, 1080}})
            for (const bool presenter : {false, true})
                for (const int sequences : {1, 2, 4}) {
                    Problem p = sequences == 4 ? random_with_tiles(16, 4, 4, 2) : example("worked-4x4");
                    p.options.sequences = sequences, p.options.pages = sequences == 2 ? 2 : 0;
                    Program program(p, screen, presenter, sequences == 1 ? ThemeId::light : ThemeId::dark);
                    program.show_lesson("cascade");
                    for (int k = 0; k < program.state.trace->size(); k += sequences == 4 ? 5 : 1) {
                        program.go_to_step(k);
                        check_frame(program);
                    }
                }
    }

    TEST_CASE("nothing of a ring is clipped or lies on something else, with any number of ranks") {
        for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1600, 900}})
            for (const bool presenter : {false, true})
                for (const int ranks : {2, 3, 4, 8})
                    for (const char* lesson : {"ring", "ring-backward"}) {
                        Problem p = example("causal-8");
                        p.options.ranks = ranks;
                        p.options.shards = ranks == 4 ? ShardKind::zigzag : ShardKind::striped;
                        Program program(p, screen, presenter, ranks == 3 ? ThemeId::light : ThemeId::dark);
                        program.show_lesson(lesson);
                        for (int k = 0; k < program.state.trace->size(); k += ranks == 2 ? 1 : 5) {
                            program.go_to_step(k);
                            check_frame(program);
                        }
                    }
    }

    TEST_CASE("nothing is clipped or lies on something else, at every step, in both forms and themes") {
        for (const ThemeId theme : {ThemeId::dark, ThemeId::light})
            for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1600, 900}})
                for (const bool presenter : {false, true})
                    for (const char* lesson : {"merge", "split-kv"}) {
                        Problem p = example("worked-4x4");
                        p.options.parts = theme == ThemeId::dark ? PartForm::sums : PartForm::normalised;
                        Program program(p, screen, presenter, theme);
                        program.show_lesson(lesson);
                        for (int k = 0; k < program.state.trace->size(); ++k) {
                            program.go_to_step(k);
                            check_frame(program);
                        }
                    }
    }

    TEST_CASE("several queries have their place, and a window in a shared prefix") {
        for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}, Screen{1600, 900}})
            for (const bool presenter : {false, true})
                for (const int queries : {2, 5, 8}) {
                    Problem p = random_with_tiles(16, 4, 4, 2);
                    p.options.row = 8, p.options.queries = queries;
                    Program program(p, screen, presenter, queries == 5 ? ThemeId::light : ThemeId::dark);
                    program.show_lesson("split-kv");
                    for (int k = 0; k < program.state.trace->size(); k += queries == 2 ? 1 : 4) {
                        program.go_to_step(k);
                        check_frame(program);
                    }
                    p.options.sequences = queries == 2 ? 2 : 4, p.causal = queries == 8, p.window = 2;
                    Program shared(p, screen, presenter);
                    shared.show_lesson("cascade");
                    for (int k = 0; k < shared.state.trace->size(); k += 5) {
                        shared.go_to_step(k);
                        check_frame(shared);
                    }
                }
    }

    TEST_CASE("more queries are chosen on the page of split keys, as many as there are") {
        Program program(random_with_tiles(16, 4, 4, 2), Screen{1280, 720}, false);
        program.show_lesson("split-kv");
        const int steps = program.state.trace->size();
        program.click("queries/value");
        program.retype("2");
        program.press(Key::enter);
        program.frame(2);
        CHECK(program.state.problem->options.queries == 2);
        CHECK(program.state.trace->size() == steps);
        CHECK(program.state.trace->result(Slot::O).rows() == 2);
    }

    TEST_CASE("many columns, many parts and an empty one have their place, too") {
        Problem wide = random_with_tiles(64, 64, 16, 16), empty = example("causal-8"), many = empty;
        empty.options.splits = {3, 0, 5};
        empty.options.row = 6;
        many.options.splits = {1, 1, 1, 1, 1, 1, 1, 1};
        many.options.merge = MergeOrder::at_once;
        for (const Problem& p : {wide, empty, many})
            for (const Screen screen : {Screen{1024, 640}, Screen{1280, 720}})
                for (const bool presenter : {false, true})
                    for (const char* lesson : {"merge", "split-kv"}) {
                        Program program(p, screen, presenter);
                        program.show_lesson(lesson);
                        const int last = program.state.trace->size() - 1;
                        for (int n = 0; n <= 12; ++n) {
                            program.go_to_step(last * n / 12);
                            check_frame(program);
                        }
                    }
    }

    TEST_CASE("each part has its weight below its own bar, and its row beside the formula") {
        for (const bool presenter : {false, true}) {
            Program program(example("six-words"), {1280, 720}, presenter);
            program.show_lesson("split-kv");
            const Trace& trace = *program.state.trace;
            const int k = steps_of(trace, Op::merge_output).back();
            program.go_to_step(k, 2);
            check_frame(program);
            float end = 0;
            for (const int tile : {0, 1, 2}) {
                const double weight = trace.live(Slot::w_part, tile, k).value->data(0, 0);
                const Item below = program.find(format_short(weight), "Lens");
                CHECK(below.min.x > end);
                end = below.max.x;
            }
            CHECK_FALSE(program.shows("more"));
        }
    }

    TEST_CASE("on stage a rank shows all rows of what it computes, and the whole ring beside what it loads") {
        Program program(example("causal-8"), {1280, 720}, true);
        program.show_lesson("ring");
        const Trace& trace = *program.state.trace;
        const int divided = nth_step(trace, Op::normalize);
        program.go_to_step(divided, 2);
        const Matrix& O = trace.live(Slot::Oi, 0, divided).value->data;
        for (int row = 0; row < O.rows(); ++row) CHECK(program.shows(format_short(O(row, 0))));
        const int weights = steps_of(trace, Op::merge_weights).back();
        program.go_to_step(weights, 2);
        int cells = 0;
        for (const Access& made : trace.writes(weights)) {
            const Region& at = trace.value(made.value).region;
            for (int row = at.row; row < at.row + at.rows; ++row, ++cells)
                CHECK(program.look_for(cell_name({made.slot, row, 0})));
        }
        CHECK(cells >= 2);
        program.go_to_step(steps_of(trace, Op::load_kv).back(), 2);
        CHECK(program.shows("number: the round"));
    }

    TEST_CASE("what a rank computes is drawn to scale, with the numbers of its formula") {
        Problem dealt = random_with_tiles(4, 2, 2, 2);
        dealt.options.ranks = 2, dealt.options.shards = ShardKind::zigzag;
        for (const Problem& problem : {example("gradients-4x4"), dealt})
            for (const char* lesson : {"ring", "ring-backward"}) {
                Program program(problem, {1280, 720}, true);
                program.show_lesson(lesson);
                const Trace& trace = *program.state.trace;
                int drawn = 0;
                for (const Op op : {Op::scores, Op::merge_max, Op::merge_sum, Op::normalize, Op::dp, Op::dv,
                                    Op::dq, Op::dk})
                    for (const int k : steps_of(trace, op)) {
                        program.go_to_step(k, 2);
                        const CellRef cell = program.state.explanation.target;
                        const Held held = holding(trace, cell, k);
                        if (!held || held.step != k) continue;
                        const std::string number = format_short(value_at(*held.value, cell));
                        bool lens = false, told = false;
                        for (const Item& item : program.items()) {
                            if (item.kind != ItemKind::text || item.panel != "Lens") continue;
                            lens = true, told |= item.text.find(number) != std::string::npos;
                        }
                        INFO(program.where(), ": ", number);
                        CHECK((!lens || told));
                        drawn += lens;
                    }
                CHECK(drawn >= 8);
            }
    }

    TEST_CASE("on stage the captions of a shard have its positions in the sequence") {
        Problem dealt = *random_problem(48, 4, 1);
        dealt.options.ranks = 4, dealt.options.shards = ShardKind::zigzag;
        Program program(dealt, {1280, 720}, true);
        program.show_lesson("ring");
        const Trace& trace = *program.state.trace;
        for (int k = 0; k < trace.size(); ++k) {
            const Step& step = trace.step(k);
            if (step.op != Op::scores) continue;
            program.go_to_step(k, 2);
            const Ring ring(trace.problem());
            INFO(program.where());
            // Where a row has no room for all of the shard its first part stands there.
            std::vector<int> keys = ring.keys_of(step.j).positions;
            while (keys.size() > 4 && !program.shows("keys " + positions_text(keys))) keys.pop_back();
            CHECK(program.shows("keys " + positions_text(keys)));
            const std::vector<int>& queries = ring.queries_of(step.when.worker).positions;
            const int row = program.state.explanation.target.row;
            CHECK(program.shows("query " + str(queries[static_cast<std::size_t>(row)])));
        }
    }

    TEST_CASE("the rows of a rank's parts are counted as in the formula") {
        Program program(example("causal-8"), {1280, 720});
        program.show_lesson("ring");
        program.go_to_step(steps_of(*program.state.trace, Op::merge_weights).back(), 2);
        program.click("row/value");
        program.enter("7");  // of queries 4 to 7
        CHECK(program.state.row == 3);
        program.click("row/less");
        CHECK(program.shows("[6]"));
    }

    TEST_CASE("the row of a shard that is stored is called as its result is") {
        for (const ShardKind shards : {ShardKind::zigzag, ShardKind::striped}) {
            Problem dealt = example("causal-8");
            dealt.options.ranks = 4, dealt.options.shards = shards;
            Program program(dealt, {1280, 720});
            program.show_lesson("ring");
            for (const int store : steps_of(*program.state.trace, Op::store)) {
                program.go_to_step(store, 2);
                const CellRef told = program.state.explanation.target;
                CHECK(told.slot == Slot::L);
                CHECK(program.look_for("row/" + str(told.row)));
            }
        }
    }

    TEST_CASE("when a ring is through, all bytes have gone between its ranks") {
        for (const char* lesson : {"ring", "ring-backward"})
            for (const ShardKind shards : {ShardKind::contiguous, ShardKind::zigzag, ShardKind::striped})
                for (const bool masked : {false, true}) {
                    Problem dealt = example("causal-8");
                    dealt.options.ranks = 4, dealt.options.shards = shards, dealt.causal = masked;
                    Program program(dealt, {1280, 720});
                    program.show_lesson(lesson);
                    const Trace& trace = *program.state.trace;
                    const std::string all = format_size(trace.lesson().model(trace.problem()).sent);
                    program.go_to_step(trace.size() - 1, 2);
                    CAPTURE(lesson);
                    CHECK(program.shows(all + " of " + all));
                }
    }

    TEST_CASE("screen, text and JSON count the same bytes between ranks at every step") {
        Problem dealt = example("worked-4x4");
        dealt.options.ranks = 4;
        for (const char* lesson : {"ring", "ring-backward"}) {
            Program program(dealt, {1280, 720});
            program.show_lesson(lesson);
            const Trace& trace = *program.state.trace;
            std::ostringstream json;
            write_trace_json(json, trace);
            const auto steps = nlohmann::json::parse(json.str()).at("steps");
            const std::string all = format_size(trace.lesson().model(trace.problem()).sent);
            for (int k = 0; k < trace.size(); ++k) {
                program.go_to_step(k, 1);
                INFO(lesson, " step ", k);
                const std::int64_t sent = steps.at(static_cast<std::size_t>(k)).at("traffic").at("sent");
                CHECK(program.shows(format_size(sent) + " of " + all));
                CHECK(traffic_line(trace, k).ends_with(": " + format_size(sent)));
            }
        }
    }

    TEST_CASE("areas of a ring are those of all keys that the query sees, whichever round has found them") {
        Problem dealt = example("gradients-4x4");
        dealt.options.ranks = 2;
        Program program(dealt, {1280, 720});
        program.show_lesson("ring-backward");
        program.press(Key::p);
        for (const int ds : steps_of(*program.state.trace, Op::ds)) {
            program.go_to_step(ds, 2);
            INFO(ds);
            for (int key = 0; key < dealt.N_kv(); ++key) {
                // "k2 later", where its round has not come
                const std::string label = ui::index_label(dealt, "k", key);
                CHECK(std::ranges::any_of(program.items(), [&](const Item& item) {
                    return item.panel == "Lens" && item.text.starts_with(label);
                }));
            }
        }
    }

    TEST_CASE("a message counts when its step is through") {
        Problem dealt = example("worked-4x4");
        dealt.options.ranks = 4;
        Program program(dealt, {1280, 720});
        program.show_lesson("ring");
        program.go_to_step(nth_step(*program.state.trace, Op::exchange), 2);
        CHECK(program.shows("128 B of 384 B"));  // all four ranks send at once
    }

    TEST_CASE("at the end of every lesson the meter of HBM shows what the closed form says") {
        Program program(example("gradients-4x4"), {1600, 900});
        for (const Lesson& lesson : lessons()) {
            CAPTURE(lesson.id);
            program.show_lesson(lesson.id);
            const Trace& trace = *program.state.trace;
            const TrafficModel all = lesson.model(trace.problem());
            program.go_to_step(trace.size() - 1, 2);
            const bool apart =
                program.shows(format_size(all.hbm_read) + " read, ") ||
                (program.shows(format_size(all.hbm_read)) && program.shows(format_size(all.hbm_write)));
            CHECK((apart || program.shows(format_size(all.total()))));
        }
    }

    TEST_CASE("logarithms are drawn as the sums that they stand for, which may be added") {
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson("split-kv");
        program.go_to_step(steps_of(*program.state.trace, Op::merge_lse).front(), 2);
        // exp(1.313 − 2.127) + 1 = exp(2.494 − 2.127), once with the last digit's rounding
        program.check_shows({"exp(L − m)", "0.443", "1.443"});
    }

    TEST_CASE("a message on stage says what goes to whom, and whose bytes the bar adds up") {
        Program program(example("worked-4x4"), {1600, 900}, true);
        program.show_lesson("ring-backward");
        program.go_to_step(program.state.trace->size() - 1, 2);
        program.check_shows({"both ranks  384 B of 384 B", "dK1 dV1", "dK0 dV0"});
        program.show_lesson("ring");
        program.go_to_step(14, 2);
        // Rank 1 loads Q while rank 0 does, though the walk has told all of rank 0 before.
        program.check_shows({"this step 32 B,   both ranks by now 64 B of 400 B"});
        program.go_to_step(16, 2);
        program.check_shows({"both ranks by now 192 B of 400 B"});
    }

    TEST_CASE("beside the clock of the ranks stand the bytes of all of them by that tick") {
        Program program(example("worked-4x4"));
        program.show_lesson("ring");
        const Trace& trace = *program.state.trace;
        for (int k = 0; k < trace.size(); ++k) {
            program.go_to_step(k, 2);
            std::int64_t read = 0;
            for (int n = 0; n < trace.size(); ++n)
                if (trace.step(n).when.end <= trace.step(k).when.end)
                    read +=
                        trace.step(n).traffic.hbm_read - (n == 0 ? 0 : trace.step(n - 1).traffic.hbm_read);
            INFO(program.where());
            program.check_shows({"HBM, both ranks", format_size(read) + " read"});
        }
    }

    TEST_CASE("the bytes of split keys are those of all workers by the tick, in every meter of the page") {
        Program program(example("worked-4x4"), {1600, 900});
        program.show_lesson("split-kv");
        const Trace& trace = *program.state.trace;
        const std::int64_t whole = trace.lesson().model(trace.problem()).total();
        for (int k = 0; k < trace.size(); ++k) {
            program.go_to_step(k, 2);
            std::int64_t read = 0, written = 0;
            for (int n = 0; n < trace.size(); ++n) {
                if (trace.step(n).when.end > trace.step(k).when.end) continue;
                const Traffic before = n == 0 ? Traffic{} : trace.step(n - 1).traffic;
                read += trace.step(n).traffic.hbm_read - before.hbm_read;
                written += trace.step(n).traffic.hbm_write - before.hbm_write;
            }
            INFO(program.where());
            program.check_shows({"HBM, all workers",
                                 format_size(read) + " read, " + format_size(written) + " written",
                                 format_size(read + written) + " of " + format_size(whole)});
        }
        // Before the first step nothing has moved, though another worker begins with it.
        Program stage(example("worked-4x4"), {1280, 720}, true);
        stage.show_lesson("split-kv");
        stage.go_to_step(0, 2);
        stage.press(Key::b);
        stage.check_shows({"all workers by now 0 B of", "this step will move 16 B"});
    }

    TEST_CASE("gradients on their way home stand in the boxes of the ring, and their end is in no round") {
        Problem p = example("gradients-4x4");
        p.options.ranks = 4;
        Program program(p, {1280, 720}, true);
        program.show_lesson("ring-backward");
        const auto texts = [&](const char* panel, const std::string& text) {
            const auto& items = program.items();
            const auto part = std::ranges::find_if(
                items, [&](const Item& item) { return item.kind == ItemKind::panel && item.text == panel; });
            REQUIRE(part != items.end());
            return std::ranges::count_if(items, [&](const Item& item) {
                return item.kind == ItemKind::text && item.text == text && item.min.x >= part->min.x &&
                       item.max.x <= part->max.x && item.min.y >= part->min.y && item.max.y <= part->max.y;
            });
        };
        program.go_to_step(program.state.trace->size() - 1, 2);
        for (const char* shard : {"dK0", "dK1", "dK2", "dK3"}) CHECK_MESSAGE(texts("Ring", shard) > 0, shard);
        for (const char* shard : {"K0", "K1", "K2", "K3"}) CHECK_MESSAGE(texts("Ring", shard) == 0, shard);
        CHECK(texts("Rounds", "0") == 3);  // of four; where they came home is a house
        // Each has before its arrow what it hands on: those of the rank that its arrow leads to.
        for (int rank = 0; rank < 4; ++rank)
            CHECK(std::ranges::any_of(program.items(), [&](const Item& of) {
                return of.text == str(rank) && std::ranges::any_of(program.items(), [&](const Item& item) {
                           return item.text == "dK" + str((rank + 1) % 4) && item.min.x > of.max.x &&
                                  item.min.x < of.max.x + 60 && item.min.y < of.max.y &&
                                  item.max.y > of.min.y;
                       });
            }));
        program.go_to_step(0, 2);
        program.show_lesson("ring");
        program.go_to_step(1, 2);
        CHECK(texts("Ring", "K1") > 0);
        CHECK(texts("Rounds", "0") == 4);
    }

    TEST_CASE("where L is stored it has a cell, and the way to the output says that it is divided") {
        for (const bool presenter : {false, true}) {
            Program program(example("six-words"), {1280, 720}, presenter);
            program.show_lesson("merge");
            program.go_to_step(program.state.trace->size() - 1, 2);
            program.check_shows({"2.713", "÷ ℓ", "max", "Σ w ℓ"});
            CHECK(program.shows("parts not divided"));
            CHECK_FALSE(program.look_for("not divided"));  // of what stands below it, too
        }
    }

    TEST_CASE("in a later block of a split the terms follow what is left of the sum before") {
        Problem p = random_with_tiles(32, 4, 2, 8);
        p.options.splits = {32};
        Program program(p, {1280, 720}, true);
        program.show_lesson("split-kv");
        const Trace& trace = *program.state.trace;
        const int sum = steps_of(trace, Op::row_sum)[1];
        REQUIRE(trace.live(Slot::alpha, sum).value->data(0, 0) > 0);
        program.go_to_step(sum, 2);
        CHECK(program.shows("8 new: " + format_short(trace.live(Slot::P, sum).value->data.sum())));
        check_frame(program);
    }

    TEST_CASE("before the kernel that merges has written it, its result is empty") {
        Program program;
        program.show_lesson("split-kv");
        const Trace& trace = *program.state.trace;
        const auto shown = [&](Op op, std::string_view number) {
            program.go_to_step(steps_of(trace, op).front(), 2);
            return std::ranges::count_if(program.items(), [&](const Item& item) {
                return item.kind == ItemKind::text && item.panel == "SRAM" && item.text == number;
            });
        };
        // The last split left its own output in that place: it stands among the parts alone.
        CHECK(shown(Op::merge_lse, "10.477") == 1);
        CHECK(shown(Op::merge_lse, "7.204") == 0);
        CHECK(shown(Op::merge_output, "7.204") >= 1);
    }

    TEST_CASE("a part whose output is 0 says so within its panel") {
        Program program(example("max-first"), {1280, 720}, true);
        program.show_lesson("cascade");
        program.go_to_step(30, 2);
        CHECK(program.shows("every term is 0"));
        check_frame(program);
    }

    TEST_CASE("on stage each part has its name, its number and its weight in the drawing") {
        Program program(example("worked-4x4"), {1280, 720}, true);
        program.show_lesson("merge");
        program.go_to_step(4, 2);
        const auto in_lens = [&](std::string_view text) {
            return std::ranges::any_of(program.items(), [&](const Item& item) {
                return item.kind == ItemKind::text && item.panel == "Lens" && item.text == text;
            });
        };
        // With the decimals that table and formula have.
        for (const char* text : {"A", "B", "1.3679", "1.1353", "× 0.3679", "× 1.0000"})
            CHECK_MESSAGE(in_lens(text), text);
        program.go_to_step(2, 2);
        for (const char* text : {"A", "B", "1", "max 2"}) CHECK_MESSAGE(in_lens(text), text);
    }
}

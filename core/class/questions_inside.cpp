#include "core/class/questions_inside.h"

#include "core/base/words.h"
#include "core/class/questions_parts.h"
#include "core/inside/accesses.h"
#include "core/inside/meeting.h"
#include "core/inside/tiles.h"
#include "core/inside/words.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

// In a namespace of its own: lessons have an Op, too.
namespace tilewalk::asked_inside {

namespace {

using inside::Event;
using inside::Op;
using inside::Part;
using inside::Place;

/// The step that is asked about.
struct Coming {
    const InsideRun& run;
    int warp, k;
    const Event& event = run.block.events[run.steps.event(warp, k)];
    std::span<const std::uint32_t> words = run.block.words_of(event);

    int any(int n, std::uint64_t purpose) const {
        return static_cast<int>(mixed(mixed(static_cast<std::uint64_t>(k), purpose), event.place) %
                                static_cast<std::uint64_t>(n));
    }
    Question question(Question::Kind kind, const std::string& text, const char* target) const {
        const inside::StepWords of = inside::words_of_step(run.record, run.block, event);
        Question q;
        q.kind = kind;
        q.step = k;
        q.text = "Next: " + of.title + ", " + of.instruction + ", warp " + str(warp) + ". " + text;
        q.exact = true;
        q.target = target;
        q.explanation.title = of.title;
        return q;
    }
};

void answer(Question& q, std::int64_t expected, const Expr& how) {
    q.expected = static_cast<double>(expected);
    q.explanation.numbers = write(how, q.expected);
    q.explanation.result = {word(q.target), word(" = "), strong_number(str(expected))};
}

// ---- Who holds a cell

/// Row 0 and column 0 of the sums in their whole matrix, and its letter.
struct Sums {
    const char* name = "C";
    int row = 0, column = 0;
    std::string told{};
};

/// S of queries and keys; what the record does not tell, or has transposed, is C.
Sums whole_sums(const Coming& at) {
    if (at.event.op != Op::multiply_add) return {};
    const inside::Origins& from = at.run.origins;
    const auto rows = from.region_of_part(at.warp, at.k, Part::A),
               columns = from.region_of_part(at.warp, at.k, Part::B);
    const auto is = [&](const std::optional<inside::Element>& element, const char* name) {
        return element && at.run.record.regions[static_cast<std::size_t>(element->region)].name == name;
    };
    if (!is(rows, "Q") || !is(columns, "K")) return {};
    return {"S", rows->row, columns->row,
            "These are S of the queries " + range_text(rows->row, rows->row + info(Part::C).rows - 1) +
                " and the keys " + range_text(columns->row, columns->row + info(Part::C).columns - 1) + ". "};
}

void ask_lane(const Coming& at, const Sums& sums, std::vector<Question>& out) {
    if (at.event.op != Op::multiply_add) return;
    const inside::PartInfo& C = info(Part::C);
    const int row = 1 + at.any(C.rows - 1, 3), column = at.any(C.columns, 4);  // row 0 tells nothing
    const int lane = holder(Part::C, row, column).lane;
    const int pair = column / 2, row_pair = row % 8 / 2;
    const std::string cell =
        std::string(sums.name) + "[" + str(sums.row + row) + "," + str(sums.column + column) + "]";
    Question q = at.question(
        Question::Kind::lane_of_cell,
        "The 16 × 8 sums are dealt out: lane 0 holds two neighbours of row 0, the lanes of a quad share "
        "a row, and each lane has a second row, 8 further down. " +
            sums.told + "Which lane holds " + cell + "?",
        "lane");
    q.explanation.formula = {word("lane = 4 · (row mod 8) + ⌊column ÷ 2⌋")};
    answer(q, lane, sum({product({num(4), num(row % 8)}), num(pair)}));
    q.explanation.why =
        (sums.told.empty()
             ? ""
             : cell + " is row " + str(row) + " and column " + str(column) + " of these sums. ") +
        "Lane " + str(lane) + " holds columns " + str(lane % 4 * 2) + " and " + str(lane % 4 * 2 + 1) +
        " of rows " + str(lane / 4) + " and " + str(lane / 4 + 8) + ".";
    quiz::add_wrong(
        q, {{sum({product({num(4), num(row)}), num(pair)}),
             "There are 32 lanes: row " + str(row) + " goes to the lanes of row " + str(row % 8) + "."},
            {sum({product({num(8), num(row % 8)}), num(column)}),
             "This counts cells. A lane holds two cells beside each other, so four lanes make a row of 8."},
            {sum({product({num(4), num(row % 8)}), num(column)}),
             "A lane holds two columns, so the column is halved."},
            {sum({product({num(4), num(column)}), num(row_pair)}),
             "Row and column are exchanged: this is how B lies, column by column."}});
    out.push_back(std::move(q));
}

// Of Hopper: the sums of a warp, eight columns beside each other as C of mma.m16n8k16.
void ask_lane_of_sums(const Coming& at, std::vector<Question>& out) {
    if (at.event.op != Op::wait_products || at.event.lanes != inside::whole_warp) return;
    const inside::TileSums sums(at.event, at.words);
    const int row = 1 + at.any(15, 3), column = at.any(sums.columns(), 4), within = column % 8;
    const int lane = inside::TileSums::holder(row, column).lane;
    Question q = at.question(Question::Kind::lane_of_cell,
                             "The warp has 16 × " + str(sums.columns()) +
                                 " of the sums, dealt out by eight columns: of each eight lane 0 holds two "
                                 "neighbours of row 0, the "
                                 "lanes of a quad share a row, and each lane has a second row, 8 further "
                                 "down. Which lane holds C[" +
                                 str(row) + "," + str(column) + "]?",
                             "lane");
    q.explanation.formula = {word("lane = 4 · (row mod 8) + ⌊(column mod 8) ÷ 2⌋")};
    answer(q, lane, sum({product({num(4), num(row % 8)}), num(within / 2)}));
    q.explanation.why = "Column " + str(column) + " is column " + str(within) + " of its eight. There lane " +
                        str(lane) + " holds columns " + str(lane % 4 * 2) + " and " + str(lane % 4 * 2 + 1) +
                        " of rows " + str(lane / 4) + " and " + str(lane / 4 + 8) +
                        ", and so in every eight columns.";
    quiz::add_wrong(
        q, {{sum({product({num(4), num(row)}), num(within / 2)}),
             "There are 32 lanes: row " + str(row) + " goes to the lanes of row " + str(row % 8) + "."},
            {sum({product({num(4), num(row % 8)}), num(within)}),
             "A lane holds two columns, so the column is halved."},
            {sum({product({num(4), num(row % 8)}), num(column / 2)}),
             "After eight columns it begins anew: the column is taken mod 8."}});
    out.push_back(std::move(q));
}

// ---- What an access costs

/// "at bytes 0, 144, 288 …"
std::string bytes_text(std::span<const std::uint32_t> addresses, std::uint32_t from) {
    std::vector<std::string> all;
    for (const std::uint32_t address : addresses) all.push_back(str(address - from));
    return joined(all, ", ");
}

/// `straight`: these are the addresses as they would be if the rows lay one behind the other.
void ask_ways_of(const Coming& at, std::span<const std::uint32_t> addresses, bool straight,
                 std::vector<Question>& out) {
    constexpr std::size_t listed = 8;
    const auto first = addresses.first(listed);
    const inside::BankTurns turns = inside::bank_turns(addresses, inside::whole_warp, at.event.bytes);
    const inside::BankTurns of_first = inside::bank_turns(first, 0xFF, at.event.bytes);
    if (of_first.ways != turns.ways) return;
    const std::uint32_t row = *std::ranges::min_element(first) / 128 * 128;
    Question q = at.question(
        Question::Kind::bank_ways,
        std::string(straight
                        ? "If the rows of its matrix lay there one behind the other, lanes 0 to 7 would ask"
                        : "Lanes 0 to 7 ask") +
            " for 16 bytes each, at bytes " + bytes_text(first, row) +
            " of a stretch of shared memory that begins in bank 0; the others go likewise, eight at a time. "
            "There are 32 banks, each 4 bytes wide. How many ways of conflict " +
            (straight ? "would it have?" : "has it?"),
        "ways");
    std::vector<std::string> begin;
    for (const std::uint32_t address : first)
        begin.push_back(str(address / inside::bank_bytes % inside::banks));
    q.explanation.formula = {word("bank = (byte ÷ 4) mod 32: they begin in " + joined(begin, ", "))};
    q.explanation.numbers = Line{word("most words of one bank")};
    q.expected = turns.ways;
    q.explanation.result = {word("ways = "), strong_number(str(turns.ways))};
    q.explanation.why =
        turns.ways == 1
            ? "The eight begin in eight different groups of four banks: each bank is asked once, which "
              "is 1 way."
            : "So many of the eight begin in one bank, and it answers them one after the other.";
    std::vector<quiz::Mistake> wrong{
        {num(0), "One turn is what every access takes: without a conflict it has 1 way."},
        {num(turns.turns), "These are the turns of all four groups of eight lanes together."},
        {num(8), "As if all eight began in one bank. Bytes that are 128 apart do; look where each begins "
                 "within 128."},
        {num(32), "As if all 32 lanes asked one bank at once; with 16 bytes each, eight lanes are served "
                  "together."}};
    const auto rows = at.run.origins.straight_rows(at.run.steps.event(at.warp, at.k), addresses);
    if (!straight && !rows.empty())
        wrong.push_back({num(inside::bank_turns(rows, inside::whole_warp, at.event.bytes).ways),
                         "So it would be if the rows lay one behind the other, without the swizzle."});
    quiz::add_wrong(q, wrong);
    out.push_back(std::move(q));
}

void ask_ways(const Coming& at, bool straight, std::vector<Question>& out) {
    for (const inside::Access& access : inside::accesses_of(at.event, at.words)) {
        const bool whole = access.shared && access.lanes == inside::whole_warp && at.event.bytes == 16;
        if (!whole) continue;
        ask_ways_of(at, access.addresses, false, out);
        const auto rows = at.run.origins.straight_rows(at.run.steps.event(at.warp, at.k), access.addresses);
        if (straight && !rows.empty()) ask_ways_of(at, rows, true, out);
    }
}

/// Neighbouring pieces of what lanes ask for: begin and end.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces_of(std::vector<std::uint32_t> addresses,
                                                               int bytes) {
    std::ranges::sort(addresses);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (const std::uint32_t a : addresses) {
        const std::uint32_t end = a + static_cast<std::uint32_t>(bytes);
        if (!out.empty() && a <= out.back().second)
            out.back().second = std::max(out.back().second, end);
        else
            out.push_back({a, end});
    }
    return out;
}

void ask_sectors(const Coming& at, std::vector<Question>& out) {
    constexpr std::size_t most_pieces = 8;
    for (const inside::Access& access : inside::accesses_of(at.event, at.words)) {
        if (access.shared) continue;
        const auto all = pieces_of(access.addresses, at.event.bytes);
        const auto same = [&](const auto& piece) {
            return piece.second - piece.first == all.front().second - all.front().first &&
                   piece.first % inside::sector_bytes == all.front().first % inside::sector_bytes;
        };
        if (all.size() > most_pieces || !std::ranges::all_of(all, same)) continue;
        const inside::Sectors s = inside::sectors(access.addresses, at.event.bytes);
        const int lanes = std::popcount(access.lanes), pieces = static_cast<int>(all.size()),
                  length = static_cast<int>(all.front().second - all.front().first),
                  begin = static_cast<int>(all.front().first % inside::sector_bytes);
        if (s.touched % pieces != 0) continue;
        Question q = at.question(
            Question::Kind::sectors,
            counted(lanes, "lane") + (lanes == 1 ? " asks" : " ask") + " HBM for " +
                str(int(at.event.bytes)) + (lanes == 1 ? " bytes: " : " bytes each: ") +
                counted(pieces, "piece") + " of " + str(length) + " bytes that " +
                (pieces == 1 ? "begins " : "begin ") +
                (begin == 0 ? "where a sector does" : str(begin) + " bytes behind the begin of a sector") +
                ". How many sectors of 32 bytes are touched?",
            "sectors");
        q.explanation.formula = {word("sectors = pieces · sectors that one touches")};
        const bool even = begin == 0 && length % inside::sector_bytes == 0;
        const int of_one = s.touched / pieces, whole_lines = (s.bytes + 127) / 128;
        if (even)
            answer(q, s.touched, product({num(pieces), quotient(num(length), num(inside::sector_bytes))}));
        else
            answer(q, s.touched, product({num(pieces), num(of_one)}));
        q.explanation.why = "HBM sends whole sectors: " + str(s.bytes) + " bytes were asked for, " +
                            str(s.touched * inside::sector_bytes) + " come.";
        quiz::add_wrong(
            q, {{num(lanes), "A sector for each lane: lanes that ask for the same 32 bytes share one."},
                {num(pieces), "Each piece is longer than a sector."},
                {num(s.bytes), "These are bytes; a sector has 32."},
                {num(s.least()), "So few would do if the bytes lay together."},
                {num(whole_lines), "These are lines of 128 bytes; a sector is a quarter of one."}});
        out.push_back(std::move(q));
    }
}

// ---- Who waits

/// The step of its warp that waits for the copy that is issued in step k; −1: none does.
int wait_for(const Coming& at) {
    const std::uint32_t group = at.words[3];
    for (int k = at.k + 1; k < at.run.steps.count(at.warp); ++k) {
        const Event& e = at.run.block.events[at.run.steps.event(at.warp, k)];
        if (e.op == Op::wait_copies && at.run.block.words_of(e)[1] > group) return k;
    }
    return -1;
}

std::string file_of(const InsideRun& run, const Event& e) {
    const std::string& file = run.record.places[e.place].file;
    return file.substr(file.find_last_of('/') + 1);
}

std::string line_name(const InsideRun& run, const Event& e) {
    return "line " + str(run.record.places[e.place].line) + ": " + info(e.op).name;
}

void ask_wait(const Coming& at, std::vector<Question>& out) {
    if (at.event.op != Op::copy_issued) return;
    const int wait = wait_for(at);
    if (wait < 0) return;
    // Other lines of this warp on the way there and behind: each of them does something else with the copy.
    const Event& waits = at.run.block.events[at.run.steps.event(at.warp, wait)];
    const std::string file = file_of(at.run, waits);
    std::vector<std::pair<std::string, std::string>> choices;
    const auto add = [&](const Event& e, const std::string& cause) {
        const std::string name = line_name(at.run, e);
        if (file_of(at.run, e) == file &&
            std::ranges::none_of(choices, [&](const auto& one) { return one.first == name; }))
            choices.emplace_back(name, cause);
    };
    add(waits, "");
    constexpr std::size_t most_choices = 4;
    for (int k = at.k + 1; k < at.run.steps.count(at.warp) && choices.size() < most_choices; ++k) {
        const Event& e = at.run.block.events[at.run.steps.event(at.warp, k)];
        if (e.op == Op::copies_committed) add(e, "This closes the group of copies; nobody waits there.");
        if (e.op == Op::wait_copies && k < wait)
            add(e, "It lets so many groups be under way, and this copy is among them.");
        if (e.op == Op::wait_copies && k > wait)
            add(e, "It waits for a later group; this copy has arrived before.");
        if (e.op == Op::sync_block)
            add(e, "A barrier waits for warps, not for copies. It makes what has arrived known to the other "
                   "lanes.");
        if (e.op == Op::load_matrices || e.op == Op::load_transposed)
            add(e, "It reads what is in shared memory, whatever that is: nothing waits by itself.");
    }
    if (choices.size() < 3) return;
    Question q =
        at.question(Question::Kind::waits_for_copy,
                    "From here on 16 bytes for each lane are on their way to shared memory. Which line of " +
                        file + " waits for them?",
                    "");
    std::ranges::sort(choices);
    for (const auto& [name, cause] : choices) {
        if (cause.empty()) q.right = {static_cast<int>(q.choices.size())};
        q.choices.push_back(name), q.causes.push_back(cause);
    }
    q.explanation.why = "This copy is in group " + str(at.words[3]) + ", and this wait lets at most " +
                        counted(static_cast<int>(at.run.block.words_of(waits)[0]), "group") +
                        " be under way.";
    out.push_back(std::move(q));
}

/// The first step of any warp behind the fetch of a tile that waits for its phase; nothing: none does.
std::optional<std::uint32_t> wait_for_tile(const Coming& at) {
    const inside::TileFetch tile(at.words);
    const auto& events = at.run.block.events;
    for (std::uint32_t n = at.run.steps.event(at.warp, at.k) + 1; n < events.size(); ++n) {
        if (events[n].op != Op::wait_for) continue;
        const auto words = at.run.block.words_of(events[n]);
        if (words[0] == tile.barrier && words[1] > tile.phase) return n;
    }
    return {};
}

std::string cause_beside_tile(const Event& e, const Event& waits) {
    if (e.op == Op::wait_for && e.place != waits.place)
        return "It waits at another barrier, of another tile or of a buffer that is to be free.";
    if (e.op == Op::wait_products) return "It waits for products; they have read their tiles by then.";
    if (e.op == Op::expect_bytes) return "It tells the barrier how many bytes will come; nobody waits there.";
    if (e.op == Op::sync_named) return "There groups of warps wait for each other, not for memory.";
    if (e.op == Op::sync_block) return "A barrier of the block waits for warps, not for tiles.";
    if (e.op == Op::multiply_async) return "It reads what is in shared memory, whatever that is.";
    return "";
}

void ask_wait_for_tile(const Coming& at, std::vector<Question>& out) {
    if (at.event.op != Op::fetch_tile) return;
    const auto found = wait_for_tile(at);
    if (!found) return;
    const Event& waits = at.run.block.events[*found];
    const std::string file = file_of(at.run, waits);
    constexpr std::size_t most_choices = 4;
    std::map<std::string, std::string> choices{{line_name(at.run, waits), ""}};
    for (int k = 0; k < at.run.steps.count(waits.warp) && choices.size() < most_choices; ++k) {
        const Event& e = at.run.block.events[at.run.steps.event(waits.warp, k)];
        const std::string cause = cause_beside_tile(e, waits);
        if (!cause.empty() && file_of(at.run, e) == file) choices.try_emplace(line_name(at.run, e), cause);
    }
    if (choices.size() < 3) return;
    const inside::TileFetch tile(at.words);
    Question q = at.question(Question::Kind::waits_for_copy,
                             "From here on a tile of " + str(tile.box_bytes) +
                                 " bytes is on its way to shared memory; no lane carries it. Which line of " +
                                 file + " waits for it?",
                             "");
    for (const auto& [name, cause] : choices) {
        if (cause.empty()) q.right = {static_cast<int>(q.choices.size())};
        q.choices.push_back(name), q.causes.push_back(cause);
    }
    q.explanation.why =
        "The tile reports to its barrier, and the phase ends when all bytes have come: whoever "
        "waits there for this phase knows that it is there.";
    out.push_back(std::move(q));
}

// ---- What stands between two accesses

std::string place_name(const InsideRun& run, std::uint32_t place) {
    const Place& at = run.record.places[place];
    return at.file.substr(at.file.find_last_of('/') + 1) + ":" + str(at.line);
}

/// "store at f2_tiled_fp32.cu:43, K"
std::string access_name(const InsideRun& run, Op op, std::uint32_t place, inside::Matter matter) {
    const bool known = matter != inside::Matter::none && matter != inside::Matter::other;
    return std::string(info(op == Op::copy_arrived ? Op::copy_issued : op).name) + " at " +
           place_name(run, place) + (known ? std::string(", ") + inside::symbol_of(matter) : "");
}

/// A line of the source where somebody waits, or seems to.
struct Candidate {
    int rank = 0;  ///< by what it does: the right one first, then those that are most like it
    std::string name, cause;
};

std::optional<Candidate> candidate(const InsideRun& run, const Event& e, std::uint32_t right) {
    const std::string name = place_name(run, e.place) + ": " + info(e.op).name;
    if (e.op == Op::sync_block && e.place == right) return Candidate{0, name, ""};
    if (e.op == Op::sync_block) return Candidate{1, name, "No warp comes there between these two."};
    if (e.op == Op::wait_copies)
        return Candidate{2, name,
                         "A warp waits there for its own copies. What others have copied, and what they have "
                         "read, it does not learn."};
    if (e.op == Op::copies_committed)
        return Candidate{3, name, "This closes a group of copies; nobody waits there."};
    if (e.op == Op::shuffle)
        return Candidate{4, name, "It keeps the lanes of one warp together, and orders no memory."};
    return {};
}

/// The right line and the likeliest others, in the order of the source.
std::vector<Candidate> candidates(const InsideRun& run, std::uint32_t right) {
    constexpr std::size_t most_choices = 5;
    std::vector<Candidate> all;
    for (int k = 0; k < run.steps.count(0); ++k)
        if (auto one = candidate(run, run.block.events[run.steps.event(0, k)], right))
            if (std::ranges::find(all, one->name, &Candidate::name) == all.end())
                all.push_back(std::move(*one));
    std::ranges::stable_sort(all, {}, &Candidate::rank);
    if (all.size() > most_choices) all.resize(most_choices);
    std::ranges::sort(all, {}, &Candidate::name);
    return all;
}

std::optional<Question> between(const InsideRun& run, const inside::Protected& p, std::uint32_t barrier) {
    const std::vector<Candidate> all = candidates(run, barrier);
    if (all.size() < 3) return {};
    Question q;
    q.kind = Question::Kind::orders;
    q.text = "Two steps of different warps touch the same " + str(p.bytes) +
             " bytes of shared memory, first " + access_name(run, p.first_op, p.first_place, p.first) +
             ", then " + access_name(run, p.second_op, p.second_place, p.second) + ". " +
             (p.second_writes ? "The second may write only when the first is done."
                              : "The second has to find what the first has put there.") +
             " Which line makes sure of it?";
    for (const Candidate& one : all) {
        if (one.rank == 0) q.right = {static_cast<int>(q.choices.size())};
        q.choices.push_back(one.name), q.causes.push_back(one.cause);
    }
    q.explanation.why =
        "All warps come to this barrier between the two, and none goes on before the last one has come. " +
        std::string(p.first_op == Op::copy_arrived
                        ? "Each has waited for its own copies before that."
                        : "Without it nothing would order them, and they would race.");
    return q;
}

}  // namespace

}  // namespace tilewalk::asked_inside

std::vector<tilewalk::Question> tilewalk::questions_inside(const InsideRun& run, int warp, int k) {
    using namespace asked_inside;
    std::vector<Question> out;
    const Coming at{run, warp, k};
    ask_lane(at, {}, out), ask_ways(at, false, out), ask_sectors(at, out), ask_wait(at, out);
    ask_lane_of_sums(at, out), ask_wait_for_tile(at, out);
    return out;
}

std::vector<tilewalk::Question> tilewalk::questions_inside_alone(const InsideRun& run, int warp, int k) {
    using namespace asked_inside;
    std::vector<Question> out;
    const Coming at{run, warp, k};
    ask_lane(at, whole_sums(at), out), ask_ways(at, true, out), ask_sectors(at, out), ask_wait(at, out);
    ask_lane_of_sums(at, out), ask_wait_for_tile(at, out);
    return out;
}

std::vector<tilewalk::Question> tilewalk::questions_between(const InsideRun& run) {
    using namespace asked_inside;
    // Of two places the barrier between them; where they meet at several, none is the answer.
    std::map<std::array<std::uint32_t, 4>, std::pair<inside::Protected, std::set<std::uint32_t>>> found;
    for (int k = 0; k < run.steps.count(0); ++k) {
        const auto meeting = inside::meeting_at(run.block, run.steps, run.origins, 0, k);
        if (!meeting) continue;
        const Event& barrier = run.block.events[run.steps.event(0, k)];
        for (const inside::Protected& p : meeting->orders) {
            const std::array key{p.first_place, static_cast<std::uint32_t>(p.first_op), p.second_place,
                                 static_cast<std::uint32_t>(p.second_op)};
            auto& [told, barriers] = found.try_emplace(key, p, std::set<std::uint32_t>()).first->second;
            barriers.insert(barrier.place);
        }
    }
    std::vector<Question> out;
    for (const auto& [key, pair] : found)
        if (pair.second.size() == 1)
            if (auto q = between(run, pair.first, *pair.second.begin())) out.push_back(std::move(*q));
    return out;
}

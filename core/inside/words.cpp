#include "core/inside/words.h"

#include "core/base/numbers.h"
#include "core/base/shared_tiles.h"
#include "core/base/words.h"
#include "core/inside/accesses.h"
#include "core/inside/fragments.h"
#include "core/inside/tiles.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <set>

namespace tilewalk::inside {

namespace {

struct OpWords {
    const char *title, *instruction, *why;
    const char *mnemonic, *one, *many;  ///< "ld", "load", "loads"
};

// In the order of Op
constexpr OpWords words_of_ops[] = {
    {"Load", "ld", "Each lane reads its own address; the memory answers the warp as a whole.", "ld", "load",
     "loads"},
    {"Store", "st", "Each lane writes its own address; the memory takes them as a whole.", "st", "store",
     "stores"},
    {"Add in memory", "atom.add",
     "The memory adds by itself: lanes and blocks that add to one place do not lose each other's sums.",
     "atom", "addition", "additions"},
    {"Load fragments", "ldmatrix",
     "Eight lanes name eight rows of 16 bytes, and each row is dealt out to four lanes: after it the "
     "warp holds 8 × 8 matrices as the tensor cores want them.",
     "ldm", "load of fragments", "loads of fragments"},
    {"Load fragments, transposed", "ldmatrix.trans",
     "As ldmatrix, but columns are dealt out in place of rows: V lies in memory by keys, and the product "
     "sums over keys.",
     "ldm", "load of fragments", "loads of fragments"},
    {"Multiply fragments", "mma.m16n8k16",
     "No lane holds all that its results need: only the tensor core sees all 32 lanes.", "mma", "product",
     "products"},
    {"Begin a copy", "cp.async",
     "From here on it may write, and nobody knows when: no register holds the number on its way, and the "
     "warp goes on.",
     "cp", "copy", "copies"},
    {"Close a group of copies", "cp.async.commit_group",
     "What was begun until here can be waited for as one.", "grp", "group closed", "groups closed"},
    {"Wait for copies", "cp.async.wait_group",
     "A lane waits for its own copies only. What the others have copied is certain behind the next "
     "barrier.",
     "wait", "wait", "waits"},
    {"A copy arrives", "cp.async", "The numbers are in shared memory.", "cp", "arrival", "arrivals"},
    {"Barrier", "bar.sync",
     "No warp goes on before all have come. What was written before it is seen by all behind it.", "bar",
     "barrier", "barriers"},
    {"Barrier of the warp", "bar.warp.sync", "The lanes of the warp see what each of them has written.",
     "bar", "barrier of the warp", "barriers of the warp"},
    {"Registers of other lanes", "shfl.sync",
     "A row of a fragment lies in four lanes. They hand each other a register, without any memory.", "shfl",
     "shuffle", "shuffles"},
    {"Power of two", "ex2",
     "exp(x) = 2 to the power of x · log₂ e: the unit for special functions knows "
     "powers of two only, and the factor is part of c.",
     "ex2", "power of two", "powers of two"},
    {"Exponential", "ex2", "One for each score of the tile, masked or not; and α, one for each row.", "exp",
     "exponential", "exponentials"},
    {"Logarithm", "lg2", "Once for each row: L = m + ln ℓ is all that the backward pass needs of it.", "log",
     "logarithm", "logarithms"},
    {"Round to 16 bits", "cvt.rn", "The result has 16 bits; all before it was computed in 32.", "cvt",
     "rounding", "roundings"},
    {"Round and pack", "cvt.rn",
     "Two numbers share a register. Two pieces of C side by side are a fragment of A: so what was summed "
     "up is a factor of the next product without leaving the registers.",
     "cvt", "packing", "packings"},
    {"Ask for a tile", "cp.async.bulk.tensor",
     "One lane names a box of the matrix. It comes by itself, swizzled and with zeros where the matrix "
     "ends; no thread carries it.",
     "tma", "tile asked for", "tiles asked for"},
    {"A tile arrives", "cp.async.bulk.tensor", "Its bytes are counted at the barrier that it was told of.",
     "tma", "arrival", "arrivals"},
    {"Make a barrier", "mbarrier.init",
     "Eight bytes of shared memory that count arrivals, and bytes. When both are there a phase ends, and "
     "the next one begins.",
     "bar", "barrier made", "barriers made"},
    {"Show the barriers", "fence.mbarrier_init",
     "What copies by itself has to see that the barriers are made.", "fnc", "fence", "fences"},
    {"Arrive", "mbarrier.arrive",
     "This warp is done with a buffer. It goes on; whoever wants to write there waits.", "arr",
     "arrival at a barrier", "arrivals at a barrier"},
    {"Expect bytes", "mbarrier.arrive.expect_tx",
     "The phase ends when so many bytes have come: the copies arrive in place of a thread.", "arr",
     "arrival at a barrier", "arrivals at a barrier"},
    {"Wait for a phase", "mbarrier.try_wait.parity",
     "Phases alternate between 0 and 1. Who waits sees all that was written before it ended.", "wait", "wait",
     "waits"},
    {"Give the turn", "bar.arrive",
     "The other group may use the tensor cores; this one does not wait for it.", "bar", "turn given",
     "turns given"},
    {"Take the turn", "bar.sync",
     "The other group has issued its products and takes exponentials now: so one group multiplies while "
     "the other computes.",
     "bar", "turn taken", "turns taken"},
    {"Give registers back", "setmaxnreg.dec",
     "Who only asks for tiles needs few. A multiprocessor has 65,536, and the others want more.", "reg",
     "change of registers", "changes of registers"},
    {"Take registers", "setmaxnreg.inc", "240 for each thread: S, P̃ and O of 64 rows stay in them.", "reg",
     "change of registers", "changes of registers"},
    {"Order registers", "wgmma.fence",
     "What was written to the registers before it is seen by the products behind it.", "fnc", "fence",
     "fences"},
    {"Multiply in the background", "wgmma.mma_async",
     "Four warps, 64 rows. The tensor cores read shared memory by themselves, and the warps go on: "
     "nobody may touch factors or sums until the group was waited for.",
     "mma", "product in the background", "products in the background"},
    {"Close a group of products", "wgmma.commit_group", "What was issued until here is waited for as one.",
     "grp", "group closed", "groups closed"},
    {"Wait for products", "wgmma.wait_group", "The sums are in the registers, and the factors are free.",
     "wait", "wait", "waits"},
    {"Left out", "",
     "Here the kernel waits, and this run does not: what stands behind may come before what others have "
     "not done yet.",
     "", "step left out", "steps left out"},
};
static_assert(std::size(words_of_ops) == static_cast<std::size_t>(Op::count));

const OpWords& words_of_op(Op op) { return words_of_ops[static_cast<std::size_t>(op)]; }

std::string float_text(std::uint32_t word) { return format_number(std::bit_cast<float>(word)); }

std::string hex_text(std::uint32_t word) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", word);
    return text;
}

/// Bytes of an element of the matrix that lies there; of shared memory those of the kernel's type.
int element_bytes_at(const Record& record, std::uint32_t address) {
    if (const auto element = is_shared(address) ? std::nullopt : element_of(record, address))
        return record.regions[static_cast<std::size_t>(element->region)].element_bytes;
    for (const Region& region : record.regions)
        if (region.holds(address) && region.element_bytes > 0) return region.element_bytes;
    return record.dtype == DType::f32 || !is_shared(address) ? 4 : 0;
}

/// The numbers of an access: its words from the first on, as the memory there has them.
std::string value_text(const Record& record, std::span<const std::uint32_t> words, int bytes) {
    const int element = element_bytes_at(record, words[0]);
    if (bytes == 2) return format_number(number16(words[1], 0, record.dtype));
    std::vector<std::string> all;
    for (std::size_t n = 0; n < static_cast<std::size_t>(bytes / 4) && n + 1 < words.size(); ++n) {
        const std::uint32_t word = words[n + 1];
        if (element == 2)
            all.push_back(format_number(number16(word, 0, record.dtype)) + list_separator() +
                          format_number(number16(word, 1, record.dtype)));
        else
            all.push_back(element == 4 ? float_text(word) : hex_text(word));
    }
    return joined(all, list_separator());
}

std::string banks_note(const Access& access, int bytes) {
    const BankTurns turns = bank_turns(access.addresses, access.lanes, bytes);
    std::string text = counted(turns.turns, "turn") + " of the banks";
    if (turns.ways > 1) return text + ", " + str(turns.ways) + " ways of conflict";
    const std::string shared = broadcast_text(access, bytes);
    return text + ", " + (shared.empty() ? "no conflict" : shared);
}

std::string sectors_note(const Access& access, int bytes) {
    const Sectors s = sectors(access.addresses, bytes);
    return counted(s.touched, "sector") + " of 32 bytes" +
           (s.touched > s.least() ? ", " + str(s.least()) + " would do" : ", all of them needed");
}

std::string memory_of(const BlockRecord& block, const Event& event) {
    return is_shared(block.words_of(event)[0]) ? "shared memory" : "HBM";
}

std::string tile_note(const TileFetch& tile) {
    const auto rows = static_cast<int>(tile.rows);
    std::string text = counted(rows, "row") + " of " + str(static_cast<int>(tile.row_bytes)) + " bytes";
    const int zeros = static_cast<int>(tile.box_bytes) - rows * static_cast<int>(tile.row_bytes);
    if (zeros > 0) text += ", " + str(zeros) + " bytes of zeros";
    return text + "; phase " + str(static_cast<int>(tile.phase)) + " of its barrier";
}

std::string product_note(const TileProduct& product) {
    return "16 of 64 rows × " + counted(product.columns, "column") + ", A from " +
           (product.A_in_registers ? "registers" : "shared memory") + ", " +
           (product.adds ? "adds" : "begins anew") + "; group " + str(static_cast<int>(product.group));
}

enum class Packed { in_registers, to_shared, to_hbm };
Packed goes_to(const BlockRecord& block, const Event& pack) {
    const int lane = std::countr_zero(pack.lanes);
    const auto store = stored_behind(block, static_cast<std::uint32_t>(&pack - block.events.data()), lane);
    if (!store) return Packed::in_registers;
    return is_shared(block.words_of(block.events[*store], lane)[0]) ? Packed::to_shared : Packed::to_hbm;
}

// Weights become a factor of the product with V, results leave for HBM.
std::string why_of_packing(Matter about, Packed to, const char* otherwise) {
    if (to == Packed::to_shared)
        return "Two numbers share a register. The store behind it writes both at once to shared "
               "memory, where other warps read them as a factor of their products.";
    if (about == Matter::none || about == Matter::other) return otherwise;
    if (about == Matter::P)
        return "Two weights share a register. Two pieces of C side by side are a fragment of A: so weights "
               "are multiplied with V without leaving the registers.";
    const std::string name = symbol_of(about);
    if (to == Packed::in_registers)
        return "Two numbers of " + name +
               " share a register. Two pieces of C side by side are a fragment of A: so they are a factor of "
               "the next product without leaving the registers.";
    return "Two numbers of a row of " + name + (about == Matter::O ? ", divided by ℓ," : "") +
           " are rounded to 16 bits and share a register: the store behind it writes both at once.";
}

/// The tile that TMA brings: which, where from and to, how much, and who counts it.
std::vector<LaneWord> words_of_fetch(const Record& record, const TileFetch& tile) {
    const std::string place = tile.from != 0 ? short_address(record, tile.from) : "nowhere: zeros";
    return {{"from", place},
            {"box", counted(static_cast<int>(tile.rows), "row") + " × " + format_size(tile.row_bytes)},
            {"to", short_address(record, tile.to)},
            {"bytes there", format_size(tile.box_bytes)},
            {"its mbarrier", short_address(record, tile.barrier)},
            {"phase", str(tile.phase)}};
}

/// What ldmatrix does for a lane: the row that it names, who gets that, and whose rows it gets numbers of.
std::vector<LaneWord> dealing_words(const Record& record, std::uint32_t address, int lane, bool transposed) {
    std::uint32_t receivers = 0, givers = 0;
    for (int other = 0; other < 32; ++other)
        for (int reg = 0; reg < 4; ++reg)
            for (int half = 0; half < 2; ++half) {
                const int giver = source_of_register(other, reg, half, transposed).lane;
                if (giver == lane) receivers |= 1u << other;
                if (other == lane) givers |= 1u << giver;
            }
    return {{"row " + str(lane % 8) + " of matrix " + str(lane / 8), short_address(record, address)},
            {"goes to lanes", spaced_lanes(receivers)},
            {"gets from", lanes_text(givers & 0xFF) + " of each 8"}};
}

/// What the words of Hopper's barriers say.
std::string hopper_note(const Event& event, std::span<const std::uint32_t> words) {
    switch (event.op) {
    case Op::fetch_tile: return "; " + tile_note(TileFetch(words));
    case Op::multiply_async: return "; " + product_note(TileProduct(words));
    case Op::init_barrier:
        return "; " + counted(words[1], "arrival") + (words[1] == 1 ? " ends a phase" : " end a phase");
    case Op::arrive_at: return "; phase " + str(words[1]);
    case Op::expect_bytes: return "; phase " + str(words[1]) + ", " + counted(words[2], "byte");
    case Op::wait_for: return "; " + counted(words[1], "phase") + " over";
    case Op::arrive_named:
    case Op::sync_named: return "; barrier " + str(words[0]) + " of " + counted(words[1], "thread");
    case Op::shrink_registers:
    case Op::grow_registers: return "; " + counted(words[0], "register") + " for each thread";
    case Op::commit_products: return "; group " + str(words[0]);
    case Op::wait_products:
        return "; 16 of 64 rows × " + counted(TileSums(event, words).columns(), "column") + " of sums; " +
               "at most " + counted(words[0], "group") + " may be running";
    default: return "";
    }
}

}  // namespace

std::string broadcast_text(const Access& access, int bytes) {
    if (!access.shared || bytes > bank_bytes) return {};
    std::set<std::uint32_t> words;
    for (const std::uint32_t address : access.addresses) words.insert(address / bank_bytes);
    const int lanes = std::popcount(access.lanes), different = static_cast<int>(words.size());
    if (different == lanes) return {};
    const std::string who = lanes == 32 ? "all lanes" : counted(lanes, "lane");
    if (different == 1) return who + " read the same word: it is handed to all";
    return counted(different, "word") + " for " + counted(lanes, "lane") +
           ": lanes that ask for the same word get it together";
}

std::string own_run_words(const std::string& name, int blocks_done, int seconds) {
    const std::string since = ", " + str(seconds) + " s";
    if (blocks_done < 0) return name + " is compiled" + since;
    return name + " runs: " + counted(blocks_done, "block") + " done" + since;
}

const char* mnemonic(Op op) { return words_of_op(op).mnemonic; }

std::string times_text(int times, Op op) {
    return format_count(times) + " " + (times == 1 ? words_of_op(op).one : words_of_op(op).many);
}

std::string spaced_lanes(std::uint32_t lanes) {
    std::vector<int> all;
    for (int l = 0; l < 32; ++l)
        if (lanes >> l & 1) all.push_back(l);
    const int apart = all.size() > 4 ? all[1] - all[0] : 1;
    bool even = apart > 1;
    for (std::size_t n = 1; n < all.size(); ++n) even = even && all[n] - all[n - 1] == apart;
    if (even) return str(all[0]) + ", " + str(all[1]) + ", …, " + str(all.back());
    const std::string text = lanes_text(lanes);
    return text.substr(text.find(' ') + 1);
}

StepWords words_of_step(const Record&, const BlockRecord& block, const Event& event, Matter about) {
    const OpWords& of = words_of_op(event.op);
    StepWords words{of.title, of.instruction, lanes_text(event.lanes), of.why};
    if (event.op == Op::pack) words.why = why_of_packing(about, goes_to(block, event), of.why);
    const bool plain = event.op == Op::load || event.op == Op::store;
    if (plain) words.title += (event.op == Op::load ? " from " : " to ") + memory_of(block, event);
    for (const Access& access : accesses_of(event, block.words_of(event)))
        words.note +=
            "; " + (access.shared ? banks_note(access, event.bytes) : sectors_note(access, event.bytes));
    if (event.op == Op::wait_copies || event.op == Op::copies_committed) {
        const auto first = block.words_of(event);
        words.note += event.op == Op::copies_committed
                          ? "; group " + str(first[0])
                          : "; at most " + counted(first[0], "group") + " may be on the way";
    }
    words.note += hopper_note(event, block.words_of(event));
    return words;
}

std::string short_address(const Record& record, std::uint32_t address) {
    if (is_shared(address)) {
        char text[24];
        std::snprintf(text, sizeof text, "shared 0x%x", address);
        return text;
    }
    if (is_register(address)) return "register " + str(held_register(address).reg);
    const auto element = element_of(record, address);
    return element ? element_text(record, *element) : address_text(record, address);
}

std::string element_text(const Record& record, const Element& element) {
    const Region& of = record.regions[static_cast<std::size_t>(element.region)];
    const bool one = of.row_bytes == of.element_bytes;
    return of.name + "[" + str(element.row) + (one ? "" : list_separator() + str(element.column)) + "]" +
           head_text(of.head);
}

std::string rows_text(const std::string& name, int first, int last) {
    return name + "[" + range_text(first, last) + "]";
}

std::vector<LaneWord> lane_words(const Record& record, const BlockRecord& block, const Event& event, int lane,
                                 Matter about) {
    const auto w = block.words_of(event, lane);
    if (!event.has(lane)) return {};
    switch (event.op) {
    case Op::load:
    case Op::store:
        return {{"address", short_address(record, w[0])},
                {"value", about == Matter::L || about == Matter::D ? float_text(w[1])
                                                                   : value_text(record, w, event.bytes)}};
    case Op::atomic_add:
        return {
            {"address", address_text(record, w[0])}, {"added", float_text(w[1])}, {"sum", float_text(w[2])}};
    case Op::load_matrices:
    case Op::load_transposed: return dealing_words(record, w[0], lane, event.op == Op::load_transposed);
    case Op::copy_issued:
        return {{"to", short_address(record, w[0])},
                {"from", w[2] != 0 ? short_address(record, w[1]) : "nowhere: zeros"}};
    case Op::shuffle:
        return {{"gives", float_text(w[0])}, {"asks lane", str(w[1])}, {"gets", float_text(w[2])}};
    case Op::exp2: return {{"x", float_text(w[0])}, {"2^x", float_text(w[1])}};
    case Op::exp: return {{"x", float_text(w[0])}, {"exp x", float_text(w[1])}};
    case Op::log: return {{"x", float_text(w[0])}, {"ln x", float_text(w[1])}};
    case Op::from_float:
        return {{"x", float_text(w[0])}, {"rounded", format_number(number16(w[1], 0, record.dtype))}};
    case Op::pack:
        return {{"low", float_text(w[0])},
                {"high", float_text(w[1])},
                {"rounded", format_number(number16(w[2], 0, record.dtype)) + list_separator() +
                                format_number(number16(w[2], 1, record.dtype))}};
    case Op::copies_committed: return {{"group", str(w[0])}};
    case Op::wait_copies: return {{"groups on the way", str(w[0])}, {"groups arrived", str(w[1])}};
    case Op::fetch_tile: return words_of_fetch(record, TileFetch(w));
    case Op::init_barrier:
    case Op::arrive_at:
    case Op::expect_bytes:
    case Op::wait_for: return {{"barrier", short_address(record, w[0])}};
    case Op::multiply_async: {
        const TileProduct product(w);
        const auto place = [&](std::uint64_t tile) {
            return short_address(record, TileDescriptor(tile).address);
        };
        return {{"A", product.A_in_registers ? "its registers" : place(product.A)}, {"B", place(product.B)}};
    }
    default: return {};
    }
}

}  // namespace tilewalk::inside

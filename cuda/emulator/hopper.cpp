#include "cuda/emulator/hopper.h"

#include "core/base/register_file.h"
#include "core/base/shared_tiles.h"
#include "cuda/emulator/block.h"

#include <algorithm>

namespace tilewalk::gpu::emulator {

namespace {

constexpr unsigned char poison = 0xFF;  ///< NaN as float, half and bfloat16
constexpr int chunk_bytes = 16, box_chunks = tile_row_bytes / chunk_bytes;
constexpr int warps_of_group = 4;

}  // namespace

// ---- How a tensor lies in HBM

int TensorMap::box_bytes() const { return rows * tile_row_bytes; }

const unsigned char* TensorMap::row(const std::array<int, 4>& at, int r) const {
    for (std::size_t n = 0; n < 4; ++n)
        if (at[n] < 0 || at[n] + (n == 1 ? r : 0) >= size[n]) return nullptr;
    return data + 2 * at[0] + (at[1] + r) * stride[1] + at[2] * stride[2] + at[3] * stride[3];
}

int TensorMap::chunks(const std::array<int, 4>& at) const {
    return static_cast<int>(std::clamp<std::int64_t>((size[0] - at[0]) / (chunk_bytes / 2), 0, box_chunks));
}

// ---- A block

void Hopper::begin(int threads, bool as_late_as_can_be, bool forgives_all) {
    late = as_late_as_can_be, forgives = forgives_all;
    warps.assign(static_cast<std::size_t>((threads + 31) / 32), Warp{});
    for (Warp& w : warps) w.registers = w.wanted = registers_at_begin(threads);
    of_group.assign((warps.size() + warps_of_group - 1) / warps_of_group, {});
    flights.clear(), ended.clear(), named.fill({});
    spare_registers = 0;
}

std::string Hopper::unfinished() const {
    if (forgives) return "";
    if (!flights.empty()) return "ended while " + std::to_string(flights.size()) + " tiles were on their way";
    for (std::size_t w = 0; w < warps.size(); ++w) {
        const std::string who = "warp " + std::to_string(w);
        if (!warps[w].open.empty() || !warps[w].groups.empty())
            return "ended while products of " + who + " had not been waited for";
        if (warps[w].issued != of_group[w / warps_of_group].size())
            return "ended, and " + who + " had issued fewer products than others of its four";
        if (warps[w].registers != warps[w / warps_of_group * warps_of_group].registers)
            return "ended, and " + who + " had not as many registers as others of its four";
    }
    return "";
}

Hopper::Warp& Hopper::warp() { return warps[static_cast<std::size_t>(block.self().index / 32)]; }

// ---- Barriers that count phases

/// As it lies in its eight bytes. 20 bits each for arrivals, as the hardware has; bytes may be below 0, when
/// they come before they are expected.
struct Hopper::Phases {
    std::uint32_t parity, needed, pending;
    std::int32_t bytes;

    static constexpr std::uint64_t count = (1u << 20) - 1, byte_count = (1u << 23) - 1, byte_zero = 1u << 22;
    explicit Phases(std::uint64_t word)
        : parity(word & 1), needed(word >> 1 & count), pending(word >> 21 & count),
          bytes(static_cast<std::int32_t>(word >> 41 & byte_count) - static_cast<std::int32_t>(byte_zero)) {}
    std::uint64_t word() const {
        return parity | std::uint64_t(needed) << 1 | std::uint64_t(pending) << 21 |
               static_cast<std::uint64_t>(bytes + static_cast<std::int32_t>(byte_zero)) << 41;
    }
};

Hopper::Phases Hopper::phases(const void* barrier, const char* what) const {
    std::uint64_t word;
    std::memcpy(&word, barrier, sizeof word);
    if (!ended.contains(barrier))
        block.fail("Thread " + std::to_string(block.self().index) + " came to " + what +
                   " with a barrier that nobody had made.");
    return Phases(word);
}

// Where nobody waited for the tiles of the phase before they come now at the latest.
Hopper::Phases Hopper::open_phase(const void* barrier, const char* what) {
    Phases p = phases(barrier, what);
    while (forgives && p.pending == 0 && block.bring_a_tile()) p = phases(barrier, what);
    return p;
}

void Hopper::put(void* barrier, Phases p) {
    if (p.pending == 0 && p.bytes == 0) {
        p.parity ^= 1, p.pending = p.needed;
        ++ended[barrier];
    }
    const std::uint64_t word = p.word();
    std::memcpy(barrier, &word, sizeof word);
}

void Hopper::init(void* barrier, int arrivals) {
    Phases p(0);
    p.needed = p.pending = static_cast<std::uint32_t>(arrivals), p.bytes = 0;
    ended[barrier] = 0;
    put(barrier, p);
}

void Hopper::arrive(void* barrier) {
    Phases p = open_phase(barrier, "arrive_at");
    if (p.pending == 0)
        block.fail("Thread " + std::to_string(block.self().index) +
                   " came to a barrier at which all had arrived, and whose bytes had not.");
    --p.pending;
    put(barrier, p);
    if (late) block.yield();  // whoever has waited for it is ahead of what follows here
}

void Hopper::expect(void* barrier, int bytes) {
    Phases p = open_phase(barrier, "expect_bytes");
    p.bytes += bytes;
    const std::uint64_t word = p.word();
    std::memcpy(barrier, &word, sizeof word);
    arrive(barrier);
}

void Hopper::wait(const void* barrier, int parity) {
    phases(barrier, "wait_for");
    block.wait_until("wait_for", [barrier, parity] {
        std::uint64_t word;
        std::memcpy(&word, barrier, sizeof word);
        return Phases(word).parity != static_cast<std::uint32_t>(parity & 1);
    });
}

std::uint32_t Hopper::completed(const void* barrier) const {
    const auto at = ended.find(barrier);
    return at == ended.end() ? 0 : at->second;
}

// ---- Tiles

void Hopper::fetch(const Flight& flight) {
    phases(flight.barrier, "fetch_tile");
    block.expect_aligned(flight.to, "fetch_tile");
    if (!late) return land(flight);
    std::memset(flight.to, poison, static_cast<std::size_t>(flight.map.box_bytes()));
    flights.push_back(flight);
}

bool Hopper::deliver(std::mt19937_64& random) {
    if (flights.empty()) return false;
    const auto chosen = flights.begin() + static_cast<std::ptrdiff_t>(random() % flights.size());
    const Flight flight = *chosen;
    flights.erase(chosen);
    land(flight);
    return true;
}

void Hopper::land(const Flight& flight) {
    const TensorMap& map = flight.map;
    const auto to = static_cast<std::uint32_t>(static_cast<unsigned char*>(flight.to) - block.shared());
    for (int r = 0; r < map.rows; ++r) {
        const unsigned char* const from = map.row(flight.at, r);
        const int inside = from ? map.chunks(flight.at) : 0;
        for (int c = 0; c < box_chunks; ++c) {
            unsigned char* const at =
                block.shared() +
                swizzled(to + static_cast<std::uint32_t>(r * tile_row_bytes + c * chunk_bytes));
            if (c < inside)
                std::memcpy(at, from + c * chunk_bytes, chunk_bytes);
            else
                std::memset(at, 0, chunk_bytes);
        }
    }
    if (on_arrival) on_arrival(flight);
    std::uint64_t word;
    std::memcpy(&word, flight.barrier, sizeof word);
    Phases p(word);
    p.bytes -= map.box_bytes();
    put(flight.barrier, p);
}

// ---- Barriers with a number

bool Hopper::come(int id, int threads) {
    if (id < 1 || id > 15 || threads % 32 != 0)
        block.fail("Barriers have the numbers 1 to 15, 0 is that of the block; whole warps meet there.");
    Named& barrier = named[static_cast<std::size_t>(id)];
    if (barrier.arrived > 0 && barrier.needed != threads)
        block.fail("Thread " + std::to_string(block.self().index) + " came to barrier " + std::to_string(id) +
                   " for " + std::to_string(threads) + " threads, where others wait for " +
                   std::to_string(barrier.needed) + ".");
    barrier.needed = threads;
    if (++barrier.arrived < threads) return false;
    barrier.arrived = 0, ++barrier.generation;
    return true;
}

void Hopper::sync_named(int id, int threads) {
    Named& barrier = named[static_cast<std::size_t>(id & 15)];
    const std::uint64_t generation = barrier.generation;
    if (!come(id, threads))
        block.wait_until("sync_named", [&barrier, generation] { return barrier.generation != generation; });
}

// ---- Registers

void Hopper::shrink(int registers) { set_registers("shrink_registers", registers, false); }
void Hopper::grow(int registers) { set_registers("grow_registers", registers, true); }

// Whoever wants more waits until others have given as many back.
void Hopper::set_registers(const char* what, int registers, bool more) {
    Warp& mine = warp();
    if (registers % 8 != 0 || registers < least_registers || registers > most_registers ||
        (more ? registers < mine.registers : registers > mine.registers))
        block.fail("Thread " + std::to_string(block.self().index) + " came to " + what + "<" +
                   std::to_string(registers) + ">, and has " + std::to_string(mine.registers) + ".");
    block.meet(block.warp().barrier, what, [&] {
        mine.wanted = registers;
        grant_registers();
    });
    block.wait_until(what, [&mine] { return mine.wanted == mine.registers; });
}

void Hopper::grant_registers() {
    for (bool again = true; again;) {
        again = false;
        for (Warp& w : warps) {
            const int more = 32 * (w.wanted - w.registers);
            if (more == 0 || more > spare_registers) continue;
            spare_registers -= more;
            w.registers = w.wanted;
            again = true;
        }
    }
}

// ---- Products

bool Hopper::is_pending(const float* sums) {
    const auto same = [sums](const AsyncProduct& p) { return p.sums[0] == sums; };
    const Warp& w = warp();
    return std::ranges::any_of(w.open, same) ||
           std::ranges::any_of(w.groups, [&](const auto& group) { return std::ranges::any_of(group, same); });
}

// Nobody knows what the sums are until they have been waited for.
void Hopper::hold_back(AsyncProduct& product) {
    if (is_pending(product.sums[0])) return;
    const auto count = static_cast<std::size_t>(product.columns / 2);
    for (float* const sums : product.sums) {
        product.before.insert(product.before.end(), sums, sums + count);
        std::memset(sums, poison, count * sizeof *sums);
    }
}

void Hopper::issue(AsyncProduct product) {
    Warp& w = warp();
    const int number = block.self().index / 32;
    auto& log = of_group[static_cast<std::size_t>(number / warps_of_group)];
    const Issued issued{product.columns, product.A, product.B};
    const std::string who = "Warp " + std::to_string(number);
    if (w.issued == log.size()) log.push_back(issued);
    if (log[w.issued++] != issued)
        block.fail(who + " issued another product than the other warps of its four.");
    if (!w.fenced) block.fail(who + " issued a product without fence_products since it last waited.");
    const bool has_A = product.A_in_registers || TileDescriptor(product.A).swizzles;
    if (!has_A || !TileDescriptor(product.B).swizzles)
        block.fail(who + " gave a descriptor of tiles that are not swizzled.");
    if (late) hold_back(product);
    if (!late) compute(product, number % warps_of_group);
    w.open.push_back(std::move(product));
}

void Hopper::commit() {
    Warp& w = warp();
    w.groups.push_back(std::move(w.open));
    w.open.clear();
}

void Hopper::wait_products(int groups) {
    Warp& w = warp();
    w.fenced = false;
    for (; static_cast<int>(w.groups.size()) > groups; w.groups.pop_front())
        for (const AsyncProduct& product : w.groups.front())
            if (late) compute(product, block.self().index / 32 % warps_of_group);
}

// The warp's 16 rows of wgmma.m64nNk16 (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts"):
// those of mma.m16n8k16 for A and C, N / 8 times beside each other.
void Hopper::compute(const AsyncProduct& product, int warp_of_group) {
    const TileDescriptor A(product.A), B(product.B);
    const auto at = [&](std::uint32_t address) {
        std::uint16_t bits;
        std::memcpy(&bits, block.shared() + address, sizeof bits);
        return product.number(bits);
    };
    float a[16][16], b[16][256];
    for (std::uint32_t row = 0; row < 16; ++row)
        for (std::uint32_t k = 0; k < 16; ++k) {
            const std::uint32_t lane = row % 8 * 4 + k % 8 / 2, reg = row / 8 + k / 8 * 2;
            a[row][k] = product.A_in_registers
                            ? product.number(
                                  static_cast<std::uint16_t>(product.registers[lane][reg] >> (16 * (k % 2))))
                            : at(A.along_columns(static_cast<std::uint32_t>(warp_of_group) * 16 + row, k));
        }
    const auto columns = static_cast<std::uint32_t>(product.columns);
    for (std::uint32_t k = 0; k < 16; ++k)
        for (std::uint32_t n = 0; n < columns; ++n)
            b[k][n] = at(product.A_in_registers ? B.along_rows(k, n) : B.along_columns(n, k));
    for (std::uint32_t row = 0; row < 16; ++row)
        for (std::uint32_t n = 0; n < columns; ++n) {
            const std::size_t lane = row % 8 * 4 + n % 8 / 2, of_lane = columns / 2;
            const std::size_t reg = n / 8 * 4 + row / 8 * 2 + n % 2;
            float& sum = product.sums[lane][reg];
            if (!product.before.empty()) sum = product.before[lane * of_lane + reg];
            if (!product.adds) sum = 0;
            for (std::uint32_t k = 0; k < 16; ++k) sum += a[row][k] * b[k][n];
        }
}

}  // namespace tilewalk::gpu::emulator

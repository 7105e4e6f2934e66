#include "core/inside/crossing.h"

#include "core/base/numbers.h"
#include "core/inside/fragments.h"
#include "core/inside/tile_crossing.h"
#include "core/inside/words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <tuple>

namespace tilewalk::inside {

namespace {

constexpr std::uint32_t nowhere = 0xFFFFFFFF;

bool loads_fragments(Op op) { return op == Op::load_matrices || op == Op::load_transposed; }

/// The lane of an event that touches the address, and its words.
struct Touch {
    int lane = -1;
    std::span<const std::uint32_t> words{};
    explicit operator bool() const { return lane >= 0; }
};
Touch touch_of(const BlockRecord& block, std::uint32_t n, std::uint32_t address) {
    const Event& event = block.events[n];
    for (int lane = 0; lane < 32; ++lane) {
        const auto own = block.words_of(event, lane);
        if (!own.empty() && address >= own[0] && address < own[0] + event.bytes) return {lane, own};
    }
    return {};
}

/// What a lane did in an event.
Touch touch_of_lane(const BlockRecord& block, std::uint32_t n, int lane) {
    const Event& event = block.events[n];
    return event.has(lane) ? Touch{lane, block.words_of(event, lane)} : Touch{};
}

/// Of what ldmatrix gave a lane, half of one of its registers.
std::uint32_t half_of(std::span<const std::uint32_t> words, int reg, int half) {
    return words[static_cast<std::size_t>(1 + reg)] >> 16 * half & 0xFFFF;
}

/// So many bytes, at most 4, of what lies from `begin` on.
std::uint32_t part_of(std::span<const std::uint32_t> words, std::uint32_t offset, int bytes) {
    const std::uint32_t word = words[offset / 4] >> 8 * (offset % 4);
    return bytes == 2 ? word & 0xFFFF : word;
}

bool is_nan(const Record& record, const Content& content) {
    if (content.bytes == 4) return std::isnan(std::bit_cast<float>(content.word));
    return content.bytes == 2 && std::isnan(number16(content.word, 0, record.dtype));
}

/// A read that got another number than in the sound run.
struct WrongRead {
    std::uint32_t event = 0;
    std::uint32_t address = 0;
    int lane = 0;  ///< that gave the address
    Content got, sound;
};

class Finder {
public:
    Finder(const BlockRun& with_fault, const BlockRun& without)
        : broken(with_fault), sound(without), step_of(broken.block.events.size(), -1),
          passed(broken.block.events.size()) {
        for (int w = 0; w < broken.steps.warps(); ++w)
            for (int k = 0; k < broken.steps.count(w); ++k) step_of[broken.steps.event(w, k)] = k;
        std::vector<int> of_warp(static_cast<std::size_t>(broken.steps.warps()));
        for (std::size_t n = 0; n < passed.size(); ++n) {
            const Event& event = broken.block.events[n];
            passed[n] = of_warp[event.warp] += event.op == Op::left_out;
        }
        for (const Race& race : broken.launch.races) {
            if (race.first.block != broken.number || race.second.block != broken.number) continue;
            if (is_register(race.address)) of_sums.push_back(&race);
            if (!is_register(race.address) && !is_numbered_barrier(race.address)) races.push_back(&race);
        }
        tiles.emplace(broken, sound, races);
    }
    std::optional<Crossing> find() const {
        if (races.empty()) return of_sum();
        std::optional<Crossing> best, of_tiles;
        int tried = 0;
        for (std::uint32_t n = 0; n < broken.block.events.size() && tried < most_tried; ++n) {
            if (auto found = tiles->of_product(n)) {
                const bool number = found->crossed && !is_nan(broken.record, reader_of(*found).content);
                if (number) return found;
                auto& kept = found->crossed ? best : of_tiles;
                if (!kept) kept = found;
                continue;
            }
            const std::vector<WrongRead> wrong = wrong_reads(n);
            if (wrong.empty()) continue;
            ++tried;
            // Of an event one read is told: a number, if there is one.
            const auto number = std::ranges::find_if(
                wrong, [this](const WrongRead& read) { return !is_nan(broken.record, read.got); });
            auto found = with_partner(number == wrong.end() ? wrong.front() : *number);
            if (found && number != wrong.end()) return found;
            if (found && !best) best = found;
        }
        return best ? best : of_tiles ? of_tiles : by_luck();
    }

private:
    static constexpr int most_tried = 512;  ///< events

    static const CrossingSide& reader_of(const Crossing& crossing) {
        return crossing.first.writes ? crossing.second : crossing.first;
    }
    /// How much later than `m` the source has `n`, in turns of what is left out; 0: it orders them not.
    int later(std::uint32_t n, std::uint32_t m) const {
        const auto before = tiles->before(n, m);
        return before ? (*before ? -1 : 1) : passed[n] - passed[m];
    }

    /// The same step of the sound run: each warp does as many.
    std::uint32_t counterpart(std::uint32_t n) const {
        const Event& event = broken.block.events[n];
        if (step_of[n] < 0 || step_of[n] >= sound.steps.count(event.warp)) return nowhere;
        const std::uint32_t m = sound.steps.event(event.warp, step_of[n]);
        return sound.block.events[m].op == event.op ? m : nowhere;
    }

    // By lane of a load; of ldmatrix by the row that each half of a register comes from, one of each.
    std::vector<WrongRead> wrong_reads(std::uint32_t n) const {
        const Event& event = broken.block.events[n];
        std::vector<WrongRead> out;
        if (!info(event.op).reads || info(event.op).writes || event.lanes == 0) return out;
        const std::uint32_t m = counterpart(n);
        if (m == nowhere || sound.block.events[m].lanes != event.lanes) return out;
        const auto now = broken.block.words_of(event), before = sound.block.words_of(sound.block.events[m]);
        if (std::ranges::equal(now, before)) return out;
        if (loads_fragments(event.op)) return wrong_halves(n, m);
        const int bytes = std::min<int>(event.bytes, 4);
        broken.block.each_lane(event, [&](int lane, auto got) {
            const auto right = sound.block.words_of(sound.block.events[m], lane);
            if (is_shared(got[0]) && got[0] == right[0] && got[1] != right[1])
                out.push_back({n, got[0], lane, {got[1], bytes}, {right[1], bytes}});
        });
        return out;
    }
    std::vector<WrongRead> wrong_halves(std::uint32_t n, std::uint32_t m) const {
        std::vector<WrongRead> out;
        const Event &event = broken.block.events[n], &before = sound.block.events[m];
        const bool transposed = event.op == Op::load_transposed;
        if (event.lanes != whole_warp) return out;
        for (int lane = 0; lane < 32; ++lane)
            for (int reg = 0; reg < 4; ++reg)
                for (int half = 0; half < 2; ++half) {
                    const std::uint32_t a = half_of(broken.block.words_of(event, lane), reg, half),
                                        b = half_of(sound.block.words_of(before, lane), reg, half);
                    if (a == b) continue;
                    const MatrixSource source = source_of_register(lane, reg, half, transposed);
                    const std::uint32_t row = broken.block.words_of(event, source.lane)[0];
                    out.push_back(
                        {n, row + static_cast<std::uint32_t>(source.byte), source.lane, {a, 2}, {b, 2}});
                }
        return out;
    }

    /// What a write puts to the address, of as many bytes as the reader takes. What a copy brings is what it
    /// brings in the sound run.
    Content put(std::uint32_t n, const Touch& touch, std::uint32_t address, int bytes) const {
        const Event& event = broken.block.events[n];
        const std::uint32_t offset = address - touch.words[0];
        if (event.op != Op::copy_issued)
            return {part_of(touch.words.subspan(event.op == Op::atomic_add ? 2 : 1), offset, bytes), bytes};
        Content out;
        if (touch.words[2] != 0) out.from = touch.words[1] + offset;
        const std::uint32_t issue = counterpart(n);
        if (issue == nowhere) return out;
        const Event& sent = sound.block.events[issue];
        for (std::uint32_t m = issue + 1; m < sound.block.events.size(); ++m) {
            const Event& event_there = sound.block.events[m];
            if (event_there.op != Op::copy_arrived || event_there.warp != sent.warp) continue;
            const Touch arrival = touch_of(sound.block, m, address);
            if (!arrival || arrival.lane != touch.lane || arrival.words[1] != touch.words[3]) continue;
            out.word = part_of(arrival.words.subspan(2), address - arrival.words[0], bytes),
            out.bytes = bytes;
            break;
        }
        return out;
    }

    struct Partner {
        std::uint32_t event = nowhere;
        int lane = 0;
        Content content;
        std::int64_t pairs = 0;
    };
    // Among the writes that race with this place the one that explains the number, and is nearest.
    Partner partner_of(const WrongRead& read) const {
        Partner best;
        std::tuple<bool, int, std::int64_t> least;
        const Event& reader = broken.block.events[read.event];
        for (const Race* race : races)
            for (const auto& [own, other] :
                 {std::pair(&race->first, &race->second), {&race->second, &race->first}}) {
                if (own->place != reader.place || own->op != reader.op || !puts(other->op)) continue;
                for (std::uint32_t n = 0; n < broken.block.events.size(); ++n) {
                    const Event& event = broken.block.events[n];
                    if (event.place != other->place || event.op != other->op) continue;
                    const int turns = later(n, read.event);
                    const Touch touch = turns == 0 ? Touch{} : touch_of(broken.block, n, read.address);
                    if (!touch) continue;
                    const Content content = put(n, touch, read.address, read.got.bytes);
                    const bool explains = content == (turns > 0 ? read.got : read.sound);
                    const std::tuple rank(!explains, std::abs(turns),
                                          std::abs(std::int64_t(n) - std::int64_t(read.event)));
                    if (best.event == nowhere || rank < least)
                        best = {n, touch.lane, content, race->times}, least = rank;
                }
            }
        return best;
    }

    CrossingSide side(std::uint32_t n, int lane, const Content& content, const Content& in_sound) const {
        const Event& event = broken.block.events[n];
        return {n, event.place, event.op, event.warp, lane, puts(event.op), content, in_sound};
    }
    // The element that a number is, if one of both is known to be it.
    static Content named(Content content, const Content& known) {
        if (!content.from && content == known) content.from = known.from;
        return content;
    }
    // Else of the copies to this address the nearest that brings such a number.
    Content found_in_copies(Content content, std::uint32_t address, std::uint32_t near) const {
        std::int64_t least = -1;
        std::optional<std::uint32_t> found = content.from;
        for (std::uint32_t n = 0; n < broken.block.events.size() && !content.from; ++n) {
            if (broken.block.events[n].op != Op::copy_issued) continue;
            const Touch touch = touch_of(broken.block, n, address);
            if (!touch) continue;
            const Content brought = put(n, touch, address, content.bytes);
            const std::int64_t far = std::abs(std::int64_t(n) - std::int64_t(near));
            if (!(brought == content) || !brought.from || (least >= 0 && far > least)) continue;
            found = brought.from, least = far;
        }
        content.from = found;
        return content;
    }

    std::optional<Crossing> with_partner(const WrongRead& read) const {
        const Partner partner = partner_of(read);
        if (partner.event == nowhere) return std::nullopt;
        const CrossingSide writer = side(partner.event, partner.lane, partner.content, partner.content);
        const auto known = [&](const Content& content) {
            return found_in_copies(named(content, partner.content), read.address, read.event);
        };
        const CrossingSide reader = side(read.event, read.lane, known(read.got), known(read.sound));
        const bool writes_first = later(partner.event, read.event) < 0;
        return Crossing{
            read.address, writes_first ? writer : reader, writes_first ? reader : writer, true, true,
            partner.pairs};
    }

    // What a lane of an event reads or writes at an address in both runs.
    CrossingSide plain_side(std::uint32_t n, std::uint32_t address) const {
        const Event& event = broken.block.events[n];
        if (event.op == Op::fetch_tile || event.op == Op::multiply_async) {
            const bool fetches = event.op == Op::fetch_tile;
            const Content content = fetches ? tiles->brought(n, address) : tiles->found(n, address);
            return side(n, std::countr_zero(event.lanes), content, content);
        }
        const Touch touch = touch_of(broken.block, n, address);
        const int bytes = event.op == Op::load && event.bytes >= 4 ? 4 : 2;
        if (!touch) return side(n, 0, {}, {});
        if (info(event.op).writes) {
            const Content content =
                put(n, touch, address, event.bytes >= 4 && event.op != Op::copy_issued ? 4 : 2);
            return side(n, touch.lane, content, content);
        }
        if (event.op == Op::load) {
            const Content got{touch.words[1], bytes};
            return side(n, touch.lane, got, got);
        }
        return side(n, touch.lane, fragment_number(n, touch.lane, address - touch.words[0]), {});
    }
    Content fragment_number(std::uint32_t n, int giver, std::uint32_t byte) const {
        const Event& event = broken.block.events[n];
        for (int lane = 0; lane < 32 && event.lanes == whole_warp; ++lane)
            for (int reg = 0; reg < 4; ++reg)
                for (int half = 0; half < 2; ++half) {
                    const MatrixSource source =
                        source_of_register(lane, reg, half, event.op == Op::load_transposed);
                    if (source.lane != giver || static_cast<std::uint32_t>(source.byte) != byte / 2 * 2)
                        continue;
                    return {half_of(broken.block.words_of(event, lane), reg, half), 2};
                }
        return {};
    }

    /// What the product brings to this register, where its warp waits for it in the sound run.
    Content brought(std::uint32_t product, const SumRegister& at, int lane) const {
        const std::uint32_t twin = counterpart(product);
        if (twin == nowhere) return {};
        const Event& issue = sound.block.events[twin];
        const TileProduct of(sound.block.words_of(issue));
        for (int k = step_of[product] + 1; k < sound.steps.count(issue.warp); ++k) {
            const Event& event = sound.block.events[sound.steps.event(issue.warp, k)];
            if (event.op != Op::wait_products) continue;
            const TileSums sums(event, sound.block.words_of(event));
            if (sums.sums() == at.sums && sums.groups() > of.group)
                return {std::bit_cast<std::uint32_t>(sums.at(lane, static_cast<int>(at.reg))), 4};
        }
        return {};
    }
    // A sum that was taken before it was there: what was made of it in this run, and in the sound one.
    std::optional<Crossing> of_sum() const {
        if (of_sums.empty()) return std::nullopt;
        const Race& race = **std::ranges::max_element(of_sums, {}, &Race::times);
        const SumRegister at = held_register(race.address);
        const Event& event = broken.block.events[race.second.event];
        const std::uint32_t twin = counterpart(race.second.event);
        CrossingSide reader = side(race.second.event, std::countr_zero(race.second.lanes), {}, {});
        for (int lane = 0; lane < 32; ++lane) {
            if (!event.has(lane)) continue;
            const auto own = taken_numbers(event.op, broken.block.words_of(event, lane));
            const auto taken = std::ranges::find(own, address_of(at), [](std::uint32_t word) {
                const auto mark = marked(word);
                return mark ? address_of(*mark) : 0;
            });
            if (taken == own.end()) continue;
            reader.lane = lane, reader.content = {*taken, 4};
            if (twin == nowhere || !sound.block.events[twin].has(lane)) break;
            const auto right = taken_numbers(event.op, sound.block.words_of(sound.block.events[twin], lane));
            reader.sound = {right[static_cast<std::size_t>(taken - own.begin())], 4};
            break;
        }
        const Content sum = brought(race.first.event, at, reader.lane);
        CrossingSide writer = side(race.first.event, reader.lane, sum, sum);
        writer.writes = true;
        return Crossing{race.address, writer, reader, true, true, race.times};
    }

    // All reads are right. Between warps, in shared memory, and often: that is told best.
    std::optional<Crossing> by_luck() const {
        const Race* best = nullptr;
        std::tuple<bool, bool, bool, std::int64_t> most;
        for (const Race* race : races) {
            const bool ordered = later(race->first.event, race->second.event) != 0;
            const std::tuple rank(ordered, race->first.warp != race->second.warp, is_shared(race->address),
                                  race->times);
            if (!best || rank > most) best = race, most = rank;
        }
        CrossingSide a = plain_side(best->first.event, best->address),
                     b = plain_side(best->second.event, best->address);
        const bool turned = later(best->first.event, best->second.event) > 0;
        a.content = named(a.content, b.content), b.content = named(b.content, a.content);
        a.sound = a.content, b.sound = b.content;
        const bool crossed = turned && a.writes && b.writes;
        if (turned) std::swap(a, b);
        return Crossing{best->address, a, b, std::get<0>(most), crossed, best->times};
    }

    const BlockRun &broken, &sound;
    std::vector<int> step_of;          ///< by event; −1: a copy that arrives is none
    std::vector<int> passed;           ///< by event: how often its warp had come to what is left out
    std::vector<const Race*> races;    ///< of memory
    std::vector<const Race*> of_sums;  ///< of registers, with a product
    std::optional<TileCrossings> tiles;
};

}  // namespace

std::string content_text(const Record& record, const Content& content, const std::string& place) {
    const std::string element = content.from ? short_address(record, *content.from) : place;
    if (content.bytes == 0) return element.empty() ? "zeros" : element;
    if (!content.from && is_nan(record, content))
        return (place.empty() ? "" : place + " = ") + std::string("NaN: nothing has come");
    const std::string value = content.bytes == 4 ? format_number(std::bit_cast<float>(content.word))
                                                 : format_number(number16(content.word, 0, record.dtype));
    return element.empty() ? value : element + " = " + value;
}

std::optional<Crossing> crossing_of(const BlockRun& broken, const BlockRun& sound) {
    return Finder(broken, sound).find();
}

std::optional<std::uint32_t> happened_with(const BlockRecord& block, const Steps& steps,
                                           const Schedule& schedule, const CrossingSide& side) {
    const Event& event = block.events[side.event];
    if (event.op != Op::copy_issued || schedule.early) return side.event;
    const Touch sent = touch_of_lane(block, side.event, side.lane);
    for (int k = 0; k < steps.count(event.warp); ++k)
        for (const std::uint32_t n : steps.arrivals(event.warp, k)) {
            const Touch came = touch_of_lane(block, n, side.lane);
            if (n > side.event && came && sent && came.words[0] == sent.words[0] &&
                came.words[1] == sent.words[3])
                return steps.event(event.warp, k);
        }
    return std::nullopt;
}

std::optional<HeldBack> turned_in_slots(const BlockRecord& block, const Steps& steps,
                                        const Schedule& schedule, const Crossing& crossing) {
    // A tile comes by itself, and a product reads at some time: slots say nothing of it.
    for (const CrossingSide& side : {crossing.first, crossing.second})
        if (side.op == Op::fetch_tile || side.op == Op::multiply_async) return std::nullopt;
    const auto first =
                   happened_with(block, steps, schedule, crossing.crossed ? crossing.second : crossing.first),
               second =
                   happened_with(block, steps, schedule, crossing.crossed ? crossing.first : crossing.second);
    if (!first || !second || block.events[*first].warp == block.events[*second].warp) return std::nullopt;
    const auto slot = [&](std::uint32_t n) {
        const int warp = block.events[n].warp;
        int from = 0, to = steps.count(warp);
        while (from < to) {
            const int middle = (from + to) / 2;
            steps.event(warp, middle) < n ? from = middle + 1 : to = middle;
        }
        return from < steps.count(warp) && steps.event(warp, from) == n ? steps.slot(warp, from) : -1;
    };
    const int a = slot(*first), b = slot(*second);
    return a >= 0 && b >= 0 && a >= b ? std::optional(HeldBack{*first, *second}) : std::nullopt;
}

}  // namespace tilewalk::inside

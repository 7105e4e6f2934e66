// What an access asks of memory: shared memory with its 32 banks, HBM with its sectors.
#include "app/ui/chapters/inside/inside.h"
#include "app/ui/kit/items.h"
#include "core/base/numbers.h"
#include "core/inside/tiles.h"
#include "core/inside/words.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

namespace tilewalk::ui {

namespace {

using inside::Access;
using inside::BankHit;
using inside::Event;
using inside::Matter;
using inside::Op;

std::optional<Access> access_of(const InsidePlace& at, const Event& event, bool shared) {
    for (const Access& one : inside::accesses_of(event, at.block().words_of(event)))
        if (one.shared == shared) return one;
    return std::nullopt;
}

/// The lanes of an access, and the phases in which they go: all of them, or the chosen lane's alone. Lanes
/// that get one word together are one row.
struct BankRows {
    int phases = 1, chosen = 0;  ///< of all phases the chosen lane's
    bool all = true;             ///< they are there one below the other
    std::vector<BankHit> hits;
    std::vector<int> lanes;              ///< of each row the first
    std::vector<std::uint32_t> sharers;  ///< of each row all, bits
    int turns = 0;                       ///< of the worst phase that is there
    int phase_of(int lane) const { return lane / (32 / phases); }
    bool has(std::size_t row, int lane) const { return sharers[row] >> lane & 1; }
    std::string name(std::size_t row, bool own) const {
        if (std::popcount(sharers[row]) == 1) return "lane " + str(lanes[row]);
        return (own ? "lanes " : "") + inside::spaced_lanes(sharers[row]);
    }
};

constexpr float phase_gap = 3, least_row = 4;  ///< between the lanes of two phases; of a lane

// Whether its word has a row: with one word for each lane it is that of the lanes before it that ask for it.
bool joins_row(BankRows& rows, const BankHit& hit) {
    if (rows.phases > 1) {
        if (!rows.lanes.empty() && rows.lanes.back() == hit.lane) return true;
    } else if (const auto same = std::ranges::find(rows.hits, hit.word, &BankHit::word);
               same != rows.hits.end()) {
        rows.sharers[static_cast<std::size_t>(std::ranges::find(rows.lanes, same->lane) -
                                              rows.lanes.begin())] |= 1u << hit.lane;
        return true;
    }
    rows.lanes.push_back(hit.lane), rows.sharers.push_back(1u << hit.lane);
    return false;
}

// All lanes where they have room in this height; for the back row those alone that go with the chosen one.
BankRows rows_of(const Access& access, int bytes, int lane, float room, bool far) {
    const auto hits = inside::bank_hits(access.addresses, access.lanes, bytes);
    BankRows out;
    out.phases = bytes <= 4 ? 1 : bytes / 4;
    out.chosen = out.phase_of(lane);
    const auto any = std::ranges::find(hits, out.chosen, &BankHit::phase);
    if (any == hits.end() && !hits.empty()) out.chosen = hits.front().phase;
    const float needed = least_row * px(std::popcount(access.lanes)) + phase_gap * px(out.phases - 1);
    out.all = out.phases == 1 || (room >= needed && !far);
    for (const BankHit& hit : hits) {
        if (!out.all && hit.phase != out.chosen) continue;
        out.turns = std::max(out.turns, hit.turn + 1);
        if (!joins_row(out, hit) || out.phases > 1) out.hits.push_back(hit);
    }
    return out;
}

const std::vector<std::string> layout_names{"as it is", "rows straight"};

// As the kernel has it, or as rows would lie without a swizzle.
void draw_layouts(const Canvas& c, AppState& state, const Rect& a) {
    bool& straight = state.kernel_walk->straight;
    int current = straight ? 1 : 0;
    const float x = a.right() - segmented_width(layout_names, size::small);
    if (segmented(c, "##layout", x, a.bottom() - space::control, layout_names, current, size::small))
        straight = current == 1;
}

float draw_verdict(const Canvas& c, const Rect& a, const inside::BankTurns& turns, const std::string& shared,
                   const InsideLook& look) {
    const Theme& t = *c.theme;
    const float size = look.far ? 44 : 22, y = a.y + size * .6f;
    const float w = c.text(a.x, y, counted(turns.turns, "turn"), size, t.t1, Face::semibold);
    const std::string ways = str(turns.ways) + " ways";
    const std::vector<std::string> said =
        turns.turns > turns.least
            ? std::vector{ways + " of conflict; without one " + counted(turns.least, "turn"),
                          ways + " of conflict", ways}
            : std::vector<std::string>{shared.empty() ? "no bank is asked twice at once" : shared,
                                       "no conflict"};
    const auto fits = std::ranges::find_if(said, [&](const std::string& text) {
        return text_width(Face::regular, look.small, text) <= a.w - w - 12;
    });
    const std::string words = fits == said.end() ? said.back() : *fits;
    c.text_within(a.x + w + 12, y + 2, a.w - w - 12, words, look.small, t.t2);
    return size * 1.35f;
}

void draw_bank_heads(const Canvas& c, const Rect& grid, float y, bool labels, const InsideLook& look) {
    const Theme& t = *c.theme;
    const float w = grid.w / inside::banks;
    const int apart = w * 4 > text_width(Face::mono, look.small, "28") + 6 ? 4 : 8;
    for (int bank = 0; bank < inside::banks; bank += apart)
        c.text(grid.x + (px(bank) + .5f) * w, y, str(bank), look.small, t.t3, Face::mono, Align::center);
    if (labels) c.text(grid.x - 10, y, "bank", look.small, t.t3, Align::right);
}

/// Where the row of each lane lies.
struct BankGrid {
    Rect area;
    float row;
    const BankRows& rows;
    BankGrid(const Rect& a, const BankRows& of)
        : area(a), row((a.h - phase_gap * px(of.all ? of.phases - 1 : 0)) /
                       px(std::max<std::size_t>(1, of.lanes.size()))),
          rows(of) {}
    float y(std::size_t n) const {
        const int phases = rows.all ? rows.phase_of(rows.lanes[n]) - rows.phase_of(rows.lanes.front()) : 0;
        return area.y + px(n) * row + phase_gap * px(phases);
    }
};

/// Of rows so high every n-th has room for its name: 1, 2, 4, 8 …
int even_stride(float row, float name) {
    int apart = 1;
    while (px(apart) * row < name && apart < 1024) apart *= 2;
    return apart;
}

// At the left the lanes: each where there is room, else those that go together and the chosen one.
void draw_lane_names(const Canvas& c, const BankGrid& grid, int lane, const InsideLook& look) {
    const Theme& t = *c.theme;
    const BankRows& rows = grid.rows;
    const auto name = [&](float y, const std::string& text, bool chosen) {
        c.text(grid.area.x - 10, y, text, look.small, chosen ? t.t1 : t.t3,
               chosen ? Face::semibold : Face::regular, Align::right);
    };
    const int apart = even_stride(grid.row, look.small + 2);
    // Clear of the word above the first
    const float highest = grid.area.y + .45f * look.small + 2;
    if (rows.all && rows.phases > 1 && apart > 1) {
        for (std::size_t first = 0; first < rows.lanes.size();) {
            std::size_t end = first, own = rows.lanes.size();
            for (; end < rows.lanes.size() &&
                   rows.phase_of(rows.lanes[end]) == rows.phase_of(rows.lanes[first]);
                 ++end)
                if (rows.lanes[end] == lane) own = end;
            if (own < rows.lanes.size())
                name(std::max(grid.y(own) + grid.row / 2, highest), "lane " + str(lane), true);
            else
                name((grid.y(first) + grid.y(end - 1) + grid.row) / 2,
                     range_text(rows.lanes[first], rows.lanes[end - 1]), false);
            first = end;
        }
        return;
    }
    std::size_t own = 0;
    while (own < rows.lanes.size() && !rows.has(own, lane)) ++own;
    for (std::size_t n = 0; n < rows.lanes.size(); ++n) {
        const bool chosen = n == own;
        const auto away = std::abs(static_cast<int>(own) - static_cast<int>(n));
        if (chosen || (static_cast<int>(n) % apart == 0 && (own == rows.lanes.size() || away >= apart)))
            name(std::max(grid.y(n) + grid.row / 2, highest), rows.name(n, chosen), chosen);
    }
}

// One row for each lane, one column for each bank. Lanes whose words nobody wants here are pale.
void draw_hits(const Canvas& c, const BankGrid& grid, int lane, Matter matter, bool labels,
               const InsideLook& look) {
    const Theme& t = *c.theme;
    const BankRows& rows = grid.rows;
    const float w = grid.area.w / inside::banks, h = grid.row;
    const ImU32 hue = hue_of(t, matter);
    for (std::size_t n = 0; n < rows.lanes.size(); ++n)
        c.rect(grid.area.x, grid.y(n) + .5f, grid.area.w, std::max(1.0f, h - 1), mix(t.panel, hue, .1f),
               h > 8 ? 2 : 0);
    if (labels) draw_lane_names(c, grid, lane, look);
    for (const BankHit& hit : rows.hits) {
        const auto row =
            static_cast<std::size_t>(std::ranges::find(rows.lanes, hit.lane) - rows.lanes.begin());
        const Rect box{grid.area.x + px(hit.bank) * w, grid.y(row), w, h};
        const float part = !(look.fed >> hit.lane & 1) ? .3f : hit.turn > 0 ? .55f : .85f;
        const float gap = h > 6 ? 1.0f : .5f;
        c.rect(box.x + .5f, box.y + gap, box.w - 1, std::max(1.5f, box.h - 2 * gap), mix(t.panel, hue, part),
               h > 8 ? 2 : 0);
        if (rows.has(row, lane))
            c.frame(box.x + .5f, box.y, box.w - 1, std::max(3.0f, box.h), t.focus, 1.5f, 1);
    }
    const float foot = rows.lanes.empty() ? grid.area.y : grid.y(rows.lanes.size() - 1) + h;
    for (int bank = 4; bank < inside::banks; bank += 4)
        c.line({grid.area.x + px(bank) * w, grid.area.y}, {grid.area.x + px(bank) * w, foot}, t.line, 1);
}

// How many different words each bank has to give.
void draw_asked(const Canvas& c, const BankRows& rows, const Rect& a, bool labels, const InsideLook& look) {
    const Theme& t = *c.theme;
    std::array<int, inside::banks> asked{};
    for (const BankHit& hit : rows.hits)
        if (hit.phase == rows.chosen)
            asked[static_cast<std::size_t>(hit.bank)] =
                std::max(asked[static_cast<std::size_t>(hit.bank)], hit.turn + 1);
    const float w = a.w / inside::banks;
    const int most = std::max(look.ways, rows.turns);
    const float h = std::min(a.h / px(most), 14.0f);
    for (std::size_t bank = 0; bank < asked.size(); ++bank)
        for (int n = 0; n < asked[bank]; ++n)
            c.rect(a.x + px(bank) * w + 1, a.bottom() - px(n + 1) * h + 1, w - 2, std::max(1.5f, h - 2),
                   n == 0 ? t.t1 : t.t3, 1);
    c.line({a.x, a.bottom() + .5f}, {a.right(), a.bottom() + .5f}, t.line2);
    // Clear of the name of the last lane
    const float y = std::max(a.bottom() - h / 2, a.y - 5 + 1.2f * look.small);
    if (labels) c.text(a.x - 10, y, "asked", look.small, t.t3, Align::right);
}

/// A line of 128 bytes with the words of it that were asked for.
struct MemoryLine {
    std::uint32_t begin = 0;
    std::array<bool, 32> asked{}, own{};
};

using MemoryLines = std::map<std::uint32_t, MemoryLine>;  // by their begin

void ask_for(MemoryLines& lines, std::uint32_t address, std::uint32_t bytes, bool own) {
    constexpr std::uint32_t line_bytes = 128;
    for (std::uint32_t b = 0; b < bytes; b += 2) {
        const std::uint32_t at = address + b, begin = at / line_bytes * line_bytes;
        MemoryLine& line = lines.try_emplace(begin, MemoryLine{begin, {}, {}}).first->second;
        const std::size_t word = (at - begin) / 4;
        line.asked[word] = true;
        line.own[word] = line.own[word] || own;
    }
}

/// What an event asks of HBM.
struct HbmAccess {
    inside::Sectors sectors;
    Matter matter = Matter::none;
    MemoryLines lines;
};
std::optional<HbmAccess> hbm_access(const InsidePlace& at, const Event& event, int lane) {
    HbmAccess out;
    if (event.op == Op::fetch_tile) {
        const inside::TileFetch tile(at.block().words_of(event));
        if (tile.rows == 0) return std::nullopt;
        out.sectors = {static_cast<int>(tile.sectors()), static_cast<int>(tile.bytes_read())};
        out.matter = inside::matter_of(at.record(), tile.from);
        for (std::uint32_t row = 0; row < tile.rows; ++row)
            ask_for(out.lines, tile.from + row * tile.stride, tile.row_bytes, false);
        return out;
    }
    const auto access = access_of(at, event, false);
    if (!access) return std::nullopt;
    out.sectors = inside::sectors(access->addresses, event.bytes);
    out.matter = inside::matter_of(at.record(), access->addresses.front());
    std::size_t next = 0;
    for (int l = 0; l < 32; ++l)
        if (access->lanes >> l & 1) ask_for(out.lines, access->addresses[next++], event.bytes, l == lane);
    return out;
}

std::string place_of_line(const InsidePlace& at, std::uint32_t address) {
    if (const auto element = inside::element_of(at.record(), address))
        return inside::element_text(at.record(), *element);
    const std::string text = inside::address_text(at.record(), address);
    return text.substr(text.rfind(", ") + 2);  // "byte 640"
}

void draw_memory_line(const Canvas& c, const MemoryLine& line, const Rect& a, ImU32 hue) {
    const Theme& t = *c.theme;
    const float sector = a.w / 4, word = (sector - 4) / 8;
    for (std::size_t s = 0; s < 4; ++s) {
        const Rect box{a.x + px(s) * sector, a.y, sector - 4, a.h};
        const bool touched = std::any_of(line.asked.begin() + static_cast<std::ptrdiff_t>(8 * s),
                                         line.asked.begin() + static_cast<std::ptrdiff_t>(8 * s + 8),
                                         [](bool b) { return b; });
        if (!touched) {
            c.rect(box.x, box.y, box.w, box.h, t.well, 2);
            continue;
        }
        for (std::size_t n = 0; n < 8; ++n) {
            const bool asked = line.asked[8 * s + n];
            const float x = box.x + px(n) * word;
            c.rect(x + .5f, box.y, word - 1, box.h, mix(t.panel, hue, asked ? .8f : .2f), a.h > 8 ? 2 : 0);
            if (line.own[8 * s + n]) c.frame(x + .5f, box.y + .5f, word - 1, box.h - 1, t.focus, 1.5f, 1);
        }
    }
}

}  // namespace

namespace {

/// An access to shared memory as it is drawn.
struct BankPicture {
    Access access;
    int bytes, lane;
    Matter matter;
    std::string title;   ///< above it; empty: none
    bool labels = true;  ///< lanes and banks have their names at the left
    bool chooses = false;
};

// Which lanes go together with the chosen one: a warp's chunks of 16 bytes take four turns.
void draw_part(const Canvas& c, const BankRows& rows, const Rect& a, const InsideLook& look) {
    const int lanes = 32 / rows.phases, first = rows.chosen * lanes;
    const std::string who = "lanes " + range_text(first, first + lanes - 1),
                      part = "part " + str(rows.chosen + 1) + " of " + str(rows.phases);
    const std::vector<std::string> said{who + " go together: " + part, who + ": " + part, part};
    const auto fits = std::ranges::find_if(
        said, [&](const std::string& text) { return text_width(Face::regular, look.small, text) <= a.w; });
    if (fits != said.end()) c.text(a.x, a.y + look.small * .8f, *fits, look.small, c.theme->t3);
}

// As wide as the names of the lanes at the left are.
float bank_labels_width(const Access& access, int bytes, const InsideLook& look) {
    float w = text_width(Face::semibold, look.small, "lane 00");
    const BankRows rows = rows_of(access, bytes, 0, 0, look.far);
    for (std::size_t n = 0; n < rows.lanes.size(); ++n)
        w = std::max(w, text_width(Face::semibold, look.small, rows.name(n, true)));
    return w + 14;
}

void draw_bank_picture(const Canvas& c, AppState& state, const Rect& a, const BankPicture& p,
                       const InsideLook& look) {
    const Theme& t = *c.theme;
    const auto turns = inside::bank_turns(p.access.addresses, p.access.lanes, p.bytes);
    float y = a.y;
    if (!p.title.empty()) {
        c.text_within(a.x, y + look.small * .6f, a.w, p.title, look.small, t.t2, Face::semibold);
        y += look.small * 1.5f;
    }
    y += draw_verdict(c, {a.x, y, a.w, a.bottom() - y}, turns, inside::broadcast_text(p.access, p.bytes),
                      look);
    const float labels = p.labels ? bank_labels_width(p.access, p.bytes, look) : 0;
    const Rect body{a.x + labels, y, a.w - labels, a.bottom() - y};
    const int phases = p.bytes <= 4 ? 1 : p.bytes / 4;
    const float foot = p.chooses     ? space::control + 4
                       : phases == 1 ? 0
                                     : look.small * 1.5f,
                // The row of what is asked stands beside its name, which is clear of the last lane's.
        asked = std::min(body.h * .3f,
                         std::max(14.0f * px(std::max(look.ways, turns.ways)) + 4, 1.2f * look.small + 2));
    const float heads = look.small * 1.5f, room = body.bottom() - foot - asked - 6 - y - heads;
    const BankRows rows = rows_of(p.access, p.bytes, p.lane, room, look.far);
    const float h = std::min(room, px(rows.lanes.size()) * look.small * 1.7f);
    if (h < least_row * px(std::min<std::size_t>(rows.lanes.size(), 8))) return;  // the verdict says it
    draw_bank_heads(c, body, y + look.small * .6f, p.labels, look);
    y += heads;
    draw_hits(c, BankGrid({body.x, y, body.w, h}, rows), p.lane, p.matter, p.labels, look);
    draw_asked(c, rows, {body.x, y + h + 4, body.w, asked}, p.labels, look);
    const float taken = p.chooses ? segmented_width(layout_names, size::small) + 10 : 0;
    if (phases > 1) draw_part(c, rows, {body.x, y + h + asked + 6, body.w - taken, look.small * 1.6f}, look);
    if (p.chooses) draw_layouts(c, state, a);
}

}  // namespace

// Where rows of the matrix would lie in other banks without a swizzle, both stand beside each other, drawn to
// one scale; where there is room for one, L changes between them.
void draw_banks(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at, const Event& event,
                const InsideLook& look) {
    const auto access = access_of(at, event, true);
    if (!access) return;
    const auto n = static_cast<std::uint32_t>(&event - at.block().events.data());
    const std::vector<std::uint32_t> straight =
        look.fixed ? std::vector<std::uint32_t>() : at.origins().straight_rows(n, access->addresses);
    BankPicture here{*access, event.bytes, look.lane < 0 ? state.inside.lane : look.lane,
                     at.origins().matter(n), ""};
    const auto turns_of = [&](const std::vector<std::uint32_t>& addresses) {
        return inside::bank_turns(addresses, access->lanes, event.bytes);
    };
    if (straight.empty() || turns_of(straight).turns == turns_of(access->addresses).turns)
        return draw_bank_picture(c, state, a, here, look);
    BankPicture plain = here;
    plain.access.addresses = straight;
    const float gap = look.far ? 40.0f : 24.0f, least = look.far ? 900.0f : 430.0f;
    if (a.w < least) {
        here.chooses = plain.chooses = !look.far;
        return draw_bank_picture(c, state, a, state.kernel_walk->straight && !look.far ? plain : here, look);
    }
    InsideLook scale = look;
    scale.ways = std::max(turns_of(straight).ways, turns_of(access->addresses).ways);
    plain.title = "If rows lay straight", here.title = "As the kernel has it";
    here.labels = false;
    const float labels = bank_labels_width(plain.access, plain.bytes, look),
                w = std::floor((a.w - labels - gap) / 2);
    draw_bank_picture(c, state, {a.x, a.y, labels + w, a.h}, plain, scale);
    draw_bank_picture(c, state, {a.x + labels + w + gap, a.y, w, a.h}, here, scale);
}

void draw_sectors(const Canvas& c, const AppState& state, const Rect& a, const InsidePlace& at,
                  const Event& event, const InsideLook& look) {
    const auto access = hbm_access(at, event, state.inside.lane);
    if (!access) return;
    const Theme& t = *c.theme;
    const inside::Sectors& s = access->sectors;
    const float title = look.far ? 44 : 22;
    const float w = c.text(a.x, a.y + title * .6f, counted(s.touched, "sector"), title, t.t1, Face::semibold);
    c.text_within(a.x + w + 12, a.y + title * .6f + 2, a.w - w - 12,
                  // For the back row what a sector is, in place of what they are together
                  s.touched * inside::sector_bytes == s.bytes
                      ? (look.far ? "of 32 B" : format_size(s.bytes)) + ", all asked for"
                      : format_size(s.touched * inside::sector_bytes) + ", asked for " + format_size(s.bytes),
                  look.small, t.t2);
    const float top = a.y + title * 1.5f, labels = look.small * 4.6f;
    const float h =
        std::min((a.bottom() - top) / px(access->lines.size()), look.small * (look.far ? 2.6f : 1.9f));
    const ImU32 hue = hue_of(t, access->matter);
    const int apart = even_stride(h, look.small + 2);
    int n = 0;
    float y = top;
    for (const auto& [begin, line] : access->lines) {
        if (n++ % apart == 0)
            c.text_within(a.x, std::max(y + h / 2, top + look.small * .4f), labels - 6,
                          place_of_line(at, begin), look.small, t.t3);
        draw_memory_line(c, line, {a.x + labels, y + 1, a.w - labels, std::max(1.5f, h - (h > 6 ? 3 : 1))},
                         hue);
        y += h;
    }
}

// With as high lines as draw_sectors has them
static float sectors_height(const InsidePlace& at, const Event& event, const InsideLook& look) {
    const auto access = hbm_access(at, event, 0);
    return access ? 33 + px(access->lines.size()) * look.small * 1.9f : 0;
}

// "lane 13: Q[1, 40] → shared 0xc0", "lane 13: L[17], shared 0xc0"
static std::string own_access_text(const AppState& state, const InsidePlace& at) {
    const int lane = at.event->has(at.lane) || at.event->lanes == 0 ? at.lane : elected_lane(*at.event);
    const auto words = at.block().words_of(*at.event, lane);
    if (words.empty()) return "";
    const auto place = [&](std::uint32_t address) { return inside::short_address(at.record(), address); };
    const bool fetches = at.event->op == Op::fetch_tile, copies = at.event->op == Op::copy_issued;
    std::string text = "lane " + str(lane) + ": ";
    if (fetches || copies)
        text += (words[fetches ? 1 : 2] != 0 ? place(words[1]) : std::string("zeros")) + " → ";
    const std::string element = copies || fetches
                                    ? ""
                                    : name_in_shared(state, at, at.n + (at.event->op == Op::store), words[0],
                                                     std::min<int>(at.event->bytes, 4));
    return text + (element.empty() ? "" : element + ", ") + place(words[0]);
}

static std::string memory_subtitle(const AppState& state, const ShownAccess& shown, const InsidePlace& at) {
    if (!shown.event) return "";
    if (shown.part == inside::Part::C) return own_access_text(state, at);
    std::vector<std::string> matrices;
    for (int matrix = 0; matrix < 4; ++matrix)
        if (shown.fed >> (8 * matrix) & 1) matrices.push_back(str(matrix));
    return std::string("for ") + inside::info(shown.part).name + ": " +
           (matrices.size() == 1 ? "matrix " : "matrices ") + joined(matrices, " and ") + ", " +
           counted(shown.steps_ago, "step") + " ago";
}

void inside_memory(const Canvas& c, AppState& state, const Rect& a, const InsidePlace& at) {
    const ShownAccess shown = shown_access(at, cell_inside(state));
    InsideLook look;
    look.lane = shown.lane,
    look.fed = shown.event && shown.part != inside::Part::C ? shown.fed : inside::whole_warp;
    const bool banks = shown.event && access_of(at, *shown.event, true),
               sectors = shown.event && hbm_access(at, *shown.event, state.inside.lane),
               fetches = at.event->op == Op::fetch_tile;
    const char* title = fetches || (banks && sectors)    ? "HBM and shared memory"
                        : sectors                        ? "HBM"
                        : banks                          ? "Shared memory"
                        : at.event->op == Op::sync_block ? "What the barrier protects"
                                                         : "Shared memory";
    const Panel panel(c, "Memory", a, title);
    const float title_w = text_width(Face::semibold, size::lead, title);
    const Rect in_all{a.inner_x(), a.y + 46, a.inner_w(), a.h - 46 - space::foot};
    const bool narrow = a.w < 560;
    if (!narrow && shown.event)
        c.text_within(a.inner_x() + title_w + 12, a.title_y() + 1, a.inner_w() - title_w - 220,
                      memory_subtitle(state, shown, at), size::body, c.theme->t2);
    constexpr float space_w = 150, space_gap = 18;
    const bool has_space =
        !narrow && in_all.h > 90 && !at.launch->shared.areas().empty() && (banks || fetches || !shown.event);
    const Rect in{in_all.x + (has_space ? space_w + space_gap : 0), in_all.y,
                  in_all.w - (has_space ? space_w + space_gap : 0), in_all.h};
    if (has_space)
        draw_space(c, state, {in_all.x, in_all.y, space_w, in_all.h}, at,
                   at.event->op == Op::multiply_async ? at.event : shown.event, look);
    if (at.event->op == Op::sync_block) return draw_protected(c, state, in, at, {});
    if (!shown.event) {
        draw_contents(c, state, in, at);
        return;
    }
    if (banks && sectors) {
        // Below each other the sectors have what they need, and the banks the rest.
        constexpr float least_banks = 140;
        const float upper = std::min(std::floor(in.h / 2), sectors_height(at, *shown.event, look));
        const bool beside = in.w > 640 || (in.w > 480 && in.h - upper - 14 < least_banks);
        const Rect first = beside ? Rect{in.x, in.y, (in.w - 28) / 2, in.h} : Rect{in.x, in.y, in.w, upper};
        const Rect second = beside ? Rect{first.right() + 28, in.y, first.w, in.h}
                                   : Rect{in.x, in.y + upper + 14, in.w, in.h - upper - 14};
        draw_sectors(c, state, first, at, *shown.event, {});
        draw_banks(c, state, second, at, *shown.event, look);
    } else if (banks) {
        draw_banks(c, state, in, at, *shown.event, look);
    } else {
        draw_sectors(c, state, in, at, *shown.event, {});
    }
}

}  // namespace tilewalk::ui

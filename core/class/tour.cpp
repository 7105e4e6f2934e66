#include "core/class/tour.h"

#include "core/base/numbers.h"
#include "core/lessons/table.h"
#include "core/study/kv_cache.h"
#include "core/study/memory_study.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace tilewalk {
namespace {

std::optional<int> whole(std::string_view text) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool all = error == std::errc() && end == text.data() + text.size() && n >= 0 && n < 1 << 20;
    return all ? std::optional(n) : std::nullopt;
}

bool touches(std::span<const Access> accesses, Slot slot) {
    return std::any_of(accesses.begin(), accesses.end(), [slot](const Access& a) { return a.slot == slot; });
}

int steps_with(const Trace& trace, Op op) {
    int count = 0;
    for (int k = 0; k < trace.size(); ++k) count += trace.step(k).op == op ? 1 : 0;
    return count;
}

// A number that the problem or the step has as a whole.
std::optional<std::string> whole_of(const Trace& trace, int k, std::string_view name) {
    const Problem& p = trace.problem();
    const Traffic& now = trace.step(k).traffic;
    if (name == "step") return format_count(k + 1);
    if (name == "steps") return format_count(trace.size());
    if (name == "N") return format_count(p.N());
    if (name == "N_kv") return format_count(p.N_kv());
    if (name == "d") return format_count(p.d());
    if (name == "Br") return format_count(p.Br);
    if (name == "Bc") return format_count(p.Bc);
    if (name == "tiles") return format_count(static_cast<std::int64_t>(p.Tr()) * p.Tc());
    if (name == "skipped") return format_count(steps_with(trace, Op::skip));
    if (name == "read") return format_size(now.hbm_read);
    if (name == "written") return format_size(now.hbm_write);
    if (name == "moved") return format_size(now.total());
    if (name == "on chip") return format_size(now.sram_live);
    return std::nullopt;
}

// "Br=2", "N=16384": the number behind the sign.
std::optional<int> number_behind(std::string_view words, std::string_view name) {
    return words.starts_with(name) ? whole(words.substr(name.size())) : std::nullopt;
}

// What the page about memory shows of its own sizes, those that it has at first.
std::optional<std::string> of_study(std::string_view name) {
    StudyInput in;
    if (name == "heads") return format_count(in.heads);
    if (const auto Br = number_behind(name, "saving at Br=")) {
        in.tile.Br = *Br;
        return refuse(in) ? std::nullopt : std::optional(saving_text(study(in).saving(Algorithm::flash2)));
    }
    if (const auto heads = number_behind(name, "KV at key heads="))
        return *heads > 0 && in.heads % *heads == 0
                   ? std::optional(format_large_size(kv_cache(in, in.N, *heads)))
                   : std::nullopt;
    const auto size = [&](std::string_view what, double ScoreRow::*bytes) -> std::optional<std::string> {
        const auto N = number_behind(name, what);
        in.lengths = {N.value_or(0)};
        return N && !refuse(in) ? std::optional(format_large_size(study(in).rows.front().*bytes))
                                : std::nullopt;
    };
    if (auto one = size("S at N=", &ScoreRow::one_head)) return one;
    if (auto all = size("S and P at N=", &ScoreRow::all)) return all;
    return size("L at N=", &ScoreRow::flash);
}

// What a whole walk through the same problem moves through HBM.
Result<std::string> moved_in(const Trace& trace, std::string_view lesson) {
    const Lesson* found = find_lesson(lesson);
    if (!found) return Failure{"there is no lesson \"" + std::string(lesson) + "\""};
    const auto other = build_trace(*found, trace.problem());
    if (!other) return Failure{"the lesson " + std::string(lesson) + " refuses this problem"};
    return format_size((*other)->step((*other)->size() - 1).traffic.total());
}

// "192 B": the unit is a word, not a part of the number.
void add_number(Line& line, Span span, const std::string& filled) {
    const std::size_t space = filled.find(' ');
    const bool unit = space != std::string::npos && filled.find("×") == std::string::npos;
    span.text = filled.substr(0, unit ? space : filled.size());
    line.push_back(span);
    if (!unit) return;
    span.face = Span::Face::text;
    span.text = "\u00A0" + filled.substr(space + 1);
    line.push_back(std::move(span));
}

// The walk need not be the stop's: whoever listens to a tour may change the problem, or take it back.
bool has_step(const Trace& trace, int k) { return k >= 0 && k < trace.size(); }

Line filled(const Line& line, const TourStop& stop, const Trace& trace) {
    Line out;
    for (const Span& span : line) {
        if (span.face == Span::Face::number)
            add_number(out, span, fill_placeholder(trace, stop.step, span.text).value.value_or("?"));
        else
            out.push_back(span);
    }
    return out;
}

}  // namespace

std::optional<int> find_step(const Trace& trace, const StepQuery& query) {
    int left = query.n;
    for (int k = 0; k < trace.size(); ++k) {
        const Step& step = trace.step(k);
        const bool here =
            query.op == name(step.op) && (!query.i || *query.i == step.i) && (!query.j || *query.j == step.j);
        if (here && --left == 0) return k;
    }
    return std::nullopt;
}

std::optional<CellWords> read_cell(std::string_view text) {
    const std::size_t open = text.find('[');
    if (open == 0 || open == std::string_view::npos || text.back() != ']') return std::nullopt;
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    const std::size_t comma = inside.find(',');
    const auto row = whole(inside.substr(0, comma));
    const auto col = comma == std::string_view::npos ? std::optional(0) : whole(inside.substr(comma + 1));
    if (!row || !col) return std::nullopt;
    return CellWords{std::string(text.substr(0, open)), *row, *col};
}

std::optional<CellRef> find_cell(const Trace& trace, const CellWords& words, int k) {
    std::optional<CellRef> best;
    if (!has_step(trace, k)) return best;
    std::tuple<bool, bool, int> rank;
    for (const Slot slot : slots_called(words.slot)) {
        const auto cell = cell_called(trace, slot, words.row, words.col, k);
        if (!cell) continue;
        const std::tuple now{touches(trace.writes(k), slot), touches(trace.reads(k), slot),
                             holding(trace, *cell, k).step};
        if (best && now <= rank) continue;
        best = cell;
        rank = now;
    }
    return best;
}

Result<std::string> fill_placeholder(const Trace& trace, int k, std::string_view words) {
    constexpr std::string_view in = "moved in ", earlier = " before", unbroken = " true";
    if (!has_step(trace, k)) return Failure{"the walk has no step " + std::to_string(k + 1)};
    if (auto number = whole_of(trace, k, words)) return *number;
    if (auto number = of_study(words)) return *number;
    if (words.starts_with(in)) return moved_in(trace, words.substr(in.size()));
    if (words.ends_with(unbroken)) {
        words.remove_suffix(unbroken.size());
        const auto walk = build_trace(trace.lesson(), without_faults(trace.problem()));
        return walk ? fill_placeholder(**walk, k, words) : Failure{walk.error};
    }
    const bool before = words.ends_with(earlier);
    if (before) words.remove_suffix(earlier.size());
    const auto cell_words = read_cell(words);
    if (!cell_words) return Failure{"{" + std::string(words) + "} is neither a cell nor a known number"};
    const auto cell = find_cell(trace, *cell_words, k);
    const Held held = cell ? holding(trace, *cell, before ? k - 1 : k) : Held{};
    if (!held)
        return Failure{"there is no " + std::string(words) + (before ? " before" : " at") + " step " +
                       std::to_string(k + 1)};
    return format_short(value_at(*held.value, *cell));
}

std::vector<Line> filled_text(const TourStop& stop, const Trace& trace) {
    std::vector<Line> out;
    for (const Line& line : stop.text) out.push_back(filled(line, stop, trace));
    return out;
}

std::vector<CellRef> cells_named(const TourStop& stop, const Trace& trace) {
    std::vector<CellRef> out;
    for (const Line& line : stop.text)
        for (const Span& span : line) {
            if (span.face != Span::Face::number) continue;
            const auto words = read_cell(std::string_view(span.text).substr(0, span.text.find(' ')));
            const auto cell = words ? find_cell(trace, *words, stop.step) : std::nullopt;
            if (cell && std::ranges::find(out, *cell) == out.end()) out.push_back(*cell);
        }
    return out;
}

Line filled_notes(const TourStop& stop, const Trace& trace) { return filled(stop.notes, stop, trace); }

// ---- Chapters

std::optional<ChapterPlace> chapter_place(const TourScript& script, int n) {
    const auto behind = std::ranges::upper_bound(script.chapters, n, {}, &TourChapter::first);
    if (behind == script.chapters.begin()) return std::nullopt;
    const TourChapter& chapter = *std::prev(behind);
    const int end = behind == script.chapters.end() ? static_cast<int>(script.stops.size()) : behind->first;
    return ChapterPlace{chapter.name, static_cast<int>(behind - script.chapters.begin()),
                        static_cast<int>(script.chapters.size()), n - chapter.first + 1, end - chapter.first};
}

std::string chapter_words(const ChapterPlace& place) {
    return "Chapter " + std::to_string(place.chapter) + " of " + std::to_string(place.chapters) + " · " +
           place.name;
}

std::string chapter_words_in_short(const ChapterPlace& place) {
    return "Ch. " + std::to_string(place.chapter) + " · " + place.name;
}

int stop_of_next_chapter(const TourScript& script, int n, int by) {
    const auto behind = std::ranges::upper_bound(script.chapters, n, {}, &TourChapter::first);
    if (by > 0) return behind == script.chapters.end() ? n : behind->first;
    const auto before = std::ranges::lower_bound(script.chapters, n, {}, &TourChapter::first);
    return before == script.chapters.begin() ? n : std::prev(before)->first;
}

}  // namespace tilewalk

#include "app/io/tour_file.h"

#include "app/io/embedded.h"
#include "app/io/examples.h"
#include "app/io/file.h"
#include "app/io/link_parts.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "app/io/tour_text.h"
#include "core/engine/engine.h"
#include "core/lessons/shared/faults.h"
#include "core/lessons/table.h"
#include "core/problem/heads.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace tilewalk {
namespace {

const std::vector<std::string> setting_names = {
    "problem",      "lesson",    "step",         "cell",   "fault",      "notation",
    "highlight",    "presenter", "side",         "notes",  "division",   "with",
    "kernel_fault", "kernel",    "kernel_break", "launch", "instruction"};
const std::vector<std::string> notation_names = {"l_O", "d_o", "delta_omega"},
                               division_names = {"each", "end"};
const std::vector<std::string> side_names = {"explanation", "problem", "break"};
// What a stop changes about its problem, by the keys of links; those of the second list leave it the example
// that it is.
const std::vector<std::string> change_names = {"br",    "bc",   "causal",    "window", "scale", "softcap",
                                               "alibi", "sink", "precision", "heads",  "set"},
                               choice_names = {"row",       "queries", "order",      "splits",       "merge",
                                               "parts",     "workers", "ranks",      "shards",       "prefix",
                                               "sequences", "pages",   "page-table", "lazy-rescale", "exp2"};
constexpr int most_instructions = 1'000'000, most_launches = 99;
constexpr std::size_t most_tour_bytes = std::size_t{1} << 20;

bool lists(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

int letters_of(const std::vector<Line>& text) {
    int count = 0;
    for (const Line& line : text) count += letters_in(plain(line));
    return count;
}

std::vector<std::string> fault_names(const Lesson& lesson) {
    std::vector<std::string> names = names_of(lesson.faults(), &Fault::name);
    names.insert(names.begin(), "none");
    return names;
}

// What carries over from one stop to the next, and the settings of one stop in the order in which they
// depend on each other. The first mistake ends it.
class StopReader {
public:
    StopReader(const TourNames& names, const std::string& folder) : names_(names), folder_(folder) {}

    Result<TourStop> read(const TourSection& section, TourError& error) {
        section_ = &section;
        error_ = &error;
        stop_.heading = section.heading;
        stop_.line = section.line;
        stop_.cell.reset();
        stop_.place = {};
        stop_.also.clear();
        stop_.kernel_fault = {};
        stop_.instruction = {};
        stop_.kernel_break.clear();
        stop_.notes.clear();
        const bool fine =
            problem() && take_given("with", &StopReader::with) && lesson() &&
            take_given("notation", &StopReader::notation) && take_given("division", &StopReader::division) &&
            fault() && build() && take_given("step", &StopReader::step) &&
            take_given("cell", &StopReader::cell) && take_given("highlight", &StopReader::highlight) &&
            take_given("kernel_fault", &StopReader::kernel_fault) &&
            take_given("kernel", &StopReader::kernel) &&
            take_given("kernel_break", &StopReader::kernel_break) &&
            take_given("launch", &StopReader::launch) &&
            take_given("instruction", &StopReader::instruction) &&
            take_given("presenter", &StopReader::presenter) && take_given("side", &StopReader::side) &&
            take_given("notes", &StopReader::notes) && text();
        if (!fine) return Failure{error.what};
        return stop_;
    }

private:
    const TourSetting* setting(const char* key) {
        const auto found = section_->settings.find(key);
        line_ = found == section_->settings.end() ? section_->line : found->second.line;
        return found == section_->settings.end() ? nullptr : &found->second;
    }
    // What a setting says, where it is there.
    bool take_given(const char* key, bool (StopReader::*method)(const std::string& value)) {
        const TourSetting* there = setting(key);
        return !there || (this->*method)(there->value);
    }
    bool fail(const std::string& what) {
        *error_ = {line_, what};
        return false;
    }
    bool no_such(const std::string& kind, const std::string& word, const std::vector<std::string>& known) {
        return no_such(kind, word, known, such_as(known));
    }
    bool no_such(const std::string& kind, const std::string& word, const std::vector<std::string>& known,
                 const std::string& otherwise) {
        return fail("there is no " + kind + " " + in_quotes(word) + did_you_mean(word, known, otherwise));
    }
    static std::string such_as(const std::vector<std::string>& names) {
        return "; there are " + joined(names);
    }

    bool problem() {
        const TourSetting* given = setting("problem");
        if (!given) return problem_ || fail("the first stop names no problem; \"- problem: worked-4x4\"");
        if (given->value.ends_with(".json")) return problem_file(given->value);
        if (given->value.starts_with("random ")) return random_numbers(given->value.substr(7));
        if (const Problem* example = find_example(given->value)) return take(*example);
        return no_such("example", given->value, names_of(examples(), &Problem::name),
                       "; 'tilewalk examples' lists them");
    }
    // "80x64"
    bool random_numbers(const std::string& size) {
        const std::size_t by = std::min(size.find('x'), size.size() - 1);
        const auto N = number_in<int>(size.substr(0, by)), d = number_in<int>(size.substr(by + 1));
        if (!N || !d) return fail("expected a size such as 80x64 in place of " + in_quotes(size));
        Result<Problem> made = random_problem(*N, *d, 1);
        return made ? take(std::move(*made)) : fail(made.error);
    }
    bool problem_file(const std::string& name) {
        const auto path = (std::filesystem::path(folder_) / name).string();
        Result<Problem> read = load_problem_file(path);
        return read ? take(std::move(*read)) : fail(read.error);
    }
    // "sink=1 splits=2,1,1"; "heads=4x2" makes up the other heads.
    bool with(const std::string& value) {
        LinkedPlace place;
        place.problem = *problem_;
        for (const std::string& word : words_of(value))
            if (!change(place, word.substr(0, word.find('=')),
                        word.substr(std::min(word.find('='), word.size() - 1) + 1)))
                return false;
        if (const auto sentence = validate(place.problem)) return fail(*sentence);
        return take(std::move(place.problem));
    }
    bool change(LinkedPlace& place, const std::string& name, const std::string& value) {
        const bool choice = lists(choice_names, name);
        const auto key = std::ranges::find(linked::keys(), name, &linked::Key::name);
        if (key == linked::keys().end() || (!choice && !lists(change_names, name))) {
            std::vector<std::string> known = change_names;
            known.insert(known.end(), choice_names.begin(), choice_names.end());
            return no_such("change", name, known);
        }
        if (!choice && !place.problem.name.empty()) mark_changed(place.problem);
        if (name == "heads") return give_heads_said(place.problem, value);
        return key->read(place, value) ||
               fail(name + " is " + in_quotes(value) + ", expected " + key->expected);
    }
    bool give_heads_said(Problem& problem, const std::string& value) {
        const std::size_t by = std::min(value.find('x'), value.size());
        const auto H = number_in<int>(value.substr(0, by)),
                   H_kv = by < value.size() ? number_in<int>(value.substr(by + 1)) : std::nullopt;
        if (!H || !H_kv || *H < 1 || *H_kv < 1 || *H > most_heads || *H % *H_kv != 0)
            return fail("expected query heads x key heads, such as heads=4x2, in place of " +
                        in_quotes(value));
        give_heads(problem, *H, *H_kv);
        return true;
    }
    bool take(Problem problem) {
        problem_ = std::make_shared<const Problem>(std::move(problem));
        changed_ = true;
        return true;
    }

    bool lesson() {
        const TourSetting* given = setting("lesson");
        if (given) stop_.page = lists(names_.pages, given->value) ? given->value : "";
        if (!given || !stop_.page.empty()) return stop_.lesson || (stop_.lesson = &default_lesson());
        const Lesson* found = find_lesson(given->value);
        if (!found) {
            std::vector<std::string> known = names_of(lessons(), &Lesson::id);
            known.insert(known.begin(), names_.pages.begin(), names_.pages.end());
            return no_such("lesson", given->value, known, "; 'tilewalk lessons' lists them");
        }
        changed_ |= found != stop_.lesson;
        stop_.lesson = found;
        return true;
    }

    // How the softmax lessons write the running sum, and when they divide.
    bool notation(const std::string& value) {
        if (!lists(notation_names, value)) return no_such("notation", value, notation_names);
        const auto at = std::ranges::find(notation_names, value) - notation_names.begin();
        notation_ = static_cast<Notation>(at);
        return changed_ = true;
    }
    bool division(const std::string& value) {
        if (!lists(division_names, value)) return fail("division is each or end");
        divide_each_ = value == division_names.front();
        return changed_ = true;
    }

    bool fault() {
        if (const TourSetting* given = setting("fault")) {
            const auto known = fault_names(*stop_.lesson);
            if (!lists(known, given->value))
                return fail("the lesson " + std::string(stop_.lesson->id) + " knows no fault " +
                            in_quotes(given->value) + did_you_mean(given->value, known, such_as(known)));
            fault_ = find_fault(given->value);
            changed_ = true;
        }
        if (!changed_) return true;
        Problem broken = *problem_;
        if (fault_) broken.switches.*(fault_->on) = true;
        if (notation_) broken.options.notation = *notation_;
        if (divide_each_) broken.options.normalised = *divide_each_;
        stop_.problem = std::make_shared<const Problem>(std::move(broken));
        return true;
    }

    // A walk that is shown again is not built again.
    bool build() {
        line_ = section_->line;
        if (!changed_) return true;
        auto built = build_trace(*stop_.lesson, *stop_.problem);
        if (!built) return fail(built.error);
        trace_ = *built;
        stop_.step = 0;
        changed_ = false;
        return true;
    }

    bool step(const std::string& value) {
        const auto words = words_of(value);
        const std::string& first = words.front();
        if (words.size() == 1 && first == "last") return stop_.step = trace_->size() - 1, true;
        if (const auto number = number_in<int>(first)) {
            if (words.size() > 1 || *number < 1 || *number > trace_->size())
                return fail("there is no step " + in_quotes(value) + "; the walk has steps 1 to " +
                            str(trace_->size()));
            return stop_.step = *number - 1, true;
        }
        return step_by_meaning(words);
    }
    bool step_by_meaning(const std::vector<std::string>& words) {
        StepQuery query;
        query.op = words.front();
        std::set<std::string> ops;
        for (int k = 0; k < trace_->size(); ++k) ops.insert(name(trace_->step(k).op));
        if (!ops.contains(query.op))
            return no_such("step", query.op, {ops.begin(), ops.end()},
                           such_as({ops.begin(), ops.end()}) + "; or a number, or last");
        for (const std::string& word : std::span(words).subspan(1)) {
            const auto number = word.size() > 2 ? number_in<int>(word.substr(2)) : std::nullopt;
            const std::string key = number && *number >= 0 ? word.substr(0, 2) : "";
            if (key == "i=")
                query.i = number;
            else if (key == "j=")
                query.j = number;
            else if (key == "n=")
                query.n = *number;
            else
                return fail("expected i=0, j=0 or n=1 in place of " + in_quotes(word));
        }
        const auto found = find_step(*trace_, query);
        if (!found) return fail("the walk has no step " + in_quotes(section_->settings.at("step").value));
        return stop_.step = *found, true;
    }

    std::optional<CellRef> cell_called(const std::string& text) {
        const auto words = read_cell(text);
        if (!words) {
            fail("expected a cell such as m[0] or S[0,2] in place of " + in_quotes(text));
            return std::nullopt;
        }
        const auto found = find_cell(*trace_, *words, stop_.step);
        if (!found) fail("there is no cell " + in_quotes(text) + " at step " + str(stop_.step + 1));
        return found;
    }
    bool cell(const std::string& value) { return (stop_.cell = cell_called(value)).has_value(); }

    // "matrix Q and matrix K": the first is the stop's place
    bool highlight(const std::string& value) {
        constexpr std::string_view between = " and ";
        const std::size_t first = value.find(between);
        if (!one_highlight(value.substr(0, first))) return false;
        const TourPlace place = stop_.place;
        for (std::size_t at = first; at != std::string::npos;) {
            const std::size_t from = at + between.size();
            at = value.find(between, from);
            stop_.place = {};
            if (!one_highlight(value.substr(from, at - from))) return false;
            stop_.also.push_back(stop_.place);
        }
        stop_.place = place;
        return true;
    }
    // "panel SRAM", "cell S[0,2] in HBM"
    bool one_highlight(const std::string& value) {
        const std::size_t space = value.find(' ');
        const std::string kind = value.substr(0, space);
        std::string what = space == std::string::npos ? "" : value.substr(space + 1);
        if (what.empty() && (kind == "timeline" || kind == "formula"))
            return named(TourPlace::Kind::panel, kind == "timeline" ? "Timeline" : "Explanation");
        if (const std::size_t in = what.find(" in "); in != std::string::npos) {
            stop_.place.within = what.substr(in + 4);
            what.resize(in);
            if (!known_panel(stop_.place.within)) return false;
        }
        if (kind == "panel") return named(TourPlace::Kind::panel, what) && known_panel(what);
        if (kind == "button") return named(TourPlace::Kind::button, what) && known_button(what);
        if (kind == "cell") return place_of_cell(what);
        if (kind == "matrix") return place_of_matrix(what);
        return fail("expected panel, button, cell, matrix, timeline or formula in place of " +
                    in_quotes(kind));
    }
    bool named(TourPlace::Kind kind, const std::string& name) {
        stop_.place.kind = kind;
        stop_.place.name = name;
        return true;
    }
    bool known_panel(const std::string& name) {
        const std::vector<std::string>& panels =
            names_.panels.at(stop_.page.empty() ? stop_.lesson->id : stop_.page);
        return lists(panels, name) || no_such("panel", name, panels);
    }
    bool known_button(const std::string& name) {
        return lists(names_.buttons, name) || no_such("button", name, names_.buttons);
    }
    bool place_of_cell(const std::string& name) {
        const auto cell = cell_called(name);
        if (!cell) return false;
        stop_.place.kind = TourPlace::Kind::cell;
        stop_.place.cell = *cell;
        return true;
    }
    bool place_of_matrix(const std::string& name) {
        const auto slots = slots_called(name);
        if (slots.empty()) return fail("there is no matrix " + in_quotes(name));
        for (const Slot slot : slots)
            for (int tile = 0; tile < trace_->tiles(slot); ++tile)
                if (const Held held = trace_->live(slot, tile, stop_.step)) {
                    stop_.place.kind = TourPlace::Kind::matrix;
                    const Region& at = held.value->region;
                    stop_.place.cell = {slot, at.row, at.col};
                    if (held.step == stop_.step) return true;
                }
        return stop_.place.kind == TourPlace::Kind::matrix ||
               fail("there is no matrix " + in_quotes(name) + " at step " + str(stop_.step + 1));
    }

    // "O i=0 j=1 row=7 amount=0.05"
    bool kernel_fault(const std::string& value) {
        if (stop_.page != "compare") return fail("a kernel_fault belongs to a stop of the page compare");
        const auto words = words_of(value);
        const auto quantity = find_quantity(words.front());
        if (!quantity)
            return fail("what can be made wrong in a kernel is S, m, alpha, P, l or O, not " +
                        in_quotes(words.front()));
        stop_.kernel_fault.quantity = *quantity;
        return std::ranges::all_of(std::span(words).subspan(1),
                                   [this](const std::string& word) { return place_of_fault(word); });
    }
    bool place_of_fault(const std::string& word) {
        KernelFault& fault = stop_.kernel_fault;
        const std::size_t equals = std::min(word.find('='), word.size() - 1);
        const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
        if (name == "amount") {
            const auto amount = linked::finite(value);
            fault.amount = amount.value_or(0);
            return fault.amount != 0 ||
                   fail("expected an amount such as 0.05 in place of " + in_quotes(value));
        }
        const std::pair<const char*, int*> places[] = {
            {"i", &fault.i}, {"j", &fault.j}, {"row", &fault.row}, {"column", &fault.column}};
        const auto place = std::ranges::find(places, name, [](const auto& known) { return known.first; });
        const auto number = number_in<int>(value);
        if (place == std::end(places) || !number || *number < 0)
            return fail("expected i=0, j=0, row=0, column=0 or amount=0.05 in place of " + in_quotes(word));
        *place->second = *number;
        return true;
    }

    // "f5-flash2 f16"
    bool kernel(const std::string& value) {
        if (stop_.page != "inside") return fail("a kernel belongs to a stop of the page inside");
        const auto words = words_of(value);
        const auto known = names_.kernels.find(words.front());
        if (known == names_.kernels.end()) {
            std::vector<std::string> all;
            for (const auto& [name, types] : names_.kernels) all.push_back(name);
            return no_such("kernel", words.front(), all);
        }
        const std::vector<DType>& types = known->second;
        const auto type = std::ranges::find_if(
            types, [&](DType one) { return words.size() == 1 || words[1] == name_of(one); });
        if (words.size() > 2 || type == types.end())
            return fail("the kernel " + words.front() + " takes " + joined(names_of_types(types)) + ", not " +
                        in_quotes(value.substr(std::min(words.front().size() + 1, value.size()))));
        stop_.kernel = words.front(), stop_.dtype = *type;
        return true;
    }
    static std::vector<std::string> names_of_types(const std::vector<DType>& types) {
        std::vector<std::string> out;
        for (const DType type : types) out.emplace_back(name_of(type));
        return out;
    }
    // "f5_flash2.cu:69", "swizzle"; which there are tells only a run
    bool kernel_break(const std::string& value) {
        if (stop_.page != "inside") return fail("a kernel_break belongs to a stop of the page inside");
        stop_.kernel_break = value;
        return !value.empty() || fail("kernel_break names what the run goes without");
    }
    // "2"; how many there are tells only a run
    bool launch(const std::string& value) {
        if (stop_.page != "inside") return fail("a launch belongs to a stop of the page inside");
        const auto number = number_in<int>(value);
        if (!number || *number < 1 || *number > most_launches)
            return fail("expected a launch from 1 in place of " + in_quotes(value));
        stop_.instruction.launch = *number;
        return true;
    }
    // "multiply_add n=2 warp=1 lane=13", or a number
    bool instruction(const std::string& value) {
        if (stop_.page != "inside") return fail("an instruction belongs to a stop of the page inside");
        inside::StepQuery& query = stop_.instruction;
        const auto words = words_of(value);
        query.op = inside::find_op(words.front());
        const auto number = query.op ? std::nullopt : number_in<int>(words.front());
        if (!query.op && !number) return no_such("instruction", words.front(), names_of_ops());
        query.n = number.value_or(1);
        const std::pair<const char*, std::pair<int*, int>> places[] = {{"n", {&query.n, most_instructions}},
                                                                       {"warp", {&query.warp, 31}},
                                                                       {"lane", {&query.lane, 31}},
                                                                       {"cell", {&query.cell, 3}}};
        for (const std::string& word : std::span(words).subspan(1)) {
            const std::size_t equals = std::min(word.find('='), word.size() - 1);
            const auto place = std::ranges::find(places, word.substr(0, equals),
                                                 [](const auto& known) { return std::string(known.first); });
            const auto said = number_in<int>(word.substr(equals + 1));
            if (place == std::end(places) || !said || *said < 0 || *said > place->second.second)
                return fail("expected n=1, warp=0, lane=13 or cell=0 in place of " + in_quotes(word));
            *place->second.first = *said;
        }
        return query.n >= 1 || fail("instructions are counted from 1");
    }
    static std::vector<std::string> names_of_ops() {
        std::vector<std::string> out;
        for (int n = 0; n < static_cast<int>(inside::Op::count); ++n)
            out.emplace_back(inside::info(static_cast<inside::Op>(n)).name);
        return out;
    }

    bool presenter(const std::string& value) {
        if (value != "yes" && value != "no") return fail("presenter is yes or no");
        stop_.presenter = value == "yes";
        return true;
    }
    bool side(const std::string& value) {
        if (!lists(side_names, value)) return no_such("side", value, side_names);
        stop_.side = value;
        return true;
    }

    bool numbers_known(const Line& line) {
        for (const Span& span : line)
            if (span.face == Span::Face::number)
                if (auto filled = fill_placeholder(*trace_, stop_.step, span.text); !filled)
                    return fail(filled.error);
        return true;
    }
    bool few_letters(const char* what, const std::vector<Line>& text, const char* where, int most) {
        const int letters = letters_of(text);
        return letters <= most || fail(std::string(what) + " " + str(letters) + " letters; the " + where +
                                       " holds " + str(most));
    }

    bool notes(const std::string& value) {
        auto styled = styled_line(value);
        if (!styled) return fail(styled.error);
        stop_.notes = std::move(*styled);
        return numbers_known(stop_.notes) && few_letters("the notes have", {filled_notes(stop_, *trace_)},
                                                         "page of notes", most_notes_letters);
    }

    bool text() {
        stop_.text.clear();
        line_ = section_->line;
        if (section_->text.empty()) return fail("the stop has no text");
        if (letters_in(section_->heading) > most_heading_letters)
            return fail("the heading has " + str(letters_in(section_->heading)) +
                        " letters; the card holds " + str(most_heading_letters));
        for (const TourParagraph& paragraph : section_->text) {
            line_ = paragraph.line;
            if (!numbers_known(paragraph.text)) return false;
            stop_.text.push_back(paragraph.text);
        }
        line_ = section_->line;
        return few_letters("the text has", filled_text(stop_, *trace_), "card", most_stop_letters);
    }

    const TourNames& names_;
    const std::string folder_;
    const TourSection* section_ = nullptr;
    TourError* error_ = nullptr;
    int line_ = 0;
    TourStop stop_;
    std::shared_ptr<const Problem> problem_;  // without the fault
    const Fault* fault_ = nullptr;
    std::optional<Notation> notation_;  // as the problem has it where nothing is said
    std::optional<bool> divide_each_;
    std::shared_ptr<const Trace> trace_;
    bool changed_ = false;
};

Failure at(const std::string& where, const TourError& error) {
    const bool ends = error.what.ends_with('.') || error.what.ends_with('?');
    return {short_path(where) + ", line " + str(error.line) + ": " + error.what + (ends ? "" : ".")};
}

}  // namespace

Result<TourScript> parse_tour(std::string_view text, const std::string& where, const TourNames& names,
                              const std::string& folder) {
    std::vector<TourError> errors;
    const TourOutline outline = outline_of(text, setting_names, errors);
    if (!errors.empty()) return at(where, errors.front());
    if (outline.title.empty()) return failure_at(where, "there is no title, expected a line \"# My tour\"");
    if (outline.sections.empty())
        return failure_at(where, "the tour has no stop, expected \"## \" and a heading");
    if (outline.sections.size() > most_tour_stops)
        return failure_at(where, "the tour has " + str(outline.sections.size()) + " stops, at most " +
                                     str(most_tour_stops) + " are taken");
    TourScript script{outline.title, {}};
    for (const TourChapterLine& chapter : outline.chapters) {
        if (const int letters = letters_in(chapter.name); letters > most_chapter_letters)
            return at(where, {chapter.line, "the chapter's name has " + str(letters) +
                                                " letters; the card holds " + str(most_chapter_letters)});
        script.chapters.push_back({chapter.name, static_cast<int>(chapter.section)});
    }
    StopReader reader(names, folder);
    for (const TourSection& section : outline.sections) {
        TourError error;
        auto stop = reader.read(section, error);
        if (!stop) return at(where, error);
        script.stops.push_back(std::move(*stop));
    }
    return script;
}

Result<TourScript> load_tour_file(const std::string& path, const TourNames& names) {
    const auto text = read_file(path, most_tour_bytes);
    if (!text) return Failure{text.error};
    return parse_tour(*text, path, names, std::filesystem::path(path).parent_path().string());
}

Result<TourScript> load_tour(const std::string& name, const TourNames& names) {
    for (const EmbeddedFile& file : embedded_tour())
        if (name == file.name) return parse_tour(file.text, name + ".md", names);
    std::error_code none;
    if (std::filesystem::exists(name, none)) return load_tour_file(name, names);
    const std::vector<std::string> own = names_of(embedded_tour(), &EmbeddedFile::name);
    const bool one = own.size() == 1;
    return Failure{short_path(name) + ": there is no such file, and no such tour" +
                   did_you_mean(name, own,
                                std::string(one ? "; the program's own is " : "; the program has ") +
                                    joined(own) + ".")};
}

}  // namespace tilewalk

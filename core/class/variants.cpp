#include "core/class/variants.h"

#include "core/base/words.h"
#include "core/class/questions_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace tilewalk {
namespace {

constexpr int largest = 16;      // rows and columns of a problem for paper
constexpr int most_draws = 400;  // of one variant, until its numbers suit
constexpr int drawn_to_select = 4;

using Kind = Question::Kind;

// Another problem has other numbers, and so another answer.
bool varies(const Question& q) { return quiz::about_cells(q) || q.kind == Kind::maximum_rises; }

// 0 and 1 are easily guessed, −∞ is no number for a form, an empty start tells nothing, and 10⁻¹⁶ stands
// where a sum should have been 0.
bool suits(const Question& q) {
    if (q.text.find("×10") != std::string::npos) return false;
    if (quiz::about_cells(q))
        return !quiz::easily_guessed(q) && std::ranges::all_of(q.numbers(), [](const Question& one) {
            return std::isfinite(one.expected);
        });
    return q.kind != Kind::maximum_rises || q.text.find("−∞") == std::string::npos;
}

Matrix random_tenths(std::uint64_t seed, Eigen::Index rows, Eigen::Index cols) {
    Matrix out(rows, cols);
    for (Eigen::Index n = 0; n < out.size(); ++n)
        out.data()[n] = (static_cast<double>(mixed(seed, static_cast<std::uint64_t>(n)) % 31) - 15) / 10;
    return out;
}

// What one variant of one question is looked for among.
struct Draw {
    std::shared_ptr<const Trace> trace;
    std::vector<Question> questions;
};

// Without an input of its own X is the identity, and a product with it is a number that stands there already:
// a lesson that begins with X gets one, as wide as the heads.
Problem with_input(const Lesson& lesson, Problem shape) {
    const bool begins_with_X = std::ranges::count(lesson.inputs, Slot::X) > 0;
    if (!begins_with_X || shape.projection || shape.heads || shape.N() != shape.N_kv()) return shape;
    const Eigen::Index d = shape.d();
    shape.projection = Projection{Matrix::Zero(shape.N(), d), Matrix::Zero(d, d), Matrix::Zero(d, d),
                                  Matrix::Zero(d, shape.V.cols())};
    return shape;
}

Problem drawn_problem(const VariantsWanted& wanted, std::uint64_t seed) {
    return with_other_numbers(with_input(*wanted.lesson, wanted.shape), seed);
}

Result<Draw> draw(const VariantsWanted& wanted, int step, std::uint64_t seed) {
    const auto trace = build_trace(*wanted.lesson, drawn_problem(wanted, seed));
    if (!trace) return Failure{trace.error};
    return Draw{*trace, questions_before(**trace, step, wanted.seed, wanted.gaps)};
}

// How many common mistakes it could explain.
std::size_t mistakes_in(const Question& q) {
    std::size_t out = 0;
    for (const Question& part : q.parts()) out += part.wrong.size();
    return out;
}

// Whether it is the same question with other numbers.
bool same_question(const Question& a, const Question& b) {
    return a.kind == b.kind && a.target == b.target && a.explanation.target == b.explanation.target;
}

Result<std::vector<Variant>> variants_of(const VariantsWanted& wanted, const Question& asked) {
    std::vector<Variant> out;
    std::set<std::string> texts;
    std::uint64_t own = mixed(wanted.seed, static_cast<std::uint64_t>(asked.step));
    // A step that is asked about twice has two problems: one question would tell the answer of the other.
    if (!quiz::about_cells(asked)) own = mixed(own, static_cast<std::uint64_t>(asked.kind));
    for (int n = 0; n < (varies(asked) ? wanted.variants : 1); ++n) {
        const std::size_t before = out.size();
        for (int tries = 0; tries < most_draws && out.size() == before; ++tries) {
            auto drawn =
                draw(wanted, asked.step,
                     mixed(mixed(own, static_cast<std::uint64_t>(n)), static_cast<std::uint64_t>(tries)));
            if (!drawn) return Failure{drawn.error};
            // As instructive as the one that was selected, if that can be had: α is not 1 everywhere.
            const std::size_t least = tries < 20 ? mistakes_in(asked) : 0;
            for (Question& q : drawn->questions)
                if (same_question(q, asked) && suits(q) && mistakes_in(q) >= least &&
                    texts.insert(q.text).second)
                    out.push_back({drawn->trace->problem(), std::move(q)});
        }
        if (out.size() == before)
            return Failure{"Step " + str(asked.step + 1) + " has no more than " + str(n) +
                           " different questions of this shape, but --variants is " + str(wanted.variants) +
                           "."};
    }
    return out;
}

// The most instructive question of each kind, and of each op where it is about a number: the one with the
// most likely wrong answers, the first of those.
class Selection {
public:
    void offer(const Trace& trace, const Question& q) {
        const bool plain_order = q.kind == Kind::next_op || q.kind == Kind::read_from_hbm ||
                                 q.kind == Kind::total_read || q.kind == Kind::bytes_written;
        if (plain_order || !suits(q)) return;
        const int op =
            q.kind == Kind::value || q.kind == Kind::gaps ? static_cast<int>(trace.step(q.step).op) : 0;
        const auto [place, is_new] = best_.try_emplace({static_cast<int>(q.kind), op}, q);
        const auto rank = [](const Question& one) { return std::pair(mistakes_in(one), -one.step); };
        if (!is_new && rank(q) > rank(place->second)) place->second = q;
    }
    std::vector<Question> take() const {
        std::vector<Question> out;
        for (const auto& [key, q] : best_) out.push_back(q);
        std::ranges::stable_sort(out, {}, &Question::step);
        return out;
    }

private:
    std::map<std::pair<int, int>, Question> best_;
};

// The first of these kinds that there is at the step.
const Question* preferred(const std::vector<Question>& all) {
    constexpr std::array order = {Kind::gaps,          Kind::value,         Kind::maximum_rises,
                                  Kind::skipped_tiles, Kind::flops,         Kind::bytes_read,
                                  Kind::bytes_written, Kind::read_from_hbm, Kind::next_op};
    for (const Kind kind : order)
        for (const Question& q : all)
            if (q.kind == kind && suits(q)) return &q;
    return nullptr;
}

Result<std::vector<Question>> select(const VariantsWanted& wanted) {
    Selection selection;
    std::optional<Question> at_step;
    for (int n = 0; n < drawn_to_select; ++n) {
        const auto trace = build_trace(
            *wanted.lesson, drawn_problem(wanted, mixed(wanted.seed, static_cast<std::uint64_t>(n))));
        if (!trace) return Failure{trace.error};
        const int steps = (*trace)->size();
        if (wanted.step && (*wanted.step < 0 || *wanted.step >= steps))
            return Failure{"--step is \"" + str(*wanted.step + 1) + "\", expected a whole number from 1 to " +
                           str(steps) + "."};
        for (int k = wanted.step.value_or(0); k < (wanted.step ? *wanted.step + 1 : steps); ++k) {
            const std::vector<Question> all = questions_before(**trace, k, wanted.seed, wanted.gaps);
            for (const Question& q : all) selection.offer(**trace, q);
            const Question* q = wanted.step ? preferred(all) : nullptr;
            // As a selection does: the one with the most likely wrong answers, so that no variant is easier.
            const auto rank = [](const Question& one) { return std::pair(varies(one), mistakes_in(one)); };
            if (q && (!at_step || rank(*q) > rank(*at_step))) at_step = *q;
        }
    }
    if (!wanted.step) return selection.take();
    if (at_step) return std::vector{*at_step};
    return Failure{"There is no question about step " + str(*wanted.step + 1) +
                   " on paper; choose another one, or leave --step out."};
}

std::string what_is_asked(const Question& q) {
    if (!q.is_choice()) return q.target;
    return q.kind == Kind::maximum_rises   ? "does the maximum rise"
           : q.kind == Kind::skipped_tiles ? "skipped tiles"
           : q.kind == Kind::read_from_hbm ? "what is read"
                                           : "the next step";
}

// "Row sum, tile (0, 1), ℓ[0]"; what comes next is not told by the title.
std::string title_of(const Trace& trace, const Question& q) {
    if (q.kind == Kind::next_op) return "Order, " + what_is_asked(q);
    const Explanation e = explain(trace, q.step);
    const std::string form =
        quiz::about_cells(q) ? quiz::form_of_part(trace, q.step, q.explanation.target.slot) : "";
    return quiz::step_words(trace, q.step, e) + ", " + what_is_asked(q) + (form.empty() ? "" : ", " + form);
}

std::optional<std::string> refuse_shape(const Problem& p) {
    if (p.broken())
        return "A walk that is broken or rounds on purpose has no right answers; leave out --break and "
               "--precision.";
    if (p.N() > largest || p.N_kv() > largest || p.d() > largest || p.V.cols() > largest)
        return "Questions for paper need a small problem: at most " + str(largest) + " rows and " +
               str(largest) + " columns.";
    return {};
}

}  // namespace

Problem with_other_numbers(const Problem& shape, std::uint64_t seed) {
    Problem p = shape;
    p.name.clear();
    p.watch.clear();
    p.title = "Random numbers";
    p.seed.reset();
    std::uint64_t nth = 0;
    const auto fill = [&](Matrix& A) { A = random_tenths(mixed(seed, ++nth), A.rows(), A.cols()); };
    p.dO = p.Q;
    if (p.projection) {
        for (Matrix* A : {&p.projection->X, &p.projection->W_Q, &p.projection->W_K, &p.projection->W_V})
            fill(*A);
        project(p);
    } else
        for (Matrix* A : {&p.Q, &p.K, &p.V}) fill(*A);
    fill(*p.dO);
    return p;
}

Result<std::vector<AskedOfAll>> make_variants(const VariantsWanted& wanted) {
    if (auto sentence = refuse_shape(wanted.shape)) return Failure{*sentence};
    const auto selected = select(wanted);
    if (!selected) return Failure{selected.error};
    std::vector<AskedOfAll> out;
    for (const Question& asked : *selected) {
        auto variants = variants_of(wanted, asked);
        if (!variants && wanted.step) return Failure{variants.error};
        if (!variants) continue;  // a selection does without it
        const auto trace = build_trace(*wanted.lesson, variants->front().problem);
        out.push_back({asked.step, (*trace)->size(), title_of(**trace, asked), std::move(*variants)});
    }
    if (out.empty())
        return Failure{"No step of this walk has a question for paper; choose a smaller problem."};
    return out;
}

}  // namespace tilewalk

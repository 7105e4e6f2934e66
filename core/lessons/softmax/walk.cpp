#include "core/base/exactly.h"
#include "core/lessons/shared/running_words.h"
#include "core/lessons/softmax/parts.h"
#include "core/problem/logits.h"
#include "core/problem/mask.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

Matrix one(double value) { return Matrix::Constant(1, 1, value); }

// The loop bodies that the passes are put together from. All tiles are one row high: m, α, p, the sum and a
// are single numbers (1 × 1), the output is a row (1 × d).
struct Walk {
    using Step = void (Walk::*)(int j);

    Recorder& rec;
    const Problem& p;
    int R = softmax_row(p), passes = 0;
    std::int64_t d = p.d();
    Region cell{R, 0, 1, 1}, out{R, 0, 1, p.d()};
    bool sees_a_key = visible_keys(p, R).first <= visible_keys(p, R).last;

    Walk(Recorder& recorder, const Problem& problem) : rec(recorder), p(problem) {
        rec.give(Slot::x, softmax_scores(p), 1, 1, R);
        rec.give(Slot::V, p.V, 1);
    }

    // m ← −∞, sum ← 0, output ← 0, as far as this pass computes them; then its steps for each element
    void pass(std::initializer_list<Slot> starts, std::initializer_list<Step> steps) {
        rec.phase(passes++);
        rec.begin(Op::init);
        for (Slot slot : starts) {
            const Region& place = slot == Slot::Oi ? out : cell;
            rec.write(slot, Matrix::Constant(1, place.cols, slot == Slot::m ? minus_infinity : 0), place);
        }
        rec.end();
        for (int j = 0; j < p.N_kv(); ++j)
            for (Step step : steps) (this->*step)(j);
    }

    double number(Slot slot) { return rec.read(slot)(0, 0); }

    void load_score(int j) {
        rec.begin(Op::load_x, -1, j);
        rec.load(Slot::x, j, Slot::S);
        rec.end();
    }

    // The score together with its value
    void load_pair(int j) {
        rec.begin(Op::load_x, -1, j);
        rec.load(Slot::x, j, Slot::S);
        rec.load(Slot::V, j, Slot::Vj);
        rec.end();
    }

    // m ← max(m, xⱼ)
    void maximum(int j) {
        rec.begin(Op::new_max, -1, j);
        const double m = number(Slot::m), x = number(Slot::S);
        rec.write(Slot::m, one(std::max(m, x)), cell);
        rec.end(1);
    }

    // A row that has seen no key yet has m = −∞; 0 stands in for it, so that α and p become 0 instead of NaN.
    static double base(double m) { return m == minus_infinity ? 0 : m; }

    // α = exp(m_old − m)
    void correction(int j) {
        rec.begin(Op::correction, -1, j);
        const double before = rec.read_previous(Slot::m)(0, 0), now = number(Slot::m);
        rec.write(Slot::alpha, one(exp_exactly(before - base(now))), cell);
        rec.end(2);
    }

    // p = exp(xⱼ − m)
    void weight(int j) {
        rec.begin(Op::exponentials, -1, j);
        const double x = number(Slot::S), m = number(Slot::m);
        rec.write(Slot::P, one(exp_exactly(x - base(m))), {R, j, 1, 1});
        rec.end(2);
    }

    // p = exp(xⱼ), as the textbook has it: ∞ where the score is large
    void dense_weight(int j) {
        rec.begin(Op::exponentials, -1, j);
        rec.write(Slot::P, one(exp_exactly(number(Slot::S))), {R, j, 1, 1});
        rec.end(1);
    }

    // sum ← sum + p: right as long as m does not change any more
    void plain_sum(int j) {
        rec.begin(Op::row_sum, -1, j);
        const double sum = number(Slot::l), weight = number(Slot::P);
        rec.write(Slot::l, one(sum + weight), cell);
        rec.end(1);
    }

    // sum ← α sum + p
    void online_sum(int j) {
        rec.begin(Op::row_sum, -1, j);
        const double alpha = number(Slot::alpha), sum = number(Slot::l), weight = number(Slot::P);
        rec.write(Slot::l, one(alpha * sum + weight), cell);
        rec.end(2);
    }

    // a = exp(xⱼ − m) / sum with the final m and sum. A row that sees no key has a sum of 0; all its a are 0.
    void share(int j) {
        rec.begin(Op::divide, -1, j);
        const double x = number(Slot::S), m = number(Slot::m), sum = number(Slot::l);
        rec.write(Slot::Prob, one(sum == 0 ? 0 : exp_exactly(x - base(m)) / sum), {R, j, 1, 1});
        rec.end(3);
    }

    // a = exp(xⱼ) / sum: ∞ / ∞ and 0 / 0 are NaN. A row that sees no key has all its a 0.
    void dense_share(int j) {
        rec.begin(Op::divide, -1, j);
        const double x = number(Slot::S), sum = number(Slot::l);
        rec.write(Slot::Prob, one(sees_a_key ? exp_exactly(x) / sum : 0), {R, j, 1, 1});
        rec.end(2);
    }

    // o ← o + a Vⱼ
    void plain_output(int j) {
        rec.begin(Op::output, -1, j);
        const Matrix& o = rec.read(Slot::Oi);
        const double a = number(Slot::Prob);
        const Matrix& V = rec.read(Slot::Vj);
        rec.write(Slot::Oi, o + a * V, out);
        rec.end(2 * d);
    }

    // o′ ← o′ (sum_old / sum) α + (p / sum) Vⱼ: an average of the values at every element
    void online_output(int j) {
        rec.begin(Op::output, -1, j);
        const Matrix& o = rec.read(Slot::Oi);
        const double before = rec.read_previous(Slot::l)(0, 0), now = number(Slot::l),
                     alpha = number(Slot::alpha), weight = number(Slot::P);
        const Matrix& V = rec.read(Slot::Vj);
        const double sum = now == 0 ? 1 : now;  // no key seen yet: α and p are 0, and o′ stays 0
        rec.write(Slot::Oi, (before / sum * alpha) * o + (weight / sum) * V, out);
        rec.end(3 + 3 * d);
    }

    // O ← α O + p Vⱼ: only the maximum is repaired, the division waits
    void unnormalised_output(int j) {
        rec.begin(Op::output, -1, j);
        const Matrix& o = rec.read(Slot::Oi);
        const double alpha = number(Slot::alpha), weight = number(Slot::P);
        const Matrix& V = rec.read(Slot::Vj);
        rec.write(Slot::Oi, alpha * o + weight * V, out);
        rec.end(3 * d);
    }

    // O ← O / sum
    void normalize() {
        rec.begin(Op::normalize);
        const Matrix& o = rec.read(Slot::Oi);
        const double sum = number(Slot::l);
        rec.write(Slot::Oi, o / (sum == 0 ? 1 : sum), out);
        rec.end(d);
    }

    // Store row R of O
    void store() {
        rec.begin(Op::store);
        rec.store(Slot::O, 0, rec.read(Slot::Oi), out);
        rec.end();
    }
};

void walk_dense(Recorder& rec, const Problem& p) {
    Walk walk(rec, p);
    // Pass 1: the sum of the exponentials
    walk.pass({Slot::l}, {&Walk::load_score, &Walk::dense_weight, &Walk::plain_sum});
    // Pass 2: the values, each with its share of the sum
    walk.pass({Slot::Oi}, {&Walk::load_pair, &Walk::dense_share, &Walk::plain_output});
    walk.store();
}

void walk_3pass(Recorder& rec, const Problem& p) {
    Walk walk(rec, p);
    // Pass 1: the maximum of the row
    walk.pass({Slot::m}, {&Walk::load_score, &Walk::maximum});
    // Pass 2: the sum of the weights, all measured from that maximum
    walk.pass({Slot::l}, {&Walk::load_score, &Walk::weight, &Walk::plain_sum});
    // Pass 3: the values, each with its share of the sum
    walk.pass({Slot::Oi}, {&Walk::load_pair, &Walk::share, &Walk::plain_output});
    walk.store();
}

void walk_2pass(Recorder& rec, const Problem& p) {
    Walk walk(rec, p);
    // Pass 1: maximum and sum together; when the maximum rises, α re-bases the sum
    walk.pass({Slot::m, Slot::l},
              {&Walk::load_score, &Walk::maximum, &Walk::correction, &Walk::weight, &Walk::online_sum});
    // Pass 2: the values, each with its share of the sum
    walk.pass({Slot::Oi}, {&Walk::load_pair, &Walk::share, &Walk::plain_output});
    walk.store();
}

void walk_1pass(Recorder& rec, const Problem& p) {
    Walk walk(rec, p);
    // The only pass: the output is re-based together with the sum
    const Walk::Step output = p.options.normalised ? &Walk::online_output : &Walk::unnormalised_output;
    walk.pass({Slot::m, Slot::l, Slot::Oi}, {&Walk::load_pair, &Walk::maximum, &Walk::correction,
                                             &Walk::weight, &Walk::online_sum, output});
    if (!p.options.normalised) walk.normalize();
    walk.store();
}

// ---- What a lecturer would say

std::string say_3pass(const Trace& trace, int k, const Explanation& e) {
    if (trace.step(k).op == Op::new_max) return say_new_maximum(trace, k, e, false);
    return say_weight(trace, k, e);
}

// The second pass divides, and adds up what is final already.
std::string say_2pass(const Trace& trace, int k, const Explanation& e) {
    return trace.step(k).phase == 0 ? say_running(trace, k, e) : std::string();
}

std::string say_1pass(const Trace& trace, int k, const Explanation& e) {
    if (trace.step(k).op != Op::output || !trace.problem().options.normalised)
        return say_running(trace, k, e);
    if (empty_sum(trace, k, e)) return {};
    return "The old average and the new value, each by its share of the new sum: " + plain(e.result) + ".";
}

// The weights here are measured from nothing; where one overflows, the explanation says it.
std::string say_dense(const Trace& trace, int k, const Explanation& e) {
    const Op op = trace.step(k).op;
    const bool finite = std::isfinite(trace.value(trace.writes(k).back().value).data(0, 0));
    if (op == Op::exponentials && finite) return "A score becomes a weight: " + plain(e.result) + ".";
    if (op == Op::row_sum && finite) return "The sum grows by the new weight: " + plain(e.result) + ".";
    return {};
}

// ---- The lessons

// What is each lesson's own.
struct Own {
    const char *id, *title, *summary, *tab;
    void (*walk)(Recorder&, const Problem&);
    std::string (*say)(const Trace&, int k, const Explanation&);
    Rival rival;
    std::span<const Slot> results;
    Choices choices;
};

template <SoftmaxForm form> TrafficModel model_of(const Problem& p) { return softmax_model(p, form); }

template <SoftmaxForm form> constexpr Lesson lesson_of(const Own& own) {
    return {.id = own.id,
            .title = own.title,
            .summary = own.summary,
            .chapter = ChapterId::softmax,
            .tab = own.tab,
            .picture = Picture::softmax,
            .walk = own.walk,
            .estimate = [](const Problem& p) { return softmax_bytes(p, form); },
            .code = [](const Problem& p) { return softmax_code(p, form); },
            .explain = explain_softmax,
            .say = own.say,
            .symbol = softmax_symbol,
            .indices = own_indices,
            .step_symbol = softmax_step_symbol,
            .lane = [](const Problem&, int phase) { return softmax_lane(form, phase); },
            .card = softmax_card,
            .model = model_of<form>,
            .rival = own.rival,
            .beside = nullptr,
            .results = own.results,
            .inputs = {},
            .faults = no_faults,
            .division = Division::none,
            .choices = own.choices,
            .by_cell = false,
            .one_row = true};
}

using enum SoftmaxForm;
constexpr Slot results[] = {Slot::O, Slot::m, Slot::l};
constexpr Slot dense_results[] = {Slot::O, Slot::l};
constexpr Choices row_and_letters = chooses_row | chooses_notation | takes_logits;
constexpr Rival in_three_passes{"Softmax in three passes", model_of<three_passes>,
                                "less: three passes would read the scores less often"};
constexpr Rival in_one_pass{"Softmax in one pass", model_of<one_pass>, "less: every score is read once"};

}  // namespace

constinit const Lesson softmax_dense = lesson_of<dense>({
    .id = "softmax-dense",
    .title = "Textbook softmax",
    .summary = "One row of attention as the textbooks have it: exp, sum, divide. Without the maximum a large "
               "score overflows.",
    .tab = "textbook",
    .walk = walk_dense,
    .say = say_dense,
    .rival = in_three_passes,
    .results = dense_results,
    .choices = row_and_letters,
});

constinit const Lesson softmax_3pass = lesson_of<three_passes>({
    .id = "softmax-3pass",
    .title = "Softmax in three passes",
    .summary =
        "One row of attention the safe way: the maximum, then the sum, then the output; every score is read "
        "three times.",
    .tab = "3 passes",
    .walk = walk_3pass,
    .say = say_3pass,
    .rival = in_one_pass,
    .results = results,
    .choices = row_and_letters,
});

constinit const Lesson softmax_2pass = lesson_of<two_passes>({
    .id = "softmax-2pass",
    .title = "Online softmax, two passes",
    .summary = "Maximum and sum in one pass: α mends the sum whenever the maximum rises.",
    .tab = "2",
    .walk = walk_2pass,
    .say = say_2pass,
    .rival = in_three_passes,
    .results = results,
    .choices = row_and_letters,
});

constinit const Lesson softmax_1pass = lesson_of<one_pass>({
    .id = "softmax-1pass",
    .title = "Attention in one pass",
    .summary = "Maximum, sum and output together, every score read once: FlashAttention for one row.",
    .tab = "1",
    .walk = walk_1pass,
    .say = say_1pass,
    .rival = in_three_passes,
    .results = results,
    .choices = row_and_letters | chooses_form,
});

const Lesson& softmax_lesson(SoftmaxForm form) {
    const Lesson* const lessons[] = {&softmax_dense, &softmax_3pass, &softmax_2pass, &softmax_1pass};
    return *lessons[static_cast<std::size_t>(form)];
}

SoftmaxForm softmax_form(const Trace& trace) {
    for (SoftmaxForm form : {dense, three_passes, two_passes})
        if (&trace.lesson() == &softmax_lesson(form)) return form;
    return one_pass;
}

int softmax_row(const Problem& p) { return std::clamp(p.options.row, 0, p.N() - 1); }

Matrix softmax_scores(const Problem& p) {
    const int R = softmax_row(p);
    Matrix x = capped(p, p.softmax_scale() * p.Q.row(R) * p.K.transpose());
    if (p.logits.alibi) x = biased(p, x, R, 0);
    for (int c = 0; c < p.N_kv(); ++c)
        if (!visible(p, R, c)) x(0, c) = minus_infinity;
    return x;
}

}  // namespace tilewalk

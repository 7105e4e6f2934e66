// The words and numbers of the training step: projections, the loss, and the weights.
#include "core/lessons/dense/dense.h"
#include "core/lessons/dense/explain_parts.h"

#include <cmath>
#include <cstdlib>

namespace tilewalk::dense {

namespace {

// The path that this step computes for.
const WeightPath& path_of(const View& v) {
    const Slot written = v.trace.writes(v.k).front().slot;
    for (const WeightPath& path : weight_paths)
        if (written == path.matrix || written == path.weight_gradient || written == path.weight) return path;
    std::abort();  // a step that belongs to no weights was explained as if it did
}

bool is_identity(const Value& X) {
    return X.data.isApprox(Matrix::Identity(X.data.rows(), X.data.cols()), 0);
}

bool second_pass(const View& v) { return v.step.phase == 3; }

std::string row_name(const View& v, const WeightPath& path, int r) {
    return path.matrix == Slot::Q ? query_name(v, r) : key_name(v, r);
}

// −η (‖dW_Q‖² + ‖dW_K‖² + ‖dW_V‖²): what the gradient promises for a small step.
double promised(const View& v, Numbers* squares = nullptr) {
    double total = 0;
    for (const WeightPath& path : weight_paths) {
        const double square = v.trace.live(path.weight_gradient, v.k).value->data.squaredNorm();
        total += square;
        if (squares) squares->push_back(num(square, info(path.weight).role));
    }
    if (v.problem.logits.sink) {
        const double square = v.trace.live(Slot::dsink, v.k).value->data.squaredNorm();
        total += square;
        if (squares) squares->push_back(num(square, info(Slot::sink).role));
    }
    return -v.problem.options.learning_rate * total;
}

Line change_result(double value) { return join({"change = ", Line{strong_number(num_text(value))}}); }

void promise_aside(const View& v) {
    Aside aside;
    aside.label = "promised by the gradient, for small steps";
    aside.formula = text("−η (");
    for (const WeightPath& path : weight_paths)
        aside.formula =
            join({aside.formula, path.weight == Slot::W_Q ? "‖" : " + ‖", sym(path.weight_gradient), "‖²"});
    if (v.problem.logits.sink) aside.formula = join({aside.formula, " + ", sym(Slot::dsink), "²"});
    aside.formula.push_back(word(")"));
    Numbers squares;
    const double value = promised(v, &squares);
    aside.numbers = write(product({num(-v.problem.options.learning_rate), sum(std::move(squares))}), value);
    aside.result = change_result(value);
    v.out.asides.push_back(std::move(aside));
}

void real_aside(const View& v, double before, double now) {
    Aside aside;
    aside.label = "what really happened";
    aside.formula = text("loss after − loss before");
    aside.numbers = write(difference(num(now), num(before)), now - before);
    aside.result = change_result(now - before);
    v.out.asides.push_back(std::move(aside));
}

void tell_change(const View& v, double before, double now) {
    const double promise = promised(v), real = now - before;
    const auto [from, to] = format_apart(before, now);
    const std::string move = "from " + from + " to " + to;
    const bool kept = std::abs(real - promise) <= .05 * std::abs(promise);
    v.out.kind = promise == 0                  ? (real == 0 ? 3 : 4)
                 : real == 0                   ? 5
                 : kept                        ? 6
                 : (real < 0) == (promise < 0) ? 7
                                               : 8;
    switch (v.out.kind) {
    case 3:
        v.out.why = "Nothing moved: the gradient or the learning rate is 0, and the loss stays " + to + ".";
        break;
    case 5: v.out.why = "The loss stays " + to + ": the step was too small to show, or led nowhere."; break;
    case 6:
        v.out.why =
            "The loss goes " + move + ", close to what the gradient promised: the step was short enough.";
        break;
    case 7:
        v.out.why = "The loss goes " + move + ". The gradient promised a change of " + num_text(promise) +
                    ": it speaks for very short steps only, and on the way the gradient itself changes.";
        break;
    default:
        v.out.why = "The loss goes " + move +
                    ", the wrong way: the step was so long that it left the slope behind. "
                    "A smaller learning rate would help.";
    }
}

}  // namespace

void project(const View& v) {
    const WeightPath& path = path_of(v);
    const Slot input = input_of(v.problem, path);
    const Numbers X = v.numbers_in_row(input, v.row), W = v.numbers_in_column(path.weight, v.col);
    const bool identity = is_identity(v.read(input));
    v.out.title = std::string("Project ") + info(path.matrix).symbol;
    v.out.formula = join({sym(path.matrix), "  ←  ", sym(input), " ", sym(path.weight)});
    set_sum(v, dot(X, W));
    const std::string who = row_name(v, path, v.row);
    const char* part = path.matrix == Slot::Q   ? "looks for"
                       : path.matrix == Slot::K ? "contains"
                                                : "passes on";
    v.out.kind = (second_pass(v) ? 2 : 0) + identity;
    v.out.why = second_pass(v) ? "With the new weights: what " + who + " now " + part + "."
                : identity     ? "The input is the identity: what " + who + " " + part +
                                 " is learned directly. Each position has a row of weights to itself."
                           : "What " + who + " " + part +
                                 ": the same weights for every token, so only its input makes it different.";
}

void loss(const View& v) {
    Numbers terms;
    for (int r = 0; r < v.problem.N(); ++r) {
        const Numbers dO = v.numbers_in_row(Slot::dO, r), O = v.numbers_in_row(Slot::O, r);
        for (std::size_t c = 0; c < O.size(); ++c) terms.push_back(product({dO[c], O[c]}));
    }
    v.out.formula = join({"loss  ←  sum(", sym(Slot::dO), " ⊙ ", sym(Slot::O), ")"});
    set_sum(v, sum(std::move(terms)));
    v.out.result = join({"loss = ", Line{strong_number(result_text(v))}});
    if (!second_pass(v)) {
        v.out.kind = v.read(Slot::dO).data.isZero(0) ? 1 : 0;
        v.out.why = v.out.kind == 1
                        ? "dO is 0 everywhere: no output matters, and the loss is always 0."
                        : "The simplest loss whose gradient with respect to O is exactly dO. It is "
                          "what the next layer asks of each number, times that number.";
        return;
    }
    const double before = v.trace.live(Slot::loss, v.k - 1).value->data(0, 0), now = v.result();
    tell_change(v, before, now);
    promise_aside(v);
    real_aside(v, before, now);
}

void weight_gradient(const View& v) {
    const WeightPath& path = path_of(v);
    const Slot input = input_of(v.problem, path);
    const Numbers X = v.numbers_in_column(input, v.row), gradient = v.numbers_in_column(path.gradient, v.col);
    const bool identity = is_identity(v.read(input));
    v.out.title = std::string("Gradient of ") + info(path.weight).name;
    v.out.formula =
        join({sym(path.weight_gradient), "  ←  ", transposed(sym(input)), " ", sym(path.gradient)});
    set_sum(v, dot(X, gradient));
    v.out.kind = identity;
    v.out.why =
        identity ? "The input is the identity, so the gradient of the weights is that of " +
                       std::string(info(path.matrix).symbol) + " itself."
                 : "One weight serves all tokens: its gradient adds up what each of them wants, by how much "
                   "of input " +
                       str(v.row) + " it has.";
}

void update(const View& v) {
    const bool sink = v.out.target.slot == Slot::sink;
    const Slot moved = sink ? Slot::sink : path_of(v).weight,
               by = sink ? Slot::dsink : path_of(v).weight_gradient;
    const Expr weight = v.number(moved), gradient = v.number(by);
    const double old = weight.value, slope = gradient.value, rate = v.problem.options.learning_rate;
    v.out.formula = join({sym(moved), "  ←  ", sym(moved), " − η ", sym(by)});
    v.out.numbers = write(difference(weight, product({num(rate), gradient})), v.result());
    const auto [from, to] = format_apart(old, v.result());
    v.out.kind = rate == 0 ? 0 : slope == 0 ? 1 : rate < 0 ? 2 : old == v.result() ? 3 : slope > 0 ? 4 : 5;
    switch (v.out.kind) {
    case 0: v.out.why = "With the learning rate 0 no weight moves."; break;
    case 1:
        v.out.why = "The loss is level in this weight: its gradient is 0, and it stays " + to + ".";
        break;
    case 2: v.out.why = "The learning rate is negative: this step climbs, the loss will rise."; break;
    case 3: v.out.why = "The step is so small that the weight stays " + to + "."; break;
    case 4:
        v.out.why = "A larger weight would raise the loss, so it goes down, from " + from + " to " + to + ".";
        break;
    default:
        v.out.why = "A larger weight would lower the loss, so it goes up, from " + from + " to " + to + ".";
    }
}

}  // namespace tilewalk::dense

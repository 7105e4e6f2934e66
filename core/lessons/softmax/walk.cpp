#include "core/lessons/softmax/walk.h"

#include "core/problem/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewalk {

namespace {

const double minus_infinity = -std::numeric_limits<double>::infinity();

Matrix one(double value) { return Matrix::Constant(1, 1, value); }

// The loop bodies that the passes are put together from. All tiles are one row high: m, α, p, the sum and a
// are single numbers (1 × 1), the output is a row (1 × d).
struct Walk {
    Recorder rec;
    const Problem& p;
    int R = softmax_row(p);
    std::int64_t d = p.d();
    Region cell{R, 0, 1, 1}, out{R, 0, 1, p.d()};

    Walk(const Problem& problem, const char* lesson) : rec(problem, lesson), p(problem) {
        rec.give(Slot::x, softmax_scores(p), 1, 1, R);
        rec.give(Slot::V, p.V, 1);
    }

    // m ← −∞, sum ← 0, output ← 0, as far as this pass computes them
    void begin_pass(int pass, bool max, bool sum, bool output) {
        rec.phase(pass);
        rec.begin(Op::init);
        if (max) rec.write(Slot::m, one(minus_infinity), cell);
        if (sum) rec.write(Slot::l, one(0), cell);
        if (output) rec.write(Slot::Oi, Matrix::Zero(1, p.d()), out);
        rec.end();
    }

    // Load xⱼ, and Vⱼ where the pass has use for it
    void load(int j, bool with_value) {
        rec.begin(Op::load_x, -1, j);
        rec.load(Slot::x, j, Slot::S);
        if (with_value) rec.load(Slot::V, j, Slot::Vj);
        rec.end();
    }

    // m ← max(m, xⱼ)
    void maximum(int j) {
        rec.begin(Op::new_max, -1, j);
        const double m = rec.read(Slot::m)(0, 0), x = rec.read(Slot::S)(0, 0);
        rec.write(Slot::m, one(std::max(m, x)), cell);
        rec.end(1);
    }

    // A row that has seen no key yet has m = −∞; 0 stands in for it, so that α and p become 0 instead of NaN.
    static double base(double m) { return m == minus_infinity ? 0 : m; }

    // α = exp(m_old − m)
    void correction(int j) {
        rec.begin(Op::correction, -1, j);
        const double before = rec.read_previous(Slot::m)(0, 0), now = rec.read(Slot::m)(0, 0);
        rec.write(Slot::alpha, one(std::exp(before - base(now))), cell);
        rec.end(2);
    }

    // p = exp(xⱼ − m)
    void weight(int j) {
        rec.begin(Op::exponentials, -1, j);
        const double x = rec.read(Slot::S)(0, 0), m = rec.read(Slot::m)(0, 0);
        rec.write(Slot::P, one(std::exp(x - base(m))), {R, j, 1, 1});
        rec.end(2);
    }

    // sum ← sum + p: right as long as m does not change any more
    void plain_sum(int j) {
        rec.begin(Op::row_sum, -1, j);
        const double sum = rec.read(Slot::l)(0, 0), weight = rec.read(Slot::P)(0, 0);
        rec.write(Slot::l, one(sum + weight), cell);
        rec.end(1);
    }

    // sum ← α sum + p
    void online_sum(int j) {
        rec.begin(Op::row_sum, -1, j);
        const double alpha = rec.read(Slot::alpha)(0, 0), sum = rec.read(Slot::l)(0, 0),
                     weight = rec.read(Slot::P)(0, 0);
        rec.write(Slot::l, one(alpha * sum + weight), cell);
        rec.end(2);
    }

    // a = exp(xⱼ − m) / sum with the final m and sum, then o ← o + a Vⱼ. A row that sees no key has a sum of
    // 0; all its a are 0.
    void final_output(int j) {
        rec.begin(Op::divide, -1, j);
        const double x = rec.read(Slot::S)(0, 0), m = rec.read(Slot::m)(0, 0), sum = rec.read(Slot::l)(0, 0);
        rec.write(Slot::Prob, one(sum == 0 ? 0 : std::exp(x - base(m)) / sum), {R, j, 1, 1});
        rec.end(3);

        rec.begin(Op::output, -1, j);
        const Matrix& o = rec.read(Slot::Oi);
        const double a = rec.read(Slot::Prob)(0, 0);
        const Matrix& V = rec.read(Slot::Vj);
        rec.write(Slot::Oi, o + a * V, out);
        rec.end(2 * d);
    }

    // o′ ← o′ (sum_old / sum) α + (p / sum) Vⱼ: an average of the values at every element
    void online_output(int j) {
        rec.begin(Op::output, -1, j);
        const Matrix& o = rec.read(Slot::Oi);
        const double before = rec.read_previous(Slot::l)(0, 0), now = rec.read(Slot::l)(0, 0),
                     alpha = rec.read(Slot::alpha)(0, 0), weight = rec.read(Slot::P)(0, 0);
        const Matrix& V = rec.read(Slot::Vj);
        const double sum = now == 0 ? 1 : now;  // no key seen yet: α and p are 0, and o′ stays 0
        rec.write(Slot::Oi, (before / sum * alpha) * o + (weight / sum) * V, out);
        rec.end(3 + 3 * d);
    }

    // O ← α O + p Vⱼ: only the maximum is repaired, the division waits
    void unnormalised_output(int j) {
        rec.begin(Op::output, -1, j);
        const Matrix& o = rec.read(Slot::Oi);
        const double alpha = rec.read(Slot::alpha)(0, 0), weight = rec.read(Slot::P)(0, 0);
        const Matrix& V = rec.read(Slot::Vj);
        rec.write(Slot::Oi, alpha * o + weight * V, out);
        rec.end(3 * d);
    }

    // O ← O / sum
    void normalize() {
        rec.begin(Op::normalize);
        const Matrix& o = rec.read(Slot::Oi);
        const double sum = rec.read(Slot::l)(0, 0);
        rec.write(Slot::Oi, o / (sum == 0 ? 1 : sum), out);
        rec.end(d);
    }

    // Store row R of O
    std::shared_ptr<const Trace> store() {
        rec.begin(Op::store);
        rec.store(Slot::O, 0, rec.read(Slot::Oi), out);
        rec.end();
        return rec.finish();
    }
};

}  // namespace

int softmax_row(const Problem& p) { return std::clamp(p.options.row, 0, p.N() - 1); }

Matrix softmax_scores(const Problem& p) {
    const int R = softmax_row(p);
    Matrix x = p.softmax_scale() * p.Q.row(R) * p.K.transpose();
    for (int c = 0; c < p.N_kv(); ++c)
        if (!visible(p, R, c)) x(0, c) = minus_infinity;
    return x;
}

std::shared_ptr<const Trace> softmax_3pass(const Problem& p) {
    Walk walk(p, "softmax-3pass");
    // Pass 1: the maximum of the row
    walk.begin_pass(0, true, false, false);
    for (int j = 0; j < p.N_kv(); ++j) {
        walk.load(j, false);
        walk.maximum(j);
    }
    // Pass 2: the sum of the weights, all measured from that maximum
    walk.begin_pass(1, false, true, false);
    for (int j = 0; j < p.N_kv(); ++j) {
        walk.load(j, false);
        walk.weight(j);
        walk.plain_sum(j);
    }
    // Pass 3: the values, each with its share of the sum
    walk.begin_pass(2, false, false, true);
    for (int j = 0; j < p.N_kv(); ++j) {
        walk.load(j, true);
        walk.final_output(j);
    }
    return walk.store();
}

std::shared_ptr<const Trace> softmax_2pass(const Problem& p) {
    Walk walk(p, "softmax-2pass");
    // Pass 1: maximum and sum together; when the maximum rises, α re-bases the sum
    walk.begin_pass(0, true, true, false);
    for (int j = 0; j < p.N_kv(); ++j) {
        walk.load(j, false);
        walk.maximum(j);
        walk.correction(j);
        walk.weight(j);
        walk.online_sum(j);
    }
    // Pass 2: the values, each with its share of the sum
    walk.begin_pass(1, false, false, true);
    for (int j = 0; j < p.N_kv(); ++j) {
        walk.load(j, true);
        walk.final_output(j);
    }
    return walk.store();
}

std::shared_ptr<const Trace> softmax_1pass(const Problem& p) {
    Walk walk(p, "softmax-1pass");
    // The only pass: the output is re-based together with the sum
    walk.begin_pass(0, true, true, true);
    for (int j = 0; j < p.N_kv(); ++j) {
        walk.load(j, true);
        walk.maximum(j);
        walk.correction(j);
        walk.weight(j);
        walk.online_sum(j);
        if (p.options.normalised)
            walk.online_output(j);
        else
            walk.unnormalised_output(j);
    }
    if (!p.options.normalised) walk.normalize();
    return walk.store();
}

}  // namespace tilewalk

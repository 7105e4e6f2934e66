// Answers to questions, worked out from the problem alone: dense attention and its gradients in long double,
// and what the text of a question says. Nothing of it looks at what a walk computed.
#pragma once

#include "core/class/questions.h"
#include "tests/core/lessons/dense_checks.h"

#include <set>
#include <string>
#include <vector>

namespace tilewalk::test {

class QuestionReference {
public:
    explicit QuestionReference(const Problem& problem);

    /// The cell that step k of this lesson computes.
    long double value(const Trace& trace, int k, const CellRef& cell) const;

private:
    long double tiled(const Step& step, bool first_version, const CellRef& cell) const;
    long double tiled_backward(const Trace& trace, const Step& step, const CellRef& cell) const;
    long double one_row(const Step& step, int passes, const CellRef& cell) const;
    long double merged(const Trace& trace, int k, const CellRef& cell) const;
    long double of_split(const Trace& trace, int k, const CellRef& cell) const;
    long double of_cascade(const Step& step, const CellRef& cell) const;
    long double of_ring(const Trace& trace, int k, const CellRef& cell) const;
    long double of_ring_backward(const Trace& trace, int k, const CellRef& cell) const;
    long double dense(const Trace& trace, const Step& step, const CellRef& cell) const;
    long double training(const Step& step, const CellRef& cell) const;
    Problem updated() const;  // with the weights of after the step

    long double raw_score(int r, int c) const;
    long double score_at(Op op, const CellRef& cell) const;  // at softcap, bias, or back through the softcap
    long double maximum(int r, int first, int end) const;    // of the visible keys [first, end)
    long double weight(int r, int c, long double m) const;   // exp(S − m), 0 where masked
    long double sum(int r, int end, long double m) const;
    long double output(int r, int end, int x, long double m) const;

    Problem p_;
    Matrix dO_;
    Dense dense_;
    DenseGradients gradients_;
};

/// A number that the text gives: several values for a row or a column, `now` where a step changed them.
struct GivenNumber {
    std::string name;  ///< "P̃[0,2…3]"
    std::vector<std::string> before, now;
};
/// "With … what will": all that a question gives, in its order.
std::vector<GivenNumber> given_by(const std::string& text);
/// The answer as somebody works it out who has nothing but the numbers in the text; NaN if this is unknown.
double worked_out_from_given(const Trace& trace, const Question& question);

/// As somebody writes it down.
double three_digits(double value);

/// Bytes or FLOPs as the text of the question gives them.
double worked_out_from(const std::string& text);
/// What the next step reads from HBM, by the pseudocode of its lesson.
std::set<std::string> read_by_code(const Trace& trace, int k);

}  // namespace tilewalk::test

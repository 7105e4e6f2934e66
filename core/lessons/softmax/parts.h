// What the softmax lessons are put together from, and what their explanations share.
#pragma once

#include "core/lessons/softmax/softmax.h"
#include "core/walk/explain_view.h"

namespace tilewalk {

// ---- Parts of the lessons (walk.cpp)

void explain_softmax(const View& view);
Line softmax_step_symbol(const Trace& trace, int k);
const char* softmax_card(const Trace& trace, int k);
std::int64_t softmax_bytes(const Problem& problem, SoftmaxForm form);
std::span<const CodeLine> softmax_code(const Problem& problem, SoftmaxForm form);
TrafficModel softmax_model(const Problem& problem, SoftmaxForm form);
std::string softmax_lane(SoftmaxForm form, int phase);

// ---- Explanations

// The query whose row of scores the lesson is about, with its word if it has one.
inline std::string row_words(const Problem& p) {
    const std::string word = p.query_token(p.options.row);
    return "query " + str(p.options.row) + (word.empty() ? "" : " (“" + word + "”)");
}

/// One step of a softmax lesson: which pass and element, and how the lesson writes its quantities.
struct RowView {
    const View& v;
    SoftmaxForm form = softmax_form(v.trace);
    int passes = softmax_passes(form);
    int pass = v.step.phase;
    int N = v.problem.N_kv();
    int n = v.step.j + 1;  ///< how many elements have come, with this one; 0 if the step belongs to none
    SoftmaxLetters letters = softmax_letters(v.problem, form);
    /// Indices for the formulas; before the first element there is none.
    std::string now = str(n - 1), before = n > 1 ? str(n - 2) : "", end = str(N - 1);
    std::string query = row_words(v.problem);  ///< "query 2 (“cat”)", whatever cell is explained

    /// What the step reads of a slot that holds one number, and the same as a part of the formula.
    double stored(Slot slot, int nth = 0) const { return v.read(slot, nth).data(0, 0); }
    Expr number(Slot slot) const { return v.number(slot, v.row, one_column(slot) ? 0 : v.step.j); }
    bool safe() const { return form == SoftmaxForm::three_passes; }
    /// Without the maximum: nothing keeps exp from overflowing.
    bool dense() const { return form == SoftmaxForm::dense; }
    bool late() const { return passes == 1 && !v.problem.options.normalised; }
    /// x is hidden by the mask.
    bool masked() const { return v.trace.live(Slot::S, v.k).value->data(0, 0) == minus_infinity; }
    /// How the maximum moved at this element.
    Kind kind() const;
    std::string max_text() const;  ///< the maximum as it stands, in brackets if negative
    void result(Line symbol, double value) const;
};

void explain_row_load(const RowView& r);
void explain_row_init(const RowView& r);
void explain_row_max(const RowView& r);
void explain_row_correction(const RowView& r);
void explain_row_weight(const RowView& r);
void explain_row_total(const RowView& r);
/// The weights, the sum, the shares and what follows from them in the textbook softmax. (explain_dense.cpp)
void explain_dense_weight(const RowView& r);
void explain_dense_total(const RowView& r);
void explain_dense_share(const RowView& r);
std::string dense_output_words(const RowView& r);
std::string dense_store_words(const RowView& r);
void explain_row_share(const RowView& r);
void explain_row_output(const RowView& r);
void explain_row_normalize(const RowView& r);
void explain_row_store(const RowView& r);

}  // namespace tilewalk

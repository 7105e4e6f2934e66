// What stands where in the dense lessons. A row is one query and left to right is the algorithm; what is
// multiplied from the right stands on the columns that it gives: Kᵀ on S, V on O.
#include "app/ui/chapters/dense/dense.h"
#include "app/ui/parts/slot_view.h"
#include "core/lessons/dense/dense.h"
#include "core/problem/heads.h"

namespace tilewalk::ui {

namespace {

constexpr Slot none = Slot::count;

DensePage attention_page(const Problem& p) {
    DenseGroup all{{none, Slot::Q, "queries"},     {Slot::S, Slot::S_hbm, "scores"},
                   {Slot::m, none, "max"},         {Slot::E, none, "exp"},
                   {Slot::l, none, "sum"},         {Slot::Prob, Slot::P_hbm, "weights"},
                   {Slot::Oi, Slot::O, "output"},  {none, Slot::K, "keys", 1, 1, true},
                   {none, Slot::V, "values", 1, 6}};
    if (p.logits.sink) all.push_back({none, Slot::sink, "", 1, 2});
    return {all};
}

// Gradients of K and V belong to keys, so they hang below the columns of the pairs.
DensePage backward_page(const Problem& p) {
    const bool capped = p.logits.softcap.has_value();
    DenseGroup all{{none, Slot::Q, "queries"},
                   {none, Slot::dO, "from the loss"},
                   {none, Slot::P_hbm, "weights"},
                   {none, Slot::dP_hbm, "gradient of P"},
                   {Slot::Di, none, "mean"},
                   {capped ? Slot::dS : none, Slot::dS_hbm, "gradient of S"},
                   {none, Slot::dQ, "gradient of Q"},
                   {none, Slot::V, "values", 1, 3, true},
                   {none, Slot::K, "keys", 1, 6},
                   {none, Slot::dV, "gradient of V", -1, 2, true},
                   {none, Slot::dK, "gradient of K", -1, 5, true}};
    if (p.logits.sink) all.push_back({none, Slot::dsink, "", -1, 4});
    if (capped) all.push_back({none, Slot::S_hbm, "capped scores"});
    return {all};
}

DensePage forward_page(const Problem& p) {
    DenseGroup inputs{{none, Slot::X, "input"}, {none, Slot::Q, "queries"}};
    if (keys_have_own_input(p)) inputs.push_back({none, Slot::X_kv, "input"});
    const int keys = static_cast<int>(inputs.size());
    inputs.push_back({none, Slot::K, "keys"});
    inputs.push_back({none, Slot::V, "values"});
    inputs.push_back({none, Slot::W_Q, "weights", 1, 1});
    inputs.push_back({none, Slot::W_K, "weights", 1, keys});
    inputs.push_back({none, Slot::W_V, "weights", 1, keys + 1});
    DenseGroup steps{{Slot::S, Slot::S_hbm, "scores"},
                     {Slot::m, none, "max"},
                     {Slot::E, none, "exp"},
                     {Slot::l, none, "sum"},
                     {none, Slot::P_hbm, "weights"},
                     {none, Slot::O, "output"},
                     {none, Slot::dO, "what the loss asks"},
                     {Slot::loss, none, ""}};
    if (p.logits.sink) steps.push_back({none, Slot::sink, "", 1, 1});
    return {inputs, steps};
}

DensePage weights_page(const Problem& p) {
    DenseGroup all{{none, Slot::X, "input"}, {none, Slot::dQ, "gradient of Q"}};
    if (keys_have_own_input(p)) all.push_back({none, Slot::X_kv, "input"});
    const int keys = static_cast<int>(all.size());
    all.push_back({none, Slot::dK, "gradient of K"});
    all.push_back({none, Slot::dV, "gradient of V"});
    for (int level : {1, 2})
        for (int n = 0; n < 3; ++n) {
            const WeightPath& path = weight_paths[n];
            const int on = n == 0 ? 1 : keys + n - 1;
            all.push_back({none, level == 1 ? path.weight_gradient : path.weight,
                           level == 1 ? "gradient" : "weights", level, on});
        }
    if (p.logits.sink) {
        all.push_back({none, Slot::dsink, ""});
        all.push_back({none, Slot::sink, ""});
    }
    return {all};
}

}  // namespace

DensePage dense_page(const AppState& state) {
    if (state.lesson->picture == Picture::attention) return attention_page(state.trace->walked());
    if (state.lesson->picture == Picture::dense_backward) return backward_page(state.trace->walked());
    const int phase = step_now(state).phase;
    return phase == 1   ? backward_page(state.trace->walked())
           : phase == 2 ? weights_page(state.trace->walked())
                        : forward_page(state.trace->walked());
}

DenseTitle dense_title(const AppState& state) {
    if (state.lesson->picture == Picture::attention)
        return {"Standard attention", "three kernels, S and P in between"};
    if (state.lesson->picture == Picture::dense_backward)
        return {"Gradients of attention", "from dO back to Q, K and V"};
    static constexpr DenseTitle parts[] = {
        {"Forward", "from the input to the loss"},
        {"Backward", "who is to blame for the loss"},
        {"Weights", "a small step against the gradient"},
        {"Forward again", "the same input, the new weights"},
    };
    return parts[step_now(state).phase];
}

Slot dense_slot(const AppState& state, const DenseEntry& e) {
    if (e.chip == none || e.hbm == none) return e.chip == none ? e.hbm : e.chip;
    if (written_now(state, e.chip)) return e.chip;
    for (Slot slot : {e.hbm, e.chip})
        if (touched_now(state, slot)) return slot;
    const int k = state.cursor.step;
    return state.trace->live(e.hbm, k).step > state.trace->live(e.chip, k).step ? e.hbm : e.chip;
}

Region dense_shape(const Problem& p, Slot slot) {
    const int N = p.N(), M = p.N_kv(), d = p.d();
    const int model = p.projection ? static_cast<int>(p.projection->X.cols()) : N,
              model_kv = p.projection ? model : M;
    switch (slot) {
    case Slot::K:
    case Slot::V:
    case Slot::dK:
    case Slot::dV: return {0, 0, M, d};
    case Slot::m:
    case Slot::l:
    case Slot::Di: return {0, 0, N, 1};
    case Slot::X: return {0, 0, N, model};
    case Slot::X_kv: return {0, 0, M, model_kv};
    case Slot::W_Q:
    case Slot::dW_Q: return {0, 0, model, d};
    case Slot::W_K:
    case Slot::W_V:
    case Slot::dW_K:
    case Slot::dW_V: return {0, 0, model_kv, d};
    case Slot::sink:
    case Slot::dsink:
    case Slot::loss: return {0, 0, 1, 1};
    case Slot::Q:
    case Slot::dQ:
    case Slot::O:
    case Slot::Oi:
    case Slot::dO: return {0, 0, N, d};
    default: return {0, 0, N, M};
    }
}

std::string query_label(const Problem& p, int r, const char* before_number) {
    const std::string word = p.query_token(r),
                      said = word.empty() ? before_number + str(r % p.rows_of_head()) : word;
    return p.packed > 1 ? "h" + str(head_of_row(p, r)) + " " + said : said;
}

MatrixLook dense_look(const AppState& state, Slot slot) {
    MatrixLook look = slot_look(state, slot, state.trace->live(slot, state.cursor.step - 1).value, false);
    look.region = dense_shape(state.trace->walked(), slot);
    return look;
}

}  // namespace tilewalk::ui

#include "core/lessons/shared/explain_loads.h"

#include "core/lessons/shared/explain_faults.h"

namespace tilewalk {

void tell_query_load(const View& v, const std::string& why) {
    const Region q = v.written(Slot::Qi).region;
    const int e = v.problem.element_bytes;
    v.out.formula =
        join({sym(Slot::Qi, v.step.i), "  ←  " + range(q.row, q.rows, "row", "rows") + " of ", sym(Slot::Q)});
    set_bytes(v, product({num(q.rows), num(q.cols), num(e)}), "bytes read");
    v.out.why = why;
    tell_input_rounding(v, v.problem.Q);
    v.source(Slot::Q, v.row, v.col);
}

void tell_key_load(const View& v, const std::string& why) {
    const Region k = v.written(Slot::Kj).region;
    const int e = v.problem.element_bytes, j = v.step.j;
    v.out.formula =
        join({sym(Slot::Kj, j), ", ", sym(Slot::Vj, j),
              "  ←  " + range(k.row, k.rows, "row", "rows") + " of ", sym(Slot::K), ", ", sym(Slot::V)});
    set_bytes(v, product({num(2), num(k.rows), num(k.cols), num(e)}), "bytes read");
    v.out.why = why + ": 2 × " + size_words(k, e) + ".";
    const bool value = v.out.target.slot == Slot::Vj;
    tell_input_rounding(v, value ? v.problem.V : v.problem.K);
    v.source(value ? Slot::V : Slot::K, v.row, v.col);
}

}  // namespace tilewalk

#include "app/export/trace_export.h"

#include "app/export/json_out.h"
#include "app/io/problem_extras.h"
#include "core/walk/explain.h"
#include "core/walk/lesson.h"

#include <ostream>
#include <sstream>

namespace tilewalk {
namespace {

void put_matrix(std::ostream& out, const Matrix& A) {
    out << '[';
    for (Eigen::Index r = 0; r < A.rows(); ++r) {
        out << (r == 0 ? "[" : ",[");
        for (Eigen::Index c = 0; c < A.cols(); ++c) out << (c == 0 ? "" : ",") << json_number(A(r, c));
        out << ']';
    }
    out << ']';
}

// ",\"options\":{…},…": what a problem file says beyond Q, K, V.
std::string extras_in_one_line(const Problem& p) {
    Problem without = p;
    without.tokens.clear();  // these are written before, without a line break
    std::string text = extras_to_json(without);
    std::erase(text, '\n');
    if (text.ends_with(',')) text.pop_back();
    return text.empty() ? "" : "," + text;
}

void put_problem(std::ostream& out, const Problem& p) {
    out << '{';
    if (!p.title.empty()) out << "\"title\":" << json_string(p.title) << ',';
    if (!p.watch.empty()) out << "\"watch\":" << json_string(p.watch) << ',';
    out << "\"n\":" << p.N() << ",\"n_kv\":" << p.N_kv() << ",\"d\":" << p.d() << ",\"br\":" << p.Br
        << ",\"bc\":" << p.Bc << ",\"causal\":" << (p.causal ? "true" : "false")
        << ",\"window\":" << (p.window ? std::to_string(*p.window) : "null")
        << ",\"scale\":" << json_number(p.softmax_scale()) << ",\"element_bytes\":" << p.element_bytes;
    out << ",\"q\":";
    put_matrix(out, p.Q);
    out << ",\"k\":";
    put_matrix(out, p.K);
    out << ",\"v\":";
    put_matrix(out, p.V);
    if (p.dO) {
        out << ",\"do\":";
        put_matrix(out, *p.dO);
    }
    if (!p.tokens.empty()) {
        out << ",\"tokens\":[";
        for (std::size_t n = 0; n < p.tokens.size(); ++n)
            out << (n == 0 ? "" : ",") << json_string(p.tokens[n]);
        out << ']';
    }
    out << extras_in_one_line(p) << '}';
}

void put_access(std::ostream& out, const Trace& trace, const Access& access, bool with_values) {
    const Value& value = trace.value(access.value);
    const Region& at = value.region;
    out << "{\"slot\":\"" << info(access.slot).name << "\",\"row\":" << at.row << ",\"col\":" << at.col
        << ",\"rows\":" << at.rows << ",\"cols\":" << at.cols;
    if (with_values) {
        out << ",\"values\":";
        put_matrix(out, value.data);
    }
    out << '}';
}

void put_accesses(std::ostream& out, const Trace& trace, std::span<const Access> accesses, bool with_values) {
    out << '[';
    for (std::size_t n = 0; n < accesses.size(); ++n) {
        if (n > 0) out << ',';
        put_access(out, trace, accesses[n], with_values);
    }
    out << ']';
}

// The same result reached another way; most steps have none.
void put_asides(std::ostream& out, const Explanation& e) {
    if (e.asides.empty()) return;
    out << ",\"asides\":[";
    for (std::size_t n = 0; n < e.asides.size(); ++n) {
        const Aside& aside = e.asides[n];
        out << (n == 0 ? "{" : ",{") << "\"label\":" << json_string(aside.label)
            << ",\"formula\":" << json_string(plain(aside.formula))
            << ",\"numbers\":" << json_string(plain(aside.numbers))
            << ",\"result\":" << json_string(plain(aside.result)) << '}';
    }
    out << ']';
}

std::string index_or_null(int n) { return n < 0 ? "null" : std::to_string(n); }

void put_step(std::ostream& out, const Trace& trace, int k) {
    const Step& step = trace.step(k);
    const Explanation e = explain(trace, k);
    out << "{\"step\":" << k + 1 << ",\"op\":\"" << name(step.op) << "\",\"i\":" << index_or_null(step.i)
        << ",\"j\":" << index_or_null(step.j) << ",\"phase\":" << step.phase
        << ",\"title\":" << json_string(e.title) << ",\"formula\":" << json_string(plain(e.formula))
        << ",\"numbers\":" << json_string(plain(e.numbers)) << ",\"result\":" << json_string(plain(e.result))
        << ",\"why\":" << json_string(e.why);
    put_asides(out, e);
    out << ",\"reads\":";
    put_accesses(out, trace, trace.reads(k), false);
    out << ",\"writes\":";
    put_accesses(out, trace, trace.writes(k), true);
    const Traffic& t = step.traffic;
    out << ",\"traffic\":{\"hbm_read\":" << t.hbm_read << ",\"hbm_write\":" << t.hbm_write
        << ",\"sram_live\":" << t.sram_live << ",\"flops\":" << t.flops << "}}";
}

// Results are called as the papers call them, wherever they lie.
std::string result_name(Slot slot) {
    const std::string text = info(slot).name;
    return text.ends_with("_hbm") ? text.substr(0, text.size() - 4) : text;
}

// One number per row (L, D, m, ℓ) is written as a plain list.
void put_result(std::ostream& out, const Trace& trace) {
    out << '{';
    bool first = true;
    for (const Slot slot : trace.lesson().results) {
        const Matrix A = trace.result(slot);
        if (A.size() == 0) continue;
        out << (first ? "\"" : ",\"") << result_name(slot) << "\":";
        first = false;
        if (info(slot).role != Role::l && info(slot).role != Role::m && info(slot).role != Role::alpha) {
            put_matrix(out, A);
            continue;
        }
        out << '[';
        for (Eigen::Index r = 0; r < A.rows(); ++r) out << (r == 0 ? "" : ",") << json_number(A(r, 0));
        out << ']';
    }
    out << '}';
}

}  // namespace

void write_trace_json(std::ostream& out, const Trace& trace) {
    out << "{\"schema\":\"tilewalk-trace-1\",\n\"problem\":";
    put_problem(out, trace.problem());
    out << ",\n\"lesson\":\"" << trace.lesson().id << "\",\n\"steps\":[\n";
    for (int k = 0; k < trace.size() && out; ++k) {
        put_step(out, trace, k);
        out << (k + 1 < trace.size() ? ",\n" : "\n");
    }
    out << "],\n\"result\":";
    put_result(out, trace);
    out << "}\n";
}

std::string trace_json(const Trace& trace) {
    std::ostringstream out;
    write_trace_json(out, trace);
    return std::move(out).str();
}

}  // namespace tilewalk

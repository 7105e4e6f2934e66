#include "app/cli/trace_parts.h"

#include "core/explain.h"
#include "core/lessons/lesson.h"
#include "core/memory_model.h"
#include "core/numbers.h"

#include <algorithm>

namespace tilewalk {
namespace {

std::string str(std::int64_t n) { return std::to_string(n); }

std::string mask_text(const Problem& p) {
    std::string text = p.causal ? "causal mask" : "no mask";
    if (p.window) text = (p.causal ? "causal mask, window " : "window ") + str(*p.window);
    return text;
}

std::string scale_text(const Problem& p) {
    if (p.scale.kind == Scale::Kind::none) return "no scale";
    if (p.scale.kind == Scale::Kind::sqrt) return "scale 1/√d = " + format_number(p.softmax_scale());
    return "scale " + format_number(p.scale.number);
}

std::string shaped(const char* name, const Matrix& A) {
    return std::string(name) + " (" + str(A.rows()) + " × " + str(A.cols()) + ")";
}

}  // namespace

std::string headline(const Trace& trace) {
    const Lesson* lesson = find_lesson(trace.lesson());
    const std::string& title = trace.problem().title;
    return (lesson ? lesson->title : trace.lesson()) + (title.empty() ? std::string() : " · " + title);
}

std::string problem_facts(const Problem& p) {
    return "N = " + str(p.N()) + (p.N() == 1 ? " query" : " queries") + ", N_kv = " + str(p.N_kv()) +
           (p.N_kv() == 1 ? " key" : " keys") + ", d = " + str(p.d()) + "; tiles of " + str(p.Br) +
           " queries × " + str(p.Bc) + " keys; " + mask_text(p) + "; " + scale_text(p) + "; " +
           str(p.element_bytes) + (p.element_bytes == 1 ? " byte" : " bytes") + " per element";
}

Block problem_matrices(const Problem& p) {
    return side_by_side({matrix_block(shaped("Q", p.Q), p.Q), matrix_block(shaped("K", p.K), p.K),
                         matrix_block(shaped("V", p.V), p.V)},
                        text_width);
}

std::vector<std::vector<std::string>> legend() {
    std::vector<std::vector<std::string>> rows;
    for (const Slot slot : {Slot::S, Slot::m_tile, Slot::m, Slot::alpha, Slot::P, Slot::l, Slot::Oi, Slot::L})
        rows.push_back({plain(slot_symbol(slot)), info(slot).what});
    rows.push_back({"′", "the new value of a quantity that is updated"});
    rows.push_back({"⊙ ⊘", "row by row multiplied, divided"});
    return rows;
}

Block result_matrices(const Trace& trace) {
    const Matrix O = trace.result(Slot::O), L = trace.result(Slot::L);
    return side_by_side({matrix_block(shaped("O", O), O), matrix_block(shaped("L", L), L)}, text_width);
}

std::string traffic_line(const Trace& trace, int k) {
    const Traffic& t = trace.step(k).traffic;
    return "so far: " + format_traffic(t.hbm_read) + " read from HBM, " + format_traffic(t.hbm_write) +
           " written, " + format_count(t.flops) + (t.flops == 1 ? " operation" : " operations") +
           "; on chip now: " + format_size(t.sram_live);
}

std::vector<std::string> comparison(const Trace& trace) {
    const Traffic& moved = trace.step(trace.size() - 1).traffic;
    const std::int64_t flash = moved.hbm_read + moved.hbm_write;
    const TrafficModel standard = standard_forward_model(trace.problem());
    const auto bytes = [](std::int64_t total, std::int64_t read, std::int64_t written) {
        return format_traffic(total) + " (" + format_traffic(read) + " read, " + format_traffic(written) +
               " written)";
    };
    std::vector<std::string> lines{"This walk moved " + bytes(flash, moved.hbm_read, moved.hbm_write) +
                                       " between HBM and the chip.",
                                   "Standard attention, which stores S and P in HBM, would move " +
                                       bytes(standard.total(), standard.hbm_read, standard.hbm_write) + "."};
    if (standard.total() < flash)
        lines.push_back("Here standard attention moves fewer bytes: at this size reading K and V again for "
                        "every query block costs more than storing S and P; more query rows per tile (Br) "
                        "or a larger N turn it around.");
    else
        lines.push_back("Neither S nor P (" + str(trace.problem().N()) + " × " + str(trace.problem().N_kv()) +
                        " each) was ever in HBM" +
                        (flash < standard.total()
                             ? ", and that saved " + format_traffic(standard.total() - flash) + "."
                             : "; the bytes moved are the same here."));
    return lines;
}

}  // namespace tilewalk

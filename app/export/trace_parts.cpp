
#include "app/export/parts.h"
#include "app/ui/state/broken_stage.h"
#include "core/base/numbers.h"
#include "core/lessons/shared/heads_ledger.h"
#include "core/lessons/shared/memory_model.h"
#include "core/problem/heads.h"
#include "core/problem/savings.h"
#include "core/walk/compare.h"

#include <set>

namespace tilewalk {
namespace {

std::string mask_text(const Problem& p) {
    std::string text = p.causal ? "causal mask" : "no mask";
    if (p.window) text = (p.causal ? "causal mask, window " : "window ") + str(*p.window);
    return text;
}

std::string scale_text(const Problem& p) {
    if (p.softmax_scale() == 1) return "no scale";
    if (p.scale.kind == Scale::Kind::sqrt) return "scale 1/√d = " + format_number(p.softmax_scale());
    return "scale " + format_number(p.scale.number);
}

std::string more_text(const Problem& p) {
    std::string text;
    if (p.heads)
        text += "; head " + str(shown_head(p)) + " of " + str(query_heads(p)) + ", with " +
                str(key_heads(p)) + (key_heads(p) == 1 ? " key head" : " key heads");
    if (p.logits.softcap) text += "; softcap " + format_number(*p.logits.softcap);
    if (p.logits.alibi) text += "; ALiBi slope " + format_number(*p.logits.alibi);
    if (p.logits.sink) text += "; sink " + format_number(*p.logits.sink);
    return text;
}

// As the formulas of the lesson write it.
std::string whole_symbol(const Trace& trace, Slot slot) {
    return plain(trace.lesson().symbol(trace, slot, -1, -1));
}

// Each below its symbol and shape, beside each other.
Block whole_matrices(const Trace& trace, const std::vector<WholeMatrix>& matrices) {
    std::vector<Block> blocks;
    for (const auto& [slot, value] : matrices) {
        const Region& at = value.region;
        const std::string shape = " (" + str(at.rows) + " × " + str(at.cols) + ")";
        blocks.push_back(matrix_block(whole_symbol(trace, slot) + shape, value.data));
    }
    return side_by_side(blocks, text_width);
}

std::string bytes_text(std::int64_t read, std::int64_t written) {
    return format_size(read + written) + " (" + format_size(read) + " read, " + format_size(written) +
           " written)";
}

// The fewest rows per tile, of queries or else of keys (which count where these are the outer loop), with
// which the walk would move fewer bytes than `limit`.
std::string tile_to_stay_below(const Lesson& lesson, const Problem& problem, std::int64_t limit) {
    Problem p = problem;
    for (p.Br += 1; p.Br <= p.N(); ++p.Br)
        if (lesson.model(p).total() < limit)
            return "With Br = " + str(p.Br) + " query rows per tile the walk moves fewer.";
    p = problem;
    for (p.Bc += 1; p.Bc <= p.N_kv(); ++p.Bc)
        if (lesson.model(p).total() < limit)
            return "With Bc = " + str(p.Bc) + " key rows per tile the walk moves fewer.";
    return "No other number of query rows or of key rows per tile changes that.";
}

std::string verdict(const Trace& trace, std::int64_t flash, std::int64_t standard) {
    const Problem& p = trace.problem();
    const Lesson& lesson = trace.lesson();
    const std::string size = str(p.N()) + " × " + str(p.N_kv());
    if (flash < standard)
        return "Neither S nor P (" + size + " each) was ever in HBM, and that saved " +
               format_size(standard - flash) + ".";
    if (flash == standard)
        return "Both move equally many bytes, but here S and P (" + size + " each) need no place in HBM.";
    return "Here standard attention moves fewer bytes: reading tiles again for every block of the other kind "
           "costs "
           "more than storing the N × N matrices (" +
           size + " each). " + tile_to_stay_below(lesson, p, standard);
}

// On a ring K, V and their gradients travel once for a group.
std::string between_ranks(const HeadsLedger& bytes, int key_heads) {
    if (bytes.sent_one == 0) return {};
    return " Between ranks K and V of " + counted(key_heads, "key head") +
           " go round: " + format_size(bytes.sent) + ", " + format_size(bytes.sent_one) +
           " of them this head's" +
           (bytes.sent < bytes.sent_ungrouped
                ? "; with K and V of its own for every head " + format_size(bytes.sent_ungrouped)
                : std::string()) +
           ".";
}

// The walk is that of one head, or of one group.
std::vector<std::string> of_all_heads(const Trace& trace) {
    const Problem& p = trace.problem();
    if (!p.heads) return {};
    const int H = query_heads(p), size = trace.walked().packed, first = key_head(p, shown_head(p)) * size;
    const std::string alone = size > 1 ? "These are the bytes of heads " + str(first) + " to " +
                                             str(first + size - 1) + ", which share K and V"
                                       : "These are the bytes of head " + str(shown_head(p)) + " alone";
    const HeadsLedger bytes = heads_ledger(trace);
    const std::string sent = between_ranks(bytes, key_heads(p));
    const std::string all = alone + "; all " + str(H) + " heads move " + format_size(bytes.all());
    if (heads_of_group(p) == 1) return {all + ", each with K and V of its own." + sent};
    return {all +
            (bytes.shared ? ", K and V of a group crossing HBM once (again for each of its heads: "
                          : ", each loading K and V of its group again (once for a group: ") +
            format_size(bytes.shared ? bytes.again : bytes.once) + ")." + sent};
}

}  // namespace

std::string headline(const Trace& trace) {
    const std::string& title = trace.problem().title;
    return trace.lesson().title + (title.empty() ? std::string() : " · " + title);
}

std::string problem_facts(const Problem& p) {
    return "N = " + str(p.N()) + (p.N() == 1 ? " query" : " queries") +
           ", N_kv = " + counted(p.N_kv(), "key") + ", d = " + str(p.d()) + "; tiles of " + str(p.Br) +
           (p.Br == 1 ? " query × " : " queries × ") + counted(p.Bc, "key") + "; " + mask_text(p) + "; " +
           scale_text(p) + more_text(p) + "; " + counted(p.element_bytes, "byte") + " per element";
}

std::string problem_facts(const Trace& trace) {
    const Problem& p = trace.problem();
    const std::string saved = savings_title(saved_in(trace));
    std::string out = problem_facts(p) + (saved.empty() ? "" : "; " + saved);
    Problem faulty = p;
    faulty.savings = {};
    if (breaks(trace.lesson(), faulty))
        out += std::string(p.switches.any() ? "; broken on purpose: " : "; rounded: ") +
               ui::fault_title(trace.lesson(), faulty);
    return out;
}

Block problem_matrices(const Trace& trace) { return whole_matrices(trace, given_matrices(trace)); }
Block result_matrices(const Trace& trace) { return whole_matrices(trace, result_matrices_of(trace)); }

std::vector<std::vector<std::string>> legend(const Trace& trace) {
    std::vector<std::vector<std::string>> rows;
    std::set<std::string> seen;
    for (int s = 0; s < slot_count; ++s) {
        const Slot slot = static_cast<Slot>(s);
        const std::string symbol = whole_symbol(trace, slot);
        const bool input = slot == Slot::Q || slot == Slot::K || slot == Slot::V;
        // A tile on chip has the symbol of its matrix; it is told of once.
        const bool used = trace.live(slot, trace.size() - 1) || trace.live(slot, -1);
        if (used && !input && info(slot).role != Role::Q && seen.insert(symbol).second)
            rows.push_back({symbol, info(slot).what});
    }
    for (int k = 0; k < trace.size(); ++k)
        if (trace.step(k).op == Op::correction) {
            rows.push_back({"m_old", "m before this tile"});
            break;
        }
    rows.push_back({"⊙ ⊘", "row by row multiplied, divided"});
    return rows;
}

std::string traffic_line(const Trace& trace, int k) {
    const Traffic& t = trace.step(k).traffic;
    const int tick = k + 1 == trace.size() ? trace.ticks() : trace.step(k).when.end;
    return "so far: " + format_size(t.hbm_read) + " read from HBM, " + format_size(t.hbm_write) +
           " written, " + format_count(t.flops) + (t.flops == 1 ? " operation" : " operations") +
           "; on chip now: " + format_size(t.sram_live) +
           (trace.lesson().uses(chooses_ranks)
                ? "; between ranks by tick " + str(tick) + ": " + format_size(t.sent)
                : "");
}

std::vector<std::string> comparison(const Trace& trace) {
    const Traffic& moved = trace.step(trace.size() - 1).traffic;
    const Lesson& lesson = trace.lesson();
    const std::string bytes = "This walk moved " + bytes_text(moved.hbm_read, moved.hbm_write);
    std::vector<std::string> out{bytes + " through HBM."};
    if (lesson.rival.standard) {
        const TrafficModel standard = lesson.rival.model(trace.problem());
        out = {bytes + " between HBM and the chip.",
               "Standard attention, with its N × N matrices in HBM, would move " +
                   bytes_text(standard.hbm_read, standard.hbm_write) + ".",
               verdict(trace, moved.total(), standard.total())};
    }
    if (lesson.uses(chooses_ranks))
        out.push_back("From rank to rank went " + format_size(trace.step(trace.size() - 1).traffic.sent) +
                      ".");
    if (breaks(lesson, trace.problem())) {
        const Comparison found = compare(*lesson.build(without_faults(trace.problem())), trace);
        out.push_back(found.sentence);
        out.push_back(found.verdict);
    }
    for (std::string& sentence : of_all_heads(trace)) out.push_back(std::move(sentence));
    return out;
}

}  // namespace tilewalk

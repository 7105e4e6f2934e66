#include "core/lessons/shared/parts.h"

#include "core/base/exactly.h"
#include "core/base/words.h"
#include "core/lessons/shared/tile_steps.h"

#include <algorithm>
#include <cmath>

namespace tilewalk {

Result<std::vector<int>> even_parts(int keys, int parts) {
    if (parts > keys)
        return Failure{
            (keys == 1 ? "There is 1 key for " : "There are " + str(keys) + " keys for ") + str(parts) +
            " parts; each part of an even split needs one. Name the keys of each part to have empty "
            "ones: 3,1,0."};
    std::vector<int> out;
    for (int n = 0; n < parts; ++n) out.push_back(keys / parts + (n < keys % parts));
    return out;
}

std::vector<KeyPart> key_parts(const Problem& p, int parts) {
    const std::vector<int>& chosen = p.options.splits;
    const std::vector<int> sizes = chosen.empty() ? *even_parts(p.N_kv(), std::min(parts, p.N_kv())) : chosen;
    std::vector<KeyPart> out;
    int first = 0;
    for (const int keys : sizes) {
        out.push_back({first, keys});
        first += keys;
    }
    return out;
}

namespace {

std::vector<MergeNode> chain_of(int parts) {
    std::vector<MergeNode> out;
    for (int n = 1; n < parts; ++n) out.push_back({{n == 1 ? 0 : parts + n - 2, n}, parts + n - 1, 0, n});
    return out;
}

// Neighbours become one, level by level; one that is left over waits for the next level.
std::vector<MergeNode> pairs_of(int parts) {
    std::vector<MergeNode> out, level;
    for (int n = 0; n < parts; ++n) level.push_back({{}, n, n, n});
    while (level.size() > 1) {
        std::vector<MergeNode> next;
        for (std::size_t n = 0; n + 1 < level.size(); n += 2) {
            const MergeNode &a = level[n], &b = level[n + 1];
            out.push_back({{a.into, b.into}, parts + static_cast<int>(out.size()), a.first, b.last});
            next.push_back(out.back());
        }
        if (level.size() % 2 == 1) next.push_back(level.back());
        level = std::move(next);
    }
    return out;
}

}  // namespace

std::string part_letter(int part) {
    const std::string last(1, static_cast<char>('A' + part % 26));
    return part < 26 ? last : part_letter(part / 26 - 1) + last;
}

std::string merged_letters(int first, int last) {
    const bool two = last == first + 1 && last < 26;
    return part_letter(first) + (two ? "" : "…") + part_letter(last);
}

std::vector<MergeNode> merge_plan(int parts, MergeOrder order) {
    if (parts > 1 && order == MergeOrder::chain) return chain_of(parts);
    if (parts > 1 && order == MergeOrder::pairs) return pairs_of(parts);
    MergeNode all{{}, parts, 0, parts - 1};
    for (int n = 0; n < parts; ++n) all.parts.push_back(n);
    return {all};
}

Region part_region(int tile, int n, int cols) { return {tile * n, 0, n, cols}; }

namespace {

struct Merging {
    Recorder& rec;
    const Problem& p;
    const Merge& merge;
    int n = merge.q.rows;
    std::int64_t rows = n, parts = std::ssize(merge.parts);

    int place(int tile) const {
        if (merge.places.empty()) return tile;
        const auto at = std::ranges::find(merge.parts, tile);
        return merge.places[static_cast<std::size_t>(at - merge.parts.begin())];
    }
    Region column(int tile) const { return part_region(place(tile), n, 1); }
    const Matrix& write(Slot part, Slot whole, Matrix data) {
        const int cols = static_cast<int>(data.cols());
        if (merge.whole) return rec.write(whole, std::move(data), {merge.q.row, 0, n, cols});
        return rec.write(part, std::move(data), part_region(place(merge.into), n, cols), merge.into);
    }
    const Matrix& read_result(Slot part, Slot whole) {
        return merge.whole ? rec.read(whole) : rec.read(part, merge.into);
    }

    std::vector<const Matrix*> read(Slot slot) {
        std::vector<const Matrix*> out;
        for (const int tile : merge.parts) out.push_back(&rec.read(slot, tile));
        return out;
    }
    Matrix largest(const std::vector<const Matrix*>& all) const {
        Matrix out = Matrix::Constant(n, 1, minus_infinity);
        for (const Matrix* one : all)
            for (int r = 0; r < n; ++r) out(r, 0) = std::fmax(out(r, 0), (*one)(r, 0));  // passes over NaN
        return out;
    }
    // What is subtracted before exp; a fault leaves it out.
    Matrix base(const Matrix& m) const {
        return leaves_maximum_out() ? Matrix(Matrix::Zero(n, 1)) : base_of(m);
    }
    bool leaves_maximum_out() const { return p.switches.no_max && !merge.own_kernel; }

    void maximum() {
        rec.begin(Op::merge_max, merge.i, merge.j);
        const Matrix m = largest(read(Slot::m_part));
        write(Slot::m_part, Slot::m, leaves_maximum_out() ? Matrix(Matrix::Zero(n, 1)) : m);
        rec.end(rows * (parts - 1));
    }

    // L = m + ln Σ exp(Lᵢ − m), measured from the largest of them
    void log_sum() {
        rec.begin(Op::merge_lse, merge.i, merge.j);
        const std::vector<const Matrix*> all = read(Slot::L_part);
        const Matrix from = base(largest(all));
        Matrix sum = Matrix::Zero(n, 1);
        for (const Matrix* L : all) sum += exp_exactly(*L - from);
        write(Slot::L_part, Slot::Li, round_to(p.precision.softmax, from + log_exactly(sum)));
        rec.end(rows * 4 * parts);
    }

    // wᵢ = exp(mᵢ − m), or exp(Lᵢ − L)
    void weights(Slot part, Slot whole) {
        rec.begin(Op::merge_weights, merge.i, merge.j);
        const Matrix from = base_of(read_result(part, whole));
        // The first one last: it is the one that the step is about where nobody asks for another.
        for (auto tile = merge.parts.rbegin(); tile != merge.parts.rend(); ++tile) {
            const Matrix w = round_to(p.precision.softmax, exp_exactly(rec.read(part, *tile) - from));
            rec.write(Slot::w_part, p.switches.no_weights ? Matrix(Matrix::Ones(n, 1)) : w, column(*tile),
                      *tile);
        }
        rec.end(2 * rows * parts);
    }

    // Σ wᵢ ℓᵢ, Σ wᵢ Oᵢ
    void weighted(Op op, Slot part, Slot whole) {
        rec.begin(op, merge.i, merge.j);
        Matrix sum;
        for (const int tile : merge.parts) {
            const Matrix& w = rec.read(Slot::w_part, tile);
            const Matrix& A = rec.read(part, tile);
            const Matrix term = w.col(0).asDiagonal() * A;
            if (sum.size() == 0)
                sum = term;
            else
                sum += term;
        }
        const std::int64_t cells = sum.size();
        const Format format = op == Op::merge_sum ? p.precision.softmax : p.precision.accumulator;
        write(part, whole, round_to(format, std::move(sum)));
        rec.end(cells * (2 * parts - 1));
    }
};

}  // namespace

void merge_steps(Recorder& rec, const Problem& p, const Merge& merge, PartForm form) {
    Merging m{rec, p, merge};
    if (form == PartForm::normalised) {
        m.log_sum();
        m.weights(Slot::L_part, Slot::Li);
    } else {
        m.maximum();
        m.weights(Slot::m_part, Slot::m);
        m.weighted(Op::merge_sum, Slot::l_part, Slot::l);
    }
    m.weighted(Op::merge_output, Slot::O_part, Slot::Oi);
}

PartFound find_part(const Problem& p, const Matrix& S, const Matrix& V, double sink) {
    const Precision& f = p.precision;
    const Matrix zero = Matrix::Zero(S.rows(), 1),
                 m = p.switches.no_max ? zero : round_to(f.softmax, row_maximum(S).cwiseMax(sink));
    const Matrix base = base_of(m), P = round_to(f.softmax, exp_exactly(S.colwise() - base.col(0))),
                 of_sink = round_to(f.softmax, exp_exactly(Matrix((sink - base.array()).matrix())));
    const Matrix sum = P.rowwise().sum() + of_sink;
    return {m, round_to(f.softmax, sum), round_to(f.accumulator, round_to(f.weights, P) * V)};
}

Matrix log_sum_of(const Problem& p, const Matrix& m, const Matrix& l) {
    if (p.switches.no_log_sum) return m;
    return round_to(p.precision.softmax, log_sum(m, l));
}

Line part_symbol(Slot slot, const std::string& tile) {
    const SlotInfo& about = info(slot);
    return {{about.symbol, about.role, Span::Face::symbol},
            {tile.empty() ? about.sub : tile, about.role, Span::Face::symbol, Span::Script::sub}};
}

}  // namespace tilewalk

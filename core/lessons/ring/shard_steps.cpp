#include "core/lessons/ring/shard_steps.h"

#include "core/problem/logits.h"
#include "core/problem/mask.h"

namespace tilewalk {

namespace {

int first_of(const ring::Run& piece) { return static_cast<int>(piece.first); }
int count_of(const ring::Run& piece) { return static_cast<int>(piece.count); }

Region whole(const Matrix& S) { return {0, 0, static_cast<int>(S.rows()), static_cast<int>(S.cols())}; }

// The scores again, each changed by what its query and its key are to each other.
template <class Change>
void change_scores(Recorder& rec, const Ring& ring, Op op, int rank, int owner, std::int64_t flops,
                   const Change& change) {
    const std::vector<int>&q = ring.queries_of(rank).positions, &k = ring.keys_of(owner).positions;
    rec.begin(op, rank, owner);
    Matrix S = rec.read(Slot::S);
    for (Eigen::Index row = 0; row < S.rows(); ++row)
        for (Eigen::Index col = 0; col < S.cols(); ++col)
            change(S(row, col), q[static_cast<std::size_t>(row)], k[static_cast<std::size_t>(col)]);
    const Region at = whole(S);
    rec.write(Slot::S, std::move(S), at);
    rec.end(flops);
}

}  // namespace

void give_shards(Recorder& rec, Slot slot, const Matrix& A, const std::vector<RingRows>& shards) {
    const int cols = static_cast<int>(A.cols());
    for (const RingRows& rows : shards)
        for (const ring::Run& piece : rows.pieces)
            rec.give(slot, A.middleRows(first_of(piece), count_of(piece)), count_of(piece), cols,
                     first_of(piece));
}

Matrix fetch_shard(Recorder& rec, Slot from, const RingRows& rows) {
    Matrix all;
    int row = 0;
    for (int n = 0; n < rows.tiles(); ++n) {
        const Matrix& piece = rec.fetch(from, rows.first_tile + n);
        if (n == 0) all.resize(rows.rows(), piece.cols());
        all.middleRows(row, piece.rows()) = piece;
        row += static_cast<int>(piece.rows());
    }
    return all;
}

void load_shard(Recorder& rec, Slot from, const RingRows& rows, Slot to) {
    Matrix all = fetch_shard(rec, from, rows);
    const Region at{0, 0, rows.rows(), static_cast<int>(all.cols())};
    rec.write(to, std::move(all), at);
}

void store_shard(Recorder& rec, Slot slot, const Matrix& A, const RingRows& rows, int first_tile,
                 int first_row) {
    int row = 0;
    for (int n = 0; n < rows.tiles(); ++n) {
        const ring::Run& piece = rows.pieces[static_cast<std::size_t>(n)];
        const int count = count_of(piece);
        rec.store(slot, first_tile + rows.first_tile + n, A.middleRows(row, count),
                  {first_row + first_of(piece), 0, count, static_cast<int>(A.cols())});
        row += count;
    }
}

void hand_on_keys(Recorder& rec, const Ring& ring, const RingClock& clock, int rank, int round) {
    const int owner = ring.owner(rank, round + 1);
    const RingClock::Time time = clock.keys(ring.before(rank), round);
    const RingRows& rows = ring.keys_of(owner);
    rec.begin(Op::exchange, rank, owner);
    for (const auto& [slot, to] : {std::pair(Slot::K, Slot::K_in), std::pair(Slot::V, Slot::V_in)})
        for (int tile = 0; tile < rows.tiles(); ++tile) rec.receive(slot, rows.first_tile + tile, to);
    rec.runs_beneath(time.start, time.end);
    rec.end();
}

void shard_scores(Recorder& rec, const Ring& ring, int rank, int round, Capped kept) {
    const Problem& p = ring.problem;
    const int owner = ring.owner(rank, round), left = ring.scores(rank, round);
    rec.begin(Op::scores, rank, owner);
    const Matrix& Q = rec.read(Slot::Qi);
    const Matrix& K = rec.read(Slot::Kj);
    const double scale = p.softmax_scale();
    const std::int64_t cells = Q.rows() * K.rows();
    const Region at = whole(rec.write(Slot::S, round_to(p.precision.scores, scale * Q * K.transpose()),
                                      {0, 0, static_cast<int>(Q.rows()), static_cast<int>(K.rows())}));
    rec.takes(left);
    rec.end(cells * (2 * Q.cols() + (scale != 1)));
    if (p.logits.softcap) softcap_step(rec, p, rank, owner, at, kept);
    if (p.logits.alibi)
        change_scores(rec, ring, Op::bias, rank, owner, 2 * cells, [&](double& S, int q, int k) {
            S = round_to(p.precision.scores, S - *p.logits.alibi * distance(p, q, k));
        });
    if (left < cells)
        change_scores(rec, ring, Op::mask, rank, owner, 0, [&](double& S, int q, int k) {
            if (!passes_mask(p, q, k)) S = minus_infinity;
        });
}

}  // namespace tilewalk

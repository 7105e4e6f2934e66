#include "core/lessons/ring/shard_steps.h"

#include "core/problem/mask.h"

namespace tilewalk {

namespace {

int first_of(const ring::Run& piece) { return static_cast<int>(piece.first); }
int count_of(const ring::Run& piece) { return static_cast<int>(piece.count); }

void mask(Recorder& rec, const Ring& ring, int rank, int owner) {
    const std::vector<int>&q = ring.queries_of(rank).positions, &k = ring.keys_of(owner).positions;
    rec.begin(Op::mask, rank, owner);
    Matrix S = rec.read(Slot::S);
    for (Eigen::Index row = 0; row < S.rows(); ++row)
        for (Eigen::Index col = 0; col < S.cols(); ++col)
            if (!passes_mask(ring.problem, q[static_cast<std::size_t>(row)],
                             k[static_cast<std::size_t>(col)]))
                S(row, col) = minus_infinity;
    const Region all{0, 0, static_cast<int>(S.rows()), static_cast<int>(S.cols())};
    rec.write(Slot::S, std::move(S), all);
    rec.end();
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

void shard_scores(Recorder& rec, const Ring& ring, int rank, int round) {
    const int owner = ring.owner(rank, round), left = ring.scores(rank, round);
    rec.begin(Op::scores, rank, owner);
    const Matrix& Q = rec.read(Slot::Qi);
    const Matrix& K = rec.read(Slot::Kj);
    const double scale = ring.problem.softmax_scale();
    const int rows = static_cast<int>(Q.rows()), keys = static_cast<int>(K.rows());
    rec.write(Slot::S, scale * Q * K.transpose(), {0, 0, rows, keys});
    rec.takes(left);
    rec.end(std::int64_t{rows} * keys * (2 * Q.cols() + (scale != 1)));
    if (left < rows * keys) mask(rec, ring, rank, owner);
}

}  // namespace tilewalk

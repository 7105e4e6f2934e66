#include "core/bench/ring_verify.h"

#include "core/base/matrix.h"
#include "core/bench/compared.h"
#include "core/bench/input_stream.h"
#include "core/engine/heads.h"

#include <Eigen/Core>

#include <cstring>
#include <random>

namespace tilewalk {

namespace {

// The standard is tried with sums over d that begin at four places (reference.h).
constexpr std::int64_t orders = 4;
// At most so many bytes of scores for the sampled rows
constexpr std::int64_t most_score_bytes = std::int64_t{64} << 20;

// The row of a rank at each position, −1 where another rank has it
std::vector<std::int64_t> own_rows(const ring::Rank& rank, std::int64_t N) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(N), -1);
    std::int64_t row = 0;
    for (const ring::Run& run : rank.positions())
        for (std::int64_t k = 0; k < run.count; ++k) rows[static_cast<std::size_t>(run.position(k))] = row++;
    return rows;
}
std::vector<std::int64_t> positions_of(const ring::Rank& rank) {
    std::vector<std::int64_t> all;
    for (const ring::Run& run : rank.positions())
        for (std::int64_t k = 0; k < run.count; ++k) all.push_back(run.position(k));
    return all;
}

// Q, K, V or dO: the rows of this rank are kept, the others passed over.
void fill_tensor(InputStream& stream, float* tensor, std::int64_t heads, const std::vector<std::int64_t>& own,
                 std::int64_t rows, std::int64_t d) {
    for (std::int64_t head = 0; head < heads; ++head)
        for (const std::int64_t row : own) {
            if (row < 0)
                stream.skip(1);
            else
                stream.next(tensor + (head * rows + row) * d);
        }
}

template <class T> T dot(const float* a, const float* b, std::int64_t d, std::int64_t order) {
    T sum = 0;
    const std::int64_t begin = order * d / orders;
    for (std::int64_t k = begin; k < d; ++k) sum += static_cast<T>(a[k]) * static_cast<T>(b[k]);
    for (std::int64_t k = 0; k < begin; ++k) sum += static_cast<T>(a[k]) * static_cast<T>(b[k]);
    return sum;
}

// A sum of many vectors, some at a time, as products of matrices add
template <class T> class VectorSum {
public:
    explicit VectorSum(std::int64_t d) : sum(static_cast<std::size_t>(d)), some(sum.size()) {}
    void add(T factor, const float* x) {
        for (std::size_t k = 0; k < some.size(); ++k) some[k] += factor * static_cast<T>(x[k]);
        if (++count % 128 == 0) close();
    }
    const std::vector<T>& close() {
        for (std::size_t k = 0; k < some.size(); ++k) sum[k] += some[k], some[k] = 0;
        return sum;
    }

private:
    std::vector<T> sum, some;
    std::int64_t count = 0;
};

// ---- A query row as plain attention computes it, from keys and values that come one after the other

template <class T> struct PlainRow {
    std::int64_t order = 0, d;
    const float *q, *dO;
    T scale = 1 / std::sqrt(static_cast<T>(d));
    std::vector<T> P = {}, dP = {};  // S before P, dS after dP
    T L = 0, D = 0;
    VectorSum<T> O{d}, dQ{d};

    void key(const float* k) { P.push_back(scale * dot<T>(q, k, d, order)); }
    void softmax() {
        const T m = *std::max_element(P.begin(), P.end());
        T l = 0;
        for (T& p : P) l += p = std::exp(p - m);
        for (T& p : P) p /= l;
        L = m + std::log(l);
    }
    void value(std::size_t j, const float* v) {
        O.add(P[j], v);
        if (dO) dP.push_back(dot<T>(dO, v, d, order));
    }
    void gradient_of_scores() {
        const std::vector<T>& o = O.close();
        for (std::int64_t k = 0; k < d; ++k) D += static_cast<T>(dO[k]) * o[static_cast<std::size_t>(k)];
        for (std::size_t j = 0; j < P.size(); ++j) dP[j] = P[j] * (dP[j] - D);
    }
    void key_again(std::size_t j, const float* k) { dQ.add(scale * dP[j], k); }
};

struct Sample {
    std::int64_t head, row, keys;  // its row at the rank; the keys that it sees
    PlainRow<double> exact;
    std::vector<PlainRow<float>> standard;

    template <class Do> void each(const Do& action) {
        action(exact);
        for (PlainRow<float>& one : standard) action(one);
    }
};

// ---- A key row: what its dK and dV are, from queries that come one after the other

// Of a query row in fp64: the standard gets them rounded, which makes it only more exact.
struct Sums {
    double L, D;
};

template <class T> struct PlainKey {
    std::int64_t order = 0, d;
    const float *k, *v;
    T scale = 1 / std::sqrt(static_cast<T>(d));
    VectorSum<T> dK{d}, dV{d};

    void query(const float* q, const float* dO, const Sums& sums) {
        const T P = std::exp(scale * dot<T>(q, k, d, order) - static_cast<T>(sums.L)),
                dS = P * (dot<T>(dO, v, d, order) - static_cast<T>(sums.D));
        dV.add(P, dO);
        dK.add(scale * dS, q);
    }
};

struct KeySample {
    std::int64_t row, position;
    PlainKey<double> exact;
    std::vector<PlainKey<float>> standard;

    template <class Do> void each(const Do& action) {
        action(exact);
        for (PlainKey<float>& one : standard) action(one);
    }
};

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class Verifier {
public:
    Verifier(ring::Rank& which, const ring::Problem& what, std::uint64_t from, ring::Transport& with,
             cpu::ThreadPool& threads)
        : rank(which), problem(what), w(problem.workload), seed(from), transport(with), pool(threads),
          rows(which.rows()), positions(positions_of(which)), backward(w.direction == Direction::backward) {}

    KernelVerdict verify() {
        std::vector<Sample> samples = chosen();
        compute(samples);
        for (Sample& sample : samples) look_at(sample);
        if (backward) look_at_keys();
        return verdict_of(all, w);
    }

private:
    std::vector<Sample> chosen() {
        std::mt19937_64 random(seed + static_cast<std::uint64_t>(transport.rank()));
        const std::int64_t heads = w.batch * w.heads, bytes = w.N_kv * (backward ? 2 : 1) * (8 + 4 * orders),
                           count = std::clamp<std::int64_t>(most_score_bytes / bytes, 2, 8 * heads);
        std::vector<Sample> samples;
        for (std::int64_t k = 0; k < count; ++k) {
            // The last row among them: it sees the most keys
            const std::int64_t row =
                k == 0 ? rows - 1 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
            samples.push_back(sample(k % heads, row));
        }
        return samples;
    }
    Sample sample(std::int64_t head, std::int64_t row) {
        const std::int64_t at = (head * rows + row) * w.d;
        const float *const q = rank.Q() + at, *const dO = backward ? rank.dO() + at : nullptr;
        const std::int64_t position = positions[static_cast<std::size_t>(row)];
        Sample one{head, row, w.causal ? position + 1 : w.N_kv, {0, w.d, q, dO}, {}};
        for (std::int64_t order = 0; order < orders; ++order) one.standard.push_back({order, w.d, q, dO});
        return one;
    }

    // The keys of one head after the other pass by those samples that read it.
    void compute(std::vector<Sample>& samples) {
        InputStream keys(w, seed), values(w, seed);
        keys.skip(w.q_rows());
        values.skip(w.q_rows() + w.kv_rows());
        for (std::int64_t kv_head = 0; kv_head < w.batch * w.kv_heads; ++kv_head) {
            std::vector<Sample*> here;
            for (Sample& sample : samples)
                if (cpu::kv_head_of(w, sample.head) == kv_head) here.push_back(&sample);
            InputStream keys_again = keys;
            pass(keys, here, [](auto& row, std::size_t, const float* k) { row.key(k); });
            for (Sample* sample : here) sample->each([](auto& row) { row.softmax(); });
            pass(values, here, [](auto& row, std::size_t j, const float* v) { row.value(j, v); });
            if (!backward) continue;
            for (Sample* sample : here) sample->each([](auto& row) { row.gradient_of_scores(); });
            pass(keys_again, here, [](auto& row, std::size_t j, const float* k) { row.key_again(j, k); });
        }
    }
    template <class Use> void pass(InputStream& stream, const std::vector<Sample*>& samples, const Use& use) {
        if (samples.empty()) return stream.skip(w.N_kv);
        std::vector<float> row(static_cast<std::size_t>(w.d));
        for (std::int64_t j = 0; j < w.N_kv; ++j) {
            stream.next(row.data());
            for (Sample* sample : samples)
                if (j < sample->keys)
                    sample->each([&](auto& one) { use(one, static_cast<std::size_t>(j), row.data()); });
        }
    }

    void look_at(Sample& sample) {
        const std::int64_t at = sample.head * rows + sample.row;
        look_at_vectors(all[of_tensor::O], rank.O() + at * w.d, sample.head, sample, &PlainRow<double>::O,
                        &PlainRow<float>::O);
        all[of_tensor::L].look(rank.L()[at], sample.exact.L, sample.head, sample.row, 0);
        for (const PlainRow<float>& one : sample.standard)
            all[of_tensor::L].look_at_standard(one.L, sample.exact.L);
        if (backward)
            look_at_vectors(all[of_tensor::dQ], rank.dQ() + at * w.d, sample.head, sample,
                            &PlainRow<double>::dQ, &PlainRow<float>::dQ);
    }
    template <class Looked, class Exact, class Standard>
    void look_at_vectors(Compared& tensor, const float* found, std::int64_t head, Looked& sample, Exact exact,
                         Standard standard) {
        const std::vector<double>& right = (sample.exact.*exact).close();
        for (std::size_t k = 0; k < right.size(); ++k)
            tensor.look(found[k], right[k], head, sample.row, static_cast<std::int64_t>(k));
        for (auto& one : sample.standard) {
            const std::vector<float>& x = (one.*standard).close();
            for (std::size_t k = 0; k < right.size(); ++k) tensor.look_at_standard(x[k], right[k]);
        }
    }

    std::vector<Sums> sums_of_own_rows(std::int64_t head, std::int64_t kv_head);
    std::vector<Sums> sums_of_all_rows(const std::vector<Sums>& own);
    void look_at_keys();

    ring::Rank& rank;
    const ring::Problem& problem;
    const Workload& w;
    const std::uint64_t seed;
    ring::Transport& transport;
    cpu::ThreadPool& pool;
    const std::int64_t rows;
    const std::vector<std::int64_t> positions;
    const bool backward;
    AllCompared all = nothing_compared(DType::f32);
};

// L and D of all queries of this rank, from keys and values that pass in blocks
std::vector<Sums> Verifier::sums_of_own_rows(std::int64_t head, std::int64_t kv_head) {
    constexpr std::int64_t block = 256, height = 64;
    InputStream keys(w, seed), values(w, seed);
    keys.skip(w.q_rows() + kv_head * w.N_kv);
    values.skip(w.q_rows() + w.kv_rows() + kv_head * w.N_kv);
    const auto own = [&](const float* tensor) {
        return Eigen::Map<const Floats>(tensor + head * rows * w.d, rows, w.d).cast<double>().eval();
    };
    const Doubles Q = own(rank.Q()), dO = own(rank.dO());
    Doubles O = Doubles::Zero(rows, w.d);
    Eigen::VectorXd m = Eigen::VectorXd::Constant(rows, minus_infinity), l = Eigen::VectorXd::Zero(rows);
    for (std::int64_t from = 0; from < w.N_kv; from += block) {
        const std::int64_t count = std::min(block, w.N_kv - from);
        Floats K(count, w.d), V(count, w.d);
        for (std::int64_t j = 0; j < count; ++j) keys.next(K.row(j).data()), values.next(V.row(j).data());
        const Doubles K64 = K.cast<double>(), V64 = V.cast<double>();
        const auto some_rows = [&](std::int64_t task, int) {
            const std::int64_t first = task * height, some = std::min(height, rows - first);
            Doubles S = Q.middleRows(first, some) * K64.transpose() / std::sqrt(static_cast<double>(w.d));
            for (std::int64_t r = 0; r < some; ++r) {
                const std::int64_t i = first + r, position = positions[static_cast<std::size_t>(i)],
                                   seen = w.causal ? std::clamp<std::int64_t>(position + 1 - from, 0, count)
                                                   : count;
                if (seen == 0) continue;
                const double m_new = std::max(m[i], S.row(r).head(seen).maxCoeff()),
                             alpha = std::exp(m[i] - m_new);
                O.row(i) *= alpha, l[i] *= alpha, m[i] = m_new;
                for (std::int64_t j = 0; j < seen; ++j) {
                    const double P = std::exp(S(r, j) - m_new);
                    l[i] += P;
                    O.row(i) += P * V64.row(j);
                }
            }
        };
        pool.run((rows + height - 1) / height, some_rows);
    }
    std::vector<Sums> sums;
    for (std::int64_t i = 0; i < rows; ++i)
        sums.push_back({m[i] + std::log(l[i]), dO.row(i).dot(O.row(i)) / l[i]});
    return sums;
}

// Every rank gets those of all positions.
std::vector<Sums> Verifier::sums_of_all_rows(const std::vector<Sums>& own) {
    const auto text_of = [](const std::vector<Sums>& sums) {
        const auto bytes = ring::bytes_of(sums.data(), static_cast<std::int64_t>(sums.size()));
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    const auto sums_of = [](const std::string& text) {
        std::vector<Sums> sums(text.size() / sizeof(Sums));
        if (!text.empty()) std::memcpy(sums.data(), text.data(), text.size());
        return sums;
    };
    std::vector<Sums> everyone(static_cast<std::size_t>(w.N_q));
    const std::vector<std::string> texts = gather(transport, text_of(own));
    for (std::size_t r = 0; r < texts.size(); ++r) {
        std::size_t row = 0;
        const std::vector<Sums> part = sums_of(texts[r]);
        for (const ring::Run& run : runs_of(problem.shards, w.N_q, transport.ranks(), static_cast<int>(r)))
            for (std::int64_t k = 0; k < run.count; ++k)
                everyone[static_cast<std::size_t>(run.position(k))] = part[row++];
    }
    return sums_of(from_rank_0(transport, text_of(everyone)));
}

// Rows of dK and dV in one key head, from the queries that pass by
void Verifier::look_at_keys() {
    constexpr std::int64_t samples = 4;
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(transport.rank()));
    const std::int64_t kv_head = static_cast<std::int64_t>(seed) % (w.batch * w.kv_heads),
                       first_head = cpu::first_head_of(w, kv_head);
    std::vector<KeySample> keys;
    for (std::int64_t n = 0; n < samples; ++n) {
        const std::int64_t row =
            n == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
        const std::int64_t at = (kv_head * rows + row) * w.d;
        const float *const k = rank.K() + at, *const v = rank.V() + at;
        KeySample sample{row, positions[static_cast<std::size_t>(row)], {0, w.d, k, v}, {}};
        for (std::int64_t order = 0; order < orders; ++order) sample.standard.push_back({order, w.d, k, v});
        keys.push_back(std::move(sample));
    }
    std::vector<float> q(static_cast<std::size_t>(w.d)), dO(q.size());
    for (std::int64_t head = first_head; head < first_head + w.heads / w.kv_heads; ++head) {
        const std::vector<Sums> sums = sums_of_all_rows(sums_of_own_rows(head, kv_head));
        InputStream queries(w, seed), gradients(w, seed);
        queries.skip(head * w.N_q);
        gradients.skip(w.q_rows() + 2 * w.kv_rows() + head * w.N_q);
        for (std::int64_t i = 0; i < w.N_q; ++i) {
            queries.next(q.data()), gradients.next(dO.data());
            for (KeySample& sample : keys)
                if (!w.causal || sample.position <= i)
                    sample.each([&](auto& key) {
                        key.query(q.data(), dO.data(), sums[static_cast<std::size_t>(i)]);
                    });
        }
    }
    for (KeySample& sample : keys) {
        const std::int64_t at = (kv_head * rows + sample.row) * w.d;
        look_at_vectors(all[of_tensor::dK], rank.dK() + at, kv_head, sample, &PlainKey<double>::dK,
                        &PlainKey<float>::dK);
        look_at_vectors(all[of_tensor::dV], rank.dV() + at, kv_head, sample, &PlainKey<double>::dV,
                        &PlainKey<float>::dV);
    }
}

}  // namespace

void fill(ring::Rank& rank, const ring::Problem& problem, std::uint64_t seed) {
    const Workload& w = problem.workload;
    const std::int64_t heads = w.batch * w.heads, kv_heads = w.batch * w.kv_heads;
    const std::vector<std::int64_t> own = own_rows(rank, w.N_q);
    InputStream stream(w, seed);
    fill_tensor(stream, rank.Q(), heads, own, rank.rows(), w.d);
    fill_tensor(stream, rank.K(), kv_heads, own, rank.rows(), w.d);
    fill_tensor(stream, rank.V(), kv_heads, own, rank.rows(), w.d);
    if (w.direction == Direction::backward) fill_tensor(stream, rank.dO(), heads, own, rank.rows(), w.d);
}

KernelVerdict verify_rank(ring::Rank& rank, const ring::Problem& problem, std::uint64_t seed,
                          ring::Transport& transport, cpu::ThreadPool& pool) {
    return Verifier(rank, problem, seed, transport, pool).verify();
}

}  // namespace tilewalk

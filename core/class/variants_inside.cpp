#include "core/class/variants_inside.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilewalk {
namespace {

/// All different questions of a kind.
struct Pool {
    std::vector<Question> questions;
    std::set<std::string> texts;

    void add(Question q) {
        if (texts.insert(q.text).second) questions.push_back(std::move(q));
    }
};

std::map<Question::Kind, Pool> pools_of(std::span<const InsideRun> runs) {
    std::map<Question::Kind, Pool> pools;
    for (const InsideRun& run : runs) {
        for (int warp = 0; warp < run.steps.warps(); ++warp)
            for (int k = 0; k < run.steps.count(warp); ++k)
                for (const Question& q : questions_inside_alone(run, warp, k)) pools[q.kind].add(q);
        for (const Question& q : questions_between(run)) pools[q.kind].add(q);
    }
    return pools;
}

/// Where the cells of S have their names, those of which only the place among the sums is known are left out.
void keep_named(Pool& pool) {
    const auto is_named = [](const Question& q) {
        return q.text.find("Which lane holds S[") != std::string::npos;
    };
    if (std::ranges::any_of(pool.questions, is_named))
        std::erase_if(pool.questions, [&](const Question& q) { return !is_named(q); });
}

/// In an order that the seed decides. Each answer comes once before any comes again: who has copied the
/// neighbour's is wrong.
std::vector<Question> dealt(std::vector<Question> all, std::uint64_t seed) {
    std::map<std::string, std::vector<std::size_t>> by_answer;
    for (std::size_t n = 0; n < all.size(); ++n) by_answer[answer_text(all[n])].push_back(n);
    const auto shuffle = [](std::vector<std::size_t>& some, std::uint64_t with) {
        std::ranges::sort(some, {}, [&](std::size_t n) { return mixed(with, n); });
    };
    for (auto& [answer, some] : by_answer) shuffle(some, seed);
    std::vector<Question> out;
    for (std::size_t round = 0; out.size() < all.size(); ++round) {
        std::vector<std::size_t> of_round;
        for (const auto& [answer, some] : by_answer)
            if (round < some.size()) of_round.push_back(some[round]);
        shuffle(of_round, mixed(seed, round));
        for (const std::size_t n : of_round) out.push_back(std::move(all[n]));
    }
    return out;
}

const char* title_of(Question::Kind kind) {
    switch (kind) {
    case Question::Kind::lane_of_cell: return "Which lane holds a cell";
    case Question::Kind::bank_ways: return "Ways of conflict";
    case Question::Kind::sectors: return "Sectors of HBM";
    case Question::Kind::waits_for_copy: return "Which line waits for a copy";
    default: return "Which line stands between two accesses";
    }
}

}  // namespace

std::vector<AskedOfAll> make_inside_variants(std::span<const InsideRun> runs, int variants,
                                             std::uint64_t seed) {
    std::vector<AskedOfAll> out;
    for (auto& [kind, pool] : pools_of(runs)) {
        if (kind == Question::Kind::lane_of_cell) keep_named(pool);
        const std::vector<Question> all =
            dealt(std::move(pool.questions), mixed(seed, static_cast<std::uint64_t>(kind)));
        AskedOfAll asked;
        asked.title = title_of(kind);
        const std::size_t count = all.size() == 1 ? 1 : static_cast<std::size_t>(variants);
        for (std::size_t n = 0; n < count; ++n) asked.variants.push_back({{}, all[n % all.size()]});
        out.push_back(std::move(asked));
    }
    return out;
}

}  // namespace tilewalk

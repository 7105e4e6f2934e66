#include "app/io/link.h"

#include "app/io/examples.h"
#include "app/io/link_parts.h"
#include "app/io/text.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace tilewalk {
namespace {

constexpr std::string_view scheme = "tilewalk:";
constexpr std::int64_t most_random = 1 << 18;  // elements of Q of a random problem: drawn in no time

// Four digits at the end, so that a link that was cut off leads nowhere rather than to another place
// (FNV-1a).
const std::string sum_mark = "&sum=";
std::string sum_of(std::string_view text) {
    std::uint32_t sum = 2166136261u;
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
    char digits[8];
    std::snprintf(digits, sizeof digits, "%04x", (sum >> 16) ^ (sum & 0xffffu));
    return digits;
}

// ---- Where the problem begins

struct Base {
    std::string said;  ///< "example=worked-4x4"; empty: its own numbers
    Problem problem;
};

std::optional<Problem> random_base(int N, int d, std::uint64_t seed) {
    if (N < 1 || d < 1 || std::int64_t{N} * d > most_random) return {};
    auto made = random_problem(N, d, seed);
    return made ? std::optional(std::move(*made)) : std::nullopt;
}

// "64x16.7": rows, columns, seed.
std::optional<Problem> read_random(const std::string& value) {
    const std::size_t x = value.find('x'), dot = value.find('.');
    if (x == value.npos || dot == value.npos || dot < x) return {};
    const auto N = number_in<int>(value.substr(0, x)), d = number_in<int>(value.substr(x + 1, dot - x - 1));
    const auto seed = number_in<std::uint64_t>(value.substr(dot + 1));
    return N && d && seed ? random_base(*N, *d, *seed) : std::nullopt;
}

std::vector<Base> bases_for(const Problem& p) {
    std::vector<Base> out;
    for (const Problem& example : examples()) {
        const bool alike = example.N() == p.N() && example.N_kv() == p.N_kv() && example.d() == p.d();
        if (alike || example.name == p.name)
            out.push_back({"example=" + linked::escaped(example.name), example});
    }
    if (p.seed)
        if (auto drawn = random_base(p.N(), p.d(), *p.seed))
            out.push_back(
                {"random=" + str(p.N()) + "x" + str(p.d()) + "." + str(*p.seed), std::move(*drawn)});
    if (p.Q.size() + p.K.size() + p.V.size() <= linked::most_elements)
        out.push_back({"", {}});  // all is said
    return out;
}

// What differs from this beginning, and from the title that the beginning brings with it.
std::string written_from(const LinkedPlace& place, const Base& from) {
    LinkedPlace base;
    base.problem = from.problem;
    if (!from.said.empty() && place.problem.name != from.problem.name) {
        // An example that was changed is no longer called one.
        mark_changed(base.problem);
        base.problem.name.clear();
    }
    std::string out = from.said;
    if (base.problem.name != from.problem.name) out += "&changed=yes";
    for (const linked::Key& key : linked::keys())
        if (const auto value = key.write(place, base))
            out += (out.empty() ? "" : "&") + std::string(key.name) + "=" + *value;
    return std::string(scheme) + out;
}

// ---- Reading

using Said = std::map<std::string, std::string, std::less<>>;

Failure wrong(const std::string& key, const std::string& value, const std::string& expected) {
    return {"The link says " + key + "=" + in_quotes(value) + ", expected " + expected + "."};
}

bool is_known(std::string_view name) {
    if (name == "example" || name == "random" || name == "changed") return true;
    return std::ranges::any_of(linked::keys(), [&](const linked::Key& key) { return name == key.name; });
}

Result<Said> read_pairs(std::string_view text) {
    Said out;
    for (const std::string& part : split(text, "&")) {
        const std::size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        if (equals == part.npos) return Failure{"The link has " + in_quotes(part) + ", expected KEY=VALUE."};
        if (!is_known(name))
            return Failure{"The link has the key " + in_quotes(name) + ", which is unknown."};
        const auto value = linked::unescaped(part.substr(equals + 1));
        if (!value)
            return Failure{"The value of " + name +
                           " in the link is broken: " + in_quotes(part.substr(equals + 1)) + "."};
        // Tokens are unescaped one by one, because one of them may hold a comma.
        if (!out.emplace(name, name == "tokens" ? part.substr(equals + 1) : *value).second)
            return Failure{"The link says " + name + " twice."};
    }
    return out;
}

Result<Problem> read_base(const Said& said) {
    const auto example = said.find("example"), random = said.find("random"), changed = said.find("changed");
    if (example != said.end() && random != said.end())
        return Failure{"The link names an example and a random problem."};
    Problem out;  // without matrices; what is not said is as in a new problem
    if (example != said.end()) {
        const Problem* found = find_example(example->second);
        if (!found)
            return Failure{"The link names the example " + in_quotes(example->second) +
                           ", which this program does not have."};
        out = *found;
    }
    if (random != said.end()) {
        auto drawn = read_random(random->second);
        if (!drawn) return wrong("random", random->second, "ROWSxCOLUMNS.SEED");
        out = std::move(*drawn);
    }
    if (changed == said.end()) return out;
    if (changed->second != "yes") return wrong("changed", changed->second, "yes");
    mark_changed(out);
    return out;
}

}  // namespace

Result<std::string> link_to(const LinkedPlace& place) {
    std::string best;
    for (const Base& base : bases_for(place.problem)) {
        const bool other_example = !place.problem.name.empty() && base.problem.name != place.problem.name;
        if (other_example) continue;
        std::string text = written_from(place, base);
        if (best.empty() || text.size() < best.size()) best = std::move(text);
    }
    if (!best.empty()) best += sum_mark + sum_of(best);
    if (!best.empty() && best.size() <= most_link_letters && place_of_link(best)) return best;
    return Failure{"This problem is too large for a link of " + str(most_link_letters) +
                   " letters; save it as a file in the problem panel (I)."};
}

Result<LinkedPlace> place_of_link(std::string_view link) {
    // What a mail or a terminal put around it.
    link.remove_prefix(std::min(link.find_first_not_of(" \t\r\n"), link.size()));
    link = link.substr(0, link.find_last_not_of(" \t\r\n") + 1);
    if (!link.starts_with(scheme))
        return Failure{"A link begins with \"tilewalk:\", but this is " + in_quotes(link.substr(0, 64)) +
                       "."};
    if (link.size() > most_link_letters)
        return Failure{"The link has " + str(link.size()) + " letters, expected at most " +
                       str(most_link_letters) + "."};
    const std::size_t sum = link.rfind(sum_mark);
    if (sum == link.npos)
        return Failure{"The link has no check at its end (&sum=…): it was cut off, or written by hand; "
                       "'tilewalk link' writes one."};
    if (link.substr(sum + sum_mark.size()) != sum_of(link.substr(0, sum)))
        return Failure{"The link is damaged or was cut off: the check at its end does not fit."};
    const auto said = read_pairs(link.substr(scheme.size(), sum - scheme.size()));
    if (!said) return Failure{said.error};
    auto base = read_base(*said);
    if (!base) return Failure{base.error};
    LinkedPlace place;
    place.problem = std::move(*base);
    for (const linked::Key& key : linked::keys()) {
        const auto value = said->find(key.name);
        if (value != said->end() && !key.read(place, value->second))
            return wrong(key.name, value->second, key.expected);
    }
    const auto fits = [&](const Projection& w) {
        return w.W_Q.rows() == w.X.cols() && w.W_K.rows() == w.X.cols() && w.W_V.rows() == w.X.cols();
    };
    if (place.problem.projection && !fits(*place.problem.projection))
        return Failure{"The weights in the link do not fit its input X."};
    project(place.problem);
    if (auto sentence = validate(place.problem)) return Failure{"The link does not work: " + *sentence};
    return place;
}

}  // namespace tilewalk

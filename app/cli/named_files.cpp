// No file that a command reads or writes takes the place of another one that it was told about.
#include "app/cli/commands.h"

#include <filesystem>
#include <system_error>

namespace tilewalk {

namespace fs = std::filesystem;

bool name_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (fs::equivalent(a, b, error)) return true;
    // Neither is there yet, or one of them
    const auto whole = [&](const std::string& name) {
        return fs::weakly_canonical(fs::absolute(name, error), error);
    };
    const fs::path left = whole(a), right = whole(b);
    return !left.empty() && left == right;
}

std::optional<std::string> refuse_same_files(const Arguments& a) {
    struct Named {
        const char* option;
        const Word& file;
        bool written;
    };
    const ProblemWords& p = a.problem;
    const Named all[] = {{"-o", a.output, true},
                         {"--save", a.compare.save, true},
                         {"--key", a.key, true},
                         {"--load", p.load, false},
                         {"--q", p.q, false},
                         {"--k", p.k, false},
                         {"--v", p.v, false},
                         {"--do", p.d_o, false},
                         {"--x", p.x, false},
                         {"--w-q", p.w_q, false},
                         {"--w-k", p.w_k, false},
                         {"--w-v", p.w_v, false},
                         {"--load", a.bench.load, false},
                         {"--load-bundle", a.compare.load_bundle, false},
                         {"--tour", a.tour, false},
                         {"--source", a.source, false}};
    for (const Named& one : all)
        for (const Named& other : all) {
            const bool both = &one < &other && one.written && one.file && other.file;
            if (!both || *one.file == "-" || *other.file == "-" || !name_same_file(*one.file, *other.file))
                continue;
            return std::string(other.option) + " and " + one.option + " name the same file, " + *one.file +
                   (other.written ? "; one would replace the other." : "; what is read would be lost.");
        }
    return std::nullopt;
}

}  // namespace tilewalk

// What only the build system knows; the one file that defines it is made by cmake/commit.cmake.
#pragma once

namespace tilewalk {

struct BuildFacts {
    const char *version, *commit, *flags;
};
extern const BuildFacts build_facts;

}  // namespace tilewalk

// How far behind the pointer that gcc reports an access lies, as the dump of its pass says.
#include "core/inside/reported.h"

#include <doctest/doctest.h>

namespace tilewalk::inside {

TEST_CASE("reported: the bytes behind the pointer, or that they are not known") {
    const Reported all = reported_by_gcc("  [my.cu:7:8 discrim 1] .UBSAN_NULL (s.1_6, 0B, 4);\n"
                                         "  [my.cu:7:8] x_109 = MEM[(float *)s.1_6 + 252B];\n"
                                         "  [a b.cu:8:9] .UBSAN_NULL (_9, 1B, 4);\n"
                                         "  [a b.cu:8:9] *_9 = x_109;\n"
                                         "  [my.cu:9:1] .UBSAN_NULL (u_114(D), 0B, 4);\n"
                                         "  [my.cu:9:1] _21 = [my.cu:9:1] (*u_114(D))[t_107(D)];\n"
                                         "  [my.cu:10:1] .UBSAN_NULL (c_1, 3B, 8);\n"
                                         "  [my.cu:11:1] .UBSAN_NULL (q_1, 0B, 4);\n"
                                         "  [my.cu:11:1] _2 = MEM[(const float *)q_1 + -4B];\n");
    CHECK(all == Reported{{reported_site("my.cu", 7, 8, false), 252},
                          {reported_site("a b.cu", 8, 9, true), 0},
                          {reported_site("my.cu", 9, 1, false), std::nullopt},
                          {reported_site("my.cu", 11, 1, false), -4}});
    // Copies of a template that differ
    const std::string site = "  [my.cu:7:8] .UBSAN_NULL (s_1, 0B, 4);\n";
    const Reported differ = reported_by_gcc(site + "  [my.cu:7:8] x_2 = MEM[(float *)s_1 + 4B];\n" + site +
                                            "  [my.cu:7:8] x_2 = MEM[(float *)s_1 + 8B];\n");
    CHECK(differ == Reported{{reported_site("my.cu", 7, 8, false), std::nullopt}});
}

}  // namespace tilewalk::inside

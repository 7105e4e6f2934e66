// What a kernel's own text says of itself, whatever that text is: `tilewalk inside --source` reads a
// stranger's.
#include "core/inside/call_sites.h"
#include "core/inside/source.h"
#include "tests/contains.h"
#include "tests/core/problems.h"

#include <doctest/doctest.h>

#include <set>

using namespace tilewalk::inside;
using tilewalk::test::pick;
using tilewalk::test::Random;

namespace {

const char* const pieces[] = {"// f9: a kernel.",
                              "//",
                              "// What changed.",
                              "",
                              "    // inner    (16 × Bc)",
                              "///   ",
                              "template <int d>",
                              "DEVICE int more(int x) {",
                              "KERNEL void THREADS(32) f(",
                              "    const Arguments a) {",
                              "    float q = Q[row * d + c];",
                              "    k[n] = K[n][c];",
                              "    s[0][1] += q * k[n];",
                              "    s += Q[a] * 3;",
                              "    s += * ;",
                              "    s += ] * q;",
                              "    s += [1]] * q;",
                              "    x = y;  // behind",
                              "    if (x) {",
                              "    }",
                              "}",
                              "= [",
                              " = K[",
                              "    O[i] = ]",
                              "DEVICE",
                              "    DEVICE Turn(int n) : stage(n % 2) {}",
                              "){(",
                              "\t"};

// Words that stand behind slashes somewhere in the text
bool from_comments(const SourceText& source, const std::string& words) {
    std::string all;
    for (const std::string_view line : source.lines) {
        std::string_view rest = line;
        if (const auto at = rest.find("//"); at != rest.npos)
            rest = rest.substr(at);
        else
            continue;
        while (rest.starts_with('/')) rest.remove_prefix(1);
        while (rest.starts_with(' ')) rest.remove_prefix(1);
        if (const auto shape = rest.find("    "); shape != rest.npos) rest = rest.substr(0, shape);
        while (rest.ends_with(' ')) rest.remove_suffix(1);
        if (!rest.empty()) all += std::string(rest) + " ";
    }
    return all.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "source: of any text a comment is one that stands there, and a product lies where it is multiplied") {
    Random random(4);
    std::set<std::string> functions;
    int products = 0, remarks = 0, ideas = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string text;
        for (int n = pick(random, 0, 14); n > 0; --n)
            text += std::string(pieces[pick(random, 0, static_cast<int>(std::size(pieces)) - 1)]) + "\n";
        if (pick(random, 0, 3) == 0 && !text.empty()) text.pop_back();
        const SourceText source = source_text("x.cu", text);
        CAPTURE(text);
        const std::string idea = idea_of(source);
        CHECK(from_comments(source, idea));
        ideas += !idea.empty();
        for (int line = -1; line <= source.count() + 1; ++line) {
            CAPTURE(line);
            for (const std::string& said :
                 {comment_on(source, line), remark_on(source, line), comment_on_function(source, line)}) {
                CHECK(from_comments(source, said));
                remarks += !said.empty();
            }
            const std::string name = function_of(source, line);
            for (const char c : name) CHECK(in_name(c));
            functions.insert(name);
            if (const auto product = plain_product(source, line)) {
                ++products;
                CHECK(product->line >= line);
                const std::string_view where = source.line(product->line);
                CHECK(where.find(product->left) < where.rfind(product->right));
                CHECK(where.find(" += ") < where.rfind(" * "));
                for (const int read : {product->left_line, product->right_line})
                    if (read > 0) CHECK(source.line(read).find('[') != std::string_view::npos);
            }
        }
    }
    CHECK(products > 100);
    CHECK(remarks > 1000);
    CHECK(ideas > 100);
    for (const char* name : {"", "more", "f", "Turn"}) CHECK_MESSAGE(functions.contains(name), name);
}

TEST_CASE("source: of any text a call stands in a function and names one, and no bracket is waited for") {
    Random random(8);
    int calls = 0;
    const char* const more[] = {"    more(q, k);",
                                "    f<32, a < b>(Q, K[0]);",
                                "    RECORD(more(x));",
                                "    more(",
                                "    if (a < b) more(1);",
                                "    for (;;) f<1>(x);",
                                "f<",
                                "    while (more(f(1)))",
                                "DEVICE void g(int a = 1, int b = 2) {"};
    for (int round = 0; round < 2000; ++round) {
        std::string texts[2];
        for (std::string& text : texts)
            for (int n = pick(random, 0, 16); n > 0; --n)
                text += std::string(pick(random, 0, 1)
                                        ? more[pick(random, 0, static_cast<int>(std::size(more)) - 1)]
                                        : pieces[pick(random, 0, static_cast<int>(std::size(pieces)) - 1)]) +
                        "\n";
        const SourceText a = source_text("a.h", texts[0]), b = source_text("b.cu", texts[1]);
        const CallSites sites({&a, &b}, pick(random, 0, 1) == 1);
        CAPTURE(texts[0]);
        CAPTURE(texts[1]);
        for (const SourceText* source : {&a, &b})
            for (int line = -1; line <= source->count() + 1; ++line) {
                const Function* const function = sites.function_at(*source, line);
                if (!function) continue;
                CHECK(function->source == source);
                CHECK(function->begin <= line);
                CHECK(function->needed <= function->parameters);
                for (const CallSite* site : sites.of(*function)) {
                    ++calls;
                    CHECK(site->callee == function);
                    CHECK(site->statement <= site->line);
                    CHECK(site->caller->source->line(site->line).find(function->name) !=
                          std::string_view::npos);
                }
                const int statement = CallSites::statement_of(*source, line);
                CHECK((statement >= 0 && statement <= std::max(0, line)));
            }
    }
    CHECK(calls > 500);
}

// Runs the cases, and counts them: a case that skips itself has not passed, and one that checks nothing has
// failed.
#define DOCTEST_CONFIG_IMPLEMENT
#include "core/base/background.h"
#include "tests/skip.h"

#include <doctest/doctest.h>

#include <iostream>

namespace {

struct Count {
    int passed = 0, failed = 0, skipped = 0;
    bool skips = false;  ///< the case that runs
    bool listed = false;
} count;

struct Counter : doctest::IReporter {
    explicit Counter(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData& data) override {
        running = &data;
        count.skips = false;
    }
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        const bool empty = stats.numAssertsCurrentTest == 0 && !count.skips;
        if (empty && stats.testCaseSuccess) std::cout << "It checks nothing: " << running->m_name << "\n";
        ++(!stats.testCaseSuccess || empty ? count.failed : count.skips ? count.skipped : count.passed);
    }

    void report_query(const doctest::QueryData&) override { count.listed = true; }
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}

    const doctest::TestCaseData* running = nullptr;
};

}  // namespace

DOCTEST_REGISTER_LISTENER("count", 1, Counter);

void tilewalk::test::skip(std::string_view why) {
    count.skips = true;
    std::cout << "[skipped] " << why << "\n";
}

namespace {

// What test.sh adds up; ctest takes 77 for a run in which everything was left out.
int run(int words, char** texts) {
    const int code = doctest::Context(words, texts).run();
    if (count.listed) return code;
    std::cout << "cases: " << count.passed << " passed, " << count.failed << " failed, " << count.skipped
              << " skipped\n";
    if (code != 0 || count.failed > 0) return 1;
    if (count.passed > 0) return 0;
    if (count.skipped == 0) std::cout << "No case has this name.\n";
    return count.skipped > 0 ? 77 : 1;
}

}  // namespace

int main(int words, char** texts) { tilewalk::leave(run(words, texts)); }

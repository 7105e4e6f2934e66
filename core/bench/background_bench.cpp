// A benchmark in a thread of its own.
#include "core/bench/bench.h"

#include <exception>
#include <new>

namespace tilewalk {

BackgroundBench::BackgroundBench(BenchRequest request, std::unique_ptr<Engine> with)
    : engine(std::move(with)), thread([this, request = std::move(request)](std::stop_token stop) {
          const auto keep = [this](const BenchReport& report, const BenchProgress& progress) {
              const std::lock_guard lock(mutex);
              if (latest.points.size() != report.points.size() || changes == 0) latest = report;
              latest.peak = report.peak, latest.complete = report.complete;
              at = progress;
              ++changes;
          };
          std::string why;
          try {
              run_bench(request, *engine, keep, stop);
          } catch (const EngineFailed& failure) {
              why = failure.what();
          } catch (const std::bad_alloc&) {
              why = "There is not enough memory for the inputs; choose a smaller problem.";
          } catch (const std::exception& error) {
              why = std::string("Something unforeseen happened: ") + error.what() + ".";
          }
          const std::lock_guard lock(mutex);
          ended = true;
          broken = std::move(why);
          ++changes;
      }) {}

BackgroundBench::~BackgroundBench() = default;
void BackgroundBench::cancel() { thread.request_stop(); }
bool BackgroundBench::cancelled() const { return thread.get_stop_token().stop_requested(); }

bool BackgroundBench::running() const {
    const std::lock_guard lock(mutex);
    return !ended;
}
std::string BackgroundBench::failure() const {
    const std::lock_guard lock(mutex);
    return broken;
}
BenchReport BackgroundBench::report() const {
    const std::lock_guard lock(mutex);
    return latest;
}
BenchProgress BackgroundBench::progress() const {
    const std::lock_guard lock(mutex);
    return at;
}
std::uint64_t BackgroundBench::version() const {
    const std::lock_guard lock(mutex);
    return changes;
}

}  // namespace tilewalk

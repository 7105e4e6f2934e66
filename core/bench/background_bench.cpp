// A benchmark in a thread of its own.
#include "core/bench/bench.h"

#include <exception>
#include <new>

namespace tilewalk {

BackgroundBench::BackgroundBench(BenchRequest request, std::unique_ptr<Engine> with)
    : seen(std::make_shared<Seen>()),
      run([seen = seen, request = std::move(request),
           engine = std::shared_ptr<Engine>(std::move(with))](std::stop_token stop) {
          const auto keep = [&](const BenchReport& report, const BenchProgress& progress) {
              const std::lock_guard lock(seen->mutex);
              if (seen->latest.points.size() != report.points.size() || seen->changes == 0)
                  seen->latest = report;
              seen->latest.peak = report.peak, seen->latest.complete = report.complete;
              seen->at = progress;
              ++seen->changes;
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
          const std::lock_guard lock(seen->mutex);
          seen->broken = std::move(why);
          ++seen->changes;
      }) {}

}  // namespace tilewalk

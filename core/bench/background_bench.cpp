// A benchmark in a thread of its own, or wherever else it can run beside the page.
#include "core/bench/bench.h"

#include <exception>
#include <new>

namespace tilewalk {

namespace {

BenchElsewhere& elsewhere() {
    static BenchElsewhere begin;
    return begin;
}

std::string run_and_tell(const BenchRequest& request, Engine& engine, BenchTold& told, std::stop_token stop) {
    try {
        run_bench(
            request, engine,
            [&](const BenchReport& report, const BenchProgress& progress) { told.tell(report, progress); },
            stop);
    } catch (const EngineFailed& failure) {
        return failure.what();
    } catch (const std::bad_alloc&) {
        return "There is not enough memory for the inputs; choose a smaller problem.";
    } catch (const std::exception& error) {
        return std::string("Something unforeseen happened: ") + error.what() + ".";
    }
    return "";
}

}  // namespace

void BenchTold::tell(const BenchReport& report, const BenchProgress& progress) {
    const std::lock_guard lock(mutex);
    if (latest.points.size() != report.points.size() || changes == 0) latest = report;
    latest.peak = report.peak, latest.complete = report.complete;
    at = progress;
    ++changes;
}

void BenchTold::end(std::string why) {
    const std::lock_guard lock(mutex);
    broken = std::move(why);
    over = true;
    ++changes;
}

void run_benches_elsewhere(BenchElsewhere begin) { elsewhere() = std::move(begin); }

BackgroundBench::BackgroundBench(BenchRequest request, std::unique_ptr<Engine> with) {
    if (elsewhere() && with->device() == "cpu") {
        break_off = elsewhere()(request, told);
        return;
    }
    run = Background<void>([told = told, request = std::move(request),
                            engine = std::shared_ptr<Engine>(std::move(with))](std::stop_token stop) {
        told->end(run_and_tell(request, *engine, *told, stop));
    });
}

void BackgroundBench::cancel() {
    if (!break_off) return run.cancel();
    if (broken_off || told->ended()) return;
    broken_off = true;
    break_off();
    BenchProgress progress = told->progress();
    progress.doing = "Cancelled";
    told->tell(told->report(), progress);
    told->end("");
}

}  // namespace tilewalk

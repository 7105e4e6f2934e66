// tilewalk bench --distributed: the same program on every rank.
#include "app/cli/commands.h"
#include "app/cli/progress_line.h"
#include "app/cli/values.h"
#include "core/base/words.h"
#include "core/bench/ring_bench.h"
#include "core/distributed/mpi/mpi_transport.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <new>
#include <ostream>
#include <unistd.h>

namespace tilewalk {
namespace {

// "die@2,1": what, rank, round
Result<ring::Accident> read_accident(const std::string& text) {
    ring::Accident accident;
    const std::size_t at = text.find('@'), comma = text.find(',');
    const auto kind = choice("--accident", text.substr(0, at), {"die", "cut", "stall", "stop"});
    if (!kind) return Failure{kind.error};
    accident.kind = static_cast<ring::Accident::Kind>(*kind);
    if (comma == text.npos) return Failure{"--accident needs a rank and a round, as in die@2,1."};
    const auto rank = number_in<int>(text.substr(at + 1, comma - at - 1)),
               round = number_in<int>(text.substr(comma + 1));
    if (!rank || !round) return Failure{"--accident needs a rank and a round, as in die@2,1."};
    accident.rank = *rank, accident.round = *round;
    return accident;
}

Result<RingRequest> make_ring_request(const BenchWords& words) {
    RingRequest ring;
    const auto bench = make_request(words, ring.threads);
    if (!bench) return Failure{bench.error};
    ring.bench = *bench;
    WordReader read;
    read.refuse(words.load.has_value(), "--load shows what was recorded; leave out --distributed.");
    read.refuse(words.device.value_or("cpu") != "cpu", "A ring runs on CPUs; leave out --device.");
    read.refuse(words.seqlen_q.has_value(), "A ring needs as many queries as keys; leave out --seqlen-q.");
    read.refuse(words.kernels.has_value(), "A ring has one kernel; leave out --kernels.");
    read.refuse(words.against.has_value(), "PyTorch computes no ring; leave out --against.");
    read.choose("--shards", words.shards, ring::names_of_shards(), ring.shards);
    if (words.accident) {
        const auto accident = read_accident(*words.accident);
        read.refuse(!accident, accident.error);
        if (accident) ring.accident = *accident;
    }
    read.take(words.patience, ring.patience,
              [](const std::string& text) { return finite_number("--patience", text, "seconds"); });
    if (!read.error.empty()) return Failure{read.error};
    return ring;
}

// mpirun ends the other ranks when one dies. Rank 0 still has the time for a sentence, and for nothing else.
constexpr char ended_from_outside[] =
    "tilewalk: The ring was ended before it was through: a rank died, or somebody stopped the run.\n";
extern "C" void say_that_it_ends(int) {
    [[maybe_unused]] const auto written =
        ::write(STDERR_FILENO, ended_from_outside, sizeof ended_from_outside - 1);
    // mpirun hands on what its ranks say only while they are there, and gives them a second
    const timespec while_it_reads{0, 300'000'000};
    ::nanosleep(&while_it_reads, nullptr);
    ::_exit(static_cast<int>(Exit::failed));
}

bool leads() { return ring::rank_of_process() == 0; }

// Rank 0 has spoken before any rank ends: mpirun ends the others as soon as one ends badly.
Outcome ended_on_all_ranks(Outcome outcome, ring::Transport& transport) {
    if (leads() && !outcome.sentence.empty())
        std::fprintf(stderr, "tilewalk: %s\n", outcome.sentence.c_str());
    std::signal(SIGTERM, SIG_DFL);
    outcome.sentence.clear();
    outcome.exit = static_cast<Exit>(std::stoi(from_rank_0(transport, str(static_cast<int>(outcome.exit)))));
    meet(transport);
    return outcome;
}

// What takes minutes must not be lost to a folder that is not there.
Outcome check_output(const Arguments& a) {
    if (!a.output || !leads()) return {};
    const auto placed = StagedFiles().add(*a.output, [](std::ostream&) {});
    return placed ? Outcome{} : written(placed);
}

Outcome outcome_of(const Arguments& a, int format, BenchReport report, std::ostream& out) {
    report.command = "mpirun -np " + str(report.points.front().ring->ranks) + " " + a.repeated;
    Outcome outcome = put_results(a, format, {report}, out);
    if (outcome.exit != Exit::done) return outcome;
    for (const Point& point : report.points) {
        if (point.state == Point::State::failed)
            return {Exit::failed, "The ring is wrong; it was not timed. " + point.reason};
        if (point.ring->bytes_between != point.ring->model_bytes_between &&
            point.state == Point::State::measured)
            return {Exit::failed, "The ranks sent " + str(point.ring->bytes_between) +
                                      " bytes; the closed form says " + str(point.ring->model_bytes_between) +
                                      "."};
    }
    return unless_measured(a, report);
}

Outcome run_together(const Arguments& a, int format, const RingRequest& request, ring::Transport& transport,
                     std::ostream& out) {
    const ProgressLine line;
    const auto show = [&](const std::string& doing) { line.show(doing); };
    BenchReport report = run_ring_bench(request, transport, show);
    return leads() ? outcome_of(a, format, std::move(report), out) : Outcome{};
}

Outcome run_as_rank(const Arguments& a, ring::Transport& transport, std::ostream& out) {
    const auto format = choice("--format", a.format.value_or("text"), {"text", "csv", "json", "md"});
    auto request = make_ring_request(a.bench);
    if (!format) request = Result<RingRequest>(Failure{format.error});
    if (const auto sentence = disagreement(request, transport)) return bad_input(*sentence);
    Outcome placed = check_output(a);
    if (from_rank_0(transport, str(static_cast<int>(placed.exit))) != "0") return placed;
    return run_together(a, *format, *request, transport, out);
}

// Runs it on this rank; whatever happens, every rank ends, and rank 0 says why.
Outcome with_all_ranks(const std::function<Outcome(ring::Transport&)>& run) {
    auto made = ring::mpi_transport();
    if (!made) return leads() ? bad_input(made.error) : bad_input("");
    ring::Transport& transport = **made;
    std::signal(SIGTERM, leads() ? say_that_it_ends : SIG_DFL);
    std::string failure;
    try {
        return ended_on_all_ranks(run(transport), transport);
    } catch (const ring::TransportFailed& failed) {
        failure = failed.what();
    } catch (const std::bad_alloc&) {
        failure = "Rank " + str(transport.rank()) + " has not enough memory; choose a smaller problem.";
    } catch (const std::exception& error) {
        failure =
            "On rank " + str(transport.rank()) + " something unforeseen happened: " + error.what() + ".";
    }
    transport.tell_failure(failure);
    if (leads()) std::signal(SIGTERM, SIG_IGN);  // it says why; that mpirun then ends the ring is no news
    ring::end_all_ranks(failure, static_cast<int>(Exit::failed));
}

}  // namespace

Outcome run_ring_command(const Arguments& a, std::ostream& out) {
    return with_all_ranks([&](ring::Transport& transport) { return run_as_rank(a, transport, out); });
}

Outcome refuse_on_all_ranks(const std::string& sentence) {
    return with_all_ranks([&](ring::Transport& transport) {
        return bad_input(disagreement(Failure{sentence}, transport).value_or(sentence));
    });
}

bool is_ring_command(int argc, char** argv) {
    return ring::started_as_rank() && std::any_of(argv, argv + argc, [](const char* word) {
               return std::string(word) == "--distributed";
           });
}

}  // namespace tilewalk

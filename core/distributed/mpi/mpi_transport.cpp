// Messages by MPI: none of its calls that wait, so that a rank that is gone is noticed.
#include "core/distributed/mpi/mpi_transport.h"

#include "core/base/words.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace tilewalk::ring {

namespace {

constexpr int failure_tag = 99;
constexpr std::chrono::seconds time_to_tell{5};

// One message is at most so long: MPI counts in int.
constexpr std::size_t longest_message = std::size_t{1} << 30;

class MpiTransport final : public Transport {
public:
    MpiTransport() {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
        MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
        MPI_Comm host = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
        MPI_Comm_size(host, &here);
        MPI_Comm_free(&host);
    }
    ~MpiTransport() override {
        if (!failed) MPI_Finalize();
    }
    int rank() const override { return own_rank; }
    int ranks() const override { return all_ranks; }
    int ranks_on_host() const override { return here; }

    void send(int to, Tag tag, std::span<const std::byte> bytes) override {
        for_parts(bytes, [&](std::span<const std::byte> part) {
            open.push_back({to, part.size(), false});
            check(MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, static_cast<int>(tag),
                            MPI_COMM_WORLD, request()),
                  to);
        });
    }
    void receive(int from, Tag tag, std::span<std::byte> bytes) override {
        for_parts(bytes, [&](std::span<std::byte> part) {
            open.push_back({from, part.size(), true});
            check(MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, static_cast<int>(tag),
                            MPI_COMM_WORLD, request()),
                  from);
        });
    }

    bool all_through() override {
        hear_of_failure();
        for (std::size_t k = 0; k < requests.size(); ++k) {
            if (requests[k] == MPI_REQUEST_NULL) continue;
            int done = 0;
            MPI_Status status;
            const int error = MPI_Test(&requests[k], &done, &status);
            if (error != MPI_SUCCESS || done) look_at(open[k], error, status);
        }
        if (std::ranges::any_of(requests, [](MPI_Request one) { return one != MPI_REQUEST_NULL; }))
            return false;
        requests.clear(), open.clear();
        return true;
    }

    // Everyone is told, and so is everyone who is waiting for something else. Nobody is waited for longer
    // than `time_to_tell`.
    void tell_failure(const std::string& sentence) override {
        if (failed) return;
        failed = true;
        std::vector<MPI_Request> telling;
        for (int other = 0; other < all_ranks; ++other)
            if (other != own_rank)
                MPI_Isend(sentence.data(), static_cast<int>(sentence.size()), MPI_CHAR, other, failure_tag,
                          MPI_COMM_WORLD, &telling.emplace_back());
        const auto end = std::chrono::steady_clock::now() + time_to_tell;
        for (int done = 0; !done && std::chrono::steady_clock::now() < end;) {
            MPI_Testall(static_cast<int>(telling.size()), telling.data(), &done, MPI_STATUSES_IGNORE);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

private:
    struct Open {
        int other;
        std::size_t bytes;
        bool receives;
    };

    template <class Bytes, class Use> static void for_parts(Bytes bytes, const Use& use) {
        do {
            const Bytes part = bytes.first(std::min(bytes.size(), longest_message));
            use(part);
            bytes = bytes.subspan(part.size());
        } while (!bytes.empty());
    }
    MPI_Request* request() { return &requests.emplace_back(MPI_REQUEST_NULL); }

    void check(int error, int other) const {
        if (error == MPI_SUCCESS) return;
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(error, text, &length);
        throw TransportFailed("Rank " + str(own_rank) + " can exchange nothing with rank " + str(other) +
                              " (" + std::string(text, static_cast<std::size_t>(length)) + ").");
    }
    void look_at(const Open& message, int error, const MPI_Status& status) const {
        int kind = error;
        if (error != MPI_SUCCESS) MPI_Error_class(error, &kind);
        if (message.receives && kind == MPI_ERR_TRUNCATE)
            throw TransportFailed("A message from rank " + str(message.other) + " to rank " + str(own_rank) +
                                  " came with more than the " + str(message.bytes) + " bytes expected.");
        check(error, message.other);
        if (!message.receives) return;
        int came = 0;
        MPI_Get_count(&status, MPI_BYTE, &came);
        if (static_cast<std::size_t>(came) != message.bytes)
            throw TransportFailed(
                cut_message(message.other, own_rank, static_cast<std::size_t>(came), message.bytes));
    }
    void hear_of_failure() {
        int there = 0, length = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, MPI_COMM_WORLD, &there, &status);
        if (!there) return;
        MPI_Get_count(&status, MPI_CHAR, &length);
        std::string sentence(static_cast<std::size_t>(length), '\0');
        MPI_Recv(sentence.data(), length, MPI_CHAR, status.MPI_SOURCE, failure_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        failed = true;
        throw TransportFailed(sentence);
    }

    int own_rank = 0, all_ranks = 1, here = 1;
    bool failed = false;  ///< who has failed leaves without a farewell, which would wait for open messages
    std::vector<MPI_Request> requests;
    std::vector<Open> open;
};

}  // namespace

Result<std::unique_ptr<Transport>> mpi_transport() {
    if (!started_as_rank())
        return Failure{"A ring needs its ranks: mpirun -np 4 tilewalk bench --distributed …"};
    int had = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &had) != MPI_SUCCESS)
        return Failure{"MPI could not be started."};
    return std::unique_ptr<Transport>(std::make_unique<MpiTransport>());
}

void end_all_ranks(const std::string& sentence, int exit_code) {
    if (rank_of_process() != 0) std::this_thread::sleep_for(2 * time_to_tell);
    std::fprintf(stderr, "tilewalk: %s\n", sentence.c_str());
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
}

}  // namespace tilewalk::ring

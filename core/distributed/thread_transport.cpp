// Ranks as threads of one process. Messages are copied when they are sent.
#include "core/distributed/transport.h"

#include "core/base/words.h"

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

namespace tilewalk::ring {

namespace {

// What all ranks share
struct Hall {
    explicit Hall(int count) : ranks(count) {}
    const int ranks;
    std::mutex mutex;
    using Way = std::tuple<int, int, Tag>;  // from, to
    std::map<Way, std::deque<std::vector<std::byte>>> sent;
    std::string failure;
};

class ThreadTransport final : public Transport {
public:
    ThreadTransport(std::shared_ptr<Hall> where, int own) : hall(std::move(where)), own_rank(own) {}
    int rank() const override { return own_rank; }
    int ranks() const override { return hall->ranks; }
    int ranks_on_host() const override { return hall->ranks; }

    void send(int to, Tag tag, std::span<const std::byte> bytes) override {
        const std::lock_guard lock(hall->mutex);
        hall->sent[{own_rank, to, tag}].emplace_back(bytes.begin(), bytes.end());
    }
    void receive(int from, Tag tag, std::span<std::byte> bytes) override {
        open.push_back({from, tag, bytes});
    }
    bool all_through() override {
        const std::lock_guard lock(hall->mutex);
        if (!hall->failure.empty()) throw TransportFailed(hall->failure);
        while (!open.empty() && take(open.front())) open.pop_front();
        return open.empty();
    }
    void tell_failure(const std::string& sentence) override {
        const std::lock_guard lock(hall->mutex);
        if (hall->failure.empty()) hall->failure = sentence;
    }

private:
    struct Wanted {
        int from;
        Tag tag;
        std::span<std::byte> bytes;
    };
    bool take(const Wanted& wanted) {
        auto& waiting = hall->sent[{wanted.from, own_rank, wanted.tag}];
        if (waiting.empty()) return false;
        const std::vector<std::byte> message = std::move(waiting.front());
        waiting.pop_front();
        if (message.size() != wanted.bytes.size())
            throw TransportFailed(cut_message(wanted.from, own_rank, message.size(), wanted.bytes.size()));
        if (!message.empty()) std::memcpy(wanted.bytes.data(), message.data(), message.size());
        return true;
    }

    const std::shared_ptr<Hall> hall;
    const int own_rank;
    std::deque<Wanted> open;
};

}  // namespace

std::string cut_message(int from, int to, std::size_t came, std::size_t expected) {
    return "A message from rank " + str(from) + " to rank " + str(to) + " came with " + str(came) +
           " bytes instead of " + str(expected) + ".";
}

std::vector<std::unique_ptr<Transport>> thread_transports(int ranks) {
    const auto hall = std::make_shared<Hall>(ranks);
    std::vector<std::unique_ptr<Transport>> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(std::make_unique<ThreadTransport>(hall, rank));
    return all;
}

}  // namespace tilewalk::ring

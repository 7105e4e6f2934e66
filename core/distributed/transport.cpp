#include "core/distributed/transport.h"

#include "core/base/numbers.h"
#include "core/base/words.h"

#include <cstring>
#include <thread>

namespace tilewalk::ring {

void wait(Transport& transport) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    while (!transport.all_through()) {
        if (Clock::now() - begin > transport.patience)
            throw TransportFailed("Rank " + str(transport.rank()) + " has waited " +
                                  format_number(transport.patience.count(), 3) +
                                  " s for a message; a rank has stopped or the network has.");
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

namespace {

// A text of any length: how long it is, then the text
void send_text(Transport& transport, int to, const std::string& text) {
    const auto size = static_cast<std::int64_t>(text.size());
    transport.send(to, Tag::agreement, bytes_of(&size, 1));
    transport.send(to, Tag::agreement, bytes_of(text.data(), size));
    wait(transport);
}

std::string receive_text(Transport& transport, int from) {
    std::int64_t size = 0;
    transport.receive(from, Tag::agreement, bytes_of(&size, 1));
    wait(transport);
    std::string text(static_cast<std::size_t>(size), '\0');
    transport.receive(from, Tag::agreement, bytes_of(text.data(), size));
    wait(transport);
    return text;
}

}  // namespace

std::vector<std::string> gather(Transport& transport, const std::string& mine) {
    if (transport.rank() != 0) {
        send_text(transport, 0, mine);
        return {};
    }
    std::vector<std::string> all = {mine};
    for (int rank = 1; rank < transport.ranks(); ++rank) all.push_back(receive_text(transport, rank));
    return all;
}

std::string from_rank_0(Transport& transport, const std::string& text) {
    if (transport.rank() != 0) return receive_text(transport, 0);
    for (int rank = 1; rank < transport.ranks(); ++rank) send_text(transport, rank, text);
    return text;
}

// To rank 0, and back from it
void meet(Transport& transport) {
    std::vector<char> marks(static_cast<std::size_t>(transport.ranks()));
    const auto exchange = [&](bool come) {
        const bool sends = come == (transport.rank() != 0);
        for (int other = 0; other < transport.ranks(); ++other) {
            if (other == transport.rank() || (transport.rank() != 0 && other != 0)) continue;
            char* const mark = &marks[static_cast<std::size_t>(other)];
            if (sends)
                transport.send(other, Tag::agreement, bytes_of(static_cast<const char*>(mark), 1));
            else
                transport.receive(other, Tag::agreement, bytes_of(mark, 1));
        }
        wait(transport);
    };
    exchange(true);
    exchange(false);
}

}  // namespace tilewalk::ring

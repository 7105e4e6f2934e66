// How the ranks of a ring talk to each other. Two kinds: threads of one process, for tests, and MPI.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewalk::ring {

/// A rank failed, a message came cut, or none came in time: what() is a sentence.
struct TransportFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Which message it is: what travels round the ring, what is agreed on beside it.
enum class Tag { agreement, keys, gradients };

class Transport {
public:
    virtual ~Transport() = default;
    virtual int rank() const = 0;
    virtual int ranks() const = 0;
    /// Ranks that share the cores of this host.
    virtual int ranks_on_host() const = 0;
    /// Begin to send, and to receive exactly so many bytes. They must stay until all_through().
    virtual void send(int to, Tag tag, std::span<const std::byte> bytes) = 0;
    virtual void receive(int from, Tag tag, std::span<std::byte> bytes) = 0;
    /// Moves messages on; true when all that was begun here is through. Throws TransportFailed.
    virtual bool all_through() = 0;
    /// Tells all other ranks that this one has failed, so that nobody waits for it.
    virtual void tell_failure(const std::string& sentence) = 0;

    /// Who has waited this long for a message gives up.
    std::chrono::duration<double> patience{60};
};

/// Bytes and memory of numbers
template <class T> std::span<const std::byte> bytes_of(const T* data, std::int64_t count) {
    return std::as_bytes(std::span(data, static_cast<std::size_t>(count)));
}
template <class T> std::span<std::byte> bytes_of(T* data, std::int64_t count) {
    return std::as_writable_bytes(std::span(data, static_cast<std::size_t>(count)));
}

/// Waits until all that was begun is through, without taking the core away from those that compute.
void wait(Transport& transport);
/// On rank 0 the texts of all ranks, in their order; on others nothing.
std::vector<std::string> gather(Transport& transport, const std::string& mine);
/// On every rank what rank 0 says.
std::string from_rank_0(Transport& transport, const std::string& text);
/// Returns when all ranks have come here.
void meet(Transport& transport);

/// "A message from rank 2 to rank 3 came with 512 bytes instead of 1024."
std::string cut_message(int from, int to, std::size_t came, std::size_t expected);

/// One for each rank, to be used by a thread each.
std::vector<std::unique_ptr<Transport>> thread_transports(int ranks);

}  // namespace tilewalk::ring

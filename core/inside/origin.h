// Where a number came from: from a register back through the load that filled it to the place in shared
// memory, to the copy or store that wrote there, and to the element in device memory. Registers have no names
// in the record; what filled them is the warp's last step before whose registers hold the same bits in every
// lane.
#pragma once

#include "core/inside/fragments.h"
#include "core/inside/steps.h"
#include "core/inside/tiles.h"

#include <map>
#include <optional>

namespace tilewalk::inside {

/// A write to shared memory: the event, and its lane.
struct SharedWrite {
    std::uint32_t event = 0;
    int lane = 0;
};

/// What an event is about: a matrix in device memory, or what comes of them.
enum class Matter : std::uint8_t { none, Q, K, V, O, dO, dQ, dK, dV, S, P, L, D, dP, dS, other };
const char* symbol_of(Matter matter);
/// What a product of these two sums up: S of Q and K, dP of V and dO; where one of them was computed, the
/// other says it: O += P̃ V, dV += Pᵀ dO, dK += dSᵀ Q, dQ += dS K.
Matter sum_of(Matter a, Matter b);
/// What was computed as the factor of such a product; none: neither of both was.
Matter factor_of(Matter product);

/// An element of a named matrix in device memory.
struct Element {
    int region = -1;  ///< of Record::regions
    int row = 0, column = 0;
};
std::optional<Element> element_of(const Record& record, std::uint32_t address);
Matter matter_of(const Record& record, std::uint32_t global_address);
/// Which tile of its matrix, counted in tiles of the kernel or, of what comes by itself, in its boxes; −1:
/// the kernel has none.
int tile_of_row(const Record& record, Matter matter, int row);
int tile_of_box(const Record& record, const TileFetch& box);

/// How a number came to where it is, the last step first.
struct OriginStep {
    std::uint32_t event = 0;
    int lane = 0;
    std::uint32_t address = 0;  ///< of the number itself, where the event reads or writes memory
};

class Origins {
public:
    Origins(const Record& record, const BlockRecord& block, const Steps& steps);

    /// Who wrote this address of shared memory last before an event; nothing: nobody did.
    std::optional<SharedWrite> writer(std::uint32_t address, std::uint32_t before) const;
    /// What lies in a word of shared memory, or is on its way to it, when all warps have come to a slot: of
    /// what nothing orders, as this run had it.
    struct WordAt {
        std::optional<SharedWrite> there;       ///< who wrote it last; nothing: nobody did
        std::optional<SharedWrite> on_its_way;  ///< the step that began a copy to it which has not arrived
        bool ever = false;                      ///< somebody writes there at some time
    };
    /// A slot, the first event that any warp has behind it, and the last of these first ones.
    struct Moment {
        int slot = 0;
        std::uint32_t sure = 0, open = 0;
    };
    Moment moment(int slot) const;
    WordAt word_at(std::uint32_t address, const Moment& at) const;
    WordAt word_at(std::uint32_t address, int slot) const { return word_at(address, moment(slot)); }
    /// The element of device memory that a write, or a copy on its way, brings to this address.
    std::optional<std::uint32_t> source_of(const SharedWrite& write, std::uint32_t address) const;

    /// The element of device memory whose number lies at this address of shared memory when an event reads
    /// it.
    std::optional<std::uint32_t> global_source(std::uint32_t address, std::uint32_t before) const;

    /// The step of the product's warp that filled a register of A or B, and which of its registers it was.
    struct Filled {
        int step = -1;  ///< −1: not found
        int reg = 0;
    };
    Filled filled(int warp, int k, Part part, int reg) const;
    /// The step that summed C up to what it was before this one; −1: none, or it was changed since.
    int summed_by(int warp, int k) const;
    /// The product that goes on with the sums of this one; −1: none.
    int continued_by(int warp, int k) const;
    /// A product's place among those that add to the same sums, from 1; 0: its sums are zeros.
    struct Chain {
        int part = 0, parts = 0;
        int last = -1;  ///< the step that ends it
    };
    Chain chain(int warp, int k) const;

    /// From a cell of A or B of a product towards device memory, as far as it goes: what filled the register,
    /// what wrote there, what sent it.
    std::vector<OriginStep> trace(int warp, int k, Part part, int row, int column) const;

    /// Which step of its warp an event is; −1: a copy that arrives is none.
    int step_number(std::uint32_t event) const { return static_cast<int>(step_of[event]); }

    /// The element of device memory that the first cell of A or B is, where its others follow it: rows and
    /// columns of A as they are; B with its columns as rows, if it was loaded so.
    std::optional<Element> region_of_part(int warp, int k, Part part) const;

    /// What a warp's access to shared memory would ask for if the rows of its matrix lay there one behind the
    /// other, as they do in device memory; empty where that is not known, or where it is what it asks for.
    std::vector<std::uint32_t> straight_rows(std::uint32_t event,
                                             std::span<const std::uint32_t> addresses) const;

    /// What an event is about, for colours and words.
    Matter matter(std::uint32_t event) const { return matters[event]; }
    /// The kernel computes gradients.
    bool is_backward() const { return backward; }
    /// What A and B of a product are, and what is summed up.
    Matter matter_of_part(int warp, int k, Part part) const;

private:
    struct Write {
        std::uint32_t event, lane;
    };
    struct Fills {
        std::array<Filled, 4> a;
        std::array<Filled, 2> b;
    };
    class Finder;
    void note_slots();
    void note_writes();
    void follow_copies();
    void name_stores();
    void name_accesses();
    void name_weights();
    void name_packings();
    void name_factor(int warp, int k, Matter factor);
    void name_factors_of_tiles();
    void name_products();
    std::vector<OriginStep> with_exponential(int warp, int pack, int lane, int half) const;
    int region_at(std::uint32_t address) const;
    Matter matter_of_address(std::uint32_t address, std::uint32_t before) const;
    Matter matter_of_tiles(const TileProduct& product,
                           const std::map<std::uint32_t, std::uint32_t>& fetched) const;
    std::optional<std::uint32_t> loaded_from(std::uint32_t event, int lane) const;
    std::optional<std::uint32_t> exponential_of(std::uint32_t store, int lane) const;
    bool goes_on(int warp, int before, int k) const;
    const Event& event_of(int warp, int k) const { return block.events[steps.event(warp, k)]; }

    const Record& record;
    const BlockRecord& block;
    const Steps& steps;
    const bool ladder, backward;             ///< the kernel has tiles of the ladder; it computes gradients
    std::vector<std::uint32_t> first_write;  ///< of each word of shared memory, in `writes`; one more
    std::vector<Write> writes;
    std::vector<int> slots;                 ///< by event: when it was done, an arrival where it is waited for
    std::vector<std::uint32_t> issue_of;    ///< by event: of an arrival the event that issued it; …
    std::vector<std::uint32_t> step_of;     ///< … of others their number among the steps of their warp
    std::vector<std::uint32_t> product_of;  ///< by event, in `fills`
    std::vector<Fills> fills;
    std::vector<Matter> matters;
};

}  // namespace tilewalk::inside

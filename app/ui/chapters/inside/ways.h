// Ways that are looked up where the walk stands, once for a place: from which lines a helper was called, and
// who uses what the lane's step brought.
#pragma once

#include "app/ui/chapters/inside/bridge.h"
#include "core/base/remembered.h"
#include "core/inside/exponent.h"
#include "core/inside/meeting.h"
#include "core/inside/sides.h"
#include "core/inside/uses.h"

#include <tuple>

namespace tilewalk::ui {

struct InsideWays {
    explicit InsideWays(std::shared_ptr<const InsideWalk> walk) : of(std::move(walk)) {}

    std::shared_ptr<const InsideWalk> of;

    // Of one place
    const InsideWalk::Launch* launch = nullptr;
    std::uint32_t event = 0;
    int lane = -1;
    std::vector<inside::Call> called;
    inside::Uses uses;
    std::optional<inside::Meeting> meeting;
    std::optional<inside::BarrierState> barrier;
    std::optional<inside::Sides> sides;               ///< of a fence
    std::optional<inside::RegisterShares> registers;  ///< where they change hands
    inside::Origins::Chain chain;                     ///< of a product
    int sums_step = -1;      ///< what has the sums that the step is about; −1: none has
    inside::NamedSums sums;  ///< these
    std::optional<inside::Swizzle> swizzle;
    std::optional<inside::ScoreBehind> score;     ///< of an exponential of the backward pass
    std::vector<inside::SharedContent> contents;  ///< of the areas of shared memory

    /// The same number of the lesson for the place, the cell and the bridge.
    using OfNumber = std::tuple<const InsideWalk::Launch*, std::uint32_t, int, int, const inside::Bridge*>;
    Remembered<OfNumber, std::optional<LessonNumber>> lesson;
};
/// What the step is in the lesson, looked up once for a place.
const std::optional<LessonNumber>& lesson_number_kept(AppState& state, const InsidePlace& at);
/// Of a step that stands in a helper the kernel's own line that called it, "f5_flash2.cu:81"; empty: it
/// stands in the kernel, or who called is not plain.
std::string called_from(const InsidePlace& at, std::uint32_t event);
/// Of the place where the walk stands.
const InsideWays& inside_ways(AppState& state, const InsidePlace& at);

}  // namespace tilewalk::ui

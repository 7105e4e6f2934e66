// What a stop of a tour may point at, and where a frame shows it.
#include "app/ui/cards/cards.h"
#include "app/ui/kit/items.h"
#include "app/ui/state/state.h"
#include "core/class/tour.h"

namespace tilewalk::ui {

namespace {

bool is_called(const NamedPlace& at, const TourPlace& place) {
    switch (place.kind) {
    case TourPlace::Kind::none: return false;
    // Presenter mode has the lanes of the timeline without the panel round them.
    case TourPlace::Kind::panel:
        return at.kind == ItemKind::panel &&
               (at.name == place.name || (place.name == "Timeline" && at.name == "timeline"));
    case TourPlace::Kind::button:
        return (at.kind == ItemKind::button || at.kind == ItemKind::field) && at.name == place.name;
    case TourPlace::Kind::cell: return at.kind == ItemKind::cell && at.name == cell_name(place.cell);
    // "sram S": the view and the slot
    case TourPlace::Kind::matrix:
        return at.kind == ItemKind::panel && at.name.ends_with(std::string(" ") + info(place.cell.slot).name);
    }
    return false;
}

float area(const NamedPlace& at) { return (at.max.x - at.min.x) * (at.max.y - at.min.y); }

// Of several the largest: the lens shows a tile larger than the map of the memory does. Of equals the one
// drawn last: on stage the old value stands before the new one.
const NamedPlace* largest(const TourPlace& place, const NamedPlace* within) {
    const NamedPlace* best = nullptr;
    for (const NamedPlace& at : *place_list) {
        const bool inside = !within || (at.min.x >= within->min.x && at.max.x <= within->max.x &&
                                        at.min.y >= within->min.y && at.max.y <= within->max.y);
        if (inside && is_called(at, place) && (!best || area(at) > .9f * area(*best))) best = &at;
    }
    return best;
}

}  // namespace

std::optional<Rect> tour_place(const Canvas& c, const TourPlace& place) {
    if (!place_list || place.kind == TourPlace::Kind::none) return std::nullopt;
    const NamedPlace* within = nullptr;
    if (!place.within.empty()) {
        within = largest({TourPlace::Kind::panel, place.within, {}, {}}, nullptr);
        if (!within) return std::nullopt;
    }
    const NamedPlace* found = largest(place, within);
    if (!found) return std::nullopt;
    return Rect{(found->min.x - c.x0) / c.s, (found->min.y - c.y0) / c.s, (found->max.x - found->min.x) / c.s,
                (found->max.y - found->min.y) / c.s};
}

}  // namespace tilewalk::ui

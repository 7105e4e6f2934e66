#include "core/cpu/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/lanes.cpp"
#include <hwy/foreach_target.h>

#include "core/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewalk::cpu::HWY_NAMESPACE {

std::int64_t width_of_panel() { return panel; }

void exp2_of_all(const float* x, float* y, std::int64_t count) {
    for (std::int64_t at = 0; at < count; at += lanes) {
        float in[lanes] = {}, out[lanes];
        for (std::int64_t k = 0; k < lanes && at + k < count; ++k) in[k] = x[at + k];
        store(exp2(all(1), load(in)), out);
        for (std::int64_t k = 0; k < lanes && at + k < count; ++k) y[at + k] = out[k];
    }
}

void to_floats_of(Elements from, std::int64_t count, float* to) {
    with_type(from.type(), [&](auto x) HWY_ATTR { read_floats(from.as<decltype(x)>(), count, to); });
}
void from_floats_of(const float* from, std::int64_t count, WritableElements to) {
    with_type(to.type(), [&](auto x) HWY_ATTR { write_floats(from, count, to.as<decltype(x)>()); });
}

}  // namespace tilewalk::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "core/cpu/kernel.h"

namespace tilewalk::cpu {

HWY_EXPORT(width_of_panel);
HWY_EXPORT(exp2_of_all);
HWY_EXPORT(to_floats_of);
HWY_EXPORT(from_floats_of);

std::int64_t panel_width() { return HWY_DYNAMIC_DISPATCH(width_of_panel)(); }

void exp2_of(const float* x, float* y, std::int64_t count) { HWY_DYNAMIC_DISPATCH(exp2_of_all)(x, y, count); }

void to_floats(Elements from, std::int64_t count, float* to) {
    HWY_DYNAMIC_DISPATCH(to_floats_of)(from, count, to);
}
void from_floats(const float* from, std::int64_t count, WritableElements to) {
    HWY_DYNAMIC_DISPATCH(from_floats_of)(from, count, to);
}

namespace {

// Highway's names, as the makers of the processors write them. Its AVX3 comes in several stages.
std::string name_of_target(std::int64_t target) {
    std::string name = hwy::TargetName(target);
    if (name.starts_with("AVX3")) return "AVX-512";
    if (name == "SCALAR" || name == "EMU128") return "no vectors";
    return name;
}

}  // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        std::string name = name_of_target(target);
        if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    return names;
}

void use_instruction_set(const std::string& name) {
    hwy::SetSupportedTargetsForTest(0);
    std::int64_t wanted = 0;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        if (name_of_target(target) == name) wanted |= target;
    if (!name.empty()) hwy::SetSupportedTargetsForTest(wanted);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::string instruction_set() { return instruction_sets().front(); }

}  // namespace tilewalk::cpu
#endif

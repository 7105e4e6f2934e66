#include "core/lessons/table.h"

#include "core/lessons/backward/backward.h"
#include "core/lessons/cascade/cascade.h"
#include "core/lessons/dense/dense.h"
#include "core/lessons/forward/forward.h"
#include "core/lessons/merge/merge.h"
#include "core/lessons/merge/split_kv.h"
#include "core/lessons/ring/ring.h"
#include "core/lessons/softmax/softmax.h"

namespace tilewalk {

std::span<const std::reference_wrapper<const Lesson>> lessons() {
    static constexpr std::reference_wrapper<const Lesson> table[] = {
        attention,        softmax_dense,      softmax_3pass,  softmax_2pass, softmax_1pass, flash_forward,
        flash_forward_v1, attention_backward, flash_backward, training_step, merge_lesson,  split_kv,
        cascade,          ring_attention,     ring_backward,
    };
    return table;
}

const Lesson* find_lesson(std::string_view id) {
    for (const Lesson& lesson : lessons())
        if (id == lesson.id) return &lesson;
    return nullptr;
}

const Lesson& default_lesson() { return flash_forward; }

std::string lessons_with(Choices choice) {
    std::string out;
    for (const Lesson& lesson : lessons())
        if (lesson.uses(choice)) out += (out.empty() ? "" : ", ") + std::string(lesson.id);
    return out;
}

}  // namespace tilewalk

// The table of lessons: what the program can walk through.
#pragma once

#include "core/walk/lesson.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tilewalk {

/// In the order of the chapters.
std::span<const std::reference_wrapper<const Lesson>> lessons();
/// Null if there is none.
const Lesson* find_lesson(std::string_view id);
const Lesson& default_lesson();  ///< flash-forward
/// "softmax-1pass": the lessons that read this option of a problem.
std::string lessons_with(Choices choice);

}  // namespace tilewalk

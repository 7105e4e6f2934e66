// Questions with other numbers for every student, as a course takes them: for Moodle, as sheets, and the key.
#pragma once

#include "core/class/variants.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace tilewalk {

struct Course {
    std::string title, facts;  ///< of the lesson; of the problems' shape
    std::vector<AskedOfAll> questions;
    int variants = 0;
    std::string command;  ///< that made it; the key repeats it
};

/// "N = 4, d = 2, …": the shape of the problems, and what they choose of the lesson.
std::string course_facts(const Lesson& lesson, const Problem& shape);

/// ", step 17" or ", step 17 of 41"; empty where each variant has a step of its own.
std::string step_text(const AskedOfAll& asked, bool of_all);

/// Moodle's GIFT: a category for each question with its variants in it, so that a test draws one of them.
void write_course_gift(std::ostream& out, const Course& course);
/// A sheet for each variant, without answers.
void write_course_markdown(std::ostream& out, const Course& course);
void write_course_tex(std::ostream& out, const Course& course);
/// For the teacher, in Markdown: the answers, what they may be off by, and what the likely wrong ones mean.
void write_course_key(std::ostream& out, const Course& course);

/// The answer as a form takes it, with six digits: "1.36788", "−0.25" with an ASCII minus.
std::string typed_number(double value);
/// What it may be off by, with two digits, rounded up.
std::string typed_tolerance(const Question& question);
/// The variant that everybody gets who has this one: there is only one where numbers do not matter.
const Question& question_of(const AskedOfAll& asked, int variant);

}  // namespace tilewalk

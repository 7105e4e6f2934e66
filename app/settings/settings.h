// What is remembered from one start to the next. Known to the file that keeps it and to the interface, which
// know nothing of each other.
#pragma once

#include <string>

namespace tilewalk::ui {

enum class ThemeId { dark, light, contrast };
/// Hues of the quantities: the usual ones, or ones that stay apart without red, green or blue cones.
enum class Palette { usual, safe };
/// For how many numbers at once a question asks: more after each right answer, or always as many.
enum class GapsWanted { growing, one, few, row, tile };
/// Letters of the softmax lessons where the problem leaves them open: m, ℓ, O as in the papers on
/// FlashAttention, m, d′, o′ as in those on online softmax, or m, δ, ω.
enum class Letters { l_O, d_o, delta_omega };

/// The speaker's view: a window of its own where there are two screens, or always one of them.
enum class SpeakerShown { by_screens, window, panel };

struct Settings {
    ThemeId theme = ThemeId::dark;
    float zoom = 1.0f;  ///< Ctrl + and Ctrl −, on top of the display's own scale
    bool motion = true;
    double speed = 1.0;  ///< steps per second while playing
    Palette palette = Palette::usual;
    Letters letters = Letters::l_O;
    int digits = 4;              ///< significant digits of shown numbers, 3 … 6
    bool decimal_comma = false;  ///< 3,14 in place of 3.14
    bool spotlight = true;       ///< presenter mode dims what the step does not touch
    bool subtitles = true;       ///< presenter mode says the step in a sentence
    bool pseudocode = false;     ///< the explanation: the pseudocode in place of the formula
    bool question_each = false;  ///< questions: before every step, not only now and then
    GapsWanted gaps = GapsWanted::growing;
    bool tour_offered = false;  ///< the program has mentioned the tour once
    int tour_stop = 0;  ///< where the program's own tour was left, from 1; 0: not begun, or seen to its end
    bool start_page = true;  ///< the program begins with it, otherwise where it was left
    SpeakerShown speaker = SpeakerShown::by_screens;
    int notes_size = 24;  ///< of the notes in the speaker's view
    int window_width = 1600, window_height = 900;
    std::string example =
        "worked-4x4";  ///< name of the last example; empty: `problem_json` holds the last problem
    std::string problem_json;
    // Where the program was left; an empty page: never
    std::string page;
    std::string lesson;
    int step = 1, row = 0;  ///< step from 1, row from 0
    bool open = false;      ///< kept while it was open in a window, which has not closed in order since
};

}  // namespace tilewalk::ui

#include "tests/bench/program.h"

#include "tests/folder.h"

#include <cstdio>
#include <optional>

#include <sys/wait.h>

namespace tilewalk::bench {

namespace {

struct Run {
    int status = -1;
    std::string output;  ///< stdout and stderr
};

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Run run(const std::string& command) {
    Run result;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return result;
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        result.output.append(buffer, n);
    const int status = pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

bool is_installed(const char* tool) { return run(std::string("command -v ") + tool).status == 0; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::optional<double> reported_seconds(const std::string& output) {
    static constexpr const char* words = "first frame after ";
    const std::size_t at = output.find(words);
    if (at == std::string::npos) return std::nullopt;
    return std::strtod(output.c_str() + at + std::char_traits<char>::length(words), nullptr);
}

Row summary(Row row, const std::vector<double>& times) {
    row.measured = {median(times), median(times), 1, static_cast<int>(times.size())};
    return row;
}

}  // namespace

Row first_frame(const std::string& program) {
    Row row{"start to first frame", 0.4, {}, {}};
    const bool display = std::getenv("DISPLAY") != nullptr;
    if (!display && !is_installed("xvfb-run")) {
        row.problem = "there is no display and no xvfb-run";
        return row;
    }
    const test::Folder folder;
    std::string command = "XDG_CONFIG_HOME=" + quoted(folder.path.string()) + " ";
    if (!display) {
        row.what += ", software rendering";
        command += "LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a -s '-screen 0 1920x1080x24 -noreset' ";
    }
    std::vector<double> times;
    for (int n = 0; n < 5; ++n) {
        const Run result = run(command + quoted(program) + " --frames 1 --timing");
        const auto seconds = reported_seconds(result.output);
        if (result.status != 0 || !seconds) {
            row.problem = "exit code " + std::to_string(result.status) + ": " + first_line(result.output);
            return row;
        }
        times.push_back(*seconds);
    }
    return summary(row, times);
}

Row render_one_step(const std::string& program) {
    Row row{"tilewalk render, one step at 1600 × 900", 0.4, {}, {}};
    const test::Folder folder;
    const std::string picture = folder.file("step.png");
    std::vector<double> times;
    for (int n = 0; n < 7; ++n) {
        Run result;
        times.push_back(seconds_of([&] {
            result = run(quoted(program) + " render --step 17 --size 1600x900 -o " + quoted(picture));
        }));
        std::error_code missing;
        if (result.status != 0 || std::filesystem::file_size(picture, missing) < 10000 || missing) {
            row.problem = "exit code " + std::to_string(result.status) + ": " + first_line(result.output);
            return row;
        }
    }
    return summary(row, times);
}

Row second_of_film(const std::string& program) {
    constexpr int steps = 4, seconds = 4;
    Row row{"a second of film, 1920 × 1080, 30 pictures", 1.5, {}, {}};
    if (!is_installed("ffmpeg")) {
        row.problem = "there is no ffmpeg";
        return row;
    }
    const test::Folder folder;
    const std::string film = folder.file("film.mp4");
    std::vector<double> times;
    for (int n = 0; n < 3; ++n) {
        Run result;
        const double took = seconds_of([&] {
            result = run(quoted(program) + " film --from 15 --to " + std::to_string(14 + steps) +
                         " --seconds-per-step " + std::to_string(seconds) + " -o " + quoted(film));
        });
        std::error_code missing;
        if (result.status != 0 || std::filesystem::file_size(film, missing) < 10000 || missing) {
            row.problem = "exit code " + std::to_string(result.status) + ": " + first_line(result.output);
            return row;
        }
        times.push_back(took / (steps * seconds));
    }
    return summary(row, times);
}

}  // namespace tilewalk::bench

// One line on the terminal that is written over again and again; nothing where stderr is a file.
#pragma once

#include <cstdio>
#include <string>

#include <unistd.h>

namespace tilewalk {

class ProgressLine {
public:
    ProgressLine() = default;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() {
        if (terminal_) std::fputs("\r\033[K", stderr);
    }

    void show(const std::string& line) const {
        if (terminal_) std::fprintf(stderr, "\r\033[K%s", line.c_str());
    }

private:
    bool terminal_ = ::isatty(STDERR_FILENO) != 0;
};

}  // namespace tilewalk

// ffmpeg, run as a program: frames go into its standard input, the film comes back as bytes.
#pragma once

#include "app/cli/film_frames.h"
#include "core/base/result.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tilewalk {

/// What a name that ends so becomes.
struct FilmFormat {
    const char* ending;
    bool even;         ///< width and height must be
    bool own_palette;  ///< 256 colours, chosen beforehand
    std::vector<const char*> arguments;
};
const FilmFormat* film_format(const std::string& ending);

/// `chapters`: the second input names them; formats with a palette have none.
std::vector<std::string> film_arguments(const FilmLook& look, const FilmFormat& format, bool chapters);
/// For the colours of a film: a picture of them.
std::vector<std::string> palette_arguments(const FilmLook& look);

/// It writes into a file without a name, so that nothing is left behind however it ends.
class Ffmpeg {
public:
    /// `second_input` is what it finds in /dev/fd/4.
    static Result<Ffmpeg> start(const std::string& program, const std::vector<std::string>& arguments,
                                const std::string& second_input);
    Ffmpeg(Ffmpeg&&) noexcept;
    ~Ffmpeg();
    /// One frame. Refused when the program has ended, with what it said.
    Result<void> write(std::span<const std::uint8_t> bytes);
    /// All that it has written.
    Result<std::string> finish();

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    using File = std::unique_ptr<std::FILE, Close>;
    Ffmpeg() = default;
    Failure failed() const;
    int wait();

    pid_t child_ = -1;
    int in_ = -1;
    File out_, said_, second_;
};

}  // namespace tilewalk

// What reading and writing of files share: descriptors that close themselves, and sentences.
#pragma once

#include "core/base/result.h"

#include <string>

namespace tilewalk {

struct Descriptor {
    int fd = -1;
    explicit Descriptor(int opened) : fd(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
};

/// Stands for a failure that the system does not know: the stream did not take everything.
constexpr int not_all_taken = -1;

/// The reason behind an error number of the system, to stand after a colon.
std::string reason(int error);
/// "walk.json: cannot write the file: the disk is full."
Failure cannot(const char* what, const std::string& path, const std::string& why);
/// A name with a NUL inside would reach the system cut short and mean another file.
bool usable_name(const std::string& path);
bool is_folder(const std::string& path);

}  // namespace tilewalk

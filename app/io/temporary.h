// Files and folders that are there only while something is being made. They go when it fails, and when a
// signal ends the program.
#pragma once

#include <string>

namespace tilewalk {

/// A name beside the result. Unless it is kept, the file (or empty folder) of that name is removed at the end
/// of this value's life, or when the program is interrupted.
class Temporary {
public:
    explicit Temporary(std::string name);
    Temporary(Temporary&& other) noexcept;
    Temporary& operator=(Temporary&&) = delete;
    ~Temporary();

    /// What is there stays.
    void keep();

private:
    struct Entry* entry_;  ///< null: nothing to remove
};

/// From here on SIGINT, SIGTERM and SIGHUP remove what is temporary before they end the program. A signal
/// that is ignored, or that another part of the program handles, is left as it is.
void remove_temporaries_on_signals();

/// From here on a failed allocation that nobody can catch (a library's destructor allocates) removes what is
/// temporary, says so in a sentence and ends the program with the exit code of a limit, 2.
void end_in_order_without_memory();

}  // namespace tilewalk

// SIGINT, SIGTERM and SIGHUP as a wish to end.
#pragma once

#include <signal.h>

namespace tilewalk {

/// While this lives, the first of the signals only asks; the next one ends the program as it would have
/// without. A signal that is ignored stays ignored. One at a time.
class EndRequest {
public:
    EndRequest();
    EndRequest(const EndRequest&) = delete;
    EndRequest& operator=(const EndRequest&) = delete;
    ~EndRequest();
    /// Ends the program by the signal that has asked, if one has: so it tells its parent why.
    void grant() const;
};

/// A signal has asked the program to end.
bool asked_to_end();

}  // namespace tilewalk

// A program that ends, in a process of its own.
#pragma once

#include <csignal>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

namespace tilewalk::test {

/// How a program ends that does this; with 0 if it comes to its end. Signals mean to it what they usually
/// mean, and what the test has printed is not printed by both.
template <class Program> int status_of(const Program& program) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        for (const int own : {SIGINT, SIGTERM, SIGHUP}) std::signal(own, SIG_DFL);
        program();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

}  // namespace tilewalk::test

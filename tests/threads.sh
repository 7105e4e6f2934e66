#!/usr/bin/env bash
# threads.sh [OPTION...] : builds the tests that use threads with ThreadSanitizer, in build-tsan, and runs them; the
# options are doctest's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
set_up
build build-tsan tsan tilewalk_test_threads
# Some tests fork, and the child may start a thread.
export TSAN_OPTIONS=die_after_fork=0
exec "$root/build-tsan/tests/tilewalk_test_threads" "$@"

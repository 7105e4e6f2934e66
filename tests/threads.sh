#!/usr/bin/env bash
# threads.sh : builds the tests that use threads with ThreadSanitizer, in build-tsan, and runs them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cmake/setup.sh"
set_up
build build-tsan tsan tilewalk_test_threads
# Whoever forks does so before there are threads, or leaves at once.
export TSAN_OPTIONS="suppressions=$root/tests/threads.supp die_after_fork=0"
exec "$root/build-tsan/tests/tilewalk_test_threads" "$@"

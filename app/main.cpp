#include "app/cli/cli.h"
#include "core/base/background.h"

namespace {

// Libraries may call exit(), as Xlib does when the display goes away. A thread's own objects are destroyed
// before static ones: the program ends there.
struct LeaveAtExit {
    ~LeaveAtExit() { tilewalk::leave(1); }
};

}  // namespace

int main(int argc, char** argv) {
    thread_local const LeaveAtExit at_exit;
    tilewalk::leave(tilewalk::run_cli(argc, argv, tilewalk::run_window));
}

#include "cuda/host/where_it_ran.h"

#include "core/bench/build_facts.h"
#include "core/bench/machine.h"

namespace tilewalk::gpu {

const char* name_of(Where where) { return where == Where::cuda ? "cuda" : "emulator"; }

KernelRun where_it_ran(Where where) {
    KernelRun run;
    run.device = name_of(where);
    run.device_name = this_machine().cpu;
    if (where == Where::cuda) {
        const Probe found = probe();
        if (!found.devices.empty()) run.device_name = found.devices.front().name;
        run.driver = found.driver_version;
    }
    run.date = utc_now();
    run.version = build_facts.version, run.commit = build_facts.commit;
    return run;
}

}  // namespace tilewalk::gpu

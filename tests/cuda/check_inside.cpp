// Records one run of a kernel and looks for races:
//
//     check_inside KERNEL
//
// Prints each race, and ends with 1 if there is one. tests/cuda/races.py runs it on kernels without one of
// their barriers or waits.
#include "cuda/host/recorder.h"
#include "tests/cuda/kernel_cases.h"

#include <iostream>

using namespace tilewalk;

int main(int, char** words) {
    for (const auto& [kernel, type] : kernels_and_types()) {
        if (kernel != words[1]) continue;
        KernelCase c{kernel, {.heads = 2, .kv_heads = 1, .N_q = 200, .N_kv = 256, .d = 64}};
        c.w.dtype = type, c.w.direction = kernel[0] == 'b' ? Direction::backward : Direction::forward;
        const auto device = gpu::open_recorder();
        device->begin();
        std::string wrong;
        run_case_on(*device, true, c, inputs_of(c), wrong);
        if (!wrong.empty()) std::cerr << wrong << "\n";
        const inside::Record& record = device->record();
        for (const inside::Launch& launch : record.launches)
            for (const inside::Race& race : launch.races)
                std::cout << "RACE at " << inside::race_text(record, race) << "\n";
        return !wrong.empty() ? 2 : record.races() == 0 ? 0 : 1;
    }
    return 3;
}

#include "tests/cuda/ptx/modules.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tilewalk::ptx {

Modules::Modules(const std::string& folder) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        if (entry.path().extension() != ".ptx") continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        modules.push_back(std::make_unique<Module>(text.str()));
    }
    if (modules.empty()) throw Error("There is no PTX in " + folder);
}

const Kernel& Modules::kernel(const std::string& plain) {
    for (const auto& module : modules)
        if (module->has(plain)) return module->kernel(plain);
    throw Error("There is no PTX of the kernel " + plain);
}

Modules& modules_of(const std::string& folder, int capability) {
    static std::map<int, std::unique_ptr<Modules>> all;
    std::unique_ptr<Modules>& one = all[capability];
    if (!one) one = std::make_unique<Modules>(folder + "/" + std::to_string(capability));
    return *one;
}

int shared_of_block(int capability) {
    return (capability < 80 ? 64 : capability == 80 ? 163 : capability < 90 ? 99 : 227) << 10;
}

}  // namespace tilewalk::ptx

#include "cuda/device/cublas_places.h"

#include <glob.h>

namespace tilewalk::gpu {

namespace {

constexpr const char* versions[] = {"13", "12", "11"};

void add_files(std::vector<std::string>& places, const std::string& pattern) {
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
        for (std::size_t n = 0; n < found.gl_pathc; ++n) places.emplace_back(found.gl_pathv[n]);
    globfree(&found);
}

}  // namespace

std::vector<std::string> cublas_places(const Environment& environment) {
    if (const char* const wanted = environment("TILEWALK_CUBLAS")) return {wanted};
    std::vector<std::string> places, folders;
    for (const char* const version : versions) places.push_back(std::string("libcublas.so.") + version);

    // Folders with wildcards
    for (const char* const name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* const toolkit = environment(name))
            folders.push_back(std::string(toolkit) + "/lib64/");
    for (const char* const toolkit : {"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"})
        folders.push_back(std::string(toolkit) + "/lib64/");
    std::vector<std::string> pythons{"/usr/local", "/usr"};
    if (const char* const home = environment("HOME"))
        pythons.insert(pythons.begin(), std::string(home) + "/.local");
    for (const char* const name : {"CONDA_PREFIX", "VIRTUAL_ENV"})
        if (const char* const python = environment(name)) pythons.insert(pythons.begin(), python);
    for (const std::string& python : pythons)
        for (const char* const packages : {"site-packages", "dist-packages"})
            folders.push_back(python + "/lib/python3*/" + packages + "/nvidia/*/lib/");

    for (const char* const version : versions)
        for (const std::string& folder : folders) add_files(places, folder + "libcublas.so." + version);
    return places;
}

}  // namespace tilewalk::gpu

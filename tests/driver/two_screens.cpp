// A display with two screens where there is one: GLFW reports it twice. Loaded before GLFW (LD_PRELOAD) by
// window/two_screens.sh.
#include <dlfcn.h>

struct GLFWmonitor;

extern "C" GLFWmonitor** glfwGetMonitors(int* count) {
    static GLFWmonitor* two[2];
    using Function = GLFWmonitor** (*)(int*);
    const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "glfwGetMonitors"));
    GLFWmonitor** const all = real(count);
    if (!all) return all;
    two[0] = two[1] = all[0];
    *count = 2;
    return two;
}

// A kernel of the user's own, from the library that was made of it. Its entry calls the user's run(), which
// launches.
#include "cuda/host/record_rung.h"

#include <dlfcn.h>

namespace tilewalk::gpu {

namespace {

using Entry = void (*)(const Arguments&, Stream&);
Entry own_entry = nullptr;  ///< a rung's functions see nothing else

/// Room for one matrix of scores.
std::int64_t own_workspace(const Arguments& a, DType) { return 4 * std::int64_t(a.N_q) * a.N_kv; }

}  // namespace

Result<inside::Record> record_own_kernel(const std::string& library, const RecordRequest& request,
                                         const std::function<void(const std::string&)>& stopped,
                                         TraceFailed* how) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    own_entry = opened ? reinterpret_cast<Entry>(::dlsym(opened, "tilewalk_own_kernel")) : nullptr;
    if (!own_entry) {
        const char* const said = ::dlerror();
        return Failure{request.kernel + " cannot be loaded: " + (said ? said : "it has no entry") + "."};
    }
    constexpr std::int64_t most_steps = 100'000'000;
    RecordOptions options = options_of(request);
    options.stopped = stopped, options.most_steps = most_steps;
    const Rung rung{request.kernel.c_str(),
                    "your own kernel",
                    "",
                    request.kernel.c_str(),
                    Direction::forward,
                    false,
                    false,
                    [](const Arguments&, DType, const Chip&) { return std::string(); },
                    own_workspace,
                    [](const Arguments&, DType, const Chip&) { return Tile(); },
                    [](const Arguments& a, DType, Stream& stream) { own_entry(a, stream); }};
    return record_rung(open_recorder(options), rung, request, of);
}

}  // namespace tilewalk::gpu

#include "app/cli/own_kernel.h"

#include "app/cli/child.h"
#include "app/cli/private_folder.h"
#include "app/io/file.h"
#include "app/io/problem_json.h"
#include "app/io/text.h"
#include "core/inside/record_file.h"
#include "core/inside/source.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include <sys/wait.h>

namespace tilewalk {
namespace {

using gpu::TraceFailed;

// ---- The source, as far as it can be judged without a compiler

/// Where a comment or a text that begins at `at` ends; `at` itself if none does.
std::size_t end_of_other(std::string_view text, std::size_t at) {
    const auto behind = [&](std::string_view end, std::size_t from) {
        const std::size_t found = text.find(end, from);
        return found == text.npos ? text.size() : found + end.size();
    };
    if (text.substr(at).starts_with("//")) return behind("\n", at);
    if (text.substr(at).starts_with("/*")) return behind("*/", at + 2);
    if (text[at] != '"') return at;
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
}

/// The words and signs of the source, without comments, texts and spaces.
std::vector<std::string> code_tokens(std::string_view text) {
    std::vector<std::string> tokens;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = end_of_other(text, at);
        if (end == at) {
            while (end < text.size() && inside::in_name(text[end])) ++end;
            end = std::max(end, at + 1);
            if (!std::isspace(static_cast<unsigned char>(text[at])))
                tokens.emplace_back(text.substr(at, end - at));
        }
        at = end;
    }
    return tokens;
}

bool is_called(const std::vector<std::string>& tokens, std::string_view name) {
    for (std::size_t n = 0; n + 1 < tokens.size(); ++n)
        if (tokens[n] == name && tokens[n + 1] == "(") return true;
    return false;
}

/// The struct of the source through which it reaches memory: P of `P* s`, `P& one`, shared_memory<P>().
/// Empty: none.
std::string struct_in_memory(const std::vector<std::string>& tokens) {
    const auto at = [&](std::size_t n) { return n < tokens.size() ? std::string_view(tokens[n]) : ""; };
    std::set<std::string_view> structs;
    for (std::size_t n = 0; n < tokens.size(); ++n)
        if (at(n) == "struct" || at(n) == "union" || at(n) == "class") {
            std::size_t name = n + 1;
            if (at(name) == "alignas") {
                while (name < tokens.size() && at(name) != ")") ++name;
                ++name;
            }
            if (at(name + 1) == "{" || at(name + 1) == ":" || at(name + 1) == "final")
                structs.insert(at(name));
        }
    for (std::size_t n = 1; n < tokens.size(); ++n) {
        if (!structs.contains(at(n))) continue;
        const std::string_view next = at(n + 1) == "const" ? at(n + 2) : at(n + 1);
        if (next == "*" || next == "&" || (n > 1 && at(n - 2) == "shared_memory")) return tokens[n];
    }
    return {};
}

/// The type of one byte through which it reaches memory: bool of `bool* s`, shared_memory<bool>(). Empty:
/// none.
std::string byte_in_memory(const std::vector<std::string>& tokens) {
    const auto at = [&](std::size_t n) { return n < tokens.size() ? std::string_view(tokens[n]) : ""; };
    std::set<std::string_view> bytes{"char", "bool", "char8_t", "int8_t", "uint8_t", "byte"};
    for (std::size_t n = 0; n < tokens.size(); ++n) {
        const bool named = at(n) == "using" && at(n + 2) == "=", defined = at(n) == "typedef";
        if (!named && !defined) continue;
        std::size_t end = n;
        while (end < tokens.size() && at(end) != ";") ++end;
        if (end < tokens.size() && bytes.contains(at(named ? end - 1 : end - 2)))
            bytes.insert(at(named ? n + 1 : end - 1));
    }
    for (std::size_t n = 2; n < tokens.size(); ++n) {
        if (!bytes.contains(at(n))) continue;
        std::size_t first = n;
        while (first > 1 && (at(first - 1) == "unsigned" || at(first - 1) == "signed" ||
                             at(first - 1) == "const" || at(first - 1) == ":" || at(first - 1) == "std"))
            --first;
        const std::string_view next = at(n + 1) == "const" ? at(n + 2) : at(n + 1);
        const bool argument =
            at(first - 1) == "<" && at(first - 2) != "static_cast" && (next == ">" || next == ",");
        if (next == "*" || argument || (next == "&" && at(first - 1) == "<")) return tokens[n];
    }
    return {};
}

Result<void> look_at(const std::string& name, const std::string& text) {
    const auto tokens = code_tokens(text);
    if (std::ranges::find(tokens, "KERNEL") == tokens.end())
        return Failure{name +
                       " has no KERNEL: a function that runs on the device begins with this word, as in "
                       "KERNEL THREADS(32) void mine(Arguments a)."};
    if (!is_called(tokens, "run"))
        return Failure{
            name + " has no function run(const Arguments& a, Stream& stream), which launches its kernel."};
    if (const std::string type = struct_in_memory(tokens); !type.empty())
        return Failure{
            name + " reaches memory through the struct " + type +
            ", and what is read and written there cannot be seen. Keep what threads share in arrays of "
            "numbers."};
    if (const std::string type = byte_in_memory(tokens); !type.empty())
        return Failure{name + " reaches memory through single bytes (" + type +
                       "), and what is read and written there cannot be seen. Keep what threads share in "
                       "numbers of two bytes or more, such as unsigned."};
    for (const char* copies : {"memcpy", "memmove", "memset"})
        if (is_called(tokens, copies))
            return Failure{name + " calls " + copies +
                           ", and what that reads and writes cannot be seen. Copy number by number."};
    return {};
}

// ---- What it is compiled with

Result<void> write_headers(PrivateFolder& folder) {
    const auto all = [&](std::span<const EmbeddedFile> files, const std::string& below) -> Result<void> {
        for (const EmbeddedFile& file : files) {
            if (!std::string_view(file.name).ends_with(".h")) continue;
            if (auto done = folder.write(below + file.name, file.text); !done) return done;
        }
        return {};
    };
    if (auto done = all(gpu::device_sources(), ""); !done) return done;
    return all(gpu::kernel_sources(), "cuda/kernels/");
}

/// Around the user's text, so that it needs no names of ours in front. Its lines keep their numbers.
Result<void> write_source(PrivateFolder& folder, const std::string& name, const std::string& text) {
    if (auto done =
            folder.write("own.cpp", "#include \"cuda/device/device.h\"\n"
                                    "#include \"cuda/launch/arguments.h\"\n"
                                    "using namespace tilewalk;\n"
                                    "using namespace tilewalk::gpu;\n"
                                    "using namespace tilewalk::gpu::BACKEND;\n"
                                    "#include \"own.cu\"\n"
                                    "extern \"C\" void tilewalk_own_kernel(const Arguments& a, Stream& "
                                    "stream) { run(a, stream); }\n");
        !done)
        return done;
    return folder.write("own.cu", "#line 1 \"" + name + "\"\n" + text);
}

// ---- The compiler

/// $CXX with its words, or the first that is there.
std::vector<std::string> compiler() {
    const char* const chosen = std::getenv("CXX");
    std::vector<std::string> words;
    for (const std::string& word : split(chosen ? chosen : "", " "))
        if (!word.empty()) words.push_back(word);
    if (!words.empty()) return words;
    for (const char* name : {"g++", "c++", "clang++"})
        if (find_program(name)) return {name};
    return {"c++"};
}

/// What the compiler said first of an error: "my.cu:7:12: error: …"; else its last words.
std::string first_error(const std::string& said) {
    std::string last = "the compiler said nothing";
    for (const std::string& line : split(said, "\n")) {
        if (line.find(": error: ") != line.npos || line.find(": fatal error: ") != line.npos) return line;
        if (!line.empty()) last = line;
    }
    return last;
}

constexpr const char* dump_option = "-fdump-tree-ubsan-lineno";

/// As cuda/CMakeLists.txt has them for the ladder.
std::vector<std::string> recorded_options(const std::string& folder, const std::string& beside,
                                          const std::string& object) {
    return {"-std=c++20",
            "-O1",
            "-fPIC",
            "-w",
            "-DTILEWALK_RECORDS",
            "-fno-tree-vectorize",
            "-fno-tree-slp-vectorize",
            "-fsanitize=alignment",
            "-fsanitize-recover=alignment",
            "--param=max-completely-peel-times=0",
            "-I" + folder,
            "-iquote",
            beside,
            "-c",
            folder + "/own.cpp",
            "-o",
            object};
}

Result<void> compile(PrivateFolder& folder, const gpu::RecordRequest& request, const std::string& name,
                     const OwnKernelBudget& budget, const std::function<void()>& meanwhile, TraceFailed& of) {
    std::vector<std::string> compiler_words = compiler();
    const auto program = compiler_words.front().find('/') == std::string::npos
                             ? find_program(compiler_words.front())
                             : std::optional(compiler_words.front());
    if (!program) {
        of = TraceFailed::no_device;
        return Failure{name + " must be compiled, and no compiler for C++ is installed here: there is no " +
                       compiler_words.front() + "."};
    }
    compiler_words.front() = *program;
    const std::string object = folder.expect("own.o"), library = folder.expect("own.so"),
                      said = folder.expect("compiler.txt");
    std::error_code unknown;
    const std::string beside = std::filesystem::absolute(request.kernel, unknown).parent_path().string();
    std::vector<std::string> compiles = compiler_words, links = compiler_words;
    const auto how = recorded_options(folder.path(), beside, object);
    compiles.insert(compiles.end(), how.begin(), how.end());
    for (const std::string& word : {std::string("-shared"), object, std::string("-o"), library})
        links.push_back(word);
    // Clang, which does not know the option, reports every access where it is.
    std::vector<std::string> dumps = compiles;
    dumps.push_back(std::string(dump_option) + "=" + folder.expect(own_kernel_dump));
    const auto call = [&](const std::vector<std::string>& words) -> Result<void> {
        const auto end = run_child({words, said, folder.path(), budget.compiling, request.stop, meanwhile});
        if (!end) return Failure{end.error};
        if (request.stop.stop_requested()) return Failure{"Cancelled."};
        if (!end->in_time)
            return Failure{name + " was still being compiled after " + str(int(budget.compiling)) +
                           " seconds, and was left."};
        if (!end->well())
            return Failure{name + " does not compile: " + first_error(read_file(said).value.value_or(""))};
        return {};
    };
    auto done = call(dumps);
    if (!done && done.error.find(dump_option) != std::string::npos) done = call(compiles);
    return done ? call(links) : done;
}

// ---- Its run

std::string signal_words(int signal) {
    switch (signal) {
    case SIGSEGV:
    case SIGBUS: return "it read or wrote where there is no memory";
    case SIGFPE: return "it divided by zero";
    case SIGILL: return "it came to an instruction that there is not";
    default: return std::string("it ended with ") + ::strsignal(signal);
    }
}

Failure ended_badly(const std::string& name, const ChildEnd& end, const OwnKernelBudget& budget,
                    const std::string& said) {
    if (!end.in_time)
        return Failure{name + " did not come to its end: it was stopped after " + str(int(budget.running)) +
                       " seconds."};
    if (WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGXCPU)
        return Failure{name + " did not come to its end: it was stopped after " +
                       counted(budget.computing, "second") +
                       " of computing. 'tilewalk inside --source' gives it more with --seconds."};
    if (WIFSIGNALED(end.status))
        return Failure{name + " was ended by the system: " + signal_words(WTERMSIG(end.status)) + "."};
    return Failure{said.empty() ? name + " ended without a record." : said};
}

/// The other process counts its blocks in a file, which is read and not mapped: whatever that process does to
/// it, this one goes on.
int blocks_counted(const std::string& path) {
    int blocks = 0;
    const auto bytes = read_file(path, sizeof blocks);
    if (bytes && bytes->size() == sizeof blocks) std::memcpy(&blocks, bytes->data(), sizeof blocks);
    return std::max(0, blocks);
}

Result<inside::Record> run_library(PrivateFolder& folder, const std::string& name,
                                   const gpu::RecordRequest& request, const OwnKernelBudget& budget,
                                   const std::function<void()>& meanwhile) {
    const std::string record = folder.expect("record"), failure = folder.expect("failure.txt"),
                      said = folder.expect("said.txt");
    if (auto done = folder.write("problem.json", problem_to_json(request.problem)); !done)
        return Failure{done.error};
    const std::string counted_in = folder.path() + "/" + own_kernel_progress;
    if (auto done = folder.write(own_kernel_progress, std::string(sizeof(int), '\0')); !done)
        return Failure{done.error};
    const auto count = [&] {
        if (request.blocks_done) *request.blocks_done = blocks_counted(counted_in);
        if (meanwhile) meanwhile();
    };
    const auto end = run_child(
        {{this_program(), "run-own-kernel", folder.path(), name, str(static_cast<int>(request.dtype)),
          str(request.blocks.empty() ? 0 : request.blocks.front()), str(budget.computing)},
         said,
         folder.path(),
         budget.running,
         request.stop,
         count});
    count();
    if (!end) return Failure{end.error};
    if (request.stop.stop_requested()) return Failure{"Cancelled."};
    if (!end->well()) return ended_badly(name, *end, budget, read_file(failure).value.value_or(""));
    const auto bytes = read_file(record);
    if (!bytes) return Failure{bytes.error};
    return inside::read_record(*bytes);
}

}  // namespace

std::string own_kernel_name(const std::string& path) {
    std::string name = without_controls(std::filesystem::path(path).filename().string());
    for (char& c : name)
        if (c == '"' || c == '\\') c = '_';
    return name;
}

Result<std::string> read_own_source(const std::string& path) {
    constexpr std::size_t most_bytes = 1 << 20;
    auto text = read_file(path, most_bytes);
    if (!text) return text;
    if (const auto fits = look_at(own_kernel_name(path), *text); !fits) return Failure{fits.error};
    return text;
}

std::string own_code_warning(const std::string& path) {
    return own_kernel_name(path) +
           " is compiled and runs on this machine as your own program would: it may do "
           "whatever you may. Open only what you trust.";
}

Result<inside::Record> record_own_source(const gpu::RecordRequest& request, TraceFailed* how,
                                         const OwnKernelBudget& budget,
                                         const std::function<void()>& meanwhile) {
    TraceFailed unwanted;
    TraceFailed& of = how ? *how : unwanted;
    of = TraceFailed::input;
    const std::string name = own_kernel_name(request.kernel);
    const auto text = read_own_source(request.kernel);
    if (!text) return Failure{text.error};
    auto folder = PrivateFolder::make("the kernel");
    if (!folder) return Failure{folder.error};
    if (const auto done = write_headers(*folder); !done) return Failure{done.error};
    if (const auto done = write_source(*folder, name, *text); !done) return Failure{done.error};
    if (request.blocks_done) *request.blocks_done = -1;
    if (const auto done = compile(*folder, request, name, budget, meanwhile, of); !done)
        return Failure{done.error};
    of = TraceFailed::device;
    return run_library(*folder, name, request, budget, meanwhile);
}

}  // namespace tilewalk

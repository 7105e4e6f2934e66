#include "tests/cuda/ptx/program.h"

#include "tests/cuda/ptx/decode.h"
#include "tests/cuda/ptx/text.h"

#include <algorithm>
#include <cctype>

namespace tilewalk::ptx {

std::string plain_name(const std::string& mangled) {
    const std::string mark = "_GLOBAL__N__";
    const std::size_t at = mangled.find(mark);
    if (at == std::string::npos) return mangled;
    std::size_t digits = at;
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(mangled[digits - 1]))) --digits;
    const std::size_t length = std::stoul(mangled.substr(digits, at - digits));
    // <hash>_<length>_<file>_<hash>
    const std::string inside = mangled.substr(at + mark.size(), length - mark.size());
    const std::size_t file = inside.find('_', inside.find('_') + 1) + 1;
    return mangled.substr(0, digits) + "{" + inside.substr(file, inside.rfind('_') - file) + "}" +
           mangled.substr(at + length);
}

Module::Module(std::string of) : text(std::move(of)) {
    blank_comments(text);
    const std::string_view all = text;
    for (std::size_t from = 0; from <= all.size();) {
        const std::size_t end = std::min(all.find('\n', from), all.size());
        std::string_view line = all.substr(from, end - from);
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        lines.push_back(line);
        from = end + 1;
    }
    read_entries();
}

// What stands outside of the kernels: kernels, and arrays in shared memory whose size the launch gives.
void Module::read_entries() {
    const auto fail = [](const std::string& what) { throw Error("Not understood: " + what); };
    std::size_t now = 0;
    const auto word = [&] {
        while (now < text.size() && std::isspace(static_cast<unsigned char>(text[now]))) ++now;
        const std::size_t from = now;
        while (now < text.size() && !std::isspace(static_cast<unsigned char>(text[now])) && text[now] != '(')
            ++now;
        return text.substr(from, now - from);
    };
    const auto rest_until = [&](char end) {
        const std::size_t from = now;
        now = text.find(end, now);
        if (now == std::string::npos) fail("no " + std::string(1, end));
        return text.substr(from, now++ - from);
    };
    while (true) {
        const std::string first = word();
        if (first.empty()) return;
        if (first == ".version" || first == ".target" || first == ".address_size" || first == ".file") {
            rest_until('\n');
        } else if (first == ".visible" || first == ".weak") {
            continue;
        } else if (first == ".extern") {
            const std::string rest = rest_until(';');
            const std::size_t name = rest.rfind(' ') + 1, end = rest.rfind("[]");
            if (rest.find(".shared") == std::string::npos || end == std::string::npos) fail(rest);
            shared_arrays.push_back(rest.substr(name, end - name));
        } else if (first == ".entry") {
            Entry entry;
            entry.name = word();
            rest_until('(');
            entry.parameters = now;
            rest_until('{');
            entry.body = now;
            entries[plain_name(entry.name)] = entry;
            for (int depth = 1; depth > 0; ++now) {
                if (now >= text.size()) fail("a kernel without an end");
                depth += text[now] == '{' ? 1 : text[now] == '}' ? -1 : 0;
            }
        } else {
            fail(first);
        }
    }
}

std::vector<std::string> Module::names() const {
    std::vector<std::string> all;
    for (const auto& [name, entry] : entries) all.push_back(name);
    return all;
}

const Kernel& Module::kernel(const std::string& plain) {
    const auto found = kernels.find(plain);
    if (found != kernels.end()) return found->second;
    const auto entry = entries.find(plain);
    if (entry == entries.end()) throw Error("There is no PTX of the kernel " + plain);
    const std::string_view head = std::string_view(text).substr(
        entry->second.parameters, entry->second.body - entry->second.parameters);
    Kernel kernel = decode(entry->second.name, head, Reader(text, entry->second.body), shared_arrays);
    kernel.lines = &lines;
    return kernels.emplace(plain, std::move(kernel)).first->second;
}

}  // namespace tilewalk::ptx

#include "app/cli/private_folder.h"

#include "app/io/file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tilewalk {

Result<PrivateFolder> PrivateFolder::make(const std::string& whose) {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "tilewalk-XXXXXX").string();
    if (error || !::mkdtemp(path.data()))
        return Failure{"No private folder can be made for " + whose + ": " +
                       std::string(std::strerror(errno)) + "."};
    PrivateFolder folder;
    folder.root_ = path;
    folder.made_.emplace_back(path);
    return folder;
}

PrivateFolder::~PrivateFolder() {
    if (made_.empty()) return;
    while (made_.size() > 1) made_.pop_back();
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
    made_.front().keep();
}

std::string PrivateFolder::expect(const std::string& name) {
    made_.emplace_back(root_ + "/" + name);
    return root_ + "/" + name;
}

Result<void> PrivateFolder::write(const std::string& name, std::string_view text) {
    std::filesystem::path folder;
    for (const auto& part : std::filesystem::path(name).parent_path()) {
        folder /= part;
        if (!folders_.insert(folder.string()).second) continue;
        std::filesystem::create_directory(expect(folder.string()));
    }
    return write_file_atomic(expect(name), text);
}

}  // namespace tilewalk

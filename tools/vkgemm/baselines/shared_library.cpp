// SPDX-License-Identifier: MIT
#include "baselines/shared_library.h"

#include <cstdlib>
#include <filesystem>

#ifdef _WIN32
#    include <windows.h>
#else
#    include <dlfcn.h>
#endif

namespace vkgemm::tool {
namespace {

namespace fs = std::filesystem;

#ifdef _WIN32
constexpr char path_separator = ';';
constexpr const char* python_name = "python.exe";
void* open_library(const std::string& path) {
    return reinterpret_cast<void*>(LoadLibraryExA(path.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH));
}
#else
constexpr char path_separator = ':';
constexpr const char* python_name = "python3";
void* open_library(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
#endif

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// The parts of a list such as PATH, without the empty ones.
std::vector<std::string> parts(const std::string& list) {
    std::vector<std::string> all(1);
    for (const char c : list) {
        if (c == path_separator)
            all.emplace_back();
        else
            all.back() += c;
    }
    std::erase(all, "");
    return all;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> all;
    std::error_code ignored;  // a folder that is not there holds none
    for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored))
        if (at->is_directory(ignored)) all.push_back(at->path());
    return all;
}

/// The folders of libraries that packages named nvidia-... bring to a Python that is installed at `prefix`.
void add_python(const fs::path& prefix, std::vector<std::string>& folders) {
    std::vector<fs::path> packages = {prefix / "Lib" / "site-packages" / "nvidia"};
    for (const fs::path& version : folders_in(prefix / "lib"))
        for (const char* name : {"site-packages", "dist-packages"}) packages.push_back(version / name / "nvidia");
    for (const fs::path& root : packages)
        for (const fs::path& package : folders_in(root))
            for (const char* name : {"lib", "bin"})
                if (std::error_code ignored; fs::is_directory(package / name, ignored))
                    folders.push_back((package / name).string());
}

}  // namespace

Library Library::open(std::span<const std::string> names, std::span<const std::string> folders) {
    Library library;
    for (const std::string& folder : folders)
        for (const std::string& name : names) {
            library.handle_ = open_library(folder.empty() ? name : (fs::path(folder) / name).string());
            library.folder_ = folder;
            if (library) return library;
        }
    return {};
}

Library::Symbol Library::symbol(const char* name) const {
#ifdef _WIN32
    return reinterpret_cast<Symbol>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
    return reinterpret_cast<Symbol>(dlsym(handle_, name));
#endif
}

std::vector<std::string> baseline_folders() {
    std::vector<std::string> folders = parts(environment("VKGEMM_BASELINE_PATH"));
    folders.emplace_back();
    for (const char* name : {"CUDA_PATH", "CUDA_HOME"})
        if (const std::string root = environment(name); !root.empty())
            for (const char* below : {"lib64", "bin", "bin/x64"}) folders.push_back((fs::path(root) / below).string());
    folders.emplace_back("/usr/local/cuda/lib64");
    if (const std::string root = environment("VIRTUAL_ENV"); !root.empty()) add_python(root, folders);
    for (const std::string& folder : parts(environment("PATH"))) {
        std::error_code ignored;
        if (fs::exists(fs::path(folder) / python_name, ignored)) add_python(fs::path(folder).parent_path(), folders);
    }
    return folders;
}

}  // namespace vkgemm::tool

// SPDX-License-Identifier: MIT
// Libraries that are there or not: found and opened while the program runs.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace vkgemm::tool {

/// A shared library. Never closed: what it started (threads, exit handlers) may outlive any owner.
class Library {
   public:
    Library() = default;
    /// The first that opens: each of `names` in the first folder, then in the next. Folder "": where the system looks.
    static Library open(std::span<const std::string> names, std::span<const std::string> folders);

    explicit operator bool() const { return handle_ != nullptr; }
    const std::string& folder() const { return folder_; }

    /// Sets `function` to what the library calls `name`; false and null where there is none.
    template <class F>
    bool find(F*& function, const char* name) const {
        function = reinterpret_cast<F*>(symbol(name));
        return function != nullptr;
    }

   private:
    using Symbol = void (*)();
    Symbol symbol(const char* name) const;
    void* handle_ = nullptr;
    std::string folder_;
};

/// Where libraries to compare with are looked for, in order: the folders of VKGEMM_BASELINE_PATH (separated as in PATH);
/// where the system looks; CUDA's own folders; those of the Python packages that bring CUDA.
std::vector<std::string> baseline_folders();

}  // namespace vkgemm::tool

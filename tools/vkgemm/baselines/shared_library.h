// SPDX-License-Identifier: MIT
// Optional libraries, found and opened at run time.
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

    /// Sets `function` to the symbol `name`; false and null if there is none.
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

/// The folders in which baselines are searched for, in order: the folders of VKGEMM_BASELINE_PATH (separated as in
/// PATH); where the system looks; CUDA's own folders; those of the Python packages that bring CUDA.
std::vector<std::string> baseline_folders();

}  // namespace vkgemm::tool

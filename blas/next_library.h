// SPDX-License-Identifier: MIT
// The BLAS that computes what the device does not: the next definition of a name, other than this library's own.
#pragma once
#include <atomic>

namespace vkgemm::blas {

/// A name that this library exports, and its next definition once that was needed.
class NextSymbol {
   public:
    constexpr explicit NextSymbol(const char* name) noexcept : name_(name) {}

    /// Ends the process with a message if no library has it: a program would be given wrong results otherwise.
    template <class Function>
    Function* get() {
        void* found = found_.load(std::memory_order_acquire);
        if (!found) found_.store(found = find(), std::memory_order_release);
        return reinterpret_cast<Function*>(found);
    }

    /// Whether a library has it.
    bool exists() {
        if (!missing_.load(std::memory_order_acquire) && !found_.load(std::memory_order_acquire)) look();
        return found_.load(std::memory_order_acquire) != nullptr;
    }

   private:
    void* find() const;
    void look();

    const char* name_;
    std::atomic<bool> missing_ = false;
    std::atomic<void*> found_ = nullptr;
};

/// The first of: the library in `file` (if not ""), what the dynamic linker has next, any object that is loaded even if
/// RTLD_LOCAL hides it, and libraries of the usual names. Null if there is none. It takes no memory.
void* find_next(const char* symbol, const char* file);

/// The file that defines the address; "" if that is not known.
const char* library_of(const void* address);

}  // namespace vkgemm::blas

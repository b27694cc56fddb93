// SPDX-License-Identifier: MIT
// The operators new and delete of the whole program. All forms, because a sanitizer has some of its own.
#include <cstdlib>
#include <new>

#include "failing/counted.h"

namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
    if (vkgemm::test::failing::allocation_fails()) return nullptr;
    if (bytes == 0) bytes = 1;
    return alignment ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                     : std::malloc(bytes);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    if (void* memory = allocate(bytes, alignment)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t a) { return allocate_or_throw(bytes, std::size_t(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return allocate_or_throw(bytes, std::size_t(a)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

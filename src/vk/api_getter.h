// SPDX-License-Identifier: MIT
// What every getter of the API does.
#pragma once
#include "vk/api_guard.h"
#include "vk/versioned.h"

namespace vkgemm::vk {

/// Checks the struct, then writes what `make` returns; nullopt is a bad argument.
template <class T, class Make>
VkgemmResult get_struct(T* out, const Make& make) {
    return guarded(nullptr, [&]() -> VkgemmResult {
        if (check_output(out)) return VKGEMM_ERROR_INVALID_ARGUMENT;
        const std::optional<T> value = make();
        if (!value) return VKGEMM_ERROR_INVALID_ARGUMENT;
        write_struct(*value, out);
        return VKGEMM_SUCCESS;
    });
}

}  // namespace vkgemm::vk

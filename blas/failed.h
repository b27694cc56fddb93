// SPDX-License-Identifier: MIT
// A failure of Vulkan as a status of this library.
#pragma once
#include <string>

#include "blas/product.h"

namespace vkgemm::blas {

inline Status failed(VkResult result, const char* function) {
    const bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
    return {memory ? VKGEMM_ERROR_OUT_OF_MEMORY : VKGEMM_ERROR_DEVICE_LOST, result,
            std::string(function) + ": VkResult " + std::to_string(result)};
}

}  // namespace vkgemm::blas

// SPDX-License-Identifier: MIT
// Which calls are worth the device. Pure. It is a rule of thumb; a prediction from measured rates is to replace it.
#pragma once
#include <vulkan/vulkan_core.h>

#include "blas/settings.h"

namespace vkgemm::blas {

/// The default of VKGEMM_BLAS_MIN for VKGEMM_BLAS=auto. Not measured; for VKGEMM_BLAS=always the default is 0.
inline constexpr double auto_min = 1024;

/// The harmonic mean of m, n and k, which are above 0: the size of the cube with as many multiplications per element of
/// A, B and C. A product with one short side moves much for what it computes, and counts as little more than that side.
inline double effective_size(int64_t m, int64_t n, int64_t k) {
    const double x = static_cast<double>(m), y = static_cast<double>(n), z = static_cast<double>(k);
    return 3 * x * y * z / (x * y + y * z + z * x);  // one division: every small call computes this
}

inline bool is_worth_device(const Settings& s, Routine routine, int64_t m, int64_t n, int64_t k) {
    if (s.mode == Mode::never || s.disabled[static_cast<size_t>(routine)]) return false;
    return effective_size(m, n, k) >= s.min.value_or(s.mode == Mode::always ? 0 : auto_min);
}

/// On a Vulkan driver that computes on the CPU, the next BLAS is faster.
inline bool is_worth_opening(const Settings& s, VkPhysicalDeviceType kind) {
    return s.mode == Mode::always || (s.mode == Mode::automatic && kind != VK_PHYSICAL_DEVICE_TYPE_CPU);
}

}  // namespace vkgemm::blas

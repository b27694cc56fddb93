// SPDX-License-Identifier: MIT
// How exact products are computed: VKGEMM_BLAS_ACCURACY.
#pragma once
#include <optional>
#include <vkgemm/vkgemm.hpp>

namespace vkgemm::blas {

struct Accuracies {
    VkgemmAccuracy of_f32 = VKGEMM_ACCURACY_DEFAULT;
    /// Not set: f64 from products of int8 where the device has no f64.
    std::optional<VkgemmAccuracy> of_f64{};
    auto operator<=>(const Accuracies&) const = default;
};

}  // namespace vkgemm::blas

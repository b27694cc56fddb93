// SPDX-License-Identifier: MIT
// Handles of the C API that are destroyed at the end of a scope.
#pragma once
#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

template <class Handle, auto destroy>
struct Owned {
    Handle handle = nullptr;
    Owned() = default;
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { destroy(handle); }
};
using OwnedContext = Owned<VkgemmContext, vkgemmDestroyContext>;
using OwnedPlan = Owned<VkgemmPlan, vkgemmDestroyPlan>;
using OwnedExplanation = Owned<VkgemmExplanation, vkgemmDestroyExplanation>;
using OwnedRows = Owned<VkgemmRows, vkgemmDestroyRows>;

}  // namespace vkgemm::test

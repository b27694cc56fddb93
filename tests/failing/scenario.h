// SPDX-License-Identifier: MIT
// A use of vkgemm in which each call of Vulkan and each allocation fails once in turn.
#pragma once
#include <functional>

#include "support/device.h"
#include "vkgemm/host.hpp"

namespace vkgemm::test::failing {

/// How a scenario ended; without memory of its own, because allocations fail.
struct Got {
    VkgemmResult code = VKGEMM_SUCCESS;
    VkgemmError error{};

    explicit operator bool() const { return code >= 0; }
};

/// Calls a function of the C API with a VkgemmError.
template <class Call>
Got got(const Call& call) {
    Got out;
    out.code = call(&out.error);
    return out;
}
Got got(const Status& status);

struct Scenario {
    const char* name;
    /// What is to fail.
    std::function<Got()> run;
    /// Before each run and after it, without failures: puts away what a run left. May be empty.
    std::function<void()> prepare{};
    bool calls_vulkan = true;
    /// It may succeed where something failed, as long as it says so in its log.
    bool may_succeed = false;
    /// It is of C++, and may throw std::bad_alloc.
    bool throws = false;
};

/// Runs the scenario as often as it has calls and allocations, or with a sample of these without --all. Each failure
/// must be reported; afterwards there are as many objects of Vulkan as before, and a product is right. The numbers are
/// added to the line that print_counts() prints.
void each_fails(const Scenario& scenario);
void print_counts();

/// A small product on device() by its context, with a plan of its own. Whether D is right.
bool product_is_right();

}  // namespace vkgemm::test::failing

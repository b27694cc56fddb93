// SPDX-License-Identifier: MIT
// The device with smaller limits than it has, to reach the choices that are made on weaker devices only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vkgemm/vkgemm.h"

namespace vkgemm::test {

/// A context of device() for which the device is a discrete GPU with at most `invocations` in a work group and a
/// storage buffer alignment of 256 bytes; 0: the device as it is. A dispatch reaches `reach` elements of an operand (0:
/// as many as 32-bit indices do), on a GPU four bytes for each through a descriptor. The context lives until the device
/// is closed. Any thread.
VkgemmContext limited_context(uint32_t invocations, uint32_t reach = 0);

/// What the contexts that are made from now on have in place of the device's own. Each may be null.
struct Mock {
    PFN_vkVoidFunction (*function)(const char* name, PFN_vkVoidFunction real);  // what a device's function becomes
    void (*change)(VkgemmContext_T&);                                           // a context, once it is made
};
void mock_contexts(const Mock&);

/// Destroys the pipelines of these contexts and of device() that no plan uses. Any thread.
void trim_contexts();

/// The problem of the last product that this thread recorded with one of these contexts, as VkgemmContextInfo::recorded
/// received it.
std::string& last_recorded();

/// Whether any of these contexts has made a pipeline of this kernel; nullopt if the driver takes no object names.
std::optional<bool> limited_plan_made(std::string_view kernel);

}  // namespace vkgemm::test

// SPDX-License-Identifier: MIT
//
// The adapters of a process, one for each VkDevice, as GGML_VKGEMM in the environment has them. C++17.
//
//     GGML_VKGEMM=0      none: everything is ggml's
//     GGML_VKGEMM=log    prints which products went where, and why, and the times, when the process ends
//     GGML_VKGEMM=force  takes every product that vkgemm can multiply; nothing is timed
//     GGML_VKGEMM=exact  rounds f32 activations neither to 16 bits before a product nor to 8 bits in it
//     GGML_VKGEMM=round  rounds them to 16 bits on every device, not only where native kernels then multiply
//
// Several words are separated by commas. `exact` wins over `round`.
//
//     GGML_VKGEMM_TIMES=FILE  times that are found once are kept there, for the processes that follow
#ifndef VKGEMM_GGML_REGISTRY_H
#define VKGEMM_GGML_REGISTRY_H

#include <vector>

#include "vkgemm_ggml/adapter.h"

namespace vkgemm::ggml {

/// The settings in GGML_VKGEMM.
struct Wish {
    bool is_off = false, log = false, force = false, exact = false, round = false;
    std::string unknown{};  ///< the first word that is none of these
};
Wish parse_wish(const char* text);

/// Appends what native kernels need (docs/native.md) if the device and its driver are among those on which they were
/// verified. For before vkCreateDevice.
void add_extensions(VkInstance instance, VkPhysicalDevice physicalDevice, PFN_vkGetInstanceProcAddr get,
                    std::vector<const char*>& extensions);

struct Handles {
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    PFN_vkGetInstanceProcAddr get;
};
/// Makes the adapter of a device that was just created with `features` and `extensions`. A refusal is printed, and the
/// device then has none. `queueFlags` are those of the family that products are submitted to.
void add_adapter(const Handles& handles, const VkPhysicalDeviceFeatures2& features,
                 const std::vector<const char*>& extensions, VkQueueFlags queueFlags);
/// Who multiplies, for timing both in one process: the faster one, as usual, or one alone, as with GGML_VKGEMM=0 and
/// with GGML_VKGEMM=force.
enum class Sides : uint32_t { FASTER, GGML, VKGEMM };
void set_sides(Sides sides);
/// With GGML_VKGEMM=log: whether products are noted from now on, which takes time for each node.
void keep_notes(bool keeps_notes);
/// Null if the device has none, and while ggml multiplies alone.
Adapter* adapter_of(VkDevice device);
/// Before vkDestroyDevice. Prints the report with GGML_VKGEMM=log.
void remove_adapter(VkDevice device);

}  // namespace vkgemm::ggml
#endif

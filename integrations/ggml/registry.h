// SPDX-License-Identifier: MIT
//
// The adapters of a process, one for each VkDevice, as GGML_VKGEMM in the environment wants them. C++17.
//
//     GGML_VKGEMM=0      none: everything is ggml's
//     GGML_VKGEMM=log    prints which products went where, and why, when the process ends
//     GGML_VKGEMM=force  takes every product that vkgemm can multiply, not only those that it should
//
// Several words are separated by commas.
#ifndef VKGEMM_GGML_REGISTRY_H
#define VKGEMM_GGML_REGISTRY_H

#include "vkgemm_ggml/adapter.h"

namespace vkgemm::ggml {

/// What GGML_VKGEMM asks for.
struct Wish {
    bool isOff = false, log = false, force = false;
    std::string unknown{};  ///< the first word that is none of these
};
Wish parseWish(const char* text);

/// Makes the adapter of a device that was just created. A refusal is printed, and the device then has none.
void addAdapter(const VkgemmContextInfo& info);
/// Null if the device has none.
Adapter* adapterOf(VkDevice device);
/// Before vkDestroyDevice. Prints the report if GGML_VKGEMM asks for it.
void removeAdapter(VkDevice device);

}  // namespace vkgemm::ggml
#endif

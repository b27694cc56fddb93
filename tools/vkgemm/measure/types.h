// SPDX-License-Identifier: MIT
// The library's description of element types, looked up once.
#pragma once
#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

/// Of every type but DEFAULT.
inline const VkgemmTypeInfo& type_info(Type type) {
    static const auto table = [] {
        std::vector<VkgemmTypeInfo> all;
        for (int t = VKGEMM_TYPE_DEFAULT; t <= VKGEMM_TYPE_U8; ++t) all.push_back(typeInfo(static_cast<Type>(t)));
        return all;
    }();
    return table[static_cast<size_t>(type)];
}

}  // namespace vkgemm::tool

// SPDX-License-Identifier: MIT
// The library's description of element types, looked up once.
#pragma once
#include "vkgemm/vkgemm.hpp"

namespace vkgemm::tool {

/// Of every type but DEFAULT.
inline const VkgemmTypeInfo& type_info(Type type) {
    static const auto table = [] {
        std::vector<VkgemmTypeInfo> all;
        all.emplace_back();  // of DEFAULT
        for (VkgemmTypeInfo info; (info = typeInfo(static_cast<Type>(all.size()))).name;) all.push_back(info);
        return all;
    }();
    return table[static_cast<size_t>(type)];
}

}  // namespace vkgemm::tool

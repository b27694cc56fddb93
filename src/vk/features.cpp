// SPDX-License-Identifier: MIT
#include "vk/features.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "plan/base/concat.h"
#include "vkgemm/rounding.hpp"
#include "vkgemm/vkgemm.h"

namespace vkgemm::vk {
namespace {

using plan::FeatureSet;

// A VkBool32 inside a feature struct. size == 0: there is none.
struct Place {
    VkStructureType type;
    size_t offset, size;
};

struct Row {
    const char* member;
    Place own, core;        // the struct of its own, and the VkPhysicalDeviceVulkan1xFeatures that holds it too
    const char* extension;  // "": none
    uint32_t core_minor;    // 0: never in core
};

#define CORE_0(member) \
    {}
#define CORE_N(n, member)                                                                                        \
    {                                                                                                            \
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_##n##_FEATURES,                                               \
            offsetof(VkPhysicalDeviceVulkan1##n##Features, member), sizeof(VkPhysicalDeviceVulkan1##n##Features) \
    }
#define CORE_11(member) CORE_N(1, member)
#define CORE_12(member) CORE_N(2, member)
#define CORE_13(member) CORE_N(3, member)
#define CORE_14(member) CORE_N(4, member)

constexpr Row feature_rows[] = {
#define FEATURE(id, member, Struct, STYPE, extension, core, CoreStruct)     \
    {#member,                                                               \
     {VK_STRUCTURE_TYPE_##STYPE, offsetof(Struct, member), sizeof(Struct)}, \
     CORE_##CoreStruct(member),                                             \
     extension,                                                             \
     core},
#define FEATURE_EXTENSION(id, member, extension, core, CoreStruct) \
    {#member, {}, CORE_##CoreStruct(member), extension, core},
#include "plan/device/features.def"
#undef FEATURE
#undef FEATURE_EXTENSION
};
static_assert(std::size(feature_rows) == static_cast<size_t>(plan::Feature::count));
static_assert(std::size(feature_rows) <= VKGEMM_MAX_NEEDED_EXTENSIONS, "a list of extensions could be cut");

bool has_bit(FeatureSet set, size_t i) { return set >> i & 1; }

// Vulkan chains are lists of structs that begin alike.
template <class Base>
Base* find_struct(Base* chain, VkStructureType type) {
    while (chain && chain->sType != type) chain = chain->pNext;
    return chain;
}
const VkBaseOutStructure* base(const VkPhysicalDeviceFeatures2* chain) {
    return reinterpret_cast<const VkBaseOutStructure*>(chain);
}
VkBaseOutStructure* base(VkPhysicalDeviceFeatures2* chain) { return reinterpret_cast<VkBaseOutStructure*>(chain); }

bool is_set(const VkBaseOutStructure* chain, const Place& place) {
    const VkBaseOutStructure* s = place.size ? find_struct(chain, place.type) : nullptr;
    if (!s) return false;
    VkBool32 value = VK_FALSE;
    std::memcpy(&value, reinterpret_cast<const char*>(s) + place.offset, sizeof value);
    return value == VK_TRUE;
}

bool is_member_set(const VkBaseOutStructure* chain, const Row& r) {
    return is_set(chain, r.own) || is_set(chain, r.core);
}

bool is_named(const char* name, std::span<const char* const> extensions) {
    return std::ranges::any_of(extensions, [&](const char* e) { return e && std::strcmp(e, name) == 0; });
}

void set(VkBaseOutStructure* s, const Place& place) {
    const VkBool32 value = VK_TRUE;
    std::memcpy(reinterpret_cast<char*>(s) + place.offset, &value, sizeof value);
}

bool in_core(const Row& r, uint32_t api_version) {
    return *r.extension == 0 || (r.core_minor && VK_API_VERSION_MINOR(api_version) >= r.core_minor);
}

size_t padded(size_t bytes) { return roundUp(bytes, alignof(std::max_align_t)); }

// The structs of their own that `features` need and `chain` has no place for.
std::vector<Place> missing_structs(FeatureSet features, const VkBaseOutStructure* chain) {
    std::vector<Place> out;
    for (size_t i = 0; i < std::size(feature_rows); ++i) {
        const Row& r = feature_rows[i];
        if (!has_bit(features, i) || r.own.size == 0) continue;
        if (find_struct(chain, r.own.type) || (r.core.size && find_struct(chain, r.core.type))) continue;
        if (std::none_of(out.begin(), out.end(), [&](const Place& p) { return p.type == r.own.type; }))
            out.push_back(r.own);
    }
    return out;
}

// Appends them, zeroed, from `memory`.
void append_structs(FeatureSet features, VkBaseOutStructure* chain, void* memory) {
    VkBaseOutStructure* last = chain;
    while (last->pNext) last = last->pNext;
    char* at = static_cast<char*>(memory);
    for (const Place& p : missing_structs(features, chain)) {
        std::memset(at, 0, p.size);
        last->pNext = reinterpret_cast<VkBaseOutStructure*>(at);
        last = last->pNext;
        last->sType = p.type;
        at += padded(p.size);
    }
}

}  // namespace

FeatureSet enabled_features(const VkPhysicalDeviceFeatures2* chain, std::span<const char* const> extensions,
                            uint32_t api_version) {
    FeatureSet out = 0;
    for (size_t i = 0; i < std::size(feature_rows); ++i) {
        const Row& r = feature_rows[i];
        const bool named = is_named(r.extension, extensions), extension_alone = r.own.size == 0 && named;
        if (extension_alone || (is_member_set(base(chain), r) && (in_core(r, api_version) || named)))
            out |= FeatureSet{1} << i;
    }
    return out;
}

FeatureSet uncounted_features(const VkPhysicalDeviceFeatures2* chain, std::span<const char* const> extensions,
                              uint32_t api_version) {
    FeatureSet set = 0;
    for (size_t i = 0; i < std::size(feature_rows); ++i)
        if (is_member_set(base(chain), feature_rows[i])) set |= FeatureSet{1} << i;
    return set & ~enabled_features(chain, extensions, api_version);
}

std::string needs_text(FeatureSet features) {
    std::string out;
    for (size_t i = 0; i < std::size(feature_rows); ++i) {
        const Row& r = feature_rows[i];
        if (!has_bit(features, i)) continue;
        const std::string version = r.core_minor ? plan::concat({"Vulkan 1.", r.core_minor, " or "}) : "";
        out += plan::concat({(out.empty() ? "" : ", "), vulkan_feature_name(static_cast<uint32_t>(i)), " (", version,
                             r.extension, ")"});
    }
    return out;
}

plan::Result<FeatureSet> offered_features(const InstanceFunctions& f, VkPhysicalDevice device, uint32_t api_version) {
    const auto names = device_extensions(f, device);
    if (!names) return names.status();
    std::vector<const char*> extensions;
    for (const std::string& n : *names) extensions.push_back(n.c_str());
    const auto has_extension = [&](const char* name) {
        return std::find(names->begin(), names->end(), name) != names->end();
    };

    FeatureSet askable = 0;  // structs that this device understands
    for (size_t i = 0; i < std::size(feature_rows); ++i)
        if (in_core(feature_rows[i], api_version) || has_extension(feature_rows[i].extension))
            askable |= FeatureSet{1} << i;

    VkPhysicalDeviceFeatures2 chain = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, nullptr, {}};
    VkPhysicalDeviceVulkan14Features core14 = {};
    core14.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_FEATURES;
    std::vector<std::max_align_t> memory(missing_struct_bytes(askable, &chain) / sizeof(std::max_align_t) + 1);
    append_structs(askable, base(&chain), memory.data());
    // A struct of its own may not stand beside the core struct that holds it, so 1.4's is asked alone, in a second
    // call.
    f.GetPhysicalDeviceFeatures2(device, &chain);
    FeatureSet out = enabled_features(&chain, extensions, api_version);
    if (VK_API_VERSION_MINOR(api_version) >= 4) {
        VkPhysicalDeviceFeatures2 only14 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &core14, {}};
        f.GetPhysicalDeviceFeatures2(device, &only14);
        out |= enabled_features(&only14, extensions, api_version) &
               (plan::need::push_descriptor | plan::need::pipeline_robustness);
    }
    return out;
}

std::vector<const char*> extensions_for(FeatureSet features, uint32_t api_version) {
    std::vector<const char*> out;
    for (size_t i = 0; i < std::size(feature_rows); ++i) {
        const Row& r = feature_rows[i];
        const bool push =
            r.own.size == 0;  // no struct to merge: the extension is the way to enable it, also where it is core
        if (!has_bit(features, i) || (in_core(r, api_version) && !push)) continue;
        if (std::none_of(out.begin(), out.end(), [&](const char* e) { return std::strcmp(e, r.extension) == 0; }))
            out.push_back(r.extension);
    }
    return out;
}

size_t missing_struct_bytes(FeatureSet features, const VkPhysicalDeviceFeatures2* chain) {
    size_t bytes = 0;
    for (const Place& p : missing_structs(features, base(chain))) bytes += padded(p.size);
    return bytes;
}

void merge_features(FeatureSet features, VkPhysicalDeviceFeatures2* chain, void* memory) {
    append_structs(features, base(chain), memory);
    for (size_t i = 0; i < std::size(feature_rows); ++i) {
        if (!has_bit(features, i)) continue;
        for (const Place& place : {feature_rows[i].core, feature_rows[i].own})
            if (VkBaseOutStructure* s = place.size ? find_struct(base(chain), place.type) : nullptr) {
                set(s, place);
                break;
            }
    }
}

plan::Result<std::vector<std::string>> device_extensions(const InstanceFunctions& f, VkPhysicalDevice device) {
    constexpr const char* call = "vkEnumerateDeviceExtensionProperties";
    uint32_t count = 0;
    std::vector<VkExtensionProperties> properties;
    if (const VkResult r = f.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr); r < VK_SUCCESS)
        return vulkan_refusal(r, call);
    properties.resize(count);
    const VkResult r = f.EnumerateDeviceExtensionProperties(device, nullptr, &count, properties.data());
    if (r < VK_SUCCESS) return vulkan_refusal(r, call);
    std::vector<std::string> out;
    for (uint32_t i = 0; i < count; ++i) out.emplace_back(properties[i].extensionName);
    return out;
}

const char* vulkan_feature_name(uint32_t bit) {
    if (bit >= std::size(feature_rows)) return nullptr;
    const char* dot = std::strrchr(feature_rows[bit].member, '.');
    return dot ? dot + 1 : feature_rows[bit].member;
}

}  // namespace vkgemm::vk

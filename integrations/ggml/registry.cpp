// SPDX-License-Identifier: MIT
#include "vkgemm_ggml/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

namespace vkgemm::ggml {
namespace {

struct Registry {
    std::mutex mutex;
    std::map<VkDevice, std::unique_ptr<Adapter>> adapters;
    bool prints = false;  // when the process ends
    Sides sides = Sides::FASTER;
};
// Never destroyed, because ggml destroys its devices when the process ends, in an order that is not ours.
Registry& registry() {
    static Registry& all = *new Registry;
    return all;
}

void print(const Adapter& adapter) { std::fprintf(stderr, "vkgemm: %s", adapter.report().c_str()); }

// ggml keeps its devices until the process ends.
void print_all() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (const auto& [device, adapter] : all.adapters) print(*adapter);
}

const Wish& wish() {
    static const Wish parsed = parse_wish(std::getenv("GGML_VKGEMM"));
    return parsed;
}

// The older of the loader's version, which ggml has in its VkApplicationInfo, and the device's.
uint32_t version_of(VkInstance instance, VkPhysicalDevice physicalDevice, PFN_vkGetInstanceProcAddr get) {
    const auto loader_version =
        reinterpret_cast<PFN_vkEnumerateInstanceVersion>(get(nullptr, "vkEnumerateInstanceVersion"));
    const auto properties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(get(instance, "vkGetPhysicalDeviceProperties"));
    uint32_t version = VK_API_VERSION_1_1;
    if (loader_version) loader_version(&version);
    VkPhysicalDeviceProperties device{};
    properties(physicalDevice, &device);
    return std::min(version, device.apiVersion);
}

}  // namespace

Wish parse_wish(const char* text) {
    Wish out;
    std::string_view rest = text ? text : "";
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        if (word == "0")
            out.is_off = true;
        else if (word == "log")
            out.log = true;
        else if (word == "force")
            out.force = true;
        else if (word == "exact")
            out.exact = true;
        else if (word == "round")
            out.round = true;
        else if (!word.empty() && word != "1" && out.unknown.empty())
            out.unknown = word;
    }
    return out;
}

void add_extensions(VkInstance instance, VkPhysicalDevice physicalDevice, PFN_vkGetInstanceProcAddr get,
                    std::vector<const char*>& extensions) {
    if (wish().is_off) return;
    VkgemmNeedsInfo info{};
    info.structSize = sizeof info;
    info.instance = instance;
    info.physicalDevice = physicalDevice;
    info.getInstanceProcAddr = get;
    info.apiVersion = version_of(instance, physicalDevice, get);
    VkgemmNeeds needs{};
    needs.structSize = sizeof needs;
    if (vkgemmQueryNeeds(&info, &needs, nullptr) < 0) return;
    for (uint32_t i = 0; i < needs.optionalExtensionCount; ++i)
        if (std::string_view(needs.optionalExtensions[i]) == "VK_NVX_binary_import")
            extensions.push_back(needs.optionalExtensions[i]);
}

void add_adapter(const Handles& handles, const VkPhysicalDeviceFeatures2& features,
                 const std::vector<const char*>& extensions, VkQueueFlags queueFlags) {
    if (!wish().unknown.empty())
        std::fprintf(stderr, "vkgemm: GGML_VKGEMM: '%s' is ignored; it takes: 0, 1, log, force, exact, round\n",
                     wish().unknown.c_str());
    if (wish().is_off) return;
    VkgemmContextInfo info{};
    info.structSize = sizeof info;
    info.instance = handles.instance;
    info.physicalDevice = handles.physicalDevice;
    info.device = handles.device;
    info.apiVersion = version_of(handles.instance, handles.physicalDevice, handles.get);
    info.getInstanceProcAddr = handles.get;
    info.enabledFeatures = &features;
    info.enabledExtensions = extensions.data();
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.queueFlags = queueFlags;
    Options options;
    options.keeps_notes = wish().log;
    options.takes_all = wish().force;
    if (wish().round) options.rounds = Rounds::ALWAYS;
    if (wish().exact) options.rounds = Rounds::NEVER;
    if (const char* const times = std::getenv("GGML_VKGEMM_TIMES")) options.times = times;
    VkgemmError error{};
    auto adapter = Adapter::create(info, options, &error);
    if (!adapter) {
        std::fprintf(stderr, "vkgemm: ggml multiplies everything itself: %s\n", error.text);
        return;
    }
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (wish().log && !all.prints) all.prints = std::atexit(print_all) == 0;
    all.adapters[info.device] = std::move(adapter);
}

void set_sides(Sides sides) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.sides = sides;
    for (auto& [device, adapter] : all.adapters) adapter->take_all(sides == Sides::VKGEMM || wish().force);
}

void keep_notes(bool keeps_notes) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (auto& [device, adapter] : all.adapters) adapter->keep_notes(keeps_notes && wish().log);
}

Adapter* adapter_of(VkDevice device) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto at = all.adapters.find(device);
    return all.sides == Sides::GGML || at == all.adapters.end() ? nullptr : at->second.get();
}

void remove_adapter(VkDevice device) {
    Registry& all = registry();
    std::unique_ptr<Adapter> last;
    {
        const std::lock_guard lock(all.mutex);
        const auto at = all.adapters.find(device);
        if (at == all.adapters.end()) return;
        last = std::move(at->second);
        all.adapters.erase(at);
    }
    if (wish().log) print(*last);
}

}  // namespace vkgemm::ggml

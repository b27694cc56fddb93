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
void printAll() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (const auto& [device, adapter] : all.adapters) print(*adapter);
}

const Wish& wish() {
    static const Wish parsed = parseWish(std::getenv("GGML_VKGEMM"));
    return parsed;
}

// The older of the loader's version, which ggml has in its VkApplicationInfo, and the device's.
uint32_t versionOf(VkInstance instance, VkPhysicalDevice physicalDevice, PFN_vkGetInstanceProcAddr get) {
    const auto loaderVersion =
        reinterpret_cast<PFN_vkEnumerateInstanceVersion>(get(nullptr, "vkEnumerateInstanceVersion"));
    const auto properties =
        reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(get(instance, "vkGetPhysicalDeviceProperties"));
    uint32_t version = VK_API_VERSION_1_1;
    if (loaderVersion) loaderVersion(&version);
    VkPhysicalDeviceProperties device{};
    properties(physicalDevice, &device);
    return std::min(version, device.apiVersion);
}

}  // namespace

Wish parseWish(const char* text) {
    Wish out;
    std::string_view rest = text ? text : "";
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        if (word == "0")
            out.isOff = true;
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

void addExtensions(VkInstance instance, VkPhysicalDevice physicalDevice, PFN_vkGetInstanceProcAddr get,
                   std::vector<const char*>& extensions) {
    if (wish().isOff) return;
    VkgemmNeedsInfo info{};
    info.structSize = sizeof info;
    info.instance = instance;
    info.physicalDevice = physicalDevice;
    info.getInstanceProcAddr = get;
    info.apiVersion = versionOf(instance, physicalDevice, get);
    VkgemmNeeds needs{};
    needs.structSize = sizeof needs;
    if (vkgemmQueryNeeds(&info, &needs, nullptr) < 0) return;
    for (uint32_t i = 0; i < needs.optionalExtensionCount; ++i)
        if (std::string_view(needs.optionalExtensions[i]) == "VK_NVX_binary_import")
            extensions.push_back(needs.optionalExtensions[i]);
}

void addAdapter(const Handles& handles, const VkPhysicalDeviceFeatures2& features,
                const std::vector<const char*>& extensions, VkQueueFlags queueFlags) {
    if (!wish().unknown.empty())
        std::fprintf(stderr, "vkgemm: GGML_VKGEMM: '%s' is ignored; it takes: 0, 1, log, force, exact, round\n",
                     wish().unknown.c_str());
    if (wish().isOff) return;
    VkgemmContextInfo info{};
    info.structSize = sizeof info;
    info.instance = handles.instance;
    info.physicalDevice = handles.physicalDevice;
    info.device = handles.device;
    info.apiVersion = versionOf(handles.instance, handles.physicalDevice, handles.get);
    info.getInstanceProcAddr = handles.get;
    info.enabledFeatures = &features;
    info.enabledExtensions = extensions.data();
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.queueFlags = queueFlags;
    Options options;
    options.keepsNotes = wish().log;
    options.takesAll = wish().force;
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
    if (wish().log && !all.prints) all.prints = std::atexit(printAll) == 0;
    all.adapters[info.device] = std::move(adapter);
}

void setSides(Sides sides) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.sides = sides;
    for (auto& [device, adapter] : all.adapters) adapter->takeAll(sides == Sides::VKGEMM || wish().force);
}

void keepNotes(bool keepsNotes) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (auto& [device, adapter] : all.adapters) adapter->keepNotes(keepsNotes && wish().log);
}

Adapter* adapterOf(VkDevice device) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto at = all.adapters.find(device);
    return all.sides == Sides::GGML || at == all.adapters.end() ? nullptr : at->second.get();
}

void removeAdapter(VkDevice device) {
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

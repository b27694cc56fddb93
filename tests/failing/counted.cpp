// SPDX-License-Identifier: MIT
#define VK_NO_PROTOTYPES  // as volk wants it
#include "failing/counted.h"

#include <volk.h>

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>
#include <type_traits>

#include "vkgemm/host.hpp"

namespace vkgemm::test::failing {
namespace {

std::atomic<bool> counts_calls = false;
std::atomic<uint64_t> calls = 0;
uint64_t failing_call = 0;
VkResult failure = VK_SUCCESS;
thread_local bool counts_allocations = false;
thread_local uint64_t allocations = 0, failing_allocation = 0;
thread_local int inside = 0;  // calls of Vulkan on this thread, and what counts them
std::string_view failed;

struct Inside {
    Inside() { ++inside; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { --inside; }
};

// Names are for debuggers alone, and whoever destroys a device has nobody to tell.
constexpr bool matters(std::string_view name) {
    return name != "vkSetDebugUtilsObjectNameEXT" && name != "vkDeviceWaitIdle";
}

bool its_turn(std::string_view name) {
    if (!counts_calls || calls++ != failing_call) return false;
    failed = name;
    return true;
}

std::mutex objects_mutex;
std::map<std::string_view, int> objects;  // by what follows vkCreate, vkAllocate, vkDestroy or vkFree

void count_object(std::string_view name, int change) {
    const std::lock_guard lock(objects_mutex);
    objects[name] += change;
}

// A function of Vulkan with a name. `Index` makes each a type of its own.
template <int Index, class Function>
struct Counted;
template <int Index, class R, class... A>
struct Counted<Index, R(VKAPI_PTR*)(A...)> {
    static inline R(VKAPI_PTR* real)(A...) = nullptr;
    static inline std::string_view name;

    static VKAPI_ATTR R VKAPI_CALL call(A... a) {
        const Inside driver;
        if constexpr (std::is_same_v<R, VkResult>) {
            const bool fails = its_turn(name);
            // The device works on what was submitted until it is lost, and nobody waits for it again.
            const bool waits =
                name == "vkDeviceWaitIdle" || (name == "vkWaitForFences" && failure == VK_ERROR_DEVICE_LOST);
            if (fails && waits) real(a...);
            if (fails) return failure;
            const VkResult result = real(a...);
            if (result == VK_SUCCESS && name.starts_with("vkCreate")) count_object(name.substr(8), 1);
            if (result == VK_SUCCESS && name == "vkAllocateMemory") count_object("Memory", 1);
            return result;
        } else {
            if (name.starts_with("vkDestroy") || name == "vkFreeMemory") gone(a...);
            return real(a...);
        }
    }

    static void gone(A... a) {
        const auto all = std::tuple(a...);
        if constexpr (sizeof...(A) >= 2) {  // the handle, then the allocator
            const auto handle = std::get<sizeof...(A) - 2>(all);
            if constexpr (std::is_pointer_v<decltype(handle)>)
                if (handle)
                    count_object(name == "vkDestroyPipeline" ? "ComputePipelines"
                                 : name == "vkFreeMemory"    ? "Memory"
                                                             : name.substr(9),
                                 -1);
        }
    }
};

PFN_vkGetInstanceProcAddr loader = nullptr;
PFN_vkGetDeviceProcAddr device_loader = nullptr;

enum Names : int {
#define X(name) index_of_##name,
#include "failing/functions.def"
#undef X
    name_count
};

constexpr std::string_view all_names[] = {
#define X(name) #name,
#include "failing/functions.def"
#undef X
};

template <int Index, class Function>
PFN_vkVoidFunction counted(std::string_view name, PFN_vkVoidFunction found) {
    using Stand = Counted<Index, Function>;
    Stand::name = name;
    Stand::real = reinterpret_cast<Function>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(&Stand::call);
}

PFN_vkVoidFunction stand_in(std::string_view asked, PFN_vkVoidFunction found) {
    if (!found) return nullptr;
#define X(function) \
    if (asked == #function) return counted<index_of_##function, PFN_##function>(all_names[index_of_##function], found);
#include "failing/functions.def"
#undef X
    return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char* name) {
    const Inside driver;
    return stand_in(name, device_loader(device, name));
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance, const char* name) {
    const Inside driver;
    const PFN_vkVoidFunction found = loader(instance, name);
    if (std::string_view(name) == "vkGetDeviceProcAddr" && found) {
        device_loader = reinterpret_cast<PFN_vkGetDeviceProcAddr>(found);
        return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    }
    return stand_in(name, found);
}

}  // namespace

bool stand_before_loader() {
    loader = host::loader();
    if (loader) volkInitializeCustom(instance_function);
    return loader != nullptr;
}

std::span<const std::string_view> functions() { return all_names; }

void arm(Kind kind, uint64_t works, VkResult result) {
    failed = "";
    failure = result;
    calls = allocations = 0;
    (kind == Kind::call ? failing_call : failing_allocation) = works;
    if (kind == Kind::call)
        counts_calls = true;
    else
        counts_allocations = true;
}

Count disarm() {
    const Count out{.all = counts_calls ? calls.load() : allocations, .failed = failed, .matters = matters(failed)};
    counts_calls = counts_allocations = false;
    return out;
}

std::string alive() {
    const std::lock_guard lock(objects_mutex);
    std::string out;
    for (const auto& [name, count] : objects)
        if (count != 0) out += (out.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(name);
    return out;
}

bool allocation_fails() {
    if (!counts_allocations || inside || allocations++ != failing_allocation) return false;
    failed = "operator new";
    return true;
}

}  // namespace vkgemm::test::failing

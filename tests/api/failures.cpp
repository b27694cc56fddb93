// SPDX-License-Identifier: MIT
// Vulkan calls that fail: each in turn, with each kind of failure. The code says which, and what was made before is
// destroyed.
#include <cstring>
#include <utility>

#include "api/api.h"

using namespace vkgemm::test;

namespace {

// Between vkgemm and the device stand functions that count what is made and destroyed, and fail when it is their turn.
int calls_left = -1;  // creating calls until one fails; below 0: none does
VkResult failure = VK_SUCCESS;
int alive = 0;
const char* failed_call = "";

template <auto Tag>
PFN_vkVoidFunction real = nullptr;

bool fails(const char* name) {
    if (calls_left != 0) {
        calls_left -= calls_left > 0;
        return false;
    }
    calls_left = -1;
    failed_call = name;
    return true;
}

enum class Call { module, set_layout, layout, pipelines };

template <Call C, class Info, class Handle>
VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, const Info* info, const VkAllocationCallbacks* a, Handle* out) {
    constexpr const char* names[] = {"vkCreateShaderModule", "vkCreateDescriptorSetLayout", "vkCreatePipelineLayout"};
    if (fails(names[static_cast<int>(C)])) return failure;
    using Function = VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*);
    const VkResult result = reinterpret_cast<Function>(real<C>)(device, info, a, out);
    alive += result == VK_SUCCESS;
    return result;
}
VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* a, VkPipeline* out) {
    if (fails("vkCreateComputePipelines")) {
        *out = VK_NULL_HANDLE;
        return failure;
    }
    const auto call = reinterpret_cast<PFN_vkCreateComputePipelines>(real<Call::pipelines>);
    const VkResult result = call(device, cache, count, infos, a, out);
    alive += result == VK_SUCCESS;
    return result;
}

enum class End { module, set_layout, layout, pipeline };

template <End E, class Handle>
VKAPI_ATTR void VKAPI_CALL destroy(VkDevice device, Handle handle, const VkAllocationCallbacks* a) {
    alive -= handle != VK_NULL_HANDLE;
    using Function = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);
    reinterpret_cast<Function>(real<E>)(device, handle, a);
}

template <auto Tag, class Function>
PFN_vkVoidFunction stand_in(PFN_vkVoidFunction found, Function* function) {
    real<Tag> = found;
    return reinterpret_cast<PFN_vkVoidFunction>(function);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice, const char* name) {
    const auto found = device_command<PFN_vkVoidFunction>(name);
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkCreateShaderModule"))
        return stand_in<Call::module>(found, create<Call::module, VkShaderModuleCreateInfo, VkShaderModule>);
    if (is("vkCreateDescriptorSetLayout"))
        return stand_in<Call::set_layout>(
            found, create<Call::set_layout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout>);
    if (is("vkCreatePipelineLayout"))
        return stand_in<Call::layout>(found, create<Call::layout, VkPipelineLayoutCreateInfo, VkPipelineLayout>);
    if (is("vkCreateComputePipelines")) return stand_in<Call::pipelines>(found, create_pipelines);
    if (is("vkDestroyShaderModule")) return stand_in<End::module>(found, destroy<End::module, VkShaderModule>);
    if (is("vkDestroyDescriptorSetLayout"))
        return stand_in<End::set_layout>(found, destroy<End::set_layout, VkDescriptorSetLayout>);
    if (is("vkDestroyPipelineLayout")) return stand_in<End::layout>(found, destroy<End::layout, VkPipelineLayout>);
    if (is("vkDestroyPipeline")) return stand_in<End::pipeline>(found, destroy<End::pipeline, VkPipeline>);
    return found;
}

enum class Query { extensions, matrix_shapes };

VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                               VkExtensionProperties* out) {
    if (fails("vkEnumerateDeviceExtensionProperties")) return failure;
    return reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(real<Query::extensions>)(device, layer, count,
                                                                                               out);
}
VKAPI_ATTR VkResult VKAPI_CALL list_matrix_shapes(VkPhysicalDevice device, uint32_t* count,
                                                  VkCooperativeMatrixPropertiesKHR* out) {
    if (fails("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR")) return failure;
    const auto call =
        reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(real<Query::matrix_shapes>);
    return call(device, count, out);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL any_function(VkInstance instance, const char* name) {
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    const PFN_vkVoidFunction found = device().getInstanceProcAddr()(instance, name);
    if (is("vkEnumerateDeviceExtensionProperties")) return stand_in<Query::extensions>(found, list_extensions);
    if (found && is("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"))
        return stand_in<Query::matrix_shapes>(found, list_matrix_shapes);
    return found;
}

/// A context whose only pipeline could not be compiled is as good as before.
void check_context(VkgemmContext c, const VkgemmProblem& p) {
    char keys[8] = "";
    size_t size = sizeof keys;
    CHECK((vkgemmGetPipelineKeys(c, keys, &size) == VKGEMM_SUCCESS && *keys == '\0'));
    OwnedPlan plan;
    CHECK(vkgemmCreatePlan(c, &p, nullptr, &plan.handle, nullptr) == VKGEMM_SUCCESS);
    vkgemmDestroyPlan(std::exchange(plan.handle, nullptr));
    uint32_t trimmed = 0;  // no plan uses it, and the one that was not made does not count
    CHECK((vkgemmTrimPipelines(c, &trimmed) == VKGEMM_SUCCESS && trimmed > 0));
}

/// Makes a context and a plan with the n-th creating call failing. True when none was left to fail.
bool try_all(int n, VkgemmResult code) {
    calls_left = n;
    alive = 0;
    failed_call = "";
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    const VkgemmProblem p = problem("20x30x40");
    bool whole = false;
    {
        OwnedContext c;
        VkgemmError error{};
        VkgemmResult got = vkgemmCreateContext(&info, &c.handle, &error);
        OwnedPlan plan;
        if (got == VKGEMM_SUCCESS) got = vkgemmCreatePlan(c.handle, &p, nullptr, &plan.handle, &error);
        whole = got == VKGEMM_SUCCESS;
        INFO("call ", n, ", ", std::string(failed_call), ": ", std::string(error.text));
        CHECK(whole == (*failed_call == '\0'));
        if (!whole) {
            CHECK(got == code);
            CHECK(error.vkResult == failure);
            CHECK(has_words(error.text, failed_call));
            CHECK(plan.handle == nullptr);
            if (c.handle) check_context(c.handle, p);
        } else {
            CHECK(alive >= 2);  // a layout and a pipeline at the least
        }
        vkgemmDestroyPlan(std::exchange(plan.handle, nullptr));
    }
    CHECK_MESSAGE(alive == 0, "call ", n, ", ", std::string(failed_call), ": ", alive, " objects were not destroyed");
    calls_left = -1;
    return whole;
}

/// Asks what a problem needs with the n-th query failing. True when none was left to fail.
bool try_needs(int n, VkgemmResult code) {
    const VkgemmProblem p = problem("f16*f16 64x64x64 layout=nt");
    VkgemmNeedsInfo info = needs_info({&p, 1});
    info.getInstanceProcAddr = any_function;
    VkgemmNeeds needs{};
    needs.structSize = sizeof needs;
    calls_left = n;
    failed_call = "";
    VkgemmError error{};
    const VkgemmResult got = vkgemmQueryNeeds(&info, &needs, &error);
    calls_left = -1;
    if (*failed_call == '\0') {
        CHECK((got == VKGEMM_SUCCESS || got == VKGEMM_ERROR_UNSUPPORTED));  // a driver without f16
        return true;
    }
    INFO("query ", n, ", ", std::string(failed_call), ": ", std::string(error.text));
    CHECK(got == code);
    CHECK(error.vkResult == failure);
    CHECK(has_words(error.text, failed_call));
    return false;
}

constexpr std::pair<VkResult, VkgemmResult> failures[] = {
    {VK_ERROR_OUT_OF_HOST_MEMORY, VKGEMM_ERROR_OUT_OF_MEMORY},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, VKGEMM_ERROR_OUT_OF_MEMORY},
    {VK_ERROR_DEVICE_LOST, VKGEMM_ERROR_DEVICE_LOST},
    {VK_ERROR_INVALID_SHADER_NV, VKGEMM_ERROR_VULKAN},
};

}  // namespace

TEST_CASE("each Vulkan call that can fail fails cleanly, whatever the failure") {
    for (const auto& [result, code] : failures) {
        failure = result;
        int n = 0;
        while (n < 20 && !try_all(n, code)) ++n;
        CHECK(n >= 7);  // four lists of extensions, a layout, a module, a pipeline
        CHECK(n < 20);
    }
}

TEST_CASE("a list of extensions or of matrix shapes that fails is not an empty one") {
    for (const auto& [result, code] : failures) {
        failure = result;
        int n = 0;
        while (n < 20 && !try_needs(n, code)) ++n;
        CHECK(n >= 2);
        CHECK(n < 20);
    }
}

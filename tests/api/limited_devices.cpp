// SPDX-License-Identifier: MIT
// Limited devices, mocked on the one at hand: an older version, fewer extensions, buffers that have no address.
#include <algorithm>
#include <cstring>

#include "api/api.h"
#include "plan/device/device_caps.h"

using namespace vkgemm::test;
namespace need = vkgemm::plan::need;

namespace {

uint32_t version = 0;              // that the device says it has; 0: its own
std::vector<std::string> missing;  // extensions that it does not name
bool no_addresses = false;         // vkGetBufferDeviceAddress gives 0

template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(device().getInstanceProcAddr()(device().instance(), name));
}

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice d, VkPhysicalDeviceProperties2* out) {
    real<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2")(d, out);
    if (version) out->properties.apiVersion = version;
}

VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice d, const char* layer, uint32_t* count,
                                          VkExtensionProperties* out) {
    const auto get = real<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
    uint32_t n = 0;
    if (const VkResult r = get(d, layer, &n, nullptr); r != VK_SUCCESS) return r;
    std::vector<VkExtensionProperties> all(n);
    if (const VkResult r = get(d, layer, &n, all.data()); r != VK_SUCCESS) return r;
    std::erase_if(all, [](const VkExtensionProperties& e) {
        return std::find(missing.begin(), missing.end(), e.extensionName) != missing.end();
    });
    if (out) std::copy_n(all.begin(), std::min<size_t>(*count, all.size()), out);
    *count = static_cast<uint32_t>(all.size());
    return VK_SUCCESS;
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL no_address(VkDevice, const VkBufferDeviceAddressInfo*) { return 0; }

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice d, const char* name) {
    if (no_addresses && std::strncmp(name, "vkGetBufferDeviceAddress", 24) == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(no_address);
    return real<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(d, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL any_function(VkInstance instance, const char* name) {
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkGetPhysicalDeviceProperties2")) return reinterpret_cast<PFN_vkVoidFunction>(properties);
    if (is("vkEnumerateDeviceExtensionProperties")) return reinterpret_cast<PFN_vkVoidFunction>(extensions);
    if (is("vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(device_function);
    return device().getInstanceProcAddr()(instance, name);
}

/// Mocks a limited device until the end of the block.
struct LimitedDevice {
    explicit LimitedDevice(uint32_t its_version, std::vector<std::string> without = {}) {
        version = its_version;
        missing = std::move(without);
    }
    LimitedDevice(const LimitedDevice&) = delete;
    LimitedDevice& operator=(const LimitedDevice&) = delete;
    ~LimitedDevice() {
        version = 0;
        missing.clear();
        no_addresses = false;
    }
};

Said query(uint32_t asked, VkgemmNeeds& needs) {
    const VkgemmProblem p = problem("20x30x40");
    VkgemmNeedsInfo i{};
    i.structSize = sizeof i;
    i.instance = device().instance();
    i.physicalDevice = device().physicalDevice();
    i.apiVersion = asked;
    i.getInstanceProcAddr = any_function;
    i.problems = &p;
    i.problemCount = 1;
    needs = {};
    needs.structSize = sizeof needs;
    return said([&](VkgemmError* e) { return vkgemmQueryNeeds(&i, &needs, e); });
}

const std::vector<std::string> push = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
const std::vector<std::string> neither = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME,
                                          VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME};

}  // namespace

TEST_CASE("without push descriptors addresses are needed, and a plan uses them") {
    if (!device().hasAddresses()) return;
    VkgemmNeeds needs;
    expect(query(VK_API_VERSION_1_2, needs), VKGEMM_SUCCESS, {});
    if (needs.requiredFeatures & need::push_descriptor) CHECK(!(needs.requiredFeatures & need::buffer_address));
    const LimitedDevice old(VK_API_VERSION_1_3, push);
    expect(query(VK_API_VERSION_1_3, needs), VKGEMM_SUCCESS, {});
    CHECK(needs.requiredFeatures == need::buffer_address);
    CHECK((needs.optionalFeatures & need::push_descriptor) == 0);
    for (uint32_t i = 0; i < needs.optionalExtensionCount; ++i) CHECK(needs.optionalExtensions[i] != push[0]);

    VkgemmContextInfo info = context_info();
    info.apiVersion = VK_API_VERSION_1_3;
    std::vector<const char*> enabled;
    for (const char* e : device().enabledExtensions())
        if (e != push[0]) enabled.push_back(e);
    info.enabledExtensions = enabled.data();
    info.enabledExtensionCount = static_cast<uint32_t>(enabled.size());
    OwnedContext c;
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    OwnedPlan plan;
    plan_for(plan, "20x30x40", options(), c.handle);
    CHECK(info_of(plan.handle).usesAddresses == 1);
}

TEST_CASE("what a version brings counts only where the device has that version") {
    VkgemmNeeds needs;
    const LimitedDevice old(VK_API_VERSION_1_1, neither);  // asked for more, it has what 1.1 has
    expect(query(VK_API_VERSION_1_4, needs), VKGEMM_ERROR_UNSUPPORTED, {"push descriptors", "bufferDeviceAddress"});
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    info.enabledExtensions = nullptr;
    info.enabledExtensionCount = 0;
    OwnedContext c;
    const char* const why =  // on the device it is enabled
        device().hasAddresses() ? "at Vulkan 1.1 without their extensions: bufferDeviceAddress" : "neither is enabled";
    expect(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }), VKGEMM_ERROR_UNSUPPORTED,
           {"push descriptors", "bufferDeviceAddress", why});
}

TEST_CASE("a device below the minimum requirements is refused with its version") {
    VkgemmNeeds needs;
    const LimitedDevice old(VK_API_VERSION_1_0);
    expect(query(VK_API_VERSION_1_1, needs), VKGEMM_ERROR_UNSUPPORTED, {device().info().name, "1.0", "1.1"});
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    OwnedContext c;
    expect(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }), VKGEMM_ERROR_UNSUPPORTED,
           {device().info().name, "1.0", "1.1"});
}

TEST_CASE("a buffer without a device address is refused where the plan uses addresses") {
    if (!device().hasAddresses()) return;
    const LimitedDevice device_without(0);
    no_addresses = true;
    VkgemmContextInfo info = context_info();
    info.getInstanceProcAddr = any_function;
    OwnedContext c;
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    VkgemmPlanOptions o = options();
    o.operands = VKGEMM_OPERANDS_ADDRESSES;
    OwnedPlan plan;
    plan_for(plan, "20x30x40", o, c.handle);
    const auto a = buffer(4096), b = buffer(8192), d = buffer(4096);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.alpha = 1;
    run.a.buffer = a.handle();
    run.b.buffer = b.handle();
    run.d.buffer = d.handle();
    const auto check = [&] { return said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); }); };
    expect(check(), VKGEMM_ERROR_OPERAND, {"operand a", "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT"});
    run.a = at_address(a.address());
    run.b = at_address(b.address());
    expect(check(), VKGEMM_ERROR_OPERAND, {"operand d", "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT"});
    run.d = at_address(d.address());
    expect(check(), VKGEMM_SUCCESS, {});
}

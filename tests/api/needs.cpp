// SPDX-License-Identifier: MIT
// Before there is a device: what to enable, and how it gets into a chain of feature structs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "api/api.h"
#include "plan/device/device_caps.h"

using namespace vkgemm::test;
namespace need = vkgemm::plan::need;

namespace {

VkgemmNeeds empty_needs() {
    VkgemmNeeds n{};
    n.structSize = sizeof n;
    return n;
}

Said query(const VkgemmNeedsInfo& info, VkgemmNeeds& out) {
    return said([&](VkgemmError* e) { return vkgemmQueryNeeds(&info, &out, e); });
}

/// A chain with the given structs behind VkPhysicalDeviceFeatures2, and memory for what is missing.
struct Chain {
    VkPhysicalDeviceFeatures2 base{};
    alignas(std::max_align_t) std::array<std::byte, 4096> memory;

    Chain() {
        base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        memory.fill(std::byte{0xcd});
    }
    template <class T>
    void add(T& s, VkStructureType type) {
        s = {};
        s.sType = type;
        s.pNext = base.pNext;
        base.pNext = &s;
    }
    VkgemmResult merge(uint64_t features, size_t* size) {
        return vkgemmMergeFeatures(features, VK_API_VERSION_1_3, &base, memory.data(), size);
    }
    const VkBaseInStructure* find(VkStructureType type) const {
        for (auto s = static_cast<const VkBaseInStructure*>(base.pNext); s; s = s->pNext)
            if (s->sType == type) return s;
        return nullptr;
    }
    size_t length() const {
        size_t n = 0;
        for (auto s = static_cast<const VkBaseInStructure*>(base.pNext); s; s = s->pNext) ++n;
        return n;
    }
};

}  // namespace

TEST_CASE("what a list of problems needs") {
    const std::vector<VkgemmProblem> problems = {problem("64x64x64"), problem("i32*i32 5x5x5")};
    VkgemmNeeds needs = empty_needs();
    expect(query(needs_info(problems), needs), VKGEMM_SUCCESS, {});
    CHECK((needs.requiredFeatures & (need::push_descriptor | need::buffer_address)) !=
          0);  // some way to reach operands
    CHECK((needs.requiredFeatures & needs.optionalFeatures) == 0);
    for (uint32_t i = 0; i < needs.requiredExtensionCount; ++i)
        for (uint32_t j = 0; j < needs.optionalExtensionCount; ++j)
            CHECK(std::string(needs.requiredExtensions[i]) != needs.optionalExtensions[j]);
    VkgemmNeeds all = empty_needs();
    expect(query(needs_info({}), all), VKGEMM_SUCCESS, {});
    CHECK(((all.requiredFeatures | all.optionalFeatures) & needs.requiredFeatures) == needs.requiredFeatures);
}

TEST_CASE("a device made with only what is required serves the problem") {
    std::vector<vkgemm::Problem> problems(1);
    problems[0].m = 20;
    problems[0].n = 30;
    problems[0].k = 40;
    auto made =
        vkgemm::host::Device::open({.device = device().info().name, .problems = problems, .optionalFeatures = false});
    REQUIRE_MESSAGE(bool(made), made.status().text);
    auto plan = made->context().createPlan(problems[0]);
    CHECK_MESSAGE(bool(plan), plan.status().text);
}

TEST_CASE("needs that are refused") {
    std::vector<VkgemmProblem> problems = {problem("64x64x64"), problem("f64*f64+f32->f64 5x5x5")};
    VkgemmNeeds needs = empty_needs();
    expect(query(needs_info(problems), needs), VKGEMM_ERROR_UNSUPPORTED, {"problems[1]", "f64*f64"});
    problems[1] = problem("5x5x5");
    problems[1].b.ld = 1;
    expect(query(needs_info(problems), needs), VKGEMM_ERROR_INVALID_PROBLEM, {"problems[1]", "ldb"});
    problems[1].structSize = 3;
    expect(query(needs_info(problems), needs), VKGEMM_ERROR_INVALID_ARGUMENT, {"problems[1]", "structSize is 3"});
    VkgemmNeedsInfo info = needs_info({});
    info.problemCount = 1;
    info.problems = nullptr;
    expect(query(info, needs), VKGEMM_ERROR_INVALID_ARGUMENT, {"problems"});
    info = needs_info({});
    info.apiVersion = VK_API_VERSION_1_0;
    expect(query(info, needs), VKGEMM_ERROR_UNSUPPORTED, {"1.0", "1.1"});
    info = needs_info({});
    info.instance = VK_NULL_HANDLE;
    expect(query(info, needs), VKGEMM_ERROR_INVALID_ARGUMENT, {"instance"});
    info = needs_info({});
    info.structSize = 0;
    expect(query(info, needs), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmNeedsInfo", "structSize"});
    info = needs_info({});
    needs.structSize = 0;
    expect(query(info, needs), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmNeeds", "structSize"});
    expect(said([&](VkgemmError* e) { return vkgemmQueryNeeds(nullptr, nullptr, e); }), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"null"});
}

TEST_CASE("merging into a bare chain appends one struct for each feature") {
    Chain chain;
    size_t size = 0;
    CHECK(vkgemmMergeFeatures(need::storage16 | need::float16 | need::int8 | need::float64, VK_API_VERSION_1_3,
                              &chain.base, nullptr, &size) == VKGEMM_SUCCESS);
    CHECK(size >= sizeof(VkPhysicalDevice16BitStorageFeatures) + sizeof(VkPhysicalDeviceShaderFloat16Int8Features));
    CHECK(chain.length() == 0);  // asked only
    size_t less = size - 1;
    CHECK(chain.merge(need::storage16 | need::float16 | need::int8 | need::float64, &less) == VKGEMM_INCOMPLETE);
    CHECK(less == size);
    CHECK(chain.length() == 0);
    CHECK(chain.base.features.shaderFloat64 == VK_FALSE);

    CHECK(chain.merge(need::storage16 | need::float16 | need::int8 | need::float64, &size) == VKGEMM_SUCCESS);
    CHECK(chain.length() == 2);
    CHECK(chain.base.features.shaderFloat64 == VK_TRUE);
    CHECK(chain.base.features.shaderInt16 == VK_FALSE);
    const auto* storage = reinterpret_cast<const VkPhysicalDevice16BitStorageFeatures*>(
        chain.find(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES));
    REQUIRE(storage);
    CHECK(storage->storageBuffer16BitAccess == VK_TRUE);
    CHECK(storage->storageInputOutput16 == VK_FALSE);
    const auto* half = reinterpret_cast<const VkPhysicalDeviceShaderFloat16Int8Features*>(
        chain.find(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES));
    REQUIRE(half);
    CHECK((half->shaderFloat16 == VK_TRUE && half->shaderInt8 == VK_TRUE));
    CHECK(chain.memory[size] == std::byte{0xcd});  // no byte too many
}

TEST_CASE("merging prefers the big structs, and keeps what was set") {
    Chain chain;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
    chain.add(v11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
    chain.add(v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    chain.add(v13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
    v12.timelineSemaphore = VK_TRUE;
    size_t size = 0;
    CHECK(chain.merge(need::storage16 | need::buffer_address | need::subgroup_size_control, &size) == VKGEMM_SUCCESS);
    CHECK(size == 0);
    CHECK(chain.length() == 3);
    CHECK(v11.storageBuffer16BitAccess == VK_TRUE);
    CHECK(v12.bufferDeviceAddress == VK_TRUE);
    CHECK(v12.timelineSemaphore == VK_TRUE);
    CHECK(v12.shaderFloat16 == VK_FALSE);
    CHECK(v13.subgroupSizeControl == VK_TRUE);
    CHECK(v13.computeFullSubgroups == VK_FALSE);
}

TEST_CASE("merging uses a small struct that is there already") {
    Chain chain;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    chain.add(address, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
    size_t size = chain.memory.size();
    CHECK(chain.merge(need::buffer_address | need::storage16, &size) == VKGEMM_SUCCESS);
    CHECK(address.bufferDeviceAddress == VK_TRUE);
    CHECK(chain.length() == 2);
    size_t nothing = 0;
    CHECK(chain.merge(need::buffer_address | need::storage16, &nothing) ==
          VKGEMM_SUCCESS);  // a second time changes nothing
    CHECK(chain.length() == 2);
}

TEST_CASE("merging refuses what is not a chain") {
    Chain chain;
    size_t size = 0;
    CHECK(vkgemmMergeFeatures(1, VK_API_VERSION_1_3, nullptr, nullptr, &size) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmMergeFeatures(1, VK_API_VERSION_1_3, &chain.base, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmMergeFeatures(uint64_t{1} << 63, VK_API_VERSION_1_3, &chain.base, nullptr, &size) ==
          VKGEMM_ERROR_INVALID_ARGUMENT);
    size = chain.memory.size() - 1;
    CHECK(vkgemmMergeFeatures(need::storage16, VK_API_VERSION_1_3, &chain.base, chain.memory.data() + 1, &size) ==
          VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(chain.length() == 0);
    chain.base.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    CHECK(vkgemmMergeFeatures(1, VK_API_VERSION_1_3, &chain.base, nullptr, &size) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

namespace {
bool offers_extension(const char* name) {
    const auto get = reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(
        device().getInstanceProcAddr()(device().instance(), "vkEnumerateDeviceExtensionProperties"));
    const VkPhysicalDevice physical = device().physicalDevice();
    uint32_t count = 0;
    if (get(physical, nullptr, &count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkExtensionProperties> all(count);
    if (get(physical, nullptr, &count, all.data()) != VK_SUCCESS) return false;
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& e) { return std::string_view(e.extensionName) == name; });
}
}  // namespace

TEST_CASE("a feature counts only where it was enabled") {
    // bufferDeviceAddress in either struct; not below 1.2 without the extension
    VkgemmContextInfo info = context_info();
    if (!device().hasAddresses() || device().apiVersion() < VK_API_VERSION_1_2) return;
    Chain small, big, none;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceVulkan12Features v12;
    small.add(address, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
    big.add(v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    address.bufferDeviceAddress = v12.bufferDeviceAddress = VK_TRUE;
    const struct {
        const VkPhysicalDeviceFeatures2* chain;
        uint32_t version;
        bool extension, has;
    } rows[] = {{&small.base, VK_API_VERSION_1_2, false, true},  {&big.base, VK_API_VERSION_1_2, false, true},
                {&none.base, VK_API_VERSION_1_2, true, false},   {nullptr, VK_API_VERSION_1_2, true, false},
                {&small.base, VK_API_VERSION_1_1, false, false}, {&small.base, VK_API_VERSION_1_1, true, true}};
    const char* const extension = VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME;
    const bool offered = offers_extension(extension);  // a driver of a later version may offer the feature alone
    for (size_t i = 0; i < std::size(rows); ++i) {
        CAPTURE(i);
        if (rows[i].extension && !offered) continue;
        info.enabledFeatures = rows[i].chain;
        info.apiVersion = rows[i].version;
        info.enabledExtensions = &extension;
        info.enabledExtensionCount = rows[i].extension;
        OwnedContext c;
        const Said made = said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); });
        if (rows[i].has) {
            REQUIRE(made.code == VKGEMM_SUCCESS);
            std::string text(20000, '\0');
            size_t size = text.size();
            REQUIRE(vkgemmDescribeDevice(c.handle, text.data(), &size) == VKGEMM_SUCCESS);
            CHECK(has_words(text, "buffer_address"));
        } else {  // then operands cannot be reached
            const bool is_set = rows[i].chain == &small.base;
            expect(
                made, VKGEMM_ERROR_UNSUPPORTED,
                {is_set ? "bufferDeviceAddress (Vulkan 1.2 or VK_KHR_buffer_device_address)" : "neither is enabled"});
            CHECK(has_words(made.text, "neither is enabled") != is_set);
        }
    }
}

TEST_CASE("a feature that is set and does not count is logged") {
    std::vector<std::string> warnings;
    VkgemmContextInfo info = context_info();
    info.logUser = &warnings;
    info.log = [](void* user, VkgemmSeverity severity, const char* text) {
        if (severity == VKGEMM_SEVERITY_WARNING) static_cast<std::vector<std::string>*>(user)->push_back(text);
    };
    const char* const push = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    const auto all = device().enabledExtensions();
    if (std::ranges::none_of(all, [&](std::string_view e) { return e == push; })) return;
    Chain chain;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices;
    chain.add(v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    chain.add(matrices, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
    info.enabledFeatures = &chain.base;
    info.enabledExtensions = &push;
    info.enabledExtensionCount = 1;
    const auto make = [&](uint32_t version) {
        info.apiVersion = version;
        warnings.clear();
        OwnedContext c;
        REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    };
    make(VK_API_VERSION_1_1);
    CHECK(warnings.empty());
    v12.bufferDeviceAddress = v12.shaderInt8 = matrices.cooperativeMatrix = VK_TRUE;
    make(VK_API_VERSION_1_1);
    REQUIRE(warnings.size() == 1);
    CHECK_MESSAGE(has_words(warnings[0], "at Vulkan 1.1", "shaderInt8 (Vulkan 1.2 or VK_KHR_shader_float16_int8), ",
                            "bufferDeviceAddress (Vulkan 1.2 or VK_KHR_buffer_device_address), ",
                            "cooperativeMatrix (VK_KHR_cooperative_matrix); state the apiVersion"),
                  warnings[0]);
    if (device().apiVersion() < VK_API_VERSION_1_2) return;
    make(VK_API_VERSION_1_2);
    REQUIRE(warnings.size() == 1);
    CHECK(!has_words(warnings[0], "bufferDeviceAddress"));
}

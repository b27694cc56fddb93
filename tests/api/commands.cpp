// SPDX-License-Identifier: MIT
// What an engine does with commands: secondary command buffers, several queues, descriptors that it binds itself. And
// the numbers that docs/embedding.md states of layouts.
#include <array>
#include <cstring>
#include <functional>
#include <thread>

#include "api/mock.h"
#include "support/files.h"

using namespace vkgemm::test;

namespace {

template <class Function>
Function of_instance(const char* name) {
    return reinterpret_cast<Function>(device().getInstanceProcAddr()(device().instance(), name));
}

struct Queue {
    VkQueue handle = VK_NULL_HANDLE;
    uint32_t family = 0;
};

/// A device of its own on the physical device at hand, as an engine has it: up to two queues of each family that
/// computes, a mapped buffer that all of them may use, and a context.
class Engine {
   public:
    explicit Engine(bool with_descriptor_buffer = false) {
        find_families();
        create(with_descriptor_buffer);
        VkgemmContextInfo info = context_info();
        info.device = handle_;
        REQUIRE(vkgemmCreateContext(&info, &context.handle, nullptr) == VKGEMM_SUCCESS);
        memory = make_buffer(1 << 16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine() {
        get<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(handle_);
        for (VkCommandPool p : pools_) get<PFN_vkDestroyCommandPool>("vkDestroyCommandPool")(handle_, p, nullptr);
        for (const Mapped& m : buffers_) {
            get<PFN_vkDestroyBuffer>("vkDestroyBuffer")(handle_, m.buffer, nullptr);
            get<PFN_vkFreeMemory>("vkFreeMemory")(handle_, m.memory, nullptr);
        }
        for (VkSemaphore s : semaphores_) get<PFN_vkDestroySemaphore>("vkDestroySemaphore")(handle_, s, nullptr);
        vkgemmDestroyContext(std::exchange(context.handle, nullptr));
        get<PFN_vkDestroyDevice>("vkDestroyDevice")(handle_, nullptr);
    }

    struct Mapped {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        float* at = nullptr;
    };
    std::vector<Queue> queues;
    OwnedContext context;
    Mapped memory;

    template <class Function>
    Function get(const char* name) const {
        return reinterpret_cast<Function>(of_instance<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(handle_, name));
    }
    VkDevice handle() const { return handle_; }

    /// A command buffer that is being recorded.
    VkCommandBuffer begin(const Queue& queue, VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY) {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.queueFamilyIndex = queue.family;
        VkCommandPool p = VK_NULL_HANDLE;
        REQUIRE(get<PFN_vkCreateCommandPool>("vkCreateCommandPool")(handle_, &pool, nullptr, &p) == VK_SUCCESS);
        pools_.push_back(p);
        const VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                 .pNext = nullptr,
                                                 .commandPool = p,
                                                 .level = level,
                                                 .commandBufferCount = 1};
        VkCommandBuffer out = VK_NULL_HANDLE;
        REQUIRE(get<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers")(handle_, &one, &out) == VK_SUCCESS);
        VkCommandBufferInheritanceInfo inherited{};
        inherited.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
        const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                               .pNext = nullptr,
                                               .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                               .pInheritanceInfo = &inherited};
        REQUIRE(get<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer")(out, &info) == VK_SUCCESS);
        return out;
    }
    void end(VkCommandBuffer commands) const {
        REQUIRE(get<PFN_vkEndCommandBuffer>("vkEndCommandBuffer")(commands) == VK_SUCCESS);
    }
    void submit(const Queue& queue, VkCommandBuffer commands, VkSemaphore wait = VK_NULL_HANDLE,
                VkSemaphore signal = VK_NULL_HANDLE) const {
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands;
        info.waitSemaphoreCount = wait ? 1 : 0;
        info.pWaitSemaphores = &wait;
        info.pWaitDstStageMask = &stage;
        info.signalSemaphoreCount = signal ? 1 : 0;
        info.pSignalSemaphores = &signal;
        REQUIRE(get<PFN_vkQueueSubmit>("vkQueueSubmit")(queue.handle, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS);
    }
    void wait() const { REQUIRE(get<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(handle_) == VK_SUCCESS); }
    VkSemaphore make_semaphore() {
        const VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, nullptr, 0};
        VkSemaphore s = VK_NULL_HANDLE;
        REQUIRE(get<PFN_vkCreateSemaphore>("vkCreateSemaphore")(handle_, &info, nullptr, &s) == VK_SUCCESS);
        semaphores_.push_back(s);
        return s;
    }

    Mapped make_buffer(VkDeviceSize bytes, VkBufferUsageFlags usage) {
        std::vector<uint32_t> families;
        for (const Queue& q : queues)
            if (families.empty() || families.back() != q.family) families.push_back(q.family);
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = bytes;
        info.usage = usage;
        if (device().hasAddresses()) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        if (families.size() > 1) {
            info.sharingMode = VK_SHARING_MODE_CONCURRENT;
            info.queueFamilyIndexCount = static_cast<uint32_t>(families.size());
            info.pQueueFamilyIndices = families.data();
        }
        Mapped out;
        REQUIRE(get<PFN_vkCreateBuffer>("vkCreateBuffer")(handle_, &info, nullptr, &out.buffer) == VK_SUCCESS);
        VkMemoryRequirements need;
        get<PFN_vkGetBufferMemoryRequirements>("vkGetBufferMemoryRequirements")(handle_, out.buffer, &need);
        VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .pNext = nullptr,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
                                           .deviceMask = 0};
        const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                               .pNext = device().hasAddresses() ? &flags : nullptr,
                                               .allocationSize = need.size,
                                               .memoryTypeIndex = coherent_type(need.memoryTypeBits)};
        REQUIRE(get<PFN_vkAllocateMemory>("vkAllocateMemory")(handle_, &allocate, nullptr, &out.memory) == VK_SUCCESS);
        REQUIRE(get<PFN_vkBindBufferMemory>("vkBindBufferMemory")(handle_, out.buffer, out.memory, 0) == VK_SUCCESS);
        void* at = nullptr;
        REQUIRE(get<PFN_vkMapMemory>("vkMapMemory")(handle_, out.memory, 0, VK_WHOLE_SIZE, 0, &at) == VK_SUCCESS);
        out.at = static_cast<float*>(at);
        buffers_.push_back(out);
        return out;
    }

   private:
    void find_families() {
        const auto ask =
            of_instance<PFN_vkGetPhysicalDeviceQueueFamilyProperties>("vkGetPhysicalDeviceQueueFamilyProperties");
        uint32_t count = 0;
        ask(device().physicalDevice(), &count, nullptr);
        std::vector<VkQueueFamilyProperties> families(count);
        ask(device().physicalDevice(), &count, families.data());
        for (uint32_t f = 0; f < count; ++f)
            for (uint32_t q = 0; families[f].queueFlags & VK_QUEUE_COMPUTE_BIT && q < families[f].queueCount && q < 2;
                 ++q)
                queues.push_back({VK_NULL_HANDLE, f});
        REQUIRE(!queues.empty());
    }

    void create(bool with_descriptor_buffer) {
        const float priorities[] = {1, 1};
        std::vector<VkDeviceQueueCreateInfo> wanted;
        for (const Queue& q : queues) {
            if (!wanted.empty() && wanted.back().queueFamilyIndex == q.family)
                ++wanted.back().queueCount;
            else
                wanted.push_back({.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                  .pNext = nullptr,
                                  .flags = 0,
                                  .queueFamilyIndex = q.family,
                                  .queueCount = 1,
                                  .pQueuePriorities = priorities});
        }
        std::vector<const char*> extensions(device().enabledExtensions().begin(), device().enabledExtensions().end());
        VkPhysicalDeviceDescriptorBufferFeaturesEXT descriptor_buffer{};
        descriptor_buffer.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT;
        descriptor_buffer.pNext = const_cast<VkPhysicalDeviceFeatures2*>(&device().enabledFeatures());
        descriptor_buffer.descriptorBuffer = VK_TRUE;
        if (with_descriptor_buffer) extensions.push_back(VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME);
        VkDeviceCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        info.pNext = with_descriptor_buffer ? static_cast<void*>(&descriptor_buffer) : descriptor_buffer.pNext;
        info.queueCreateInfoCount = static_cast<uint32_t>(wanted.size());
        info.pQueueCreateInfos = wanted.data();
        info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
        info.ppEnabledExtensionNames = extensions.data();
        REQUIRE(of_instance<PFN_vkCreateDevice>("vkCreateDevice")(device().physicalDevice(), &info, nullptr,
                                                                  &handle_) == VK_SUCCESS);
        for (size_t i = 0; i < queues.size(); ++i) {
            const bool second = i > 0 && queues[i - 1].family == queues[i].family;
            get<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(handle_, queues[i].family, second, &queues[i].handle);
        }
    }

    static uint32_t coherent_type(uint32_t allowed) {
        constexpr VkMemoryPropertyFlags wanted =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        VkPhysicalDeviceMemoryProperties all;
        of_instance<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(
            device().physicalDevice(), &all);
        for (uint32_t i = 0; i < all.memoryTypeCount; ++i)
            if (allowed >> i & 1 && (all.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
        FAIL("no coherent memory");
        return 0;
    }

    VkDevice handle_ = VK_NULL_HANDLE;
    std::vector<VkCommandPool> pools_;
    std::vector<VkSemaphore> semaphores_;
    std::vector<Mapped> buffers_;
};

// 8 x 8 matrices of small whole numbers, one after another in the buffer.
constexpr size_t side = 8, cells = side * side;
void fill(float* at, int seed) {
    for (size_t i = 0; i < cells; ++i) at[i] = float((int(i) * 7 + seed * 3) % 5 - 2);
}
bool is_product(const float* a, const float* b, const float* d) {
    for (size_t i = 0; i < cells; ++i) {
        float sum = 0;
        for (size_t k = 0; k < side; ++k) sum += a[i / side * side + k] * b[k * side + i % side];
        if (d[i] != sum) return false;
    }
    return true;
}
VkgemmRun run_of(VkBuffer buffer, size_t a, size_t b, size_t d, uint32_t flags = 0) {
    VkgemmRun r{};
    r.structSize = sizeof r;
    r.flags = flags;
    r.a = {.buffer = buffer, .offset = a * cells * 4, .size = 0, .address = 0};
    r.b = {.buffer = buffer, .offset = b * cells * 4, .size = 0, .address = 0};
    r.d = {.buffer = buffer, .offset = d * cells * 4, .size = 0, .address = 0};
    return r;
}
void record(const OwnedPlan& plan, VkCommandBuffer commands, const VkgemmRun& run) {
    expect(said([&](VkgemmError* e) { return vkgemmRecord(plan.handle, commands, &run, e); }), VKGEMM_SUCCESS, {});
}

std::vector<VkgemmOperandKind> kinds() {
    std::vector<VkgemmOperandKind> out = {VKGEMM_OPERANDS_BUFFERS};
    if (device().hasAddresses()) out.push_back(VKGEMM_OPERANDS_ADDRESSES);
    return out;
}
VkgemmPlanOptions tiled(VkgemmOperandKind kind) {
    VkgemmPlanOptions o = options();
    o.kernel = "tiled_f32_8x8";
    o.operands = kind;
    return o;
}

}  // namespace

TEST_CASE("a secondary command buffer holds a product, and is executed twice") {
    for (const VkgemmOperandKind kind : kinds()) {
        Engine e;
        OwnedPlan plan;
        plan_for(plan, "8x8x8", tiled(kind), e.context.handle);
        fill(e.memory.at, 1);
        fill(e.memory.at + cells, 2);
        const VkCommandBuffer secondary = e.begin(e.queues[0], VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        record(plan, secondary,
               run_of(e.memory.buffer, 0, 1, 2, VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER));
        e.end(secondary);
        for (int time = 0; time < 2; ++time) {
            std::fill_n(e.memory.at + 2 * cells, cells, -99.f);
            const VkCommandBuffer primary = e.begin(e.queues[0]);
            e.get<PFN_vkCmdExecuteCommands>("vkCmdExecuteCommands")(primary, 1, &secondary);
            e.end(primary);
            e.submit(e.queues[0], primary);
            e.wait();
            CHECK(is_product(e.memory.at, e.memory.at + cells, e.memory.at + 2 * cells));
        }
    }
}

TEST_CASE("one plan on several queues, ordered by a semaphore") {
    for (const VkgemmOperandKind kind : kinds()) {
        Engine e;
        MESSAGE("queues that compute: ", e.queues.size());
        OwnedPlan plan;
        plan_for(plan, "8x8x8", tiled(kind), e.context.handle);
        for (size_t i = 0; i < 2; ++i) fill(e.memory.at + i * cells, int(i) + 1);
        const Queue first = e.queues.front(), second = e.queues.back();  // one and the same, if there is one
        const VkCommandBuffer one = e.begin(first), two = e.begin(second);
        std::thread other([&] { record(plan, two, run_of(e.memory.buffer, 2, 1, 3)); });
        record(plan, one, run_of(e.memory.buffer, 0, 1, 2));
        other.join();
        e.end(one);
        e.end(two);
        const VkSemaphore done = e.make_semaphore();
        e.submit(first, one, VK_NULL_HANDLE, done);
        e.submit(second, two, done);
        e.wait();
        CHECK(is_product(e.memory.at, e.memory.at + cells, e.memory.at + 2 * cells));
        CHECK(is_product(e.memory.at + 2 * cells, e.memory.at + cells, e.memory.at + 3 * cells));
    }
}

TEST_CASE("a product by address between the commands of a host that has bound descriptor buffers") {
    const auto ask = of_instance<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
    uint32_t count = 0;
    REQUIRE(ask(device().physicalDevice(), nullptr, &count, nullptr) == VK_SUCCESS);
    std::vector<VkExtensionProperties> all(count);
    REQUIRE(ask(device().physicalDevice(), nullptr, &count, all.data()) == VK_SUCCESS);
    bool offered = false;
    for (const VkExtensionProperties& x : all)
        offered |= std::strcmp(x.extensionName, VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME) == 0;
    if (!offered || !device().hasAddresses()) {
        MESSAGE("the device has no descriptor buffers, or no addresses");
        return;
    }
    Engine e(true);
    OwnedPlan plan;
    plan_for(plan, "8x8x8", tiled(VKGEMM_OPERANDS_ADDRESSES), e.context.handle);
    fill(e.memory.at, 1);
    fill(e.memory.at + cells, 2);
    const auto descriptors = e.make_buffer(4096, VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT);
    const VkBufferDeviceAddressInfo of = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, descriptors.buffer};
    VkDescriptorBufferBindingInfoEXT binding{};
    binding.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_BUFFER_BINDING_INFO_EXT;
    binding.address = e.get<PFN_vkGetBufferDeviceAddress>("vkGetBufferDeviceAddress")(e.handle(), &of);
    binding.usage = VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT;
    const VkCommandBuffer commands = e.begin(e.queues[0]);
    e.get<PFN_vkCmdBindDescriptorBuffersEXT>("vkCmdBindDescriptorBuffersEXT")(commands, 1, &binding);
    record(plan, commands, run_of(e.memory.buffer, 0, 1, 2));
    e.end(commands);
    e.submit(e.queues[0], commands);
    e.wait();
    CHECK(is_product(e.memory.at, e.memory.at + cells, e.memory.at + 2 * cells));
}

namespace {

// The layouts that a mocked driver was asked for.
struct Layouts {
    uint32_t bindings = 0, flags = 0;
    bool storage_buffers_alone = true;
    std::vector<std::array<uint32_t, 2>> made;  // sets, bytes of push constants
} layouts;

VKAPI_ATTR VkResult VKAPI_CALL set_layout(VkDevice d, const VkDescriptorSetLayoutCreateInfo* info,
                                          const VkAllocationCallbacks* a, VkDescriptorSetLayout* out) {
    layouts.bindings = info->bindingCount;
    layouts.flags = info->flags;
    for (uint32_t i = 0; i < info->bindingCount; ++i)
        if (info->pBindings[i].descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
            info->pBindings[i].descriptorCount != 1)
            layouts.storage_buffers_alone = false;
    return reinterpret_cast<PFN_vkCreateDescriptorSetLayout>(
        of_instance<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(d, "vkCreateDescriptorSetLayout"))(d, info, a, out);
}
VKAPI_ATTR VkResult VKAPI_CALL pipeline_layout(VkDevice d, const VkPipelineLayoutCreateInfo* info,
                                               const VkAllocationCallbacks* a, VkPipelineLayout* out) {
    CHECK(info->pushConstantRangeCount == 1);
    CHECK(info->pPushConstantRanges[0].offset == 0);
    layouts.made.push_back({info->setLayoutCount, info->pPushConstantRanges[0].size});
    return reinterpret_cast<PFN_vkCreatePipelineLayout>(
        of_instance<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(d, "vkCreatePipelineLayout"))(d, info, a, out);
}
const Mocked driver[] = {mocked("vkCreateDescriptorSetLayout", set_layout),
                         mocked("vkCreatePipelineLayout", pipeline_layout)};

}  // namespace

TEST_CASE("docs/embedding.md states the push constants and descriptors of every layout") {
    layouts = {};
    const VkgemmContextInfo info = mocked_context_info<driver>();
    OwnedContext c;
    REQUIRE(vkgemmCreateContext(&info, &c.handle, nullptr) == VKGEMM_SUCCESS);
    const std::string page = file_text("../docs/embedding.md");
    REQUIRE(!page.empty());
    REQUIRE(layouts.made.size() >= 1);
    if (layouts.bindings) {
        CHECK(layouts.storage_buffers_alone);
        CHECK(layouts.flags == VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
    }
    for (const auto& [sets, bytes] : layouts.made) {
        const std::string begin = sets ? "\n| buffers | " : "\n| addresses | ",
                          end = sets ? " | 1, with " + std::to_string(layouts.bindings) + " storage buffers, pushed |"
                                     : " | 0 |";
        const size_t at = page.find(begin);
        REQUIRE_MESSAGE(at != std::string::npos, begin);
        const std::string row = page.substr(at, page.find('\n', at + 1) - at);
        CHECK_MESSAGE(row.find(std::to_string(bytes)) != std::string::npos, "no ", bytes, " in the row", row);
        CHECK_MESSAGE(row.ends_with(end), row, " should end with", end);
    }
}

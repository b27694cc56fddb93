// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace harness {

void stop(const std::string& why) {
    std::printf("STOP: %s\n", why.c_str());
    std::fflush(stdout);
    _exit(2);  // without destructors, which might wait for a lost device
}

namespace {

void check(VkResult result, const char* what) {
    if (result != VK_SUCCESS) stop(std::string(what) + " gave " + std::to_string(result));
}

template <class Item, class List>
std::vector<Item> listed(List list) {
    uint32_t count = 0;
    list(&count, nullptr);
    std::vector<Item> items(count);
    list(&count, items.data());
    return items;
}

}  // namespace

Gpu::Gpu() {
    check(volkInitialize(), "volkInitialize");
    VkApplicationInfo app = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
    app.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instance = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance.pApplicationInfo = &app;
    check(vkCreateInstance(&instance, nullptr, &instance_), "vkCreateInstance");
    volkLoadInstance(instance_);
    find_physical();
    if (!physical_) stop("no NVIDIA device");

    uint32_t family = UINT32_MAX, i = 0;  // with graphics, blocks of more than 48,128 shared bytes lose the device
    for (const VkQueueFamilyProperties& q : listed<VkQueueFamilyProperties>([&](uint32_t*n, VkQueueFamilyProperties*f) {
             vkGetPhysicalDeviceQueueFamilyProperties(physical_, n, f);
         })) {
        if (family == UINT32_MAX && (q.queueFlags & VK_QUEUE_COMPUTE_BIT) && !(q.queueFlags & VK_QUEUE_GRAPHICS_BIT))
            family = i;
        ++i;
    }
    if (family == UINT32_MAX) stop("no queue family for compute alone");
    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceVulkan12Features features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    features.bufferDeviceAddress = VK_TRUE;
    const char* extension = VK_NVX_BINARY_IMPORT_EXTENSION_NAME;
    VkDeviceCreateInfo device = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device.pNext = &features;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    device.enabledExtensionCount = 1;
    device.ppEnabledExtensionNames = &extension;
    check(vkCreateDevice(physical_, &device, nullptr, &device_), "vkCreateDevice");
    volkLoadDevice(device_);
    vkGetDeviceQueue(device_, family, 0, &queue_);

    make_commands(family);
}

void Gpu::find_physical() {
    for (VkPhysicalDevice p : listed<VkPhysicalDevice>(
             [&](uint32_t*n, VkPhysicalDevice*d) { vkEnumeratePhysicalDevices(instance_, n, d); })) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(p, &properties);
        if (properties.vendorID == 0x10de) {
            physical_ = p;
            tick_ = double(properties.limits.timestampPeriod);
        }
    }
}

void Gpu::make_commands(uint32_t family) {
    VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family;
    check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    commands.commandPool = pool_;
    commands.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(device_, &commands, &commands_), "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(vkCreateFence(device_, &fence, nullptr, &fence_), "vkCreateFence");
    VkQueryPoolCreateInfo stamps = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    stamps.queryType = VK_QUERY_TYPE_TIMESTAMP;
    stamps.queryCount = 2;
    check(vkCreateQueryPool(device_, &stamps, nullptr, &stamps_), "vkCreateQueryPool");
}

Memory Gpu::allocate(uint64_t bytes, bool host) const {
    Memory m;
    m.bytes = bytes;
    VkBufferCreateInfo buffer = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    buffer.size = bytes;
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                   VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    check(vkCreateBuffer(device_, &buffer, nullptr, &m.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device_, m.buffer, &needs);
    VkPhysicalDeviceMemoryProperties has;
    vkGetPhysicalDeviceMemoryProperties(physical_, &has);
    const VkMemoryPropertyFlags host_flags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wanted = host ? host_flags : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    uint32_t type = 0;
    while (type < has.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) || (has.memoryTypes[type].propertyFlags & wanted) != wanted))
        ++type;
    VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = type;
    VkDeviceMemory memory;
    check(vkAllocateMemory(device_, &allocate, nullptr, &memory), "vkAllocateMemory");
    check(vkBindBufferMemory(device_, m.buffer, memory, 0), "vkBindBufferMemory");
    VkBufferDeviceAddressInfo address = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    address.buffer = m.buffer;
    m.address = vkGetBufferDeviceAddress(device_, &address);
    if (host) check(vkMapMemory(device_, memory, 0, bytes, 0, &m.mapped), "vkMapMemory");
    return m;
}

VkCuFunctionNVX Gpu::function(const std::string& cubin, const std::string& name) {
    VkCuModuleNVX module = VK_NULL_HANDLE;
    for (const auto& [file, loaded] : modules_)
        if (file == cubin) module = loaded;
    if (!module) {
        std::ifstream in(cubin, std::ios::binary);
        const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
        if (bytes.empty()) stop("no " + cubin);
        VkCuModuleCreateInfoNVX info = {VK_STRUCTURE_TYPE_CU_MODULE_CREATE_INFO_NVX};
        info.dataSize = bytes.size();
        info.pData = bytes.data();
        check(vkCreateCuModuleNVX(device_, &info, nullptr, &module), cubin.c_str());
        modules_.emplace_back(cubin, module);
    }
    VkCuFunctionCreateInfoNVX info = {VK_STRUCTURE_TYPE_CU_FUNCTION_CREATE_INFO_NVX};
    info.module = module;
    info.pName = name.c_str();
    VkCuFunctionNVX function;
    check(vkCreateCuFunctionNVX(device_, &info, nullptr, &function), name.c_str());
    return function;
}

void Gpu::begin() {
    VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(commands_, &info), "vkBeginCommandBuffer");
    vkCmdResetQueryPool(commands_, stamps_, 0, 2);
}

void Gpu::launch(VkCuFunctionNVX function, uint32_t groups, uint32_t threads, uint32_t shared,
                 std::vector<const void*> parameters, uint32_t groups_y, uint32_t groups_z) const {
    VkCuLaunchInfoNVX info = {VK_STRUCTURE_TYPE_CU_LAUNCH_INFO_NVX};
    info.function = function;
    info.gridDimX = groups;
    info.gridDimY = groups_y;
    info.gridDimZ = groups_z;
    info.blockDimX = threads;
    info.blockDimY = info.blockDimZ = 1;
    info.sharedMemBytes = shared;
    info.paramCount = parameters.size();
    info.pParams = parameters.data();
    vkCmdCuLaunchKernelNVX(commands_, &info);
}

void Gpu::fill(const Memory& m, uint64_t offset, uint64_t bytes, uint32_t word) const {
    vkCmdFillBuffer(commands_, m.buffer, offset, bytes, word);
}

void Gpu::barrier(bool between_kernels) const {
    VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    VkPipelineStageFlags before = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, after = before;
    memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    memory.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    if (!between_kernels) {
        memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        memory.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        before |= VK_PIPELINE_STAGE_TRANSFER_BIT;
        after = before | VK_PIPELINE_STAGE_HOST_BIT;
    }
    vkCmdPipelineBarrier(commands_, before, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void Gpu::stamp(uint32_t number) const {
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps_, number);
}

void Gpu::end() const { check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer"); }

void Gpu::submit() const {
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    check(vkResetFences(device_, 1, &fence_), "vkResetFences");
    check(vkQueueSubmit(queue_, 1, &info, fence_), "vkQueueSubmit");
    check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, 10'000'000'000), "vkWaitForFences");
}

double Gpu::microseconds() const {
    uint64_t ticks[2];
    check(vkGetQueryPoolResults(device_, stamps_, 0, 2, sizeof ticks, ticks, 8, VK_QUERY_RESULT_64_BIT),
          "vkGetQueryPoolResults");
    return double(ticks[1] - ticks[0]) * tick_ * 1e-3;
}

}  // namespace harness

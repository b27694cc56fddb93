/* SPDX-License-Identifier: MIT
 *
 * A Vulkan loader for tests: the real one, of which one function fails when test_fail_vulkan has said so. Preloaded, it
 * is what a program gets that opens libvulkan.so.1, because that is its soname. */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

#define EXPORT __attribute__((visibility("default")))

static const char* failing = "";
static VkResult failure;
static int works, times, counted;
static PFN_vkGetDeviceProcAddr device_functions;
static PFN_vkAllocateMemory allocate_memory;
static PFN_vkMapMemory map_memory;
static PFN_vkQueueSubmit queue_submit;
static PFN_vkWaitForFences wait_for_fences;
static PFN_vkBeginCommandBuffer begin_commands;
static PFN_vkDestroyBuffer destroy_buffer;
static PFN_vkEnumeratePhysicalDevices physical_devices;
static PFN_vkCreateDevice create_device;
static PFN_vkGetPhysicalDeviceMemoryProperties2 memory_properties;

/* After `after` calls of the function, the next ones return `result`. "" ends it. vkBeginCommandBuffer fails once,
 * since without it nothing can be rescued. "fork": vkQueueSubmit does, as a driver might, and works. "raise": all of
 * them, and those below that cannot fail, raise floating-point exceptions, as a driver might, and work. "*": any
 * function that can fail does, once. */
EXPORT void test_fail_vulkan(const char* function, int result, int after) {
    times = strcmp(function, "vkBeginCommandBuffer") == 0 || strcmp(function, "*") == 0 ? 1 : INT_MAX;
    counted = 0;
    failing = function;
    failure = (VkResult)result;
    works = after;
}

static int raised;

/* How often a function raised exceptions. */
EXPORT int test_raised(void) { return raised; }

/* How many functions that can fail were called since test_fail_vulkan. */
EXPORT int test_vulkan_calls(void) { return counted; }

/* It fails so often instead. */
EXPORT void test_fail_vulkan_times(int count) { times = count; }

static void raises(void) {
    if (strcmp(failing, "raise") != 0) return;
    ++raised;
    volatile double zero = 0, result = zero / zero;
    result = 1 / zero;
    (void)result;
}

static int fails(const char* function) {
    raises();
    ++counted;
    if (strcmp(failing, "*") != 0 && strcmp(function, failing) != 0) return 0;
    return works-- <= 0 && times-- > 0;
}

static VKAPI_ATTR VkResult VKAPI_CALL failing_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                       const VkAllocationCallbacks* allocator, VkDeviceMemory* out) {
    return fails("vkAllocateMemory") ? failure : allocate_memory(device, info, allocator, out);
}
static VKAPI_ATTR VkResult VKAPI_CALL failing_map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                                  VkDeviceSize size, VkMemoryMapFlags flags, void** out) {
    return fails("vkMapMemory") ? failure : map_memory(device, memory, offset, size, flags, out);
}
static VKAPI_ATTR VkResult VKAPI_CALL failing_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                                     VkFence fence) {
    if (strcmp(failing, "fork") == 0 && works-- <= 0) {
        const pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    return fails("vkQueueSubmit") ? failure : queue_submit(queue, count, submits, fence);
}
static VKAPI_ATTR VkResult VKAPI_CALL failing_begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
    return fails("vkBeginCommandBuffer") ? failure : begin_commands(commands, info);
}
static VKAPI_ATTR VkResult VKAPI_CALL failing_wait(VkDevice device, uint32_t count, const VkFence* fences, VkBool32 all,
                                                   uint64_t timeout) {
    if (!fails("vkWaitForFences")) return wait_for_fences(device, count, fences, all, timeout);
    /* Until a device is lost, it works, and nobody waits for it again. */
    if (strcmp(failing, "*") == 0) wait_for_fences(device, count, fences, all, timeout);
    return failure;
}
static VKAPI_ATTR void VKAPI_CALL raising_destroy(VkDevice device, VkBuffer buffer,
                                                  const VkAllocationCallbacks* allocator) {
    raises();
    destroy_buffer(device, buffer, allocator);
}
static VKAPI_ATTR VkResult VKAPI_CALL failing_list(VkInstance instance, uint32_t* count, VkPhysicalDevice* devices) {
    return fails("vkEnumeratePhysicalDevices") ? failure : physical_devices(instance, count, devices);
}
static VKAPI_ATTR VkResult VKAPI_CALL failing_create(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                                     const VkAllocationCallbacks* allocator, VkDevice* out) {
    return fails("vkCreateDevice") ? failure : create_device(physical, info, allocator, out);
}
static VKAPI_ATTR void VKAPI_CALL raising_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* out) {
    raises();
    memory_properties(device, out);
}

/* X(function, parameters, arguments): those that fail for "*" alone. vkGetFenceStatus is called as often as the device
 * takes, so it does not count. */
#define ALLOCATOR const VkAllocationCallbacks* al
#define CREATOR(X, function, info, handle) \
    X(function, (VkDevice d, const info* i, ALLOCATOR, handle* out), (d, i, al, out))
#define OTHERS_OF_INSTANCE(X) \
    X(vkCreateInstance, (const VkInstanceCreateInfo* i, ALLOCATOR, VkInstance* out), (i, al, out))
#define OTHERS_OF_DEVICE(X)                                                                                            \
    CREATOR(X, vkCreateBuffer, VkBufferCreateInfo, VkBuffer)                                                           \
    CREATOR(X, vkCreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule)                                         \
    CREATOR(X, vkCreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)                    \
    CREATOR(X, vkCreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)                                   \
    CREATOR(X, vkCreatePipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache)                                      \
    CREATOR(X, vkCreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool)                                            \
    CREATOR(X, vkCreateFence, VkFenceCreateInfo, VkFence)                                                              \
    CREATOR(X, vkCreateSemaphore, VkSemaphoreCreateInfo, VkSemaphore)                                                  \
    CREATOR(X, vkCreateQueryPool, VkQueryPoolCreateInfo, VkQueryPool)                                                  \
    X(vkCreateComputePipelines,                                                                                        \
      (VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo* i, ALLOCATOR, VkPipeline* out),   \
      (d, c, n, i, al, out))                                                                                           \
    X(vkBindBufferMemory, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize at), (d, b, m, at))                  \
    X(vkAllocateCommandBuffers, (VkDevice d, const VkCommandBufferAllocateInfo* i, VkCommandBuffer* out), (d, i, out)) \
    X(vkResetCommandPool, (VkDevice d, VkCommandPool p, VkCommandPoolResetFlags f), (d, p, f))                         \
    X(vkEndCommandBuffer, (VkCommandBuffer c), (c))                                                                    \
    X(vkResetFences, (VkDevice d, uint32_t n, const VkFence* f), (d, n, f))                                            \
    X(vkGetQueryPoolResults,                                                                                           \
      (VkDevice d, VkQueryPool p, uint32_t first, uint32_t n, size_t size, void* out, VkDeviceSize stride,             \
       VkQueryResultFlags f),                                                                                          \
      (d, p, first, n, size, out, stride, f))                                                                          \
    X(vkGetPipelineCacheData, (VkDevice d, VkPipelineCache c, size_t * size, void* out), (d, c, size, out))

#define X(function, parameters, arguments)                                 \
    static PFN_##function real_##function;                                 \
    static VKAPI_ATTR VkResult VKAPI_CALL other_##function parameters {    \
        if (strcmp(failing, "*") == 0 && fails(#function)) return failure; \
        return real_##function arguments;                                  \
    }
OTHERS_OF_INSTANCE(X)
OTHERS_OF_DEVICE(X)
#undef X

/* VKGEMM_TESTS_EXTENSION=1: every device claims to have the extension of native kernels, which nothing enables on
 * drivers on which they were not verified. */
static PFN_vkEnumerateDeviceExtensionProperties device_extensions;
static VKAPI_ATTR VkResult VKAPI_CALL more_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                                      VkExtensionProperties* all) {
    const uint32_t room = *count;
    const VkResult result = device_extensions(device, layer, count, all);
    if (layer || result != VK_SUCCESS) return result;
    if (all && *count >= room) return VK_INCOMPLETE;
    if (all) {
        memset(&all[*count], 0, sizeof *all);
        strcpy(all[*count].extensionName, VK_NVX_BINARY_IMPORT_EXTENSION_NAME);
    }
    ++*count;
    return VK_SUCCESS;
}

#define REPLACE(function, kept, replacement)    \
    if (strcmp(name, #function) == 0 && real) { \
        kept = (PFN_##function)real;            \
        return (PFN_vkVoidFunction)replacement; \
    }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char* name) {
    const PFN_vkVoidFunction real = device_functions(device, name);
    REPLACE(vkAllocateMemory, allocate_memory, failing_allocate)
    REPLACE(vkMapMemory, map_memory, failing_map)
    REPLACE(vkQueueSubmit, queue_submit, failing_submit)
    REPLACE(vkWaitForFences, wait_for_fences, failing_wait)
    REPLACE(vkBeginCommandBuffer, begin_commands, failing_begin)
    REPLACE(vkDestroyBuffer, destroy_buffer, raising_destroy)
#define X(function, parameters, arguments) REPLACE(function, real_##function, other_##function)
    OTHERS_OF_DEVICE(X)
#undef X
    return real;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char* name) {
    static PFN_vkGetInstanceProcAddr get;
    if (!get) {
        void* loader = dlopen(VKGEMM_TESTS_VULKAN, RTLD_NOW | RTLD_LOCAL);
        if (!loader) abort();
        get = (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr");
    }
    const PFN_vkVoidFunction real = get(instance, name);
    if (getenv("VKGEMM_TESTS_EXTENSION")) {
        REPLACE(vkEnumerateDeviceExtensionProperties, device_extensions, more_extensions)
    }
#define X(function, parameters, arguments) REPLACE(function, real_##function, other_##function)
    OTHERS_OF_INSTANCE(X)
#undef X
    REPLACE(vkEnumeratePhysicalDevices, physical_devices, failing_list)
    REPLACE(vkCreateDevice, create_device, failing_create)
    REPLACE(vkGetPhysicalDeviceMemoryProperties2, memory_properties, raising_memory)
    REPLACE(vkGetDeviceProcAddr, device_functions, device_function)
    return real;
}

/* SPDX-License-Identifier: MIT
 * The Vulkan code that the example needs. An engine has all of this already. */
#ifndef GPU_H
#define GPU_H
#include <vkgemm/vkgemm.h>

typedef struct Gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family, api_version;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    VkPhysicalDeviceFeatures2 features; /* the chain given to vkCreateDevice */
    void* feature_memory;               /* holds the structs that vkgemm appended to the chain */
    int has_addresses;                  /* buffers can have a device address */
} Gpu;

typedef struct GpuBuffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    float* data; /* mapped and coherent */
} GpuBuffer;

PFN_vkGetInstanceProcAddr gpu_loader(void);
int gpu_create_instance(Gpu* gpu); /* returns 0 on success, like every function here */
int gpu_create_device(Gpu* gpu, const VkgemmNeeds* needs);
int gpu_create_buffer(const Gpu* gpu, VkDeviceSize bytes, GpuBuffer* buffer);
void gpu_destroy_buffer(const Gpu* gpu, GpuBuffer* buffer);
void gpu_destroy(Gpu* gpu);

typedef int (*GpuRecord)(VkCommandBuffer commands, void* user);
int gpu_run(const Gpu* gpu, GpuRecord record, void* user); /* records, submits, waits */
#endif

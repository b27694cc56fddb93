/* SPDX-License-Identifier: MIT */
/* A C program that is compiled against the headers of a released version, in a folder beside this file, and linked with
 * the library of today. It goes through the API from vkgemmQueryNeeds to a product on the device, and checks what it
 * gets. Code 0 if all is right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vkgemm/vkgemm.h>
#include <volk.h>

#define CHECK(x)                                                                            \
    do {                                                                                    \
        if (!(x)) {                                                                         \
            fprintf(stderr, "%s:%d: not so: %s: %s\n", __FILE__, __LINE__, #x, error.text); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

enum { M = 20, N = 30, K = 40 };

static VkgemmError error;
static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static uint32_t family;
static int addresses;

static void create_instance(void) {
    VkApplicationInfo app = {VK_STRUCTURE_TYPE_APPLICATION_INFO, NULL, "abi", 0, NULL, 0, VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, NULL, 0, NULL, 0, NULL, 0, NULL};
    VkQueueFamilyProperties families[16];
    uint32_t count = 1;
    info.pApplicationInfo = &app;
    CHECK(volkInitialize() == VK_SUCCESS);
    CHECK(vkCreateInstance(&info, NULL, &instance) == VK_SUCCESS);
    volkLoadInstance(instance);
    CHECK(vkEnumeratePhysicalDevices(instance, &count, &physical) >= 0 && count == 1);
    count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++family;
    CHECK(family < count);
}

static void create_device(const VkgemmNeeds* needs, VkPhysicalDeviceFeatures2* features) {
    const float priority = 1;
    VkDeviceQueueCreateInfo queues = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, 0, 1, NULL};
    VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, NULL, 0, 1, NULL, 0, NULL, 0, NULL, NULL};
    queues.queueFamilyIndex = family;
    queues.pQueuePriorities = &priority;
    info.pNext = features;
    info.pQueueCreateInfos = &queues;
    info.enabledExtensionCount = needs->requiredExtensionCount;
    info.ppEnabledExtensionNames = needs->requiredExtensions;
    CHECK(vkCreateDevice(physical, &info, NULL, &device) == VK_SUCCESS);
    volkLoadDevice(device);
    vkGetDeviceQueue(device, family, 0, &queue);
}

/* A mapped buffer of `count` floats, and its memory. */
static VkBuffer create_buffer(size_t count, float** data, VkDeviceMemory* memory) {
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, NULL, 0, 0, 0, VK_SHARING_MODE_EXCLUSIVE, 0, NULL};
    VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, NULL,
                                       VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, 0, 0};
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryRequirements needs;
    VkBuffer buffer;
    void* mapped;
    info.size = count * sizeof(float);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | (addresses ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0);
    CHECK(vkCreateBuffer(device, &info, NULL, &buffer) == VK_SUCCESS);
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           (types.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) != wanted)
        CHECK(++allocate.memoryTypeIndex < types.memoryTypeCount);
    allocate.allocationSize = needs.size;
    if (addresses) allocate.pNext = &flags;
    CHECK(vkAllocateMemory(device, &allocate, NULL, memory) == VK_SUCCESS);
    CHECK(vkBindBufferMemory(device, buffer, *memory, 0) == VK_SUCCESS);
    CHECK(vkMapMemory(device, *memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS);
    *data = mapped;
    return buffer;
}

static void submit(VkgemmPlan plan, const VkgemmRun* run) {
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, NULL, 0, 0};
    VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, VK_NULL_HANDLE,
                                            VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, NULL,
                                      VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, NULL};
    VkMemoryBarrier to_host = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL, VK_ACCESS_SHADER_WRITE_BIT,
                               VK_ACCESS_HOST_READ_BIT};
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO, NULL, 0, NULL, NULL, 1, NULL, 0, NULL};
    VkCommandBuffer commands;
    pool_info.queueFamilyIndex = family;
    CHECK(vkCreateCommandPool(device, &pool_info, NULL, &allocate.commandPool) == VK_SUCCESS);
    CHECK(vkAllocateCommandBuffers(device, &allocate, &commands) == VK_SUCCESS);
    CHECK(vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS);
    CHECK(vkgemmRecord(plan, commands, run, &error) == VKGEMM_SUCCESS);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0,
                         NULL, 0, NULL);
    CHECK(vkEndCommandBuffer(commands) == VK_SUCCESS);
    info.pCommandBuffers = &commands;
    CHECK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS);
    CHECK(vkQueueWaitIdle(queue) == VK_SUCCESS);
    vkDestroyCommandPool(device, allocate.commandPool, NULL);
}

/* What answers without a device, and the constants that a compiled caller has inside it. */
static void check_library(void) {
    VkgemmProblem problem = {0};
    VkgemmKernelInfo kernel = {0};
    double alpha, beta;
    char text[200];
    size_t size = sizeof text;
    CHECK(vkgemmVersion() >= VKGEMM_VERSION);
    CHECK(strcmp(vkgemmResultName(VKGEMM_ERROR_PARSE), "parse") == 0);
    problem.structSize = sizeof problem;
    CHECK(vkgemmParseProblem("f16*f16 64x32x16 bias=col act=gelu alpha=2", &problem, &alpha, &beta, &error) ==
          VKGEMM_SUCCESS);
    CHECK(problem.m == 64 && problem.n == 32 && problem.k == 16 && problem.b.type == VKGEMM_TYPE_F16);
    CHECK(problem.epilogueCount == 2 && problem.epilogue[0].kind == VKGEMM_STEP_BIAS_COL &&
          problem.epilogue[1].kind == VKGEMM_STEP_GELU && alpha == 2 && beta == 0);
    CHECK(vkgemmFormatProblem(&problem, 1, 0, text, &size) == VKGEMM_SUCCESS);
    CHECK(strstr(text, "64x32x16"));
    kernel.structSize = sizeof kernel;
    CHECK(vkgemmKernelCount() > 0 && vkgemmGetKernel(0, &kernel) == VKGEMM_SUCCESS);
    CHECK(kernel.name[0] && kernel.family[0] && strstr(kernel.tile, "WG=") && kernel.needs);
}

static VkgemmContext create_context(const VkgemmNeeds* needs, VkPhysicalDeviceFeatures2* features) {
    VkgemmContextInfo info = {0};
    VkgemmContext context = NULL;
    info.structSize = sizeof info;
    info.instance = instance;
    info.physicalDevice = physical;
    info.device = device;
    info.apiVersion = VK_API_VERSION_1_2;
    info.getInstanceProcAddr = vkGetInstanceProcAddr;
    info.enabledFeatures = features;
    info.enabledExtensions = needs->requiredExtensions;
    info.enabledExtensionCount = needs->requiredExtensionCount;
    info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT;
    CHECK(vkgemmCreateContext(&info, &context, &error) == VKGEMM_SUCCESS);
    return context;
}

static void check_plan(VkgemmPlan plan) {
    VkgemmPlanInfo info = {0};
    VkgemmAccess accesses[VKGEMM_SLOT_COUNT];
    uint32_t count = VKGEMM_SLOT_COUNT;
    info.structSize = sizeof info;
    CHECK(vkgemmGetPlanInfo(plan, &info) == VKGEMM_SUCCESS);
    CHECK(info.kernel[0] && info.slotCount >= VKGEMM_SLOT_COUNT);
    CHECK(info.requiredBytes[VKGEMM_SLOT_A] == M * K * sizeof(float));
    CHECK(info.requiredBytes[VKGEMM_SLOT_D] == M * N * sizeof(float));
    CHECK(info.flops == 2.0 * M * N * K && info.errorBound > 0);
    CHECK(vkgemmGetPlanAccesses(plan, &count, accesses) == VKGEMM_SUCCESS && count == 3);
    CHECK(accesses[2].slot == VKGEMM_SLOT_D && accesses[2].access == VK_ACCESS_SHADER_WRITE_BIT);
}

/* D = A B, with an alpha that is never set. */
static void multiply(VkgemmContext context, const VkgemmProblem* problem) {
    static const size_t counts[3] = {M * K, K * N, M * N};
    VkgemmPlanOptions options = {0};
    VkgemmPlan plan = NULL;
    VkgemmRun run = {0};
    VkBuffer buffers[3];
    VkDeviceMemory memories[3];
    float* data[3];
    int i, j, k;
    options.structSize = sizeof options;
    options.kernel = "tiled_f32_8x8";
    CHECK(vkgemmCreatePlan(context, problem, &options, &plan, &error) == VKGEMM_SUCCESS);
    check_plan(plan);
    for (i = 0; i < 3; ++i) buffers[i] = create_buffer(counts[i], &data[i], &memories[i]);
    for (i = 0; i < M * K; ++i) data[0][i] = (float)(i % 7 - 3);
    for (i = 0; i < K * N; ++i) data[1][i] = (float)(i % 5 - 2);
    run.structSize = sizeof run;
    run.a.buffer = buffers[0];
    run.b.buffer = buffers[1];
    run.d.buffer = buffers[2];
    CHECK(vkgemmCheckRun(plan, &run, &error) == VKGEMM_SUCCESS);
    submit(plan, &run);
    for (i = 0; i < M; ++i)
        for (j = 0; j < N; ++j) {
            float sum = 0;
            for (k = 0; k < K; ++k) sum += data[0][i * K + k] * data[1][k * N + j];
            CHECK(data[2][i * N + j] == sum);
        }
    vkgemmDestroyPlan(plan);
    for (i = 0; i < 3; ++i) {
        vkDestroyBuffer(device, buffers[i], NULL);
        vkFreeMemory(device, memories[i], NULL);
    }
}

int main(void) {
    VkgemmProblem problems[2] = {{0}, {0}};
    VkgemmNeedsInfo asked = {0};
    VkgemmNeeds needs = {0};
    VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, NULL, {0}};
    VkgemmContext context;
    void* memory = NULL;
    size_t size = 0;
    uint32_t bit;
    check_library();
    create_instance();
    problems[0].structSize = problems[1].structSize = sizeof problems[0];
    problems[0].m = problems[1].m = M;
    problems[0].n = problems[1].n = N;
    problems[0].k = problems[1].k = K;
    problems[1].a.type = VKGEMM_TYPE_I32;
    asked.structSize = sizeof asked;
    asked.instance = instance;
    asked.physicalDevice = physical;
    asked.apiVersion = VK_API_VERSION_1_2;
    asked.getInstanceProcAddr = vkGetInstanceProcAddr;
    asked.problems = problems;
    asked.problemCount = 2;
    needs.structSize = sizeof needs;
    CHECK(vkgemmQueryNeeds(&asked, &needs, &error) == VKGEMM_SUCCESS);
    CHECK(vkgemmMergeFeatures(needs.requiredFeatures, VK_API_VERSION_1_2, &features, NULL, &size) == VKGEMM_SUCCESS);
    if (size) {
        memory = malloc(size);
        CHECK(memory && vkgemmMergeFeatures(needs.requiredFeatures, VK_API_VERSION_1_2, &features, memory, &size) ==
                            VKGEMM_SUCCESS);
    }
    for (bit = 0; bit < 64; ++bit)
        addresses |= (needs.requiredFeatures >> bit & 1) && strcmp(vkgemmFeatureName(bit), "bufferDeviceAddress") == 0;
    create_device(&needs, &features);
    context = create_context(&needs, &features);
    multiply(context, &problems[0]);
    vkgemmDestroyContext(context);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    free(memory);
    puts("a caller of an older header: all is right");
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Your device: which extensions and features to enable, and the context that borrows the device. Part of vkgemm.h,
 * whose general rules hold here too.
 */
#ifndef VKGEMM_CONTEXT_H
#define VKGEMM_CONTEXT_H

#include <vkgemm/native.h>
#include <vkgemm/problem.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The types of structs in a pNext chain. */
typedef enum VkgemmStructureType {
    VKGEMM_STRUCTURE_TYPE_NONE = 0, /* not the type of any struct */
    VKGEMM_STRUCTURE_TYPE_MAX_ENUM = 0x7fffffff
} VkgemmStructureType;

/* The beginning of every struct that a pNext may point to. Its size never changes. */
typedef struct VkgemmChainHeader {
    VkgemmStructureType type;
    const void* next; /* the next struct of the chain; may be NULL */
} VkgemmChainHeader;

/* ----------------------------------------------------------------------------------------------------
 * Before vkCreateDevice: what to enable
 * ---------------------------------------------------------------------------------------------------- */

/* How kernels reach their operands, and therefore how a run states them (VkgemmOperand). */
typedef enum VkgemmOperandKind {
    /* A run states buffer and offset, which vkgemm binds with push descriptors. vkgemm uses the address of the buffer
     * instead if the device has no push descriptors, if it is a CPU with bufferDeviceAddress (where that is faster), or
     * if native kernels may be used for the types. In these cases VkgemmPlanInfo::usesAddresses is 1, and the buffers
     * need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT. */
    VKGEMM_OPERANDS_BUFFERS = 0,
    /* A run states a device address, or buffer and offset, from which vkgemm queries the address. Needs
     * bufferDeviceAddress. */
    VKGEMM_OPERANDS_ADDRESSES = 1,
    VKGEMM_OPERANDS_MAX_ENUM = 0x7fffffff
} VkgemmOperandKind;

typedef struct VkgemmNeedsInfo {
    uint32_t structSize;
    const void* pNext;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    uint32_t apiVersion; /* the Vulkan version that you will use on the device: VK_API_VERSION_1_1 or higher, and not
                            above VkApplicationInfo::apiVersion. Clamped to the device's version */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    const VkgemmProblem* problems; /* problemCount of them. A refusal names the problem: "problems[2]: ...". May be NULL
                                      if problemCount is 0: the result then covers every built-in kernel */
    uint32_t problemCount;
    VkgemmOperandKind operands; /* the same as in the options of your plans */
} VkgemmNeedsInfo;

/* A feature set has 64 bits and a feature needs at most one extension, so no list of extensions is longer. */
#define VKGEMM_MAX_NEEDED_EXTENSIONS 64

/* Required: without it, at least one of the problems has no kernel. Optional: the device offers it, and it may make one
 * of the problems faster. The strings are static. */
typedef struct VkgemmNeeds {
    uint32_t structSize;
    uint32_t requiredExtensionCount, optionalExtensionCount;
    uint64_t requiredFeatures, optionalFeatures; /* for vkgemmMergeFeatures and, bit by bit, vkgemmFeatureName */
    const char* requiredExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
    const char* optionalExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
} VkgemmNeeds;

/* Lists the extensions and features that the problems need on the physical device. Fails (UNSUPPORTED, LIMIT, ...) with
 * the reason if a problem cannot run there, whatever you enable; *needs is then unchanged. error may be NULL. Any
 * thread. */
VKGEMM_API VkgemmResult vkgemmQueryNeeds(const VkgemmNeedsInfo* info, VkgemmNeeds* needs, VkgemmError* error);

/* Sets `features` in the chain that you will pass as VkDeviceCreateInfo::pNext. Pass VkgemmNeeds::requiredFeatures,
 * alone or combined with optionalFeatures. If the chain already has a struct with the feature's member, the member is
 * set there; VkPhysicalDeviceVulkan11Features to VkPhysicalDeviceVulkan14Features are preferred. Missing structs are
 * appended to the chain. They are placed in `memory`, which must be aligned as malloc aligns and must live as long as
 * the chain.
 *
 * *memorySize is the size of `memory` in bytes on input, and the bytes needed on output. Call with memory NULL to ask
 * for the size (SUCCESS). If no struct is missing, that call returns size 0 and sets the features at once. If `memory`
 * is too small, nothing changes (INCOMPLETE). Nothing changes either (INVALID_ARGUMENT) if the chain does not begin
 * with a VkPhysicalDeviceFeatures2, if a bit has no meaning, or if `memory` is misaligned.
 *
 * apiVersion is as in VkgemmNeedsInfo; this version ignores it. Any thread, but no other thread may use the chain. */
VKGEMM_API VkgemmResult vkgemmMergeFeatures(uint64_t features, uint32_t apiVersion, VkPhysicalDeviceFeatures2* chain,
                                            void* memory, size_t* memorySize);

/* The Vulkan name of a bit of a feature set, such as "bufferDeviceAddress". Bits count from 0. NULL for a bit without
 * meaning. A static string. Any thread. */
VKGEMM_API const char* vkgemmFeatureName(uint32_t bit);

/* ----------------------------------------------------------------------------------------------------
 * The context: one for each VkDevice, which it borrows
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmContext_T* VkgemmContext;
typedef struct VkgemmPlan_T* VkgemmPlan;

typedef enum VkgemmSeverity {
    VKGEMM_SEVERITY_INFO = 0,
    VKGEMM_SEVERITY_WARNING = 1,
    VKGEMM_SEVERITY_ERROR = 2,
    VKGEMM_SEVERITY_MAX_ENUM = 0x7fffffff
} VkgemmSeverity;

/* Receives log messages. It is called on the thread of the vkgemm call that logs, and no lock is held. If several
 * threads use the context, it may run on several threads at the same time. `text` is one line and valid during the
 * call. It must not call vkgemm with the same context, and must not throw. */
typedef void (*VkgemmLogFn)(void* user, VkgemmSeverity severity, const char* text);

/* Receives every product that vkgemmRecord has recorded, so that calls can be captured (vkgemm::host does so for
 * VKGEMM_CAPTURE). Packs and grouped products are not reported. It is called on the thread of vkgemmRecord, and no lock
 * is held.
 *
 * `problem` is the text of the problem with alpha and beta. If the run has VKGEMM_RECORD_SIZES or _STRIDES, the text
 * has the sizes or strides of the run and no upto=. `run` has the library's structSize. All pointers are valid only
 * during the call. It must not record with the same context, and must not throw. */
struct VkgemmRun;
typedef void (*VkgemmRecordedFn)(void* user, const char* problem, VkgemmPlan plan, const struct VkgemmRun* run);

typedef enum VkgemmContextFlagBits {
    VKGEMM_CONTEXT_IGNORE_ENVIRONMENT = 1, /* do not read VKGEMM_KERNEL and VKGEMM_NATIVE */
    /* pipelineCache was created with VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The context then uses it on
     * one thread at a time, so its plans compile one after the other. Do not use the cache elsewhere while plans are
     * created. */
    VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED = 2,
    VKGEMM_CONTEXT_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmContextFlagBits;

typedef struct VkgemmContextInfo {
    uint32_t structSize;
    uint32_t flags; /* VkgemmContextFlagBits */
    const void* pNext;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    uint32_t apiVersion;                           /* as in VkgemmNeedsInfo */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr; /* every other Vulkan function is found through it */

    /* The feature chain that you passed to vkCreateDevice. vkgemm uses no feature that is not set in it. NULL: no
     * feature is enabled. If you used pEnabledFeatures, copy those features into a VkPhysicalDeviceFeatures2. */
    const VkPhysicalDeviceFeatures2* enabledFeatures;

    /* The extensions that you passed to vkCreateDevice. May be NULL if the count is 0. A name that is NULL, or that the
     * physical device does not list, is refused (INVALID_ARGUMENT). */
    const char* const* enabledExtensions;
    uint32_t enabledExtensionCount;

    /* May be VK_NULL_HANDLE. Every thread that creates a plan compiles pipelines through this cache, in parallel. If
     * the cache is externally synchronised, set VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED. */
    VkPipelineCache pipelineCache;

    /* May be NULL. Passed to Vulkan calls; vkgemm's own host memory comes from operator new. The struct is copied, and
     * its callbacks must stay valid until the context is destroyed. pfnAllocation, pfnReallocation and pfnFree are
     * required; of the two internal notifications set both or neither. */
    const VkAllocationCallbacks* allocator;

    VkgemmLogFn log; /* may be NULL */
    void* logUser;   /* passed to log; may be NULL */

    /* May be NULL. The text of a file that 'vkgemm tune' wrote: the kernels that were measured to be the fastest. Each
     * line is a row, '#' begins a comment, and a null ends the text:
     *
     *     NVIDIA H200 | f16*f16 1024x1024x1024 | coopmat_f16_128x64x64 | SPLIT=1,PACK=1
     *
     * The fields are: a part of the device's name, a problem, a kernel, and the constants to replace in the kernel's
     * tile (may be empty). Rows of other devices are ignored.
     *
     * A plan that forces neither kernel nor tile follows the nearest row among these and the built-in ones; if two are
     * equally near, these have priority. A row is near if it has the same types, accuracy, layouts of A and B,
     * batching and alignment to 16 bytes, and if m, n, k and batch each differ by a factor of at most 1.5. The cost
     * model decides instead if no row is near, if the row's kernel cannot run (it may want more workspace), or if the
     * model predicts that the kernel loses ground between the two sizes. vkgemmExplain reports which of these applied.
     *
     * A line that cannot be read is refused (PARSE) with its number. A row whose kernel does not exist in this version,
     * or cannot run on this device, is ignored and logged, once for each reason. */
    const char* tunedRows;

    /* May be NULL. The kernels that failed a self-test, as 'vkgemm check --out' and vkgemm::host::selfTest write them.
     * Each line is a row, '#' begins a comment, and a null ends the text:
     *
     *     llvmpipe | block_f32_64x64 | 64x64x64: D[0][4] is 3 and should be 5
     *
     * The fields are: a part of the device's name, a kernel, and the reason. On that device the kernel is never chosen,
     * and a plan that forces it is refused with the reason. A line that cannot be read is refused (PARSE) with its
     * number. */
    const char* disabledKernels;

    VkgemmRecordedFn recorded; /* may be NULL */
    void* recordedUser;        /* passed to recorded; may be NULL */

    VkQueueFlags queueFlags; /* of the queue family that you submit to; of several families, the flags that any of them
                                has. 0: not stated, so native kernels are not used */
    VkgemmNativeKernels nativeKernels;
} VkgemmContextInfo;

/* Reads the device's properties and finds the Vulkan functions. Compiles nothing. UNSUPPORTED if neither push
 * descriptors nor bufferDeviceAddress are enabled, because no plan could reach its operands. *context is NULL on
 * failure. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* info, VkgemmContext* context, VkgemmError* error);

/* Destroy the plans of the context first, and wait for the command buffers that were recorded with them. context may be
 * NULL. Any thread, but no other thread may use the context. */
VKGEMM_API void vkgemmDestroyContext(VkgemmContext context);

/* Writes the device properties on which choices depend as text: one "name = value" a line, as in the files of
 * tests/devices. text and size are as in vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmDescribeDevice(VkgemmContext context, char* text, size_t* size);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * Your device: which extensions and features to enable, and the context that borrows the device. This header is part of
 * vkgemm.h, and the general rules there hold here too.
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

/* How kernels access their operands, and therefore what a run states in each VkgemmOperand. */
typedef enum VkgemmOperandKind {
    /* A run states a buffer and an offset, and vkgemm binds them with push descriptors. vkgemm uses the address of the
     * buffer instead if the device has no push descriptors, if the device is a CPU with bufferDeviceAddress (where
     * addresses are faster), if a native kernel may compute the types, or if the problem has a grouping or scalars.
     * VkgemmPlanInfo::usesAddresses is then 1, and the buffers need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT. */
    VKGEMM_OPERANDS_BUFFERS = 0,
    /* A run states a device address, or a buffer and an offset. vkgemm queries the address of the buffer. Every kernel
     * reads addresses. Needs bufferDeviceAddress. */
    VKGEMM_OPERANDS_ADDRESSES = 1,
    /* As BUFFERS, but push descriptors are demanded: the validation layers see which bytes a dispatch touches only if
     * they are bound. Where descriptors are not possible, the plan is refused (UNSUPPORTED), and native kernels are not
     * used. */
    VKGEMM_OPERANDS_DESCRIPTORS = 2,
    VKGEMM_OPERANDS_MAX_ENUM = 0x7fffffff
} VkgemmOperandKind;

typedef struct VkgemmNeedsInfo {
    uint32_t structSize;
    const void* pNext;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    uint32_t apiVersion; /* the Vulkan version that you will use on the device: VK_API_VERSION_1_1 or higher, and not
                            above VkApplicationInfo::apiVersion. Clamped to the device's version. A feature that a
                            later version brought counts only if you also enable its extension */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    const VkgemmProblem* problems; /* array of problemCount problems. A refusal names the problem: "problems[2]: ...".
                                      May be NULL if problemCount is 0; the needs are then those of all built-in
                                      kernels */
    uint32_t problemCount;
    VkgemmOperandKind operands; /* what VkgemmPlanOptions::operands of your plans will be */
} VkgemmNeedsInfo;

/* The size of each list of extensions. It suffices, because a feature set has 64 bits and a feature needs at most one
 * extension. */
#define VKGEMM_MAX_NEEDED_EXTENSIONS 64

/* The required extensions and features are one set that suffices for all problems. Push descriptors are among them if
 * the device has them, although bufferDeviceAddress serves instead. The device offers every optional extension and
 * feature, which may make one of the problems faster. The strings are static; do not free them. */
typedef struct VkgemmNeeds {
    uint32_t structSize;
    uint32_t requiredExtensionCount, optionalExtensionCount;
    uint64_t requiredFeatures, optionalFeatures; /* for vkgemmMergeFeatures and, bit by bit, vkgemmFeatureName */
    const char* requiredExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
    const char* optionalExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
} VkgemmNeeds;

/* Lists the extensions and features that the problems need on the physical device. If a problem cannot run there,
 * whatever you enable, the call fails with the reason (UNSUPPORTED, LIMIT, ...) and leaves *needs unchanged. error may
 * be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmQueryNeeds(const VkgemmNeedsInfo* info, VkgemmNeeds* needs, VkgemmError* error);

/* Sets `features` in the chain that you will pass as VkDeviceCreateInfo::pNext. Pass VkgemmNeeds::requiredFeatures,
 * alone or combined with optionalFeatures. If the chain already has a struct with a feature, vkgemm sets the member
 * there; it looks in VkPhysicalDeviceVulkan11Features to VkPhysicalDeviceVulkan14Features first. vkgemm places missing
 * structs in `memory` and appends them to the chain. `memory` is yours, must be aligned as malloc aligns, and must live
 * as long as the chain.
 *
 * On input, *memorySize is the size of `memory` in bytes. On output, it is the number of bytes needed. Call with memory
 * NULL to ask for the size (SUCCESS). If no struct is missing, that call sets the features at once, and *memorySize
 * becomes 0. If `memory` is too small, nothing changes (INCOMPLETE). The call is refused (INVALID_ARGUMENT), and
 * nothing changes, if the chain does not begin with a VkPhysicalDeviceFeatures2, if a bit has no meaning, or if
 * `memory` is misaligned.
 *
 * apiVersion is as in VkgemmNeedsInfo; this version ignores it. Any thread, but no other thread may use the chain. */
VKGEMM_API VkgemmResult vkgemmMergeFeatures(uint64_t features, uint32_t apiVersion, VkPhysicalDeviceFeatures2* chain,
                                            void* memory, size_t* memorySize);

/* The Vulkan name of a bit of a feature set, such as "bufferDeviceAddress". Bits count from 0. Returns a static string,
 * or NULL for a bit without meaning. Any thread. */
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

/* Your function that receives log messages. vkgemm calls it on the thread of the call that logs, and holds no lock. If
 * several threads use the context, the function may run on several threads at the same time. It must not call vkgemm
 * with the same context, and must not throw. `text` is one line, and valid only until the function returns. */
typedef void (*VkgemmLogFn)(void* user, VkgemmSeverity severity, const char* text);

/* Your function that receives every run that vkgemmRecord has recorded, groups of all kinds included, except runs with
 * a batch of 0. Use it to capture calls (vkgemmDescribeRun), as vkgemm::host does for the environment variable
 * VKGEMM_CAPTURE. vkgemm calls the function on the thread of vkgemmRecord, and holds no lock. The function must not
 * record with the same context, and must not throw.
 *
 * `problem` is the text of the problem with alpha and beta, as vkgemmFormatProblem writes it; "": a pack, or a chain
 * that is one dispatch. If the run has VKGEMM_RECORD_SIZES or VKGEMM_RECORD_STRIDES, the text has the sizes or strides
 * of the run, and no upto= unless there is a table of groups. `run` has the structSize of the library. All pointers are
 * valid only until the function returns.
 *
 * A chain (vkgemmRecordChain) of several dispatches is one call for each product, in order. One that is one dispatch is
 * one call: it has no plan of its own, so `plan` is NULL, and `run` is that of its first product. */
struct VkgemmRun;
typedef void (*VkgemmRecordedFn)(void* user, const char* problem, VkgemmPlan plan, const struct VkgemmRun* run);

typedef enum VkgemmContextFlagBits {
    VKGEMM_CONTEXT_IGNORE_ENVIRONMENT = 1, /* do not read VKGEMM_KERNEL and VKGEMM_NATIVE */
    /* pipelineCache was created with VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The context then uses the
     * cache on one thread at a time, so plans compile one after another. Do not use the cache elsewhere while the
     * context compiles plans or pipelines. */
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

    /* The feature chain that you passed to vkCreateDevice. vkgemm uses only features that are set in this chain. NULL:
     * no feature is enabled. If you used pEnabledFeatures, copy those features into a VkPhysicalDeviceFeatures2. A
     * feature that does not count, because apiVersion is too low and its extension is not enabled, is logged
     * (WARNING). */
    const VkPhysicalDeviceFeatures2* enabledFeatures;

    /* The extensions that you passed to vkCreateDevice. May be NULL if the count is 0. A name that is NULL, or that the
     * physical device does not list, is refused (INVALID_ARGUMENT). */
    const char* const* enabledExtensions;
    uint32_t enabledExtensionCount;

    /* May be VK_NULL_HANDLE. Every thread that creates a plan compiles pipelines through this cache, in parallel. If
     * the cache is externally synchronised, set VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED. */
    VkPipelineCache pipelineCache;

    /* May be NULL. vkgemm passes the callbacks to Vulkan calls, and takes its own host memory from operator new. vkgemm
     * copies the struct. The callbacks must stay valid until the context is destroyed. pfnAllocation, pfnReallocation
     * and pfnFree are required. Set both internal notifications or neither. */
    const VkAllocationCallbacks* allocator;

    VkgemmLogFn log; /* may be NULL */
    void* logUser;   /* passed to log; may be NULL */

    /* May be NULL. Tuned rows: the text of a file that 'vkgemm tune' wrote, with the kernels that were the fastest in
     * measurements. Each line is a row, '#' begins a comment, and a null character ends the text:
     *
     *     NVIDIA H200 | f16*f16 1024x1024x1024 | coopmat_f16_128x64x64 | SPLIT=1,PACK=1
     *
     * The fields are: a part of the device's name, a problem, a kernel, and the constants to replace in the kernel's
     * tile (may be empty). Rows of other devices are ignored.
     *
     * A plan that forces neither kernel nor tile follows the nearest row. The library also has built-in rows; if two
     * rows are equally near, yours has priority. A row is near if it has the problem's types, accuracy, layouts of A
     * and B, batching and alignment to 16 bytes, and if its m, n, k and batch each differ from the problem's by a
     * factor of at most 1.5. The cost model decides instead in three cases: no row is near; the row's kernel cannot run
     * (for example because it needs more workspace); or the model predicts that the kernel, although best for the row,
     * is slower than another one for the problem. vkgemmExplain reports which case applied.
     *
     * A line that cannot be read is skipped, and logged (WARNING) with its number and the reason. A row whose kernel
     * does not exist in this version, or cannot run on this device, is ignored; each such reason is logged (INFO) once.
     * vkgemmReadTunedRows (explain.h) checks a file before it is used. */
    const char* tunedRows;

    /* May be NULL. The kernels that failed a self-test, as 'vkgemm check --out' and vkgemm::host::selfTest write them.
     * Each line is a row, '#' begins a comment, and a null character ends the text:
     *
     *     llvmpipe | block_f32_64x64 | 64x64x64: D[0][4] is 3 and should be 5
     *
     * The fields are: a part of the device's name, a kernel, and the reason. On that device, vkgemm never chooses the
     * kernel, and refuses a plan that forces it, with the reason. A line that cannot be read is skipped, and logged
     * (WARNING) with its number and the reason; vkgemmReadDisabledKernels (explain.h) checks a file. */
    const char* disabledKernels;

    VkgemmRecordedFn recorded; /* may be NULL */
    void* recordedUser;        /* passed to recorded; may be NULL */

    VkQueueFlags queueFlags; /* the flags of the queue family that you submit to. If you submit to several families,
                                combine their flags with OR. 0: not stated, so vkgemm uses no native kernel */
    VkgemmNativeKernels nativeKernels; /* which native kernels plans may use: see native.h */
} VkgemmContextInfo;

/* Reads the device's properties and finds the Vulkan functions. Compiles nothing. UNSUPPORTED if neither push
 * descriptors nor bufferDeviceAddress is enabled, because no plan could reach its operands. *context is NULL on
 * failure. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* info, VkgemmContext* context, VkgemmError* error);

/* Destroy the plans of the context first, and wait for the command buffers that were recorded with them. context may be
 * NULL. Any thread, but no other thread may use the context. */
VKGEMM_API void vkgemmDestroyContext(VkgemmContext context);

/* Writes, as text, the device properties on which the choice of a kernel depends: one "name = value" a line, as in the
 * files of tests/devices. text and size are as in vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmDescribeDevice(VkgemmContext context, char* text, size_t* size);

#ifdef __cplusplus
}
#endif
#endif

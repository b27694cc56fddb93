/* SPDX-License-Identifier: MIT
 *
 * vkgemm: matrix multiplication for Vulkan, recorded into your own command buffer.
 *
 *     D = epilogue(alpha * op(A) * op(B) + beta * C)         for each of `batch` matrices
 *
 * The calls, in order (docs/embedding.md walks through them with code):
 *
 *   vkgemmQueryNeeds         before vkCreateDevice: the extensions and features that a list of problems needs
 *   vkgemmCreateContext      borrows your device; you state what you enabled on it
 *   vkgemmCreatePlan         the slow call: checks the problem, chooses a kernel and compiles it
 *   vkgemmRecord             adds the work to your command buffer, as often as you like and from any thread
 *   vkgemmDestroyPlan, vkgemmDestroyContext
 *
 * General rules:
 *   - vkgemm creates no queue, submits nothing, allocates no device memory, never prints or aborts, and keeps no
 *     mutable global state. When a context is created, it reads two environment variables, VKGEMM_KERNEL and
 *     VKGEMM_NATIVE; VKGEMM_CONTEXT_IGNORE_ENVIRONMENT turns that off.
 *   - vkgemm never destroys a handle that you gave it. Lifetimes nest: the device outlives the context, the context
 *     its plans, and a plan the last execution of every command buffer that was recorded with it.
 *   - Every refusal has a code. If you pass a VkgemmError, it also has a sentence with the value, the limit and what
 *     would work.
 *   - vkgemm reads input structs, and the strings that they point to, only during the call, unless a field's comment
 *     states otherwise.
 *   - A pointer may be NULL only if its comment says so. Otherwise NULL is refused (INVALID_ARGUMENT).
 *   - "Any thread" means that several threads may call the function at once, with the same context or plan too.
 *   - Sizes, strides and leading dimensions count elements. Names that end in Offset, Size or Bytes count bytes.
 *   - This header includes vulkan_core.h. With volk, define VK_NO_PROTOTYPES before you include either.
 *
 * How structs grow without breaking you:
 *   - Input and output structs begin with structSize. Set it to sizeof the struct and zero-initialise the rest; zero
 *     is the default of every other field. A later version adds fields at the end of a struct only.
 *   - An older program, whose struct is smaller, works with this library: the missing fields have their defaults, and
 *     output structs are filled as far as they reach.
 *   - A newer program, whose struct is larger, works with this library if the fields that the library does not know
 *     are zero. If one is not, the call is refused (INVALID_ARGUMENT) with both sizes. The unknown fields of an output
 *     struct are set to zero.
 *   - In an array, all structs have the same structSize, and it is the distance in bytes from one to the next.
 *   - Input structs have a pNext for structs that only some callers need. Each begins with a VkgemmChainHeader. This
 *     version defines no such struct, so it refuses whatever is chained (INVALID_ARGUMENT, with its type).
 *   - Six structs have no structSize and never change: VkgemmMatrix, VkgemmEpilogueStep and VkgemmOperand, which
 *     others contain by value; VkgemmAccess and VkgemmRunAccess, which are only array elements; and
 *     VkgemmChainHeader. A property that they lack would become a field of the struct around them, or a new function.
 *     VkgemmError never changes either: it must work before any other call does.
 */
#ifndef VKGEMM_H
#define VKGEMM_H

#include <vulkan/vulkan_core.h>

#include "vkgemm/native.h"
#include "vkgemm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VKGEMM_VERSION_MAJOR 0
#define VKGEMM_VERSION_MINOR 2
#define VKGEMM_VERSION_PATCH 0
#define VKGEMM_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
#define VKGEMM_VERSION VKGEMM_MAKE_VERSION(VKGEMM_VERSION_MAJOR, VKGEMM_VERSION_MINOR, VKGEMM_VERSION_PATCH)

/* The version of the linked library, packed as by VKGEMM_MAKE_VERSION. Any thread. */
VKGEMM_API uint32_t vkgemmVersion(void);

/* The types of structs in a pNext chain. */
typedef enum VkgemmStructureType {
    VKGEMM_STRUCTURE_TYPE_NONE = 0, /* the type of no struct */
    VKGEMM_STRUCTURE_TYPE_MAX_ENUM = 0x7fffffff
} VkgemmStructureType;

/* The beginning of every struct that a pNext may point to. */
typedef struct VkgemmChainHeader {
    VkgemmStructureType type;
    const void* next; /* the next one; may be NULL */
} VkgemmChainHeader;

/* ----------------------------------------------------------------------------------------------------
 * Before you create a device: what to enable
 * ---------------------------------------------------------------------------------------------------- */

/* How a run states where its operands are. */
typedef enum VkgemmOperandKind {
    /* By buffer and offset, bound with push descriptors. Without these, on a CPU with bufferDeviceAddress (where it is
     * faster), and for types of native kernels that may be used, vkgemm uses the buffers' addresses instead, as
     * VkgemmPlanInfo::usesAddresses reports. They then need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT. */
    VKGEMM_OPERANDS_BUFFERS = 0,
    /* By device address, or by buffer and offset, whose address vkgemm then queries. Needs bufferDeviceAddress. */
    VKGEMM_OPERANDS_ADDRESSES = 1,
    VKGEMM_OPERANDS_MAX_ENUM = 0x7fffffff
} VkgemmOperandKind;

typedef struct VkgemmNeedsInfo {
    uint32_t structSize;
    const void* pNext;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    uint32_t apiVersion; /* VK_MAKE_API_VERSION of the lower of two versions: what your VkApplicationInfo asks for, and
                            what you will use of the device. At least VK_API_VERSION_1_1. Clamped to the device's */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    const VkgemmProblem* problems; /* problemCount of them; a refusal names the problem: "problems[2]: ...". May be
                                      NULL if problemCount is 0: then the answer is for all built-in kernels */
    uint32_t problemCount;
    VkgemmOperandKind operands; /* as in the options of the plans */
} VkgemmNeedsInfo;

/* A feature set is 64 bits, and a feature needs at most one extension, so no list of extensions is longer. */
#define VKGEMM_MAX_NEEDED_EXTENSIONS 64

/* Without what is required, at least one of the problems has no kernel. What is optional is offered by the device, and
 * a kernel that may be faster for one of the problems uses it. The strings are static. */
typedef struct VkgemmNeeds {
    uint32_t structSize;
    uint32_t requiredExtensionCount, optionalExtensionCount;
    uint64_t requiredFeatures, optionalFeatures; /* for vkgemmMergeFeatures and, bit by bit, vkgemmFeatureName */
    const char* requiredExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
    const char* optionalExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
} VkgemmNeeds;

/* Refused with the reason (UNSUPPORTED, LIMIT, ...) if a problem cannot run on the physical device whatever is enabled.
 * If the call fails, *needs is unchanged. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmQueryNeeds(const VkgemmNeedsInfo* info, VkgemmNeeds* needs, VkgemmError* error);

/* Sets `features` (needs.requiredFeatures, with or without needs.optionalFeatures) in the chain that will be
 * VkDeviceCreateInfo::pNext. If a struct that has a feature's member is in `chain` already, the member is set there;
 * the VkPhysicalDeviceVulkan11Features to ...Vulkan14Features are preferred. Missing structs are appended from
 * `memory`, which must live as long as the chain and be aligned as malloc aligns.
 *
 * *memorySize: on input the bytes at `memory`, on output the bytes needed. Call with memory NULL to ask for the size
 * (SUCCESS). If no struct is missing, that size is 0 and the features are set at once. If `memory` is too small,
 * nothing changes (INCOMPLETE). INVALID_ARGUMENT, and nothing changes, if the chain does not begin with a
 * VkPhysicalDeviceFeatures2, a bit has no meaning, or `memory` is misaligned.
 *
 * apiVersion is as in VkgemmNeedsInfo; this version does not use it. Any thread, but no other may use the chain. */
VKGEMM_API VkgemmResult vkgemmMergeFeatures(uint64_t features, uint32_t apiVersion, VkPhysicalDeviceFeatures2* chain,
                                            void* memory, size_t* memorySize);

/* The Vulkan name, "bufferDeviceAddress", of bit number `bit` of a feature set, counted from 0. NULL for a bit without
 * meaning. Static. Any thread. */
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

/* Called on the thread of the vkgemm call that logs, without any lock held; on several threads at once if several use
 * the context. `text` is one line and valid during the call. Must not call vkgemm with the same context, or throw. */
typedef void (*VkgemmLogFn)(void* user, VkgemmSeverity severity, const char* text);

/* Called by each vkgemmRecord of a product that succeeds (not of a pack, and not of groups), on its thread and without
 * any lock held, so that calls can be captured (vkgemm::host does, for VKGEMM_CAPTURE). `problem` is the line of the
 * problem with alpha and beta; with VKGEMM_RECORD_SIZES or _STRIDES it has the sizes and strides of the run, and no
 * upto=. `run` is the run as this library reads it: its structSize is the library's. All pointers are valid during the
 * call only. Must not record with the same context, or throw. */
struct VkgemmRun;
typedef void (*VkgemmRecordedFn)(void* user, const char* problem, VkgemmPlan plan, const struct VkgemmRun* run);

typedef enum VkgemmContextFlagBits {
    VKGEMM_CONTEXT_IGNORE_ENVIRONMENT = 1, /* do not read VKGEMM_KERNEL and VKGEMM_NATIVE */
    /* pipelineCache was created with VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The context then never uses
     * it on two threads at once, so its plans compile one after the other. You keep others away from the cache while
     * plans are created. */
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

    /* The chain that you gave to vkCreateDevice. May be NULL: no feature is enabled. If you used pEnabledFeatures, put
     * those into a VkPhysicalDeviceFeatures2 for this field. */
    const VkPhysicalDeviceFeatures2* enabledFeatures;

    /* The extensions that you gave to vkCreateDevice. May be NULL if the count is 0. A name that is NULL, or that the
     * physical device does not list, is refused (INVALID_ARGUMENT). */
    const char* const* enabledExtensions;
    uint32_t enabledExtensionCount;

    /* May be VK_NULL_HANDLE. Pipelines are compiled on every thread that creates a plan, in parallel; a cache that is
     * externally synchronised needs VKGEMM_CONTEXT_CACHE_EXTERNALLY_SYNCHRONIZED. */
    VkPipelineCache pipelineCache;

    /* May be NULL. Copied; what it points to must work until the context is destroyed. It is passed to Vulkan calls;
     * vkgemm's own host memory comes from operator new. pfnAllocation, pfnReallocation and pfnFree must be set, and of
     * the two internal notifications both or neither. */
    const VkAllocationCallbacks* allocator;

    VkgemmLogFn log; /* may be NULL */
    void* logUser;   /* passed to log; may be NULL */

    /* May be NULL. The text of a file that 'vkgemm tune' wrote: the kernels that were measured to be the fastest. One
     * row a line, '#' begins a comment, a null ends the text:
     *
     *     NVIDIA H200 | f16*f16 1024x1024x1024 | coopmat_f16_128x64x64 | SPLIT=1,PACK=1
     *
     * The fields are: a part of the device's name, a problem, a kernel, and the constants to replace in its tile (may
     * be empty). Rows of other devices are ignored. A plan that forces neither kernel nor tile follows the nearest row
     * among these and the built-in ones; if two are equally near, these come first. A row is near if the types, the
     * accuracy, the layouts of A and B, batching and alignment to 16 bytes are the same, and m, n, k and batch each
     * differ by at most a factor of 1.5. If no row is near, or the nearest row's kernel cannot serve (it may want more
     * workspace) or is predicted to suit other sizes than these, the cost model decides, and vkgemmExplain says so.
     *
     * A line that cannot be read is refused (PARSE) with its number. A row whose kernel this version does not have, or
     * this device cannot run, is ignored and logged, once for each reason. */
    const char* tunedRows;

    /* May be NULL. The kernels that a self-test found wrong, as 'vkgemm check --out' and vkgemm::host::selfTest write
     * them. One row a line, '#' begins a comment, a null ends the text:
     *
     *     llvmpipe | block_f32_64x64 | 64x64x64: D[0][4] is 3 and should be 5
     *
     * The fields are: a part of the device's name, a kernel, and the reason. On that device the kernel is never chosen,
     * and a plan that names it is refused with the reason. A line that cannot be read is refused (PARSE) with its
     * number. */
    const char* disabledKernels;

    VkgemmRecordedFn recorded; /* may be NULL */
    void* recordedUser;        /* passed to recorded; may be NULL */

    VkQueueFlags queueFlags; /* of the queue families that recordings are submitted to. 0: unknown, no native kernel */
    VkgemmNativeKernels nativeKernels;
} VkgemmContextInfo;

/* Reads the device's properties and finds the functions; compiles nothing. UNSUPPORTED if neither push descriptors nor
 * bufferDeviceAddress are enabled, because no plan could reach its operands. *context is NULL on failure. error may be
 * NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* info, VkgemmContext* context, VkgemmError* error);

/* First destroy the plans of the context, and wait for every command buffer that was recorded with one. context may be
 * NULL. Any thread, but no other may use the context. */
VKGEMM_API void vkgemmDestroyContext(VkgemmContext context);

/* The device properties on which choices depend, as text: one "name = value" a line, like the files in tests/devices.
 * text and size are as in vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmDescribeDevice(VkgemmContext context, char* text, size_t* size);

/* ----------------------------------------------------------------------------------------------------
 * The plan: immutable once created, but for vkgemmCompilePlan
 * ---------------------------------------------------------------------------------------------------- */

typedef enum VkgemmPlanFlagBits {
    VKGEMM_PLAN_CAPTURE_STATISTICS = 1, /* create pipelines with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR and
                                           ..._CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR; needs pipelineExecutableInfo */
    VKGEMM_PLAN_DRY = 2,          /* compile nothing: for sizes, explanations and vkgemmCheckRun. Cannot be recorded */
    VKGEMM_PLAN_IGNORE_TUNED = 4, /* ignore tuned rows; the cost model chooses */
    /* Compile nothing yet. The plan can be recorded once vkgemmCompilePlan has compiled it (engine.h), or at once if
     * the context has all of its pipelines. */
    VKGEMM_PLAN_DEFER_COMPILE = 8,
    /* Refuse the plan (NOT_COMPILED) if a pipeline is not compiled yet. At most one of DRY, DEFER_COMPILE and this. */
    VKGEMM_PLAN_FAIL_ON_COMPILE = 16,
    VKGEMM_PLAN_NO_NATIVE = 32, /* choose among the shaders alone, as a device without native kernels would */
    VKGEMM_PLAN_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmPlanFlagBits;

typedef struct VkgemmPlanOptions {
    uint32_t structSize;
    uint32_t flags; /* VkgemmPlanFlagBits */
    const void* pNext;

    /* May be NULL: the tuned rows choose, or else the cost model. A name forces that kernel; if it cannot serve, the
     * plan is refused with the reason. The environment variable VKGEMM_KERNEL forces a kernel on plans that name none,
     * but falls back to the usual choice. */
    const char* kernel;

    /* May be NULL. "BM=128,BN=64" replaces those constants of the kernel's tile. Every rule is checked. */
    const char* tile;

    VkgemmOperandKind operands;

    /* Your promise that the offset (or address) of every matrix operand is a multiple of this many bytes: a power of
     * two, at most 2^20. 0 means 16, which is best for speed. Lower values than an element's size count as that. */
    uint32_t operandAlignment;

    /* The most bytes of workspace that you will provide; 0: none. A product with a small D and a long K is faster with
     * some, because K can be split among work groups (64 MiB is plenty). So is one whose A or B cannot be read in
     * 16-byte chunks, because it can be copied into a better layout first (that takes a little more than its size). The
     * bytes that a plan needs are VkgemmPlanInfo::requiredBytes[VKGEMM_SLOT_WORKSPACE]. */
    uint64_t workspaceLimit;

    /* The longest time that one dispatch should take, in seconds: 0.5 for watchdogs of 2 s, 0.004 beside a frame. 0:
     * any time. A pass that may take longer is recorded as several dispatches, each with a part of its work groups; D
     * has the same bits. See vkgemmRecordDispatches (engine.h). A single work group is never split, and a pass never
     * has more than 4096 dispatches. */
    double dispatchSeconds;

    /* What a run of this problem takes on the device, of the largest sizes, in seconds, as you measured it. 0: an
     * estimate, which is too high for most devices, so that there are more dispatches than necessary. */
    double runSeconds;
} VkgemmPlanOptions;

/* Checks whether vkgemmCreatePlan would accept options->kernel (required). Compiles nothing. SUCCESS, or the refusal
 * with every reason in error->text. problem may be NULL: then only the kernel, its tile and the device are checked, and
 * not what depends on sizes and types. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckKernel(VkgemmContext context, const VkgemmProblem* problem,
                                          const VkgemmPlanOptions* options, VkgemmError* error);

/* Checks, chooses, compiles. FALLBACK_USED: the plan was created, but not with the kernel that VKGEMM_KERNEL names.
 * *plan is NULL on failure. options and error may be NULL. Any thread; threads that need the same pipeline wait for the
 * one that compiles it.
 *
 * Plans share pipelines, which live until the context is destroyed or trimmed (vkgemmTrimPipelines). There is one for
 * each combination of kernel, tile and constants that the problem sets: layout, alignment, edges and epilogue. Sizes,
 * factors and the bounds of a clamp are arguments and need no new pipeline. */
VKGEMM_API VkgemmResult vkgemmCreatePlan(VkgemmContext context, const VkgemmProblem* problem,
                                         const VkgemmPlanOptions* options, VkgemmPlan* plan, VkgemmError* error);

/* Makes the plan that packs A or B for `product`: a plan whose problem has a packedA, or packedB, other than
 * VKGEMM_PACKED_NONE. Weights that stay the same are packed once; the products that read them then record one pass less
 * and touch less memory:
 *
 *   1. Make a plan with packedB = VKGEMM_PACKED_ANY. VkgemmPlanInfo::packedB is the key of the layout that it reads.
 *   2. vkgemmCreatePack(plan, VKGEMM_SLOT_B, ...). Record the result with run.b = the matrix as the problem describes
 *      it, run.d = where the packed one goes, and alpha, beta, flags as always (alpha 1, beta 0); no other operand. Its
 *      VkgemmPlanInfo::requiredBytes has both sizes.
 *   3. Record the product with run.b = the packed matrix. Plans for other sizes of A take it too: make them with
 *      packedB = that key. A plan whose kernels read another layout is refused (UNSUPPORTED) with the key.
 *
 * A key stands for everything that the bytes depend on: the layout, the sizes and type of the operand, the version of
 * vkgemm and, if the matrix units define the layout, the device and its driver. So packed bytes may be kept in a file
 * with their key.
 *
 * INVALID_ARGUMENT if the slot is neither A nor B, or comes as the problem describes it. The pack has the flags of the
 * plan: that of a dry one is dry. *pack is NULL on failure. error may be NULL. Any thread. Destroy it like any plan;
 * `product` need not outlive it. */
VKGEMM_API VkgemmResult vkgemmCreatePack(VkgemmPlan product, VkgemmSlot slot, VkgemmPlan* pack, VkgemmError* error);

/* First wait for every command buffer that was recorded with the plan. Its pipelines stay with the context. plan may be
 * NULL. Any thread, but no other may use the plan. */
VKGEMM_API void vkgemmDestroyPlan(VkgemmPlan plan);

/* The pointers live as long as the plan. */
typedef struct VkgemmPlanInfo {
    uint32_t structSize;
    uint32_t slotCount;            /* entries of requiredBytes */
    const char* kernel;            /* "" if the product is empty */
    const char* tile;              /* as in VkgemmKernelInfo */
    const uint64_t* requiredBytes; /* by VkgemmSlot: the bytes that the operand spans from its offset; 0: not used. Of
                                      the largest sizes, and the workspace is enough for every run */
    uint64_t workspaceAlignment;   /* of the workspace's offset, in bytes */
    uint32_t operandAlignment; /* of the matrix operands' offsets, in bytes: your promise, at least an element's size;
                                  16 for an operand that comes packed */
    uint32_t usesAddresses;    /* 1: the shader reads operands through device addresses */
    uint32_t dispatchCount;    /* vkCmdDispatch calls of one recording: one for the product, one for each operand
                                      that is packed, one to add up the slices of K; each of these is several if
                                      VkgemmPlanOptions::dispatchSeconds demands it. Like kernel and tile, for the
                                      largest sizes; vkgemmExplain has the kernels of the smaller ones,
                                      vkgemmCountDispatches (engine.h) the dispatches of a run */
    double flops;              /* 2 m n k, of all products */
    double errorBound;         /* |D - exact| <= errorBound * max|A| * max|B| * |alpha|, before beta C and the
                                      epilogue, if the device rounds to nearest and nothing underflows. 0 for integers;
                                      a D of i8 before it is rounded to whole numbers.
                                      Infinite if k is too large for the accumulator to guarantee anything */
    double predictedCost;      /* by the cost model; comparable only for one problem on one device */
    uint64_t packedA, packedB; /* the keys of the layouts in which A and B must come packed; VKGEMM_PACKED_NONE: as the
                                  problem describes them */
    uint32_t pipelineCount;    /* different pipelines that the plan needs, for all sizes */
    uint32_t missingPipelines; /* of those, how many the context has not compiled; also of a dry plan */
} VkgemmPlanInfo;

/* Fails only for a bad argument (INVALID_ARGUMENT). Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanInfo(VkgemmPlan plan, VkgemmPlanInfo* info);

/* What recording reads and writes, for a render graph or for your own barriers. The flags mean the same in
 * synchronization2. vkgemmGetRunAccesses (engine.h) leaves out what one run does not read. Never changes. */
typedef struct VkgemmAccess {
    VkgemmSlot slot;
    VkPipelineStageFlags stage; /* always VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT */
    VkAccessFlags access;       /* VK_ACCESS_SHADER_READ_BIT, VK_ACCESS_SHADER_WRITE_BIT or both */
    VkDeviceSize size;          /* bytes, from the operand's offset */
} VkgemmAccess;

/* *count: on input the entries at `accesses`, on output the number of accesses, at most VkgemmPlanInfo::slotCount.
 * accesses may be NULL to ask for the number. If C is D, there is one entry for D that reads and writes. INCOMPLETE if
 * not all fit. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanAccesses(VkgemmPlan plan, uint32_t* count, VkgemmAccess* accesses);

/* The pipelines of the plan's dispatches in order, for VK_KHR_pipeline_executable_properties or a debugger. The context
 * owns them. There are none for an empty product, or before the plan is compiled. pipelines may be NULL; count is as in
 * vkgemmGetPlanAccesses. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanPipelines(VkgemmPlan plan, uint32_t* count, VkPipeline* pipelines);

/* Why vkgemmCreatePlan chooses its kernel, as text: the kernel with its tile and cost, the tuned row that decided, why
 * a near tuned row or VKGEMM_KERNEL was not followed, and then every other built-in kernel with its cost or the reason
 * against it, one a line. Compiles nothing. A problem that no kernel serves is explained too (SUCCESS); an invalid
 * problem and invalid options are refused. text and size are as in vkgemmFormatProblem. options and error may be NULL.
 * Any thread. */
VKGEMM_API VkgemmResult vkgemmExplain(VkgemmContext context, const VkgemmProblem* problem,
                                      const VkgemmPlanOptions* options, char* text, size_t* size, VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * Recording
 * ---------------------------------------------------------------------------------------------------- */

/* Where one operand is. The rule is the same on every device; anything else is refused (OPERAND):
 *   VKGEMM_OPERANDS_BUFFERS     buffer and offset; address must be 0
 *   VKGEMM_OPERANDS_ADDRESSES   either address, to which offset is added, or buffer and offset; not both
 * Never changes. */
typedef struct VkgemmOperand {
    VkBuffer buffer;         /* needs VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, and ..._SHADER_DEVICE_ADDRESS_BIT if
                                VkgemmPlanInfo::usesAddresses is 1. Vulkan cannot be asked for a buffer's usage: if the
                                driver returns address 0 the run is refused, otherwise only the validation layer can
                                find the missing bit */
    VkDeviceSize offset;     /* bytes; a multiple of VkgemmPlanInfo::operandAlignment for matrices, of its
                                workspaceAlignment for the workspace, of the element's size for bias and scale */
    VkDeviceSize size;       /* the operand's bytes from offset on; 0: not stated, and not checked */
    VkDeviceAddress address; /* 0: not given */
} VkgemmOperand;

typedef enum VkgemmRecordFlagBits {
    VKGEMM_RECORD_BARRIER_BEFORE = 1, /* record a barrier that makes all earlier work on the queue visible to the run */
    VKGEMM_RECORD_BARRIER_AFTER = 2,  /* record a barrier that makes D visible to all later work on the queue, except
                                         to reads by the host: those need your barrier to VK_PIPELINE_STAGE_HOST_BIT */
    VKGEMM_RECORD_ZERO_ALPHA = 4,     /* alpha is 0 and means 0: the product is skipped */
    VKGEMM_RECORD_SIZES = 8,          /* m, n, k and batch are the sizes of this run, not the problem's; 0 means 0 */
    VKGEMM_RECORD_STRIDES = 16,       /* all `strides` are those of this run; upTo must have VKGEMM_UP_TO_STRIDES */
    VKGEMM_RECORD_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmRecordFlagBits;

/* Operands must not overlap D or the workspace, with two exceptions: C and the residual may be exactly D (the same
 * start, leading dimension, stride and layout). Rows of two operands may interleave, as sub-matrices of one buffer do,
 * if both have the same leading dimension in bytes. The check compares buffer handles, or addresses if
 * VkgemmPlanInfo::usesAddresses is 1, so two buffers that are bound to the same memory are not detected. Within one
 * buffer it finds every overlap, and it refuses some interleavings that are disjoint (9,030 of 360,000 random ones).
 *
 * Two recordings that use the same workspace need a barrier between them: BARRIER_BEFORE of the second, BARRIER_AFTER
 * of the first or your own; a semaphore if they are on two queues.
 *
 * For sums in f64 alpha and beta are used as they are. For other floating-point accumulators they are converted to f32
 * as IEEE 754 does, to nearest. A finite value that would become infinite there, and a nonzero one that would become 0,
 * are refused (INVALID_ARGUMENT): 1e300 and 1e-60, for example. Infinities and NaN propagate. For integer sums they
 * must be whole numbers of 32 bits. */
typedef struct VkgemmRun {
    uint32_t structSize;
    uint32_t flags; /* VkgemmRecordFlagBits */
    const void* pNext;
    VkgemmOperand a, b, c, d;                       /* c only for VKGEMM_C_SEPARATE */
    VkgemmOperand bias, scale, residual, workspace; /* if VkgemmPlanInfo::requiredBytes asks for them */
    double alpha; /* 0 means 1, so that an alpha which is never set has no effect. For a true 0 also set
                     VKGEMM_RECORD_ZERO_ALPHA: then A and B are not read, but must be given */
    double beta;  /* 0: C is not read and may hold NaN. Must be 0 if the problem has no C */
    /* With VKGEMM_RECORD_SIZES, otherwise 0. At most the problem's where VkgemmProblem::upTo has the size (LIMIT), and
     * exactly the problem's elsewhere (INVALID_ARGUMENT). The bytes that an operand needs are those of these sizes. If
     * m, n or batch is 0, only the barriers of `flags` are recorded, and no operand is needed. */
    uint64_t m, n, k, batch;
    /* With VkgemmProblem::grouping: `batch` VkgemmGroup, and with INDEXED the lists of indices, uint32_t each. Both
     * begin at multiples of 4 bytes. `size` of the matrices then says how many bytes a group may use, from `offset` on;
     * if it is 0, they are those of the problem's batch with its strides. */
    VkgemmOperand groups, indices; /* the workspace must be given as a buffer, which also needs
                                      VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT */
    VkgemmOperand scalars;         /* VkgemmScalars, if VkgemmProblem::scalars is not 0; it overrules alpha and beta */
    VkgemmRunStrides strides;      /* with VKGEMM_RECORD_STRIDES, otherwise 0 (INVALID_ARGUMENT) */
} VkgemmRun;

/* Checks a run without recording it. The plan may be dry, or not compiled yet; of any other, SUCCESS means that
 * vkgemmRecord accepts the run. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error);

/* Adds the plan's dispatches to `commandBuffer`, which must be recording, outside a render pass, for a queue family
 * with compute. A call that succeeds allocates nothing, unless VkgemmContextInfo::recorded is set. It takes no lock and
 * submits nothing. A run that vkgemmCheckRun refuses, a dry plan, one that is not compiled yet (NOT_COMPILED) and a
 * NULL commandBuffer are refused, and nothing is recorded; any other run succeeds. error may be NULL. Any thread: many
 * may record one plan at once, into different command buffers.
 *
 * Changes these states of the command buffer: the compute pipeline, the push constants of all stages, and, unless
 * VkgemmPlanInfo::usesAddresses is 1, all descriptor sets of the compute bind point (vkgemm's layout is compatible with
 * no other). Bind yours again afterwards. The graphics pipeline, its descriptor sets and all dynamic state stay.
 *
 * vkgemm records the barriers between its own dispatches; before and after them only with the flags. If the instance
 * has VK_EXT_debug_utils, a label with the problem and the kernel is around them. */
VKGEMM_API VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                     VkgemmError* error);

#ifdef __cplusplus
}
#endif

#include "vkgemm/engine.h"
#include "vkgemm/explain.h"

#endif

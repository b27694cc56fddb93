/* SPDX-License-Identifier: MIT
 *
 * vkgemm: matrix multiplication for Vulkan, recorded into your own command buffer.
 *
 *     D = epilogue(alpha * op(A) * op(B) + beta * C)         for each of `batch` matrices
 *
 * How it is used, in order (docs/embedding.md walks through it):
 *
 *   vkgemmQueryNeeds         before vkCreateDevice: which extensions and features a list of problems asks for
 *   vkgemmCreateContext      lend vkgemm your device; say what you enabled on it
 *   vkgemmCreatePlan         the slow call and the last that can refuse: checks, chooses a kernel, compiles it
 *   vkgemmRecord             adds the work to your command buffer; as often as you like, from any thread
 *   vkgemmDestroyPlan, vkgemmDestroyContext
 *
 * What holds everywhere:
 *   - vkgemm makes no queue, submits nothing, allocates no device memory, prints nothing, aborts never, keeps no
 *     global. It reads one environment variable, VKGEMM_KERNEL, once when a context is made (see
 *     VkgemmPlanOptions::kernel).
 *   - What was lent is never destroyed and must outlive what borrows it: device > context > plan > last execution of
 *     a command buffer recorded with that plan.
 *   - Input structs begin with structSize, which in this version must be exactly sizeof(the struct), and pNext = NULL.
 *     Zero in any other field is its stated default. Both are kept for structs to grow without breaking you: new
 *     fields come at the end.
 *   - Output structs begin with structSize too; set it before the call. Strings in them are static or as documented.
 *   - Five structs have no structSize and never change size, as they stand inside others and in arrays: VkgemmError,
 *     VkgemmMatrix, VkgemmEpilogueStep, VkgemmAccess, VkgemmOperand.
 *   - Every refusal has a code and, where a VkgemmError is passed, a sentence with the value, the limit and what would
 *     work.
 *   - Input structs and the strings in them are read during the call only, unless a field says otherwise.
 *   - A pointer may be NULL only where its comment says "may be NULL"; else NULL is refused (INVALID_ARGUMENT).
 *   - "Any thread": from several threads at once too, also with the same context or plan.
 *   - This header includes vulkan_core.h. A program that gets its functions from volk defines VK_NO_PROTOTYPES before
 *     either.
 *   - Sizes, strides and leading dimensions count elements; names that end in Offset, Size or Bytes count bytes.
 */
#ifndef VKGEMM_H
#define VKGEMM_H

#include <vulkan/vulkan_core.h>

#include "vkgemm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VKGEMM_VERSION_MAJOR 0
#define VKGEMM_VERSION_MINOR 1
#define VKGEMM_VERSION_PATCH 0
#define VKGEMM_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
#define VKGEMM_VERSION VKGEMM_MAKE_VERSION(VKGEMM_VERSION_MAJOR, VKGEMM_VERSION_MINOR, VKGEMM_VERSION_PATCH)

/* The version of the library that is linked, as VKGEMM_MAKE_VERSION packs it. Any thread. */
VKGEMM_API uint32_t vkgemmVersion(void);

/* ----------------------------------------------------------------------------------------------------
 * Before you make a device: what to enable
 * ---------------------------------------------------------------------------------------------------- */

/* How operands are handed over when recording. */
typedef enum VkgemmOperandKind {
    VKGEMM_OPERANDS_BUFFERS = 0,   /* VkBuffers, through pushed descriptors. On a device without push descriptors, and
                                      on a CPU with bufferDeviceAddress, where it is faster, vkgemm takes the buffers'
                                      addresses, and the buffers need VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT:
                                      VkgemmPlanInfo::usesAddresses tells */
    VKGEMM_OPERANDS_ADDRESSES = 1, /* device addresses; needs bufferDeviceAddress */
    VKGEMM_OPERANDS_MAX_ENUM = 0x7fffffff
} VkgemmOperandKind;

typedef struct VkgemmNeedsInfo {
    uint32_t structSize;
    const void* pNext;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    uint32_t apiVersion; /* the lower of what your VkApplicationInfo asks for and what you will use of the device;
                            VK_MAKE_API_VERSION. At least VK_API_VERSION_1_1. Above the device's own: that one */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    const VkgemmProblem*
        problems; /* problemCount of them, each with the same structSize, which is the array's stride in
                                      bytes; a refusal names the problem, "problems[2]: ...". May be NULL with
                                      problemCount 0: then whatever any built-in kernel can use */
    uint32_t problemCount;
    VkgemmOperandKind operands; /* as plans will be made; 0: buffers */
} VkgemmNeedsInfo;

#define VKGEMM_MAX_NEEDED_EXTENSIONS 24

/* `required`: without these at least one of the problems finds no kernel. `optional`: the device has it, and a kernel
 * that may be faster for one of the problems uses it. Strings are static. */
typedef struct VkgemmNeeds {
    uint32_t structSize;
    uint32_t requiredExtensionCount, optionalExtensionCount;
    const char* requiredExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
    const char* optionalExtensions[VKGEMM_MAX_NEEDED_EXTENSIONS];
    uint64_t requiredFeatures, optionalFeatures; /* for vkgemmMergeFeatures and vkgemmFeatureName, bit by bit */
} VkgemmNeeds;

/* UNSUPPORTED, with the reason, when a problem can run on this physical device with no set of features. *needs is as it
 * was when the call fails. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmQueryNeeds(const VkgemmNeedsInfo* info, VkgemmNeeds* needs, VkgemmError* error);

/* Puts `features` (needs.requiredFeatures, with or without needs.optionalFeatures) into the chain that will be
 * VkDeviceCreateInfo::pNext. A struct that is in `chain` already gets its members set (the big Vulkan 1.1 to 1.4
 * structs are understood and preferred); what is missing is appended from `memory`, which must live as long as the
 * chain and be aligned as malloc does.
 *
 * *memorySize: in, the bytes at `memory`; out, the bytes needed. memory may be NULL, to ask. Nothing is changed when it
 * is NULL (SUCCESS) or too small (INCOMPLETE), unless nothing is missing: then the size is 0 and the chain is set at
 * once, with memory NULL too. INVALID_ARGUMENT, and nothing changed: chain does not begin with a
 * VkPhysicalDeviceFeatures2, a bit has no meaning, memory is not aligned.
 *
 * apiVersion is as in VkgemmNeedsInfo; it is not used today, and kept for structs that become core. Any thread, but not
 * while another uses the chain. */
VKGEMM_API VkgemmResult vkgemmMergeFeatures(uint64_t features, uint32_t apiVersion, VkPhysicalDeviceFeatures2* chain,
                                            void* memory, size_t* memorySize);

/* "bufferDeviceAddress" for bit number `bit`, counted from 0, of a feature set; NULL for a bit that has no meaning.
 * Static. Any thread. */
VKGEMM_API const char* vkgemmFeatureName(uint32_t bit);

/* ----------------------------------------------------------------------------------------------------
 * The context: one per VkDevice, which it borrows
 * ---------------------------------------------------------------------------------------------------- */

typedef struct VkgemmContext_T* VkgemmContext;
typedef struct VkgemmPlan_T* VkgemmPlan;

typedef enum VkgemmSeverity {
    VKGEMM_SEVERITY_INFO = 0,
    VKGEMM_SEVERITY_WARNING = 1,
    VKGEMM_SEVERITY_ERROR = 2,
    VKGEMM_SEVERITY_MAX_ENUM = 0x7fffffff
} VkgemmSeverity;

/* Called on the thread of the vkgemm call that has something to say, never while a lock is held; so, where several
 * threads use the context, on several at once. `text` is one line, valid during the call. It must not call back into
 * the same context and must not throw. */
typedef void (*VkgemmLogFn)(void* user, VkgemmSeverity severity, const char* text);

/* Called by each vkgemmRecord that succeeded, on its thread, never while a lock is held; so that calls can be written
 * down (vkgemm::host does, for VKGEMM_CAPTURE). `problem` is its line, with alpha and beta; everything is valid during
 * the call. It must not record with the same context and must not throw. */
struct VkgemmRun;
typedef void (*VkgemmRecordedFn)(void* user, const char* problem, VkgemmPlan plan, const struct VkgemmRun* run);

typedef struct VkgemmContextInfo {
    uint32_t structSize;
    const void* pNext;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    uint32_t apiVersion;                           /* as in VkgemmNeedsInfo */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr; /* the loader's entry; every function is found through it */

    /* The chain given to vkCreateDevice; read during the call only. May be NULL: no feature is enabled. Who gave
     * pEnabledFeatures to vkCreateDevice puts it into a VkPhysicalDeviceFeatures2 for this. */
    const VkPhysicalDeviceFeatures2* enabledFeatures;

    /* Those given to vkCreateDevice; read during the call only. May be NULL with count 0. */
    const char* const* enabledExtensions;
    uint32_t enabledExtensionCount;

    /* May be VK_NULL_HANDLE. One context never uses it on two threads at once; it must not have
     * VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT if others, another context too, use it at the same time. */
    VkPipelineCache pipelineCache;

    /* May be NULL. Copied; what it points to must work until the context is destroyed. It goes to Vulkan calls only;
     * vkgemm's own host memory comes from operator new. */
    const VkAllocationCallbacks* allocator;

    VkgemmLogFn log; /* may be NULL */
    void* logUser;   /* handed to log; may be NULL */

    /* May be NULL. Which kernels have been measured to be the fastest, as 'vkgemm tune' writes them to a file: the text
     * of one, null-terminated, a row a line, '#' begins a comment; read during the call only:
     *
     *     NVIDIA H200 | f16*f16 1024x1024x1024 | coopmat_f16_128x64x64 | SPLIT=1,PACK=1
     *
     * part of the device's name, problem, kernel, constants to replace in its tile (may be empty). Rows of other
     * devices do not matter. Plans that force neither kernel nor tile follow the nearest row, of these and of the
     * built-in ones (of equally near ones these): types, layouts of A and B, batching and alignment to 16 bytes are the
     * same, and m, n, k and batch each within a factor of 1.5. Where none is near, or the kernel of the nearest cannot
     * serve (the workspace that it wants, above all), the cost model decides. vkgemmExplain says which it was.
     *
     * A line that cannot be read is refused (PARSE), with its number. A row whose kernel this version does not have or
     * this device cannot run is left out, and log is told, once for each reason. */
    const char* tunedRows;

    /* May be NULL. Kernels that a self-test found wrong on a device, as 'vkgemm check --out' and vkgemm::host::selfTest
     * write them: null-terminated, a row a line, '#' begins a comment; read during the call only:
     *
     *     llvmpipe | block_f32_64x64 | 64x64x64: D[0][4] is 3 and should be 5
     *
     * part of the device's name, kernel, reason. Where the device is meant the kernel is left out: it is never chosen,
     * and refused where it is named, in each case with the reason; vkgemmExplain gives it, too. A line that cannot be
     * read is refused (PARSE), with its number. */
    const char* disabledKernels;

    VkgemmRecordedFn recorded; /* may be NULL */
    void* recordedUser;        /* handed to recorded; may be NULL */
} VkgemmContextInfo;

/* Reads the device's caps and finds the functions; compiles nothing. *context is NULL on failure. error may be NULL.
 * Any thread. */
VKGEMM_API VkgemmResult vkgemmCreateContext(const VkgemmContextInfo* info, VkgemmContext* context, VkgemmError* error);

/* Destroys the pipelines of all plans, so no command buffer that was recorded with one may still be executing. Plans
 * made from it must be destroyed first. context may be NULL. Any thread, but not while another uses the context. */
VKGEMM_API void vkgemmDestroyContext(VkgemmContext context);

/* The caps that choices rest on, as text: one "name = value" a line, as tests/devices/ keeps them. text and size as in
 * vkgemmFormatProblem. Any thread. */
VKGEMM_API VkgemmResult vkgemmDescribeDevice(VkgemmContext context, char* text, size_t* size);

/* ----------------------------------------------------------------------------------------------------
 * Kernels and tiles
 * ---------------------------------------------------------------------------------------------------- */

/* One built-in kernel: a row of src/plan/kernels/kernels.def. */
typedef struct VkgemmKernelInfo {
    uint32_t structSize;
    const char* name;   /* as VkgemmPlanOptions::kernel takes it; static */
    const char* family; /* "tiled"; static */
    char tile[192];     /* "WG=64,BM=8,BN=8,BK=8,TM=1,TN=1" */
    char needs[320];    /* features by the names of src/plan/device/features.def, space-separated; "" for none */
    VkgemmType a, b, d, accumulate;
    uint32_t built;  /* 0: this build's shader compiler could not compile it */
    uint32_t helper; /* 1: only ever part of a plan beside another kernel, which it packs an operand for or whose
                           slices of K it adds up; never asked for by name */
} VkgemmKernelInfo;

/* How many built-in kernels there are, those that were not built included. Any thread. */
VKGEMM_API uint32_t vkgemmKernelCount(void);

/* INVALID_ARGUMENT when index >= vkgemmKernelCount(), or kernel->structSize is wrong. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetKernel(uint32_t index, VkgemmKernelInfo* kernel);

/* ----------------------------------------------------------------------------------------------------
 * The plan: immutable once made
 * ---------------------------------------------------------------------------------------------------- */

typedef enum VkgemmPlanFlagBits {
    VKGEMM_PLAN_CAPTURE_STATISTICS = 1, /* pipelines are made with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR and
                                           CAPTURE_INTERNAL_REPRESENTATIONS; needs pipelineExecutableInfo enabled */
    VKGEMM_PLAN_DRY = 2,                /* compile no pipeline: for explaining and sizing. It cannot be recorded */
    VKGEMM_PLAN_IGNORE_TUNED = 4,       /* choose by the cost model alone, whatever tuned rows there are */
    VKGEMM_PLAN_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmPlanFlagBits;

typedef struct VkgemmPlanOptions {
    uint32_t structSize;
    const void* pNext;

    /* May be NULL: the context chooses, by tuned rows or else by the cost model. A name forces that kernel; what cannot
     * serve is refused with the reason. The environment variable VKGEMM_KERNEL does the same for plans that name none,
     * but falls back. */
    const char* kernel;

    /* May be NULL. "BM=128,BN=64" replaces those constants of the chosen or named kernel; every rule is checked. */
    const char* tile;

    VkgemmOperandKind operands;

    /* Your promise: the offset (address) of every matrix operand is a multiple of this many bytes; a power of two.
     * 0: 16, which the widest loads want. Down to the size of an element works, slower. */
    uint32_t operandAlignment;

    uint32_t flags; /* VkgemmPlanFlagBits */

    /* Bytes of workspace that you are ready to bring; 0: none. Products with a small D and a long K gain from some, for
     * then K is split and its parts run side by side (64 MiB is plenty); so do those whose A or B cannot be read in
     * 16-byte chunks, for then it is copied into shape first (its own size, and a little). What a plan really wants
     * is VkgemmPlanInfo::requiredBytes[VKGEMM_SLOT_WORKSPACE]. */
    uint64_t workspaceLimit;
} VkgemmPlanOptions;

/* Would vkgemmCreatePlan make a plan with options->kernel, which must be set? SUCCESS, or the refusal that it would
 * give, with every reason in error->text; compiles nothing. problem may be NULL: then only the kernel, its tile and the
 * device are looked at, not what depends on sizes and types (work groups, spans, the workspace that SPLIT wants). error
 * may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckKernel(VkgemmContext context, const VkgemmProblem* problem,
                                          const VkgemmPlanOptions* options, VkgemmError* error);

/* Checks, chooses, compiles. FALLBACK_USED: a plan was made, but not with the kernel of VKGEMM_KERNEL. *plan is NULL on
 * failure. options and error may be NULL. Any thread; threads that want the same pipeline wait for one to compile it.
 *
 * Pipelines are shared by plans and live until the context is destroyed: one for each kernel, tile and set of constants
 * that the problem gives (layout, alignment, edges, epilogue, bounds of a clamp). Sizes are no such constants. */
VKGEMM_API VkgemmResult vkgemmCreatePlan(VkgemmContext context, const VkgemmProblem* problem,
                                         const VkgemmPlanOptions* options, VkgemmPlan* plan, VkgemmError* error);

/* Not before the last command buffer that was recorded with it has finished. Its pipelines stay with the context. plan
 * may be NULL. Any thread, but not while another uses the plan. */
VKGEMM_API void vkgemmDestroyPlan(VkgemmPlan plan);

typedef struct VkgemmPlanInfo {
    uint32_t structSize;
    const char* kernel;                        /* "" for an empty plan; lives as long as the plan */
    const char* tile;                          /* as in VkgemmKernelInfo; lives as long as the plan */
    uint64_t requiredBytes[VKGEMM_SLOT_COUNT]; /* by VkgemmSlot: what it must span from its offset; 0: not used */
    uint64_t workspaceAlignment;               /* of the workspace's offset, in bytes */
    uint32_t operandAlignment;                 /* of matrix operands' offsets, in bytes; promised or of the elements */
    uint32_t usesAddresses;                    /* 1: operands reach the shader as device addresses */
    uint32_t dispatchCount; /* vkCmdDispatch calls that one recording adds: the product's, and one for
                                                  each operand that is packed and for the slices of a split K */
    double flops;           /* 2 m n k batch */
    double errorBound;      /* |D - exact| <= errorBound * max|A| * max|B| * |alpha|, before beta C
                                                  and the epilogue: a guarantee where the device rounds to nearest
                                                  and nothing underflows; 0 for integers; infinite where k is too
                                                  large for the accumulator to promise anything */
    double predictedCost;   /* the cost model's; to compare within one problem on one device */
} VkgemmPlanInfo;

/* INVALID_ARGUMENT when plan or info is NULL or info->structSize is wrong; else it cannot fail. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanInfo(VkgemmPlan plan, VkgemmPlanInfo* info);

/* What recording reads and writes, for a render graph or for your own barriers. The stage is always
 * VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT; access is VK_ACCESS_SHADER_READ_BIT and / or VK_ACCESS_SHADER_WRITE_BIT. The
 * span begins at the operand's offset. Its size never changes. */
typedef struct VkgemmAccess {
    VkgemmSlot slot;
    VkPipelineStageFlags stage;
    VkAccessFlags access;
    VkDeviceSize size; /* bytes from the operand's offset */
} VkgemmAccess;

/* *count: in, the entries at `accesses`; out, how many there are (at most VKGEMM_SLOT_COUNT). accesses may be NULL, to
 * ask. Where C is D there is one entry, for D, that reads and writes. INCOMPLETE when not all fit. Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanAccesses(VkgemmPlan plan, uint32_t* count, VkgemmAccess* accesses);

/* The pipelines of the plan's dispatches in order, for VK_KHR_pipeline_executable_properties or a debugger. Borrowed:
 * never destroy them. None for an empty or a dry plan. pipelines may be NULL, count as in vkgemmGetPlanAccesses.
 * Any thread. */
VKGEMM_API VkgemmResult vkgemmGetPlanPipelines(VkgemmPlan plan, uint32_t* count, VkPipeline* pipelines);

/* Why this kernel: the choice with its tile and cost, the tuned row that decided, why a tuned row that is near or
 * VKGEMM_KERNEL was not followed, then every other built-in kernel with its cost or the reason against it, one a line.
 * Makes no pipeline. A problem that no kernel serves is explained too (SUCCESS); a broken problem and broken options
 * are refused. text and size as in vkgemmFormatProblem. options and error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmExplain(VkgemmContext context, const VkgemmProblem* problem,
                                      const VkgemmPlanOptions* options, char* text, size_t* size, VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * Recording
 * ---------------------------------------------------------------------------------------------------- */

/* Where one operand lies. For VKGEMM_OPERANDS_BUFFERS: buffer and offset. For VKGEMM_OPERANDS_ADDRESSES: address
 * (offset is added to it), or buffer and offset, whose address is then asked for. Its size never changes. */
typedef struct VkgemmOperand {
    VkBuffer buffer;         /* needs VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, and ..._SHADER_DEVICE_ADDRESS_BIT where
                                VkgemmPlanInfo::usesAddresses is 1. Vulkan tells nobody what a buffer was made for: a
                                driver that gives no address is noticed (OPERAND), one that gives a useless one only by
                                the validation layer */
    VkDeviceSize offset;     /* bytes; a multiple of VkgemmPlanInfo::operandAlignment for matrices, of its
                                workspaceAlignment for the workspace, of the element's size for bias and scale */
    VkDeviceSize size;       /* bytes from offset that belong to the operand; 0: not stated, and then not checked */
    VkDeviceAddress address; /* 0: buffer and offset say it */
} VkgemmOperand;

typedef enum VkgemmRecordFlagBits {
    VKGEMM_RECORD_BARRIER_BEFORE = 1, /* a barrier that makes all earlier work on the queue visible to this product */
    VKGEMM_RECORD_BARRIER_AFTER = 2,  /* a barrier that makes D visible to all later work on the queue; not to reads by
                                         the host, which need one of yours to VK_PIPELINE_STAGE_HOST_BIT */
    VKGEMM_RECORD_FLAG_MAX_ENUM = 0x7fffffff
} VkgemmRecordFlagBits;

/* Two recordings that use the same workspace need a barrier between them, as if it were a result: BARRIER_BEFORE of the
 * second or BARRIER_AFTER of the first is one (on two queues: a semaphore). */
typedef struct VkgemmRun {
    uint32_t structSize;
    const void* pNext;
    VkgemmOperand a, b, c, d; /* c only for VKGEMM_C_SEPARATE. D may be exactly C (same start, same shape); no other
                                 overlap with D */
    VkgemmOperand bias, scale, residual, workspace; /* where VkgemmPlanInfo::requiredBytes asks for them */
    double alpha;   /* converted to the accumulator's type. Zero (also when it is forgotten): A and B are not read, but
                       must be given */
    double beta;    /* zero: C is not read, it may hold NaN */
    uint32_t flags; /* VkgemmRecordFlagBits */
} VkgemmRun;

/* Looks at a run without recording it: SUCCESS, or what vkgemmRecord would answer. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmCheckRun(VkgemmPlan plan, const VkgemmRun* run, VkgemmError* error);

/* Adds the plan's dispatches to `commandBuffer`, which must be recording on a family with compute, outside a render
 * pass. Allocates nothing, locks nothing, submits nothing. It refuses what vkgemmCheckRun refuses and then records
 * nothing at all; with a run that passes, it cannot fail. error may be NULL. Any thread: one plan may be recorded by
 * many at once, into different command buffers.
 *
 * Changed in the command buffer: the compute pipeline; every descriptor set of the compute bind point, for vkgemm's
 * layout is compatible with no other; the push constants of all stages. Bind yours again after it. The graphics
 * pipeline, its descriptor sets and all dynamic state stay.
 *
 * Between its own dispatches vkgemm places the barriers it needs; before and after only with the flags. */
VKGEMM_API VkgemmResult vkgemmRecord(VkgemmPlan plan, VkCommandBuffer commandBuffer, const VkgemmRun* run,
                                     VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif

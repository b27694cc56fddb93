/* SPDX-License-Identifier: MIT
 *
 * For debugging an engine: the barriers that are missing between runs, the barrier that two lists of runs need, and a
 * run as a file that 'vkgemm replay' repeats. Part of vkgemm.h, whose general rules hold here too. docs/validation.md
 * shows a frame with a missing barrier.
 */
#ifndef VKGEMM_DEBUG_H
#define VKGEMM_DEBUG_H

#include <vkgemm/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------
 * Barriers
 * ---------------------------------------------------------------------------------------------------- */

/* One thing that a queue executes: a run, work of yours, or a barrier. A command with a barrier has nothing else. */
typedef struct VkgemmCommand {
    uint32_t structSize;
    uint32_t accessCount; /* elements of accesses */
    const void* pNext;
    const char* name; /* of the command in texts, such as "attention"; may be NULL */
    /* A run, as vkgemmRecord gets it; its BARRIER_BEFORE and BARRIER_AFTER count as barriers. The plan may be dry or
     * not compiled. NULL: no run. Set both or neither. */
    VkgemmPlan plan;
    const VkgemmRun* run;
    /* Memory that work of yours touches, such as a copy, a draw, or a read by the host (HOST, HOST_READ); beside a run,
     * memory that the run touches and vkgemmGetRunAccesses does not list (VKGEMM_GROUPING_ADDRESSES). Each states its
     * stages, its accesses, a buffer or an address, and its size in bytes (VK_WHOLE_SIZE: everything from there on).
     * `slot` is not read. */
    const VkgemmRunAccess* accesses;
    /* A barrier, as vkCmdPipelineBarrier2 gets it. The flags of vkCmdPipelineBarrier have the same values: write them
     * into a VkMemoryBarrier2 or VkBufferMemoryBarrier2. Of a VkImageMemoryBarrier2 only the stages count. State a
     * semaphore or fence between two submissions as a VkMemoryBarrier2 from ALL_COMMANDS | HOST and MEMORY_WRITE to
     * ALL_COMMANDS and MEMORY_READ | MEMORY_WRITE. It covers every command before it in the list. HOST stands for
     * what the host did before the second submission, and is not part of ALL_COMMANDS. NULL: no barrier. */
    const VkDependencyInfo* barrier;
} VkgemmCommand;

typedef enum VkgemmHazardKind {
    VKGEMM_HAZARD_READ_AFTER_WRITE = 0,
    VKGEMM_HAZARD_WRITE_AFTER_WRITE = 1,
    VKGEMM_HAZARD_WRITE_AFTER_READ = 2,
    VKGEMM_HAZARD_MAX_ENUM = 0x7fffffff
} VkgemmHazardKind;

/* Two commands that touch the same bytes, at least one of them to write, without a sufficient barrier between them. The
 * size of this struct never changes. */
typedef struct VkgemmHazard {
    VkgemmHazardKind kind;
    uint32_t first, second; /* indices of the commands */
    /* What the commands use the bytes as; VKGEMM_SLOT_MAX_ENUM: an element of VkgemmCommand::accesses. */
    VkgemmSlot firstSlot, secondSlot;
    uint32_t reserved; /* 0 */
    /* What the commands do with the bytes. After a write, a barrier must have these stages and accesses. For a write
     * after a read, the stages suffice. For a write after a write of bytes that a command between them reads, so does a
     * barrier from that command's stages to secondStage. */
    VkPipelineStageFlags2 firstStage, secondStage;
    VkAccessFlags2 firstAccess, secondAccess;
    VkBuffer buffer;         /* as one of the commands states it; VK_NULL_HANDLE if both state addresses */
    VkDeviceSize offset;     /* of the first byte in `buffer`; 0 without a buffer */
    VkDeviceSize size;       /* bytes that both touch */
    VkDeviceAddress address; /* of the first byte; 0 if it is not known */
    char text[512];          /* all of this as one line, with what the barriers between the commands lack; truncated if
                                it does not fit */
} VkgemmHazard;

/* Finds the barriers that are missing between `commandCount` commands of one queue, in the order of submission. All
 * have the same structSize. To check also that one frame waits for the one before it, pass the frame twice (with frames
 * in flight: without the fence between them, which would cover more than it does; docs/validation.md). The call
 * works on the host alone: it records nothing, and asks the device only for the addresses of buffers.
 *
 * A run touches what vkgemmGetRunAccesses lists. Two operands touch the same bytes if they are in one buffer and their
 * ranges overlap, or if both have an address (their own, or that of their buffer) and these ranges overlap. If you
 * state memory once by address and once by buffer, vkgemm sees that they are the same only if some run of the commands
 * uses that buffer by address. Two buffers without addresses never share bytes, even if they are bound to one memory.
 * A VkBufferMemoryBarrier2 therefore protects memory that is stated as an address only if some run by address states
 * the same buffer; a VkMemoryBarrier2 always does. Ranges are taken as a whole, so interleaved rows of two matrices
 * count as the same bytes.
 *
 * The bytes that a command writes replace what earlier commands did there, so a hazard is reported against the last
 * writer and its readers. If a barrier covers a part of the bytes, the hazard has the rest. Barriers between the
 * dispatches of one run are not its business: vkgemmRecord records them.
 *
 * count is as in vkgemmGetPlanAccesses; 0 hazards: nothing is missing. hazards may be NULL. A command that is refused
 * is named: "commands[2]: ...". error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmFindHazards(const VkgemmCommand* commands, uint32_t commandCount, uint32_t* count,
                                          VkgemmHazard* hazards, VkgemmError* error);

/* Fills the barrier that must be recorded between the commands `before` and the commands `after`, in addition to
 * barriers among them: what vkgemmFindHazards misses between a command of one list and a command of the other.
 *
 * *barrier gets all stages and accesses in one VkMemoryBarrier2. If nothing is missing, its stages and accesses are 0,
 * and you may leave it out. `barriers` gets one VkBufferMemoryBarrier2 for each range of bytes, without a transfer of
 * ownership; count is as in vkgemmGetPlanAccesses. Record either of the two. A barrier of the range is not possible
 * where both commands state an address without a buffer (UNSUPPORTED, if count is not NULL). barrier, barriers and
 * count may be NULL; without count, `barriers` must be NULL. A refusal names the command: "before[2]: ...". error may
 * be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmBarrierBetween(const VkgemmCommand* before, uint32_t beforeCount,
                                             const VkgemmCommand* after, uint32_t afterCount, VkMemoryBarrier2* barrier,
                                             uint32_t* count, VkBufferMemoryBarrier2* barriers, VkgemmError* error);

/* ----------------------------------------------------------------------------------------------------
 * A run as a file
 * ---------------------------------------------------------------------------------------------------- */

/* The number in the first line of the text, which grows if a later version writes what this one cannot read. */
#define VKGEMM_CAPTURE_FORMAT 2

/* The bytes of one operand in host memory. The size of this struct never changes. */
typedef struct VkgemmOperandData {
    VkgemmSlot slot;
    uint32_t reserved; /* 0 */
    const void* data;
    uint64_t size; /* in bytes; VkgemmRunAccess::size of this slot */
} VkgemmOperandData;

typedef struct VkgemmRunData {
    uint32_t structSize;
    uint32_t operandCount;
    /* What the run's operands hold before it: an element for each operand that vkgemmGetRunAccesses lists, except the
     * workspace, in the order of their slots. D is among them. */
    const VkgemmOperandData* operands;
    /* D after the run, of the same size; NULL: not known, for example because the device was lost. */
    const void* result;
} VkgemmRunData;

/* Writes, as text, what 'vkgemm replay' needs to repeat the run with the same kernel: version, device, driver, the
 * problem with the sizes, strides and factors of the run, the kernel, tile and workspace that this run uses (of a plan
 * with varying sizes: those of its range; of a pair that is two products: the kernels and tiles of both, joined by a
 * '+'), how operands reach the shader, and their alignment. docs/files.md describes the format.
 *
 * With data NULL, that is all: enough for a bug report or for `vkgemm explain`. With data, the text also has the size
 * and checksum of each operand and of the result, and a file that can be replayed is the text without its null,
 * followed by the bytes of data->operands in their order.
 *
 * Of a plan with varying sizes, the text has the run's sizes; as few of them vary as a plan with the run's kernel, rows
 * and columns needs.
 *
 * UNSUPPORTED for packs, for runs that compute nothing, for VKGEMM_GROUPING_ADDRESSES, whose memory is not known, and
 * if no plan of the run's sizes has its kernel. INVALID_ARGUMENT if the operands of `data` are not those of the run;
 * the text names the first that differs. The run is otherwise refused as by vkgemmCheckRun. The plan may be dry or not
 * compiled. text and size are as in vkgemmFormatProblem. error may be NULL. Any thread. */
VKGEMM_API VkgemmResult vkgemmDescribeRun(VkgemmPlan plan, const VkgemmRun* run, const VkgemmRunData* data, char* text,
                                          size_t* size, VkgemmError* error);

#ifdef __cplusplus
}
#endif
#endif

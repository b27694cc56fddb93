// SPDX-License-Identifier: MIT
// The tool's one way into the library's sources. A user of the library needs none of this: tracing runs another shader
// module in place of a kernel's, so it must know exactly what the library would record; and inspecting reads machine
// code. inside.cpp includes the sources; this header is plain data.
#pragma once
#include "trace/trace.h"

namespace vkgemm::tool::inside {

/// One dispatch as the library would record it with buffers as descriptors.
struct Dispatch {
    Problem problem{};     // as the kernel sees it: D row-major, every ld and batchStride filled in (0: one matrix)
    bool swapped = false;  // a column-major D: A and B have been exchanged
    std::string kernel, module;  // module: as in its row
    std::string tile;
    std::vector<std::pair<uint32_t, uint32_t>> constants;  // specialization constants
    uint32_t subgroup_size = 0;                            // that is required; 0: none
    bool full_subgroups = false;
    bool memory_model = false;  // the Vulkan memory model is enabled
    uint32_t groups_x = 0, groups_y = 0;
    std::array<VkgemmSlot, bind_count> slots{};  // the operand at each binding; D if the kernel does not use it
    std::array<uint64_t, VKGEMM_SLOT_COUNT> slot_bytes{};  // from the operand's first byte; 0: not used
    std::vector<std::byte> arguments;                      // push constants, without alpha and beta
};

/// The choice without workspace, of options.kernel and options.tile if they are set. Refused like the library would,
/// and if the plan does not take exactly one dispatch.
Result<Dispatch> dispatch_of(const host::Device& device, const Problem& problem, const PlanOptions& options);

/// Why the library cannot read a line of what vkgemmDescribeDevice writes; "": it can.
std::string unreadable_fact(std::string_view line);

/// The push constants with factors that are fit for the problem.
std::vector<std::byte> arguments(const Dispatch& dispatch, double alpha, double beta);

/// The machine code of the native kernel number `index`, as the driver would get it: the cubin of its module, with the
/// functions of other kernels too. UNSUPPORTED if this build does not have it.
Result<std::vector<uint8_t>> machine_code(uint32_t index);

/// The function of machine code that each dispatch of a plan launches; "" for a shader. Of options: kernel, tile and
/// workspaceLimit.
Result<std::vector<std::string>> entry_points(const host::Device& device, const Problem& problem,
                                              const PlanOptions& options);

/// Words of the buffer that a traced module writes (shaders/trace.h), which is at the binding bind_count.
struct TraceWords {
    uint32_t head;                    // words before the counts
    uint32_t capacity, listed, list;  // of the watched group: entries that fit, accesses seen, where the list begins
    uint32_t owners;                  // where the writers of D begin
    uint32_t span, counts, outside, farthest;  // one word for each binding
    uint32_t entry;                            // words of an entry of the list
};
extern const TraceWords trace_words;

}  // namespace vkgemm::tool::inside

// SPDX-License-Identifier: MIT
// What the two public handles point to.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "plan/workspace_gain.h"
#include "vk/pipelines.h"
#include "vkgemm/vkgemm.h"

struct VkgemmContext_T {
    vkgemm::vk::Device device;
    VkAllocationCallbacks allocator;  // the copy that device.allocator points to
    vkgemm::plan::DeviceCaps caps;
    std::optional<vkgemm::plan::DeviceKernels> kernels;  // of `caps`; always there once the context is made
    std::string forced_kernel;                           // VKGEMM_KERNEL; "" if it is not set or is to be ignored
    vkgemm::plan::TunedRows tuned;                       // of this device: the caller's, then the built-in ones
    VkgemmLogFn log;
    void* log_user;
    VkgemmRecordedFn recorded;  // may be null
    void* recorded_user;
    vkgemm::vk::Pipelines pipelines;  // last: destroyed while the device is still there
};

namespace vkgemm::vk {

/// Of a bucket's steps, in their order, and the same for sizes that are multiples of the tile.
struct BucketPipelines {
    std::array<Program, plan::most_steps> steps, whole;
};

}  // namespace vkgemm::vk

struct VkgemmPlan_T {
    VkgemmContext context;
    vkgemm::plan::Plan plan;
    std::array<uint64_t, VKGEMM_SLOT_COUNT> required_bytes;     // as VkgemmPlanInfo points to
    std::vector<vkgemm::vk::Program> programs;                  // one a step; to be read only if `compiled`
    std::vector<vkgemm::vk::BucketPipelines> bucket_pipelines;  // of each bucket; to be read only if `compiled`
    VkgemmOperandKind operands;                                 // VkgemmPlanOptions::operands
    uint32_t flags = 0;                                         // VkgemmPlanFlagBits
    uint32_t pipeline_count = 0;                                // different ones
    std::atomic<bool> compiled{false};  // never goes back; what depends on it was written before
    std::mutex compiling;               // of the thread that compiles it
    std::vector<vkgemm::vk::Pipelines::Use> uses;
    vkgemm::plan::Request request;  // of a product's plan
    std::once_flag gain_asked;
    std::optional<vkgemm::plan::WorkspaceGain> gain;  // to be read only through vk::workspace_gain()
    std::string tile;                                 // as VkgemmPlanInfo points to
    std::string label;                                // for debuggers; "" if there is no function for it
};

namespace vkgemm::vk {

/// To the caller's log, if there is one.
void log(const VkgemmContext_T&, VkgemmSeverity, const std::string& text);

/// What more workspace would bring. Computed when it is first asked for.
const std::optional<plan::WorkspaceGain>& workspace_gain(VkgemmPlan_T&);

}  // namespace vkgemm::vk

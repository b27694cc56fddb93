// SPDX-License-Identifier: MIT
// What the two public handles point to.
#pragma once
#include <string>

#include "vk/pipelines.h"
#include "vkgemm/vkgemm.h"

struct VkgemmContext_T {
    vkgemm::vk::Device device;
    VkAllocationCallbacks allocator;  // the copy that device.allocator points to
    vkgemm::plan::DeviceCaps caps;
    std::string forced_kernel;      // VKGEMM_KERNEL; "" if it is not set or is to be ignored
    vkgemm::plan::TunedRows tuned;  // of this device: the caller's, then the built-in ones
    VkgemmLogFn log;
    void* log_user;
    VkgemmRecordedFn recorded;  // may be null
    void* recorded_user;
    vkgemm::vk::Pipelines pipelines;  // last: destroyed while the device is still there
};

struct VkgemmPlan_T {
    VkgemmContext context;
    vkgemm::plan::Problem given;    // as the caller gave it
    vkgemm::plan::Problem problem;  // completed
    vkgemm::plan::Steps steps;
    std::array<uint64_t, VKGEMM_SLOT_COUNT> required_bytes;  // as VkgemmPlanInfo points to
    std::vector<VkPipeline> pipelines;                       // one a step; empty for a dry plan
    VkgemmOperandKind operands;
    bool dry;
    std::string kernel, tile;
    double cost;
};

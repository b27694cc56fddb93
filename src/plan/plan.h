// SPDX-License-Identifier: MIT
// The one function that plans: a problem and a request in, the steps of a plan out. It is pure, and src/vk only does
// what the result says.
#pragma once
#include "plan/steps/buckets.h"

namespace vkgemm::plan {

/// Everything that is decided about a problem.
struct Plan {
    PreparedProblem problem;      // of a problem that is cut into parts, `normalised` is the first part, the largest
    Choice choice;                // of the largest part or range of sizes; its kernel is null if the problem is empty
    Steps steps;                  // of all parts; if sizes vary, those of the largest, with the workspace of all
    std::vector<Bucket> buckets;  // if sizes vary and none is 0; the last one has `choice` and `steps`
    std::array<Steps, 2> packs;   // by slot, what plan_pack() takes; empty if A or B is not packed ahead
    bool is_pack = false;         // made by plan_pack()
    uint32_t operand_alignment = 1;      // bytes, Request::operand_alignment
    double cost = 0;                     // of all parts, as Schedule::cost
    double flops = 0;                    // of the largest sizes
    std::string gate_kernel, gate_tile;  // of a pair of two products, of the first; `choice` is of the second
    std::string fallback;                // why Request::preferred_kernel was not taken; "" if it was, or there is none
};

/// `given` is as the caller states it. Refused with the reason if it breaks a rule, or if nothing serves it.
Result<Plan> make_plan(const DeviceKernels&, const Problem& given, const Request&);

/// The plan that packs the operand of `slot` for `product`.
Result<Plan> plan_pack(const Plan& product, VkgemmSlot);

/// Why no plan can have the kernel that is requested, whatever the problem.
std::optional<Status> unfit_request(const DeviceCaps&, const Request&);

}  // namespace vkgemm::plan

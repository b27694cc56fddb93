// SPDX-License-Identifier: MIT
#include "plan/base/concat.h"
#include "vk/api_guard.h"
#include "vk/convert.h"
#include "vkgemm/explain.h"

using namespace vkgemm;
using plan::Refusal;

VkgemmResult vkgemmGetKernelProblem(uint32_t index, const VkgemmProblem* like, VkgemmProblem* problem,
                                    VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (index >= plan::kernels().size())
            return vk::to_result(
                error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                               plan::concat({"index is ", index, "; there are ", plan::kernels().size(), " kernels"})});
        const auto given = vk::problem_from(like);
        if (!given) return vk::to_result(error, given.status());
        VkgemmProblem sample = convert::toC(plan::sample_of(plan::kernels()[index], *given));
        if (like->batch == 0) sample.batch = 0;
        if (auto why = vk::write_problem(sample, problem)) return vk::to_result(error, *why);
        return vk::success(error);
    });
}

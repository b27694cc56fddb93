// SPDX-License-Identifier: MIT
#include "measure/rejected_kernel.h"

namespace vkgemm::tool {

std::string rejected_kernel(const host::Device& device, const Problem& problem, PlanOptions options,
                            const std::string& tile, const std::string& chosen) {
    options.kernel = options.tile = nullptr;
    options.flags |= VKGEMM_PLAN_DRY;
    const auto own = device.context().createPlan(problem, options);
    if (!own || own->info().kernel == chosen) return "";
    const std::string its = own->info().kernel;
    options.kernel = its.c_str();
    options.tile = tile.c_str();
    const auto refused = device.context().createPlan(problem, options);
    std::string_view why = refused ? "" : std::string_view(refused.status().text);
    if (why.starts_with(its + ": ")) why.remove_prefix(its.size() + 2);
    return "without --tile, " + its + " would be chosen" +
           (why.empty() ? "" : "; it cannot take these constants: " + std::string(why));
}

}  // namespace vkgemm::tool

// SPDX-License-Identifier: MIT
// The public functions that only report: versions, text, needs, kernels, what a plan is.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "plan/base/concat.h"
#include "plan/needs.h"
#include "plan/steps/group_table.h"
#include "vk/api_guard.h"
#include "vk/device.h"
#include "vk/features.h"
#include "vk/plan_pipelines.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::optional<Status> check_needs_info(const VkgemmNeedsInfo& info) {
    if (!info.instance || !info.physicalDevice || !info.getInstanceProcAddr)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       "VkgemmNeedsInfo: instance, physicalDevice and getInstanceProcAddr must be set"};
    if (info.problemCount && !info.problems)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "VkgemmNeedsInfo::problems is null with a count above 0"};
    return std::nullopt;
}

// The first problem's structSize is the distance from one to the next, so nothing is read before it was checked.
Result<std::vector<plan::Problem>> read_problems(const VkgemmNeedsInfo& info) {
    std::vector<plan::Problem> out;
    for (uint32_t i = 0; i < info.problemCount; ++i) {
        const VkgemmProblem* const given = vk::array_element(info.problems, i);
        if (given->structSize != info.problems->structSize)
            return plan::about_problem(i, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                                                  plan::concat({"VkgemmProblem::structSize is ", given->structSize,
                                                                ", but that of problems[0] is ",
                                                                info.problems->structSize, "; all must be the same"})});
        auto problem = vk::problem_from(given);
        if (!problem) return plan::about_problem(i, problem.status());
        out.push_back(*problem);
    }
    return out;
}

struct FoundNeeds {
    plan::Needs features;
    uint32_t version;
    std::vector<std::string> extensions;  // of the device
};

Result<FoundNeeds> find_needs(const VkgemmNeedsInfo& info) {
    auto f = vk::load_instance_functions(info.getInstanceProcAddr, info.instance);
    if (!f) return f.status();
    auto version = vk::usable_version(*f, info.physicalDevice, info.apiVersion);
    if (!version) return version.status();
    auto problems = read_problems(info);
    if (!problems) return problems.status();
    const auto offered = vk::offered_features(*f, info.physicalDevice, *version);
    if (!offered) return offered.status();
    auto caps = vk::read_device_caps(*f, info.physicalDevice, *version, *offered);
    if (!caps) return caps.status();
    caps->is_physical = true;
    auto needs = plan::needs_of(*caps, *problems, info.operands == VKGEMM_OPERANDS_ADDRESSES,
                                info.operands == VKGEMM_OPERANDS_DESCRIPTORS);
    if (!needs) return needs.status();
    auto extensions = vk::device_extensions(*f, info.physicalDevice);
    if (!extensions) return extensions.status();
    return FoundNeeds{*needs, *version, *std::move(extensions)};
}

// What VkgemmKernelInfo points to.
struct KernelTexts {
    std::string tile, needs;
};

// Made once, when first asked for, and never changed.
const std::vector<KernelTexts>& kernel_texts() {
    static const std::vector<KernelTexts> texts = [] {
        std::vector<KernelTexts> out;
        for (const plan::Kernel& k : plan::kernels())
            out.push_back({plan::to_text(k.tile), plan::feature_names(k.needs)});
        return out;
    }();
    return texts;
}

// Those of the device's extensions that `features` ask for; what it has only as core needs no extension.
std::vector<const char*> extensions_of(plan::FeatureSet features, const FoundNeeds& found) {
    std::vector<const char*> out = vk::extensions_for(features, found.version);
    std::erase_if(out, [&](const char* e) {
        return std::find(found.extensions.begin(), found.extensions.end(), e) == found.extensions.end();
    });
    return out;
}

}  // namespace

uint32_t vkgemmVersion(void) { return VKGEMM_VERSION; }

const char* vkgemmResultName(VkgemmResult result) {
    switch (result) {
        case VKGEMM_SUCCESS:
            return "success";
        case VKGEMM_FALLBACK_USED:
            return "fallback used";
        case VKGEMM_INCOMPLETE:
            return "incomplete";
        case VKGEMM_ERROR_INVALID_ARGUMENT:
            return "invalid argument";
        case VKGEMM_ERROR_INVALID_PROBLEM:
            return "invalid problem";
        case VKGEMM_ERROR_UNSUPPORTED:
            return "unsupported";
        case VKGEMM_ERROR_LIMIT:
            return "limit";
        case VKGEMM_ERROR_TILE:
            return "tile";
        case VKGEMM_ERROR_OPERAND:
            return "operand";
        case VKGEMM_ERROR_WORKSPACE:
            return "workspace";
        case VKGEMM_ERROR_MISSING_FUNCTION:
            return "missing function";
        case VKGEMM_ERROR_OUT_OF_MEMORY:
            return "out of memory";
        case VKGEMM_ERROR_DEVICE_LOST:
            return "device lost";
        case VKGEMM_ERROR_VULKAN:
            return "vulkan";
        case VKGEMM_ERROR_PARSE:
            return "parse";
        case VKGEMM_ERROR_NOT_COMPILED:
            return "not compiled";
        default:
            return "unknown result";
    }
}

VkgemmResult vkgemmParseProblem(const char* text, VkgemmProblem* problem, double* alpha, double* beta,
                                VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!text || !problem)
            return vk::to_result(error,
                                 Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, text ? "problem is null" : "text is null"});
        auto read = plan::parse_problem(text);
        if (!read) return vk::to_result(error, read.status());
        if (auto completed = plan::complete(read->problem);
            !completed && completed.status().code == VKGEMM_ERROR_INVALID_PROBLEM)
            return vk::to_result(error, completed.status());
        if (auto why = vk::write_problem(convert::toC(read->problem), problem)) return vk::to_result(error, *why);
        if (alpha) *alpha = read->alpha;
        if (beta) *beta = read->beta;
        return vk::success(error);
    });
}

VkgemmResult vkgemmFormatProblem(const VkgemmProblem* problem, double alpha, double beta, char* text, size_t* size) {
    return vk::guarded(nullptr, [&]() -> VkgemmResult {
        auto p = vk::problem_from(problem);
        return p ? vk::copy_text(plan::to_text(*p, alpha, beta), text, size) : VKGEMM_ERROR_INVALID_ARGUMENT;
    });
}

VkgemmResult vkgemmQueryNeeds(const VkgemmNeedsInfo* info, VkgemmNeeds* needs, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (auto why = vk::check_output(needs)) return vk::to_result(error, *why);
        const auto asked = vk::read_struct(info);
        if (!asked) return vk::to_result(error, asked.status());
        if (auto why = check_needs_info(*asked)) return vk::to_result(error, *why);
        auto found = find_needs(*asked);
        if (!found) return vk::to_result(error, found.status());
        const plan::Needs& f = found->features;
        const std::vector<const char*> required = extensions_of(f.required, *found);
        const std::vector<const char*> all = extensions_of(f.required | f.optional, *found);
        VkgemmNeeds out{};
        out.requiredFeatures = f.required;
        out.optionalFeatures = f.optional;
        for (const char* e : required) out.requiredExtensions[out.requiredExtensionCount++] = e;
        for (const std::string_view e : all)  // an extension that is required already is not named again
            if (std::find(required.begin(), required.end(), e) == required.end())
                out.optionalExtensions[out.optionalExtensionCount++] = e.data();
        vk::write_struct(out, needs);
        return vk::success(error);
    });
}

VkgemmResult vkgemmMergeFeatures(uint64_t features, uint32_t, VkPhysicalDeviceFeatures2* chain, void* memory,
                                 size_t* memorySize) {
    return vk::guarded(nullptr, [&]() -> VkgemmResult {
        if (!chain || !memorySize || chain->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            return VKGEMM_ERROR_INVALID_ARGUMENT;
        if (features >> static_cast<int>(plan::Feature::count)) return VKGEMM_ERROR_INVALID_ARGUMENT;
        if (reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t)) return VKGEMM_ERROR_INVALID_ARGUMENT;
        const size_t capacity = *memorySize;
        *memorySize = vk::missing_struct_bytes(features, chain);
        if (!memory && *memorySize) return VKGEMM_SUCCESS;
        if (capacity < *memorySize) return VKGEMM_INCOMPLETE;
        vk::merge_features(features, chain, memory);
        return VKGEMM_SUCCESS;
    });
}

const char* vkgemmFeatureName(uint32_t bit) { return vk::vulkan_feature_name(bit); }

VkgemmResult vkgemmDescribeDevice(VkgemmContext context, char* text, size_t* size) {
    if (!context) return VKGEMM_ERROR_INVALID_ARGUMENT;
    return vk::guarded(nullptr, [&] { return vk::copy_text(plan::to_text(context->caps), text, size); });
}

uint32_t vkgemmKernelCount(void) { return static_cast<uint32_t>(plan::kernels().size()); }

VkgemmResult vkgemmGetKernel(uint32_t index, VkgemmKernelInfo* out) {
    return vk::guarded(nullptr, [&]() -> VkgemmResult {
        if (index >= plan::kernels().size() || vk::check_output(out)) return VKGEMM_ERROR_INVALID_ARGUMENT;
        const plan::Kernel& k = plan::kernels()[index];
        const plan::Module& m = k.module;
        const KernelTexts& texts = kernel_texts()[index];
        VkgemmKernelInfo info{};
        info.name = k.name.data();
        info.family = m.family.name.data();
        info.variant = m.family.variant.empty() ? "" : m.family.variant.data();
        info.tile = texts.tile.c_str();
        info.needs = texts.needs.c_str();
        info.a = m.a;
        info.b = m.b;
        info.d = m.d;
        info.accumulate = m.accumulate;
        info.built = m.built();
        info.helper = !m.is_product();
        vk::write_struct(info, out);
        return VKGEMM_SUCCESS;
    });
}

VkgemmResult vkgemmGetPlanInfo(VkgemmPlan p, VkgemmPlanInfo* out) {
    return vk::guarded(nullptr, [&]() -> VkgemmResult {
        if (!p || vk::check_output(out)) return VKGEMM_ERROR_INVALID_ARGUMENT;
        VkgemmPlanInfo info{};
        info.kernel = p->plan.choice.kernel ? p->plan.choice.kernel->name.data() : "";
        info.tile = p->tile.c_str();
        info.requiredBytes = p->required_bytes.data();
        info.slotCount = static_cast<uint32_t>(p->required_bytes.size());
        info.workspaceAlignment = p->plan.steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].alignment;
        for (const VkgemmSlot slot :
             {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_D, VKGEMM_SLOT_RESIDUAL, VKGEMM_SLOT_B2})
            info.operandAlignment = std::max(info.operandAlignment, p->plan.steps.slots[size_t(slot)].alignment);
        info.usesAddresses = p->plan.steps.binding == plan::Binding::addresses;
        info.dispatchCount = plan::dispatch_count(p->plan.steps.steps, p->plan.steps.parts);
        info.flops = p->plan.flops;
        info.errorBound = p->plan.steps.error_bound;
        info.predictedCost = p->plan.cost;
        info.pipelineCount = p->pipeline_count;
        info.missingPipelines = vk::missing_pipelines(*p);
        info.packedA = p->plan.steps.packed_keys[VKGEMM_SLOT_A];
        info.packedB = p->plan.steps.packed_keys[VKGEMM_SLOT_B];
        info.usefulGain = 1;
        info.usefulKernel = "";
        if (out->structSize > offsetof(VkgemmPlanInfo, usefulWorkspace))
            if (const auto& gain = vk::workspace_gain(*p)) {
                info.usefulWorkspace = gain->bytes;
                info.usefulGain = gain->factor;
                info.usefulKernel = gain->kernel->name.data();
            }
        if (p->plan.steps.table) std::ranges::copy(plan::group_alignment(p->plan.steps.steps[0]), info.groupAlignment);
        vk::write_struct(info, out);
        return VKGEMM_SUCCESS;
    });
}

VkgemmResult vkgemmGetPlanAccesses(VkgemmPlan p, uint32_t* count, VkgemmAccess* accesses) {
    if (!p || !count) return VKGEMM_ERROR_INVALID_ARGUMENT;
    const uint32_t capacity = *count;
    *count = 0;
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const plan::Requirement& r = p->plan.steps.slots[i];
        if (r.bytes == 0) continue;
        VkAccessFlags access = 0;
        if (r.reads) access |= VK_ACCESS_SHADER_READ_BIT;
        if (r.writes) access |= VK_ACCESS_SHADER_WRITE_BIT;
        if (accesses && *count < capacity)
            accesses[*count] = {static_cast<VkgemmSlot>(i), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access, r.bytes};
        ++*count;
    }
    return accesses && capacity < *count ? VKGEMM_INCOMPLETE : VKGEMM_SUCCESS;
}

VkgemmResult vkgemmGetPlanPipelines(VkgemmPlan p, uint32_t* count, VkPipeline* pipelines) {
    if (!p || !count) return VKGEMM_ERROR_INVALID_ARGUMENT;
    const size_t capacity = *count, n = p->compiled ? p->programs.size() : 0;
    *count = static_cast<uint32_t>(n);
    if (!pipelines) return VKGEMM_SUCCESS;
    for (size_t i = 0; i < std::min(capacity, n); ++i) pipelines[i] = p->programs[i].pipeline;
    return capacity < n ? VKGEMM_INCOMPLETE : VKGEMM_SUCCESS;
}

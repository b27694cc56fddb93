// SPDX-License-Identifier: MIT
//
// vkgemm for C++20: the C API of vkgemm.h with move-only owners, structs for designated initialisers, spans, and
// results that carry the reason of a failure. It adds no feature and throws nothing of its own. The comments of the C
// headers apply to the functions and fields of the same name.
//
//     auto plan = context.createPlan({.m = 64, .n = 32, .k = 128, .a = {.type = vkgemm::f16}});
//     if (!plan) return report(plan.status().text);
//     plan->record(commands, {.a = {.buffer = a}, .b = {.buffer = b}, .d = {.buffer = d}});
#ifndef VKGEMM_HPP
#define VKGEMM_HPP

#include <vkgemm/vkgemm.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <vkgemm/problem.hpp>

namespace vkgemm {

/// VkgemmPlanOptions
struct PlanOptions {
    const char* kernel = nullptr;
    const char* tile = nullptr;
    VkgemmOperandKind operands = VKGEMM_OPERANDS_BUFFERS;
    uint32_t operandAlignment = 0;
    uint32_t flags = 0;
    uint64_t workspaceLimit = 0;
    double dispatchSeconds = 0, runSeconds = 0;
};

/// VkgemmOperand
struct Operand {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize offset = 0, size = 0;
    VkDeviceAddress address = 0;
};

/// The sizes of one run of a plan whose problem has `upTo`. Those that you leave out are the problem's.
struct Sizes {
    uint64_t m = VKGEMM_SIZE_OF_PROBLEM, n = VKGEMM_SIZE_OF_PROBLEM, k = VKGEMM_SIZE_OF_PROBLEM,
             batch = VKGEMM_SIZE_OF_PROBLEM;
};

/// VkgemmRun. Unlike there, alpha 0 means 0, so it skips the product, and the default is 1.
struct Run {
    Operand a{}, b{}, c{}, d{}, bias{}, scale{}, residual{}, workspace{};
    double alpha = 1, beta = 0;
    uint32_t flags = 0;
    std::optional<Sizes> sizes{};  ///< sets VKGEMM_RECORD_SIZES; without it, all are the problem's, the largest
    Operand groups{}, indices{};
    Operand scalars{};
    std::optional<VkgemmRunStrides> strides{};  ///< sets VKGEMM_RECORD_STRIDES
    Operand b2{}, bias2{};
};

/// VkgemmContextInfo
struct ContextInfo {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physicalDevice = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    uint32_t apiVersion = VK_API_VERSION_1_1;
    PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
    const VkPhysicalDeviceFeatures2* enabledFeatures = nullptr;
    std::span<const char* const> enabledExtensions{};
    VkPipelineCache pipelineCache = VK_NULL_HANDLE;
    const VkAllocationCallbacks* allocator = nullptr;
    VkgemmLogFn log = nullptr;
    void* logUser = nullptr;
    const char* tunedRows = nullptr;
    const char* disabledKernels = nullptr;
    VkgemmRecordedFn recorded = nullptr;
    void* recordedUser = nullptr;
    uint32_t flags = 0;
    VkQueueFlags queueFlags = 0;
    VkgemmNativeKernels nativeKernels = VKGEMM_NATIVE_VERIFIED;
};

/// VkgemmNeedsInfo
struct NeedsInfo {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physicalDevice = VK_NULL_HANDLE;
    uint32_t apiVersion = VK_API_VERSION_1_1;
    PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr;
    std::span<const Problem> problems{};
    VkgemmOperandKind operands = VKGEMM_OPERANDS_BUFFERS;
};

/// VkgemmNeeds
struct Needs {
    std::vector<const char*> requiredExtensions{}, optionalExtensions{};
    uint64_t requiredFeatures = 0, optionalFeatures = 0;
};

/// Conversions between the structs above and those of the C API.
namespace convert {

inline Status toStatus(VkgemmResult code, const VkgemmError& error) {
    if (code < 0 && error.text[0] == '\0') return {code, error.vkResult, vkgemmResultName(code)};
    return {code, error.vkResult, error.text};
}

inline VkgemmPlanOptions toC(const PlanOptions& o) {
    return {.structSize = sizeof(VkgemmPlanOptions),
            .flags = o.flags,
            .pNext = nullptr,
            .kernel = o.kernel,
            .tile = o.tile,
            .operands = o.operands,
            .operandAlignment = o.operandAlignment,
            .workspaceLimit = o.workspaceLimit,
            .dispatchSeconds = o.dispatchSeconds,
            .runSeconds = o.runSeconds};
}

inline VkgemmOperand toC(const Operand& o) {
    return {.buffer = o.buffer, .offset = o.offset, .size = o.size, .address = o.address};
}

inline VkgemmContextInfo toC(const ContextInfo& info) {
    return {.structSize = sizeof(VkgemmContextInfo),
            .flags = info.flags,
            .pNext = nullptr,
            .instance = info.instance,
            .physicalDevice = info.physicalDevice,
            .device = info.device,
            .apiVersion = info.apiVersion,
            .getInstanceProcAddr = info.getInstanceProcAddr,
            .enabledFeatures = info.enabledFeatures,
            .enabledExtensions = info.enabledExtensions.data(),
            .enabledExtensionCount = static_cast<uint32_t>(info.enabledExtensions.size()),
            .pipelineCache = info.pipelineCache,
            .allocator = info.allocator,
            .log = info.log,
            .logUser = info.logUser,
            .tunedRows = info.tunedRows,
            .disabledKernels = info.disabledKernels,
            .recorded = info.recorded,
            .recordedUser = info.recordedUser,
            .queueFlags = info.queueFlags,
            .nativeKernels = info.nativeKernels};
}

inline VkgemmRun toC(const Run& r) {
    const Sizes sizes = r.sizes.value_or(Sizes{0, 0, 0, 0});
    return {.structSize = sizeof(VkgemmRun),
            .flags = r.flags | (r.alpha == 0 ? uint32_t{VKGEMM_RECORD_ZERO_ALPHA} : 0u) |
                     (r.sizes ? uint32_t{VKGEMM_RECORD_SIZES} : 0u) |
                     (r.strides ? uint32_t{VKGEMM_RECORD_STRIDES} : 0u),
            .pNext = nullptr,
            .a = toC(r.a),
            .b = toC(r.b),
            .c = toC(r.c),
            .d = toC(r.d),
            .bias = toC(r.bias),
            .scale = toC(r.scale),
            .residual = toC(r.residual),
            .workspace = toC(r.workspace),
            .alpha = r.alpha,
            .beta = r.beta,
            .m = sizes.m,
            .n = sizes.n,
            .k = sizes.k,
            .batch = sizes.batch,
            .groups = toC(r.groups),
            .indices = toC(r.indices),
            .scalars = toC(r.scalars),
            .strides = r.strides.value_or(VkgemmRunStrides{}),
            .b2 = toC(r.b2),
            .bias2 = toC(r.bias2)};
}

/// An output struct of the C API whose structSize is set.
template <class T>
T output() {
    T out{};
    out.structSize = sizeof out;
    return out;
}

/// The text that a function with the parameters (char* text, size_t* size) writes.
template <class Call>
Result<std::string> text(Call call, VkgemmError& error) {
    size_t size = 0;
    VkgemmResult code = call(nullptr, &size);
    if (code < 0) return toStatus(code, error);
    std::string s(size, '\0');
    code = call(s.data(), &size);
    if (code < 0) return toStatus(code, error);
    s.resize(size == 0 ? 0 : size - 1);
    return s;
}

/// Destroys the handles that the classes below own.
struct Destroy {
    void operator()(VkgemmContext context) const { vkgemmDestroyContext(context); }
    void operator()(VkgemmPlan plan) const { vkgemmDestroyPlan(plan); }
    void operator()(VkgemmExplanation explanation) const { vkgemmDestroyExplanation(explanation); }
    void operator()(VkgemmRows rows) const { vkgemmDestroyRows(rows); }
};

}  // namespace convert

/// vkgemmParseProblem
inline Result<ParsedProblem> parseProblem(const char* text) {
    auto c = convert::output<VkgemmProblem>();
    VkgemmError error{};
    ParsedProblem parsed;
    const VkgemmResult code = vkgemmParseProblem(text, &c, &parsed.alpha, &parsed.beta, &error);
    if (code < 0) return convert::toStatus(code, error);
    parsed.problem = convert::fromC(c);
    return parsed;
}

/// vkgemmFormatProblem
inline Result<std::string> formatProblem(const Problem& problem, double alpha = 1, double beta = 0) {
    VkgemmError none{};
    const VkgemmProblem c = convert::toC(problem);
    return convert::text([&](char* s, size_t* size) { return vkgemmFormatProblem(&c, alpha, beta, s, size); }, none);
}

/// vkgemmQueryNeeds
inline Result<Needs> queryNeeds(const NeedsInfo& info) {
    std::vector<VkgemmProblem> problems;
    for (const Problem& p : info.problems) problems.push_back(convert::toC(p));
    const VkgemmNeedsInfo c{.structSize = sizeof(VkgemmNeedsInfo),
                            .pNext = nullptr,
                            .instance = info.instance,
                            .physicalDevice = info.physicalDevice,
                            .apiVersion = info.apiVersion,
                            .getInstanceProcAddr = info.getInstanceProcAddr,
                            .problems = problems.data(),
                            .problemCount = static_cast<uint32_t>(problems.size()),
                            .operands = info.operands};
    auto needs = convert::output<VkgemmNeeds>();
    VkgemmError error{};
    const VkgemmResult code = vkgemmQueryNeeds(&c, &needs, &error);
    if (code < 0) return convert::toStatus(code, error);
    const auto list = [](const char* const* names, uint32_t count) { return std::vector(names, names + count); };
    return Result<Needs>({.requiredExtensions = list(needs.requiredExtensions, needs.requiredExtensionCount),
                          .optionalExtensions = list(needs.optionalExtensions, needs.optionalExtensionCount),
                          .requiredFeatures = needs.requiredFeatures,
                          .optionalFeatures = needs.optionalFeatures},
                         convert::toStatus(code, error));
}

/// vkgemmMergeFeatures. Existing structs of the chain keep their order. Missing structs are appended and placed in
/// `memory`, whose contents are replaced; do not change it while the chain is in use. If no struct is missing, `memory`
/// is not touched. To merge into the same chain again, pass another vector: one that holds a part of the chain is
/// refused.
inline Status mergeFeatures(uint64_t features, uint32_t apiVersion, VkPhysicalDeviceFeatures2& chain,
                            std::vector<std::byte>& memory) {
    size_t size = 0;
    VkgemmResult code = vkgemmMergeFeatures(features, apiVersion, &chain, nullptr, &size);
    if (code < 0 || size == 0) return convert::toStatus(code, VkgemmError{});
    const auto begin = reinterpret_cast<uintptr_t>(memory.data()), end = begin + memory.size();
    for (const auto* s = static_cast<const VkBaseInStructure*>(chain.pNext); s; s = s->pNext)
        if (const auto at = reinterpret_cast<uintptr_t>(s); begin <= at && at < end)
            return {VKGEMM_ERROR_INVALID_ARGUMENT, VK_SUCCESS,
                    "the chain has structs in this vector; pass another one"};
    memory.resize(size);
    code = vkgemmMergeFeatures(features, apiVersion, &chain, memory.data(), &size);
    return convert::toStatus(code, VkgemmError{});
}

/// Every built-in kernel, in the order of vkgemmGetKernel.
inline std::vector<VkgemmKernelInfo> kernels() {
    std::vector<VkgemmKernelInfo> all(vkgemmKernelCount(), convert::output<VkgemmKernelInfo>());
    for (uint32_t i = 0; i < all.size(); ++i)
        static_cast<void>(vkgemmGetKernel(i, &all[i]));  // cannot fail: i is below the count
    return all;
}

/// Owns a VkgemmPlan.
class Plan {
   public:
    Plan() = default;
    explicit Plan(VkgemmPlan owned) : handle_(owned) {}
    VkgemmPlan handle() const { return handle_.get(); }

    /// vkgemmGetPlanInfo without what more workspace would bring, which takes time and memory: ask an Explanation.
    VkgemmPlanInfo info() const {
        auto info = convert::output<VkgemmPlanInfo>();
        info.structSize = offsetof(VkgemmPlanInfo, usefulWorkspace);
        info.usefulGain = 1;
        info.usefulKernel = "";
        static_cast<void>(vkgemmGetPlanInfo(handle(), &info));
        return info;
    }

    std::vector<VkgemmAccess> accesses() const { return list<VkgemmAccess>(vkgemmGetPlanAccesses); }
    std::vector<VkPipeline> pipelines() const { return list<VkPipeline>(vkgemmGetPlanPipelines); }

    /// vkgemmGetRunAccesses
    Result<std::vector<VkgemmRunAccess>> accesses(const Run& run) const {
        std::vector<VkgemmRunAccess> all(VKGEMM_SLOT_COUNT);
        auto count = static_cast<uint32_t>(all.size());
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        const VkgemmResult code = vkgemmGetRunAccesses(handle(), &c, &count, all.data(), &error);
        if (code < 0) return convert::toStatus(code, error);
        all.resize(count);
        return all;
    }

    /// vkgemmCompilePlan, for a plan that was created with VKGEMM_PLAN_DEFER_COMPILE.
    Status compile() const {
        VkgemmError error{};
        return convert::toStatus(vkgemmCompilePlan(handle(), &error), error);
    }

    /// vkgemmGetPlanKeys
    Result<std::string> keys() const {
        VkgemmError none{};
        return convert::text([&](char* s, size_t* size) { return vkgemmGetPlanKeys(handle(), s, size); }, none);
    }

    /// vkgemmCreatePack: the plan that packs A or B for this one.
    Result<Plan> createPack(VkgemmSlot slot) const {
        VkgemmPlan pack = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmCreatePack(handle(), slot, &pack, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Result<Plan>(Plan(pack), convert::toStatus(code, error));
    }

    Status check(const Run& run) const {
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        return convert::toStatus(vkgemmCheckRun(handle(), &c, &error), error);
    }

    /// vkgemmCheckGroups
    Status checkGroups(const Run& run, std::span<const VkgemmGroup> groups, VkgemmGroupReport* report = nullptr) const {
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        const auto count = static_cast<uint32_t>(groups.size());
        return convert::toStatus(vkgemmCheckGroups(handle(), &c, groups.data(), count, report, &error), error);
    }

    /// vkgemmCheckIndices
    Status checkIndices(const Run& run, std::span<const VkgemmGroup> groups, std::span<const uint32_t> indices,
                        VkgemmGroupReport* report = nullptr) const {
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        const auto count = static_cast<uint32_t>(groups.size()), of_indices = static_cast<uint32_t>(indices.size());
        const VkgemmResult code =
            vkgemmCheckIndices(handle(), &c, groups.data(), count, indices.data(), of_indices, report, &error);
        return convert::toStatus(code, error);
    }

    Status record(VkCommandBuffer commands, const Run& run) const {
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        return convert::toStatus(vkgemmRecord(handle(), commands, &c, &error), error);
    }

    /// vkgemmCountDispatches
    Result<uint32_t> countDispatches(const Run& run) const {
        uint32_t count = 0;
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        const VkgemmResult code = vkgemmCountDispatches(handle(), &c, &count, &error);
        if (code < 0) return convert::toStatus(code, error);
        return count;
    }

    /// vkgemmRecordDispatches
    Status record(VkCommandBuffer commands, const Run& run, uint32_t first, uint32_t count) const {
        VkgemmError error{};
        const VkgemmRun c = convert::toC(run);
        return convert::toStatus(vkgemmRecordDispatches(handle(), commands, &c, first, count, &error), error);
    }

   private:
    template <class T>
    std::vector<T> list(VkgemmResult (*get)(VkgemmPlan, uint32_t*, T*)) const {
        uint32_t count = 0;
        if (get(handle(), &count, nullptr) < 0) return {};
        std::vector<T> all(count);
        if (get(handle(), &count, all.data()) < 0) return {};
        return all;
    }
    std::unique_ptr<VkgemmPlan_T, convert::Destroy> handle_;
};

/// Owns a VkgemmContext. Destroy its plans first.
class Context {
   public:
    Context() = default;
    explicit Context(VkgemmContext owned) : handle_(owned) {}
    VkgemmContext handle() const { return handle_.get(); }

    static Result<Context> create(const ContextInfo& info) {
        const VkgemmContextInfo c = convert::toC(info);
        VkgemmContext context = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmCreateContext(&c, &context, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Result<Context>(Context(context), convert::toStatus(code, error));
    }

    Result<Plan> createPlan(const Problem& problem, const PlanOptions& options = {}) const {
        const VkgemmProblem p = convert::toC(problem);
        const VkgemmPlanOptions o = convert::toC(options);
        VkgemmPlan plan = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmCreatePlan(handle(), &p, &o, &plan, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Result<Plan>(Plan(plan), convert::toStatus(code, error));
    }

    /// `problem` may be null.
    Status checkKernel(const PlanOptions& options, const Problem* problem = nullptr) const {
        const VkgemmProblem p = problem ? convert::toC(*problem) : VkgemmProblem{};
        const VkgemmPlanOptions o = convert::toC(options);
        VkgemmError error{};
        return convert::toStatus(vkgemmCheckKernel(handle(), problem ? &p : nullptr, &o, &error), error);
    }

    Result<std::string> explain(const Problem& problem, const PlanOptions& options = {}) const {
        const VkgemmProblem p = convert::toC(problem);
        const VkgemmPlanOptions o = convert::toC(options);
        VkgemmError error{};
        return convert::text([&](char* s, size_t* size) { return vkgemmExplain(handle(), &p, &o, s, size, &error); },
                             error);
    }

    /// vkgemmQueryWorkspace: the largest workspace that a plan for any of the problems needs, in bytes.
    Result<uint64_t> queryWorkspace(std::span<const Problem> problems, const PlanOptions& options = {}) const {
        std::vector<VkgemmProblem> all;
        for (const Problem& p : problems) all.push_back(convert::toC(p));
        const VkgemmPlanOptions o = convert::toC(options);
        uint64_t bytes = 0;
        VkgemmError error{};
        const VkgemmResult code =
            vkgemmQueryWorkspace(handle(), all.data(), static_cast<uint32_t>(all.size()), &o, &bytes, &error);
        if (code < 0) return convert::toStatus(code, error);
        return bytes;
    }

    /// vkgemmGetPipelineKeys
    Result<std::string> pipelineKeys() const {
        VkgemmError none{};
        return convert::text([&](char* s, size_t* size) { return vkgemmGetPipelineKeys(handle(), s, size); }, none);
    }

    Status compilePipelines(const char* keys) const {
        VkgemmError error{};
        return convert::toStatus(vkgemmCompilePipelines(handle(), keys, &error), error);
    }

    Status checkPipelineKey(const char* key) const {
        VkgemmError error{};
        return convert::toStatus(vkgemmCheckPipelineKey(handle(), key, &error), error);
    }

    /// vkgemmTrimPipelines. Returns how many pipelines were destroyed.
    uint32_t trimPipelines() const {
        uint32_t destroyed = 0;
        static_cast<void>(vkgemmTrimPipelines(handle(), &destroyed));  // fails for a null handle alone
        return destroyed;
    }

    Result<std::string> describeDevice() const {
        VkgemmError none{};
        return convert::text([&](char* s, size_t* size) { return vkgemmDescribeDevice(handle(), s, size); }, none);
    }

   private:
    std::unique_ptr<VkgemmContext_T, convert::Destroy> handle_;
};

}  // namespace vkgemm

#include <vkgemm/chain.hpp>
#include <vkgemm/debug.hpp>
#include <vkgemm/explain.hpp>
#endif

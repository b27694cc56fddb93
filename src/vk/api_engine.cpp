// SPDX-License-Identifier: MIT
// The public functions of engine.h.
#include <algorithm>
#include <variant>

#include "plan/base/concat.h"
#include "plan/needs.h"
#include "vk/api_guard.h"
#include "vk/checked_run.h"
#include "vk/plan_pipelines.h"
#include "vk/request.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

namespace {

std::string version_of_keys() {
    return plan::concat({VKGEMM_VERSION_MAJOR, ".", VKGEMM_VERSION_MINOR, ".", VKGEMM_VERSION_PATCH});
}

// One a line, each once.
std::string text_of_keys(std::vector<std::string> keys) {
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::string out;
    for (const std::string& key : keys) out += plan::concat({version_of_keys(), " ", key, "\n"});
    return out;
}

// "0.2.0", or another version of the same form.
bool is_version(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view without_comment(std::string_view line) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    return line;
}

using AnyKey = std::variant<plan::PipelineKey, plan::ChainKey>;

template <class Key>
Result<AnyKey> fit_key(const Result<Key>& key, const plan::DeviceCaps& caps) {
    if (!key) return key.status();
    if (auto why = plan::unfit(*key, caps)) return *why;
    return AnyKey(*key);
}

// One line of keys: the key, or why the line is skipped.
Result<AnyKey> read_key(const VkgemmContext_T& context, std::string_view line) {
    const std::string_view version = line.substr(0, line.find(' '));
    if (!is_version(version))
        return Refusal{VKGEMM_ERROR_PARSE,
                       plan::concat({"'", version, "' is not a version of vkgemm, as in '", version_of_keys(),
                                     " naive_f32_8x8 addresses WG=64,BM=8,BN=8,TM=1,TN=1'"})};
    if (version != version_of_keys())
        return Refusal{VKGEMM_ERROR_UNSUPPORTED,
                       plan::concat({"it is of vkgemm ", version, ", and this is ", version_of_keys()})};
    const std::string_view text = line.substr(version.size());
    return plan::is_chain_key(text) ? fit_key(plan::parse_chain_key(text), context.caps)
                                    : fit_key(plan::parse_pipeline_key(text), context.caps);
}

// The keys of a text that this version and device can compile. Each line that is skipped is logged.
std::vector<AnyKey> read_keys(const VkgemmContext_T& context, std::string_view text) {
    std::vector<AnyKey> out;
    for (size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n')), trimmed_line = without_comment(line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (trimmed_line.empty()) continue;
        if (auto key = read_key(context, trimmed_line))
            out.push_back(*std::move(key));
        else
            vk::log(context, key.status().code == VKGEMM_ERROR_PARSE ? VKGEMM_SEVERITY_WARNING : VKGEMM_SEVERITY_INFO,
                    plan::concat(
                        {"pipeline keys, line ", number, ": '", trimmed_line, "' is skipped: ", key.status().text}));
    }
    return out;
}

Result<vk::Pipelines::Use> compile(vk::Pipelines& pipelines, const AnyKey& any) {
    if (const auto* const chain = std::get_if<plan::ChainKey>(&any)) return pipelines.get(*chain, false);
    const auto& key = std::get<plan::PipelineKey>(any);
    return pipelines.get(plan::step_of(key), key.binding, false);
}

// The bytes that a plan for element `i` of a caller's array asks for.
Result<uint64_t> workspace_of(const VkgemmContext_T& context, const VkgemmProblem* problems, uint32_t i,
                              const plan::Request& request) {
    const VkgemmProblem* const problem = vk::array_element(problems, i);
    if (problem->structSize != problems->structSize)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmProblem::structSize is ", problem->structSize,
                                     ", but that of problems[0] is ", problems->structSize, "; all must be the same"})};
    const auto planned = vk::plan_problem(context, problem, request);
    if (!planned) return planned.status();
    return planned->steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes;
}

}  // namespace

VkgemmResult vkgemmCompilePlan(VkgemmPlan plan, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!plan) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "plan is null"});
        if (plan->flags & VKGEMM_PLAN_DRY)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                                                "this plan was made with VKGEMM_PLAN_DRY and is never compiled; make "
                                                "it with VKGEMM_PLAN_DEFER_COMPILE"});
        const auto why = vk::compile_pipelines(*plan);
        return why ? vk::to_result(error, *why) : vk::success(error);
    });
}

VkgemmResult vkgemmGetPlanKeys(VkgemmPlan plan, char* text, size_t* size) {
    if (!plan) return VKGEMM_ERROR_INVALID_ARGUMENT;
    return vk::guarded(nullptr, [&] {
        std::vector<std::string> keys;
        if (!(plan->flags & VKGEMM_PLAN_CAPTURE_STATISTICS))
            for (const plan::Step& s : vk::pipeline_steps(*plan))
                keys.push_back(to_text(plan::key_of(s, plan->plan.steps.binding)));
        return vk::copy_text(text_of_keys(std::move(keys)), text, size);
    });
}

VkgemmResult vkgemmGetPipelineKeys(VkgemmContext context, char* text, size_t* size) {
    if (!context) return VKGEMM_ERROR_INVALID_ARGUMENT;
    return vk::guarded(nullptr, [&] { return vk::copy_text(text_of_keys(context->pipelines.keys()), text, size); });
}

VkgemmResult vkgemmCompilePipelines(VkgemmContext context, const char* keys, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context || !keys)
            return vk::to_result(error,
                                 Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, context ? "keys is null" : "context is null"});
        for (const AnyKey& key : read_keys(*context, keys))
            if (const auto made = compile(context->pipelines, key); !made) return vk::to_result(error, made.status());
        return vk::success(error);
    });
}

VkgemmResult vkgemmCheckPipelineKey(VkgemmContext context, const char* key, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!context || !key)
            return vk::to_result(error,
                                 Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, context ? "key is null" : "context is null"});
        const std::string_view text = key, line = without_comment(text.substr(0, text.find('\n')));
        if (line.empty()) return vk::to_result(error, Refusal{VKGEMM_ERROR_PARSE, "key is an empty line"});
        if (text.find('\n') < text.size() - 1)
            return vk::to_result(error, Refusal{VKGEMM_ERROR_PARSE, "key has more than one line"});
        const auto read = read_key(*context, line);
        return read ? vk::success(error) : vk::to_result(error, read.status());
    });
}

VkgemmResult vkgemmTrimPipelines(VkgemmContext context, uint32_t* destroyed) {
    if (!context) return VKGEMM_ERROR_INVALID_ARGUMENT;
    return vk::guarded(nullptr, [&] {
        const uint32_t count = context->pipelines.trim();
        if (destroyed) *destroyed = count;
        return VKGEMM_SUCCESS;
    });
}

VkgemmResult vkgemmGetRunAccesses(VkgemmPlan plan, const VkgemmRun* run, uint32_t* count, VkgemmRunAccess* accesses,
                                  VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!count) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "count is null"});
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        const uint32_t capacity = *count;
        *count = vk::accesses_of(*plan, checked, accesses, capacity);
        if (accesses && capacity < *count)
            return vk::to_result(error, VKGEMM_INCOMPLETE,
                                 plan::concat({"there are ", *count, " accesses, and room for ", capacity}));
        return vk::success(error);
    });
}

VkgemmResult vkgemmQueryWorkspace(VkgemmContext context, const VkgemmProblem* problems, uint32_t problemCount,
                                  const VkgemmPlanOptions* options, uint64_t* bytes, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        const char* const null = !context                    ? "context is null"
                                 : !bytes                    ? "bytes is null"
                                 : !problems && problemCount ? "problems is null (with a count above 0)"
                                                             : nullptr;
        if (null) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, null});
        const auto request = vk::request_from(options, *context);
        if (!request) return vk::to_result(error, request.status());
        uint64_t most = 0;
        for (uint32_t i = 0; i < problemCount; ++i) {
            const auto needed = workspace_of(*context, problems, i, *request);
            if (!needed) return vk::to_result(error, plan::about_problem(i, needed.status()));
            most = std::max(most, *needed);
        }
        *bytes = most;
        return vk::success(error);
    });
}

VkgemmResult vkgemmCountDispatches(VkgemmPlan plan, const VkgemmRun* run, uint32_t* count, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!count) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "count is null"});
        vk::CheckedRun checked;
        if (auto why = vk::check_run(checked, plan, run)) return vk::to_result(error, *why);
        *count = plan::dispatch_count(checked.work.steps, checked.work.parts);
        return vk::success(error);
    });
}

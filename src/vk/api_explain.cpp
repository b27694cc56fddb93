// SPDX-License-Identifier: MIT
// The public functions of explain.h about one problem: what was decided, and why, as data.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "plan/base/concat.h"
#include "plan/choice/from_int8.h"
#include "plan/steps/group_table.h"
#include "plan/workspace_gain.h"
#include "vk/api_getter.h"
#include "vk/request.h"
#include "vkgemm/explain.h"

using namespace vkgemm;
using plan::Refusal;
using plan::Result;

// The strings that the public structs point to are beside them here; getters set the pointers.
struct VkgemmExplanation_T {
    struct Candidate {
        VkgemmCandidate data{};
        std::string tile, reason;
    };
    struct Dispatch {
        VkgemmDispatch data{};
        std::string tile;
    };
    VkgemmExplanationInfo info{};
    std::string result_text, tuned;
    const plan::Kernel* useful_kernel = nullptr;
    std::vector<Candidate> candidates;
    std::vector<Dispatch> dispatches;
    std::vector<std::string> notes;
};

static_assert(VKGEMM_COST_MODEL_VERSION == plan::cost_model_version, "a program would write weights that no one reads");

namespace {

using Explanation = VkgemmExplanation_T;

uint32_t index_of(const plan::Kernel& k) { return static_cast<uint32_t>(&k - plan::kernels().data()); }

uint32_t shared_bytes(const plan::Step& s) {
    const plan::Module& m = s.kernel->module;
    if (!m.family.shared_bytes_of_format) return m.shared_bytes(s.tile);
    const auto format = static_cast<VkgemmType>(s.constants.FORMAT_B);
    return static_cast<uint32_t>(m.family.shared_bytes_of_format(s.tile, m.element_bytes(), format));
}

VkgemmCandidateState state_of(const plan::Candidate& c, const plan::Problem& p, const plan::DeviceCaps& caps) {
    if (!c.why) return VKGEMM_CANDIDATE_SERVES;
    const plan::Module& m = c.kernel->module;
    if (!m.has_types_of(p) || p.accuracy < m.family.accuracy) return VKGEMM_CANDIDATE_REJECTED;
    if (!m.built()) return VKGEMM_CANDIDATE_NOT_BUILT;
    const bool disabled = std::ranges::any_of(caps.disabled, [&](const auto& d) { return d.kernel == c.kernel->name; });
    return disabled ? VKGEMM_CANDIDATE_DISABLED : VKGEMM_CANDIDATE_REJECTED;
}

void set_schedule(VkgemmCandidate& to, const plan::Schedule& s) {
    to.cost = s.cost * double(s.problem.outerBatch);
    const plan::CostParts& parts = s.parts;
    double* to_part = to.costParts;
#define X(name) *to_part++ = parts.name * double(s.problem.outerBatch);
    VKGEMM_COST_PARTS(X)
#undef X
    to.slices = s.split.slices;
    to.packedOperands =
        (s.a.in_workspace() ? 1u << VKGEMM_SLOT_A : 0u) | (s.b.in_workspace() ? 1u << VKGEMM_SLOT_B : 0u);
    to.workspaceBytes = s.workspace_bytes();
}

Explanation::Candidate candidate_of(const plan::Candidate& c, const plan::Problem& p, const plan::Request& request,
                                    const plan::DeviceCaps& caps) {
    Explanation::Candidate out;
    out.data.kernelIndex = index_of(*c.kernel);
    out.data.state = state_of(c, p, caps);
    if (const auto tile = plan::with_constants(c.kernel->tile, request.tile)) out.tile = plan::to_text(*tile);
    if (!c.why) {
        set_schedule(out.data, c.schedule);
        return out;
    }
    out.data.reason = c.why->code;
    out.data.otherTypes = !c.kernel->module.has_types_of(p);
    out.reason = c.why->text;
    return out;
}

/// Number `i` of those of a step.
Explanation::Dispatch dispatch_of(const plan::Step& s, uint32_t i, bool waits) {
    Explanation::Dispatch out;
    out.tile = plan::to_text(s.tile);
    out.data.kernelIndex = index_of(*s.kernel);
    out.data.groupsX = s.groups_x;
    out.data.groupsY = std::min(s.rows_per_dispatch(), s.groups_y - i * s.rows_per_dispatch());
    out.data.invocations = s.tile.WG;
    out.data.sharedBytes = shared_bytes(s);
    for (const VkgemmSlot slot : s.slots) out.data.slots |= 1u << static_cast<uint32_t>(slot);
    out.data.waits = waits;
    return out;
}

/// "up to 64x4096x4096: coopmat_f16_64x64x64 in 4 slices of K, A packed".
std::string bucket_text(const plan::Bucket& b) {
    const plan::Schedule& s = b.choice.schedule;
    std::string out = plan::concat({plan::to_text(b.range), ": ", b.choice.kernel->name});
    if (s.split.reducer) out += plan::concat({", ", s.split.slices, " slices of K"});
    if (s.a.kernel || s.b.kernel)
        out += s.a.kernel && s.b.kernel ? ", A and B packed" : s.a.kernel ? ", A packed" : ", B packed";
    return out;
}

/// Levels of the batch, and the parts of a large problem.
void add_parts(Explanation& e, const plan::Plan& planned) {
    uint32_t repetitions = 0;
    for (const plan::Repeats& part : planned.steps.parts) repetitions += part.count;
    const plan::Problem& p = planned.problem.normalised.problem;
    if (planned.problem.normalised.is_part)
        e.notes.push_back(plan::concat({"cut into ", repetitions, " parts that 32-bit indices and descriptors reach, ",
                                        "of at most ", p.m, "x", p.n, "x", p.k, " batch=", p.batch}));
    else if (repetitions > 1)
        e.notes.push_back(
            plan::concat({"the levels of the batch take ", repetitions, " repetitions of a batch of ", p.batch}));
}

/// What was planned, or why nothing was.
void add_choice(Explanation& e, const Result<plan::Plan>& planned) {
    e.info.chosen = UINT32_MAX;
    if (!planned) {
        e.info.result = planned.status().code;
        e.result_text = planned.status().text;
        return;
    }
    e.info.isEmpty = planned->choice.kernel == nullptr;
    if (e.info.isEmpty) return;
    const plan::Choice& c = planned->choice;
    e.info.result = planned->fallback.empty() ? VKGEMM_SUCCESS : VKGEMM_FALLBACK_USED;
    e.result_text = planned->fallback;
    e.info.chosen = index_of(*c.kernel);
    e.info.usesAddresses = planned->steps.binding == plan::Binding::addresses;
    e.info.workspaceBytes = planned->steps.slots[size_t(VKGEMM_SLOT_WORKSPACE)].bytes;
    const std::span<const plan::Step> steps = planned->steps.steps;
    plan::each_recorded(steps, planned->steps.parts, [&](const plan::Recorded& r) {
        for (uint32_t i = 0; i < steps[r.step].dispatch_count(); ++i)
            e.dispatches.push_back(dispatch_of(steps[r.step], i, r.waits && i == 0));
    });
    add_parts(e, *planned);
    for (const plan::Bucket& b : planned->buckets) e.notes.push_back(bucket_text(b));
    if (c.tuned) e.tuned = c.tuned->text;
    if (!planned->fallback.empty()) e.notes.push_back(planned->fallback);
}

/// `whole` is the given problem, normalised. The candidates are those for its largest part.
std::unique_ptr<Explanation> explain(const VkgemmContext_T& context, const plan::Problem& given,
                                     const plan::Problem& whole, const plan::Request& request) {
    auto e = std::make_unique<Explanation>();
    const auto planned = plan::make_plan(*context.kernels, given, request);
    const plan::Problem p =
        plan::multiplied(planned ? planned->problem.normalised.problem : whole, context.kernels->caps());
    add_choice(*e, planned);
    if (planned && planned->choice.tuned_unfit)
        e->notes.insert(e->notes.begin(),
                        plan::why_not_followed(*planned->choice.tuned_unfit, *context.kernels, p, request));
    if (!e->info.isEmpty) {
        if (request.tuned)
            for (const std::string& why : request.tuned->skipped_near(p, request.operand_alignment))
                e->notes.push_back(why);
        for (const plan::Candidate& row : plan::list_candidates(*context.kernels, p, request))
            e->candidates.push_back(candidate_of(row, p, request, context.caps));
    }
    if (e->info.chosen != UINT32_MAX) {
        Explanation::Candidate& chosen = e->candidates[e->info.chosen];
        chosen.tile = plan::to_text(planned->choice.tile);  // a tuned row's, perhaps
        chosen.reason.clear();
        chosen.data.reason = VKGEMM_SUCCESS;
        chosen.data.otherTypes = 0;
        chosen.data.state = VKGEMM_CANDIDATE_CHOSEN;
        set_schedule(chosen.data, planned->choice.schedule);
    }
    if (std::string unused = plan::unused_matrix_units(*context.kernels, p); !unused.empty() && !e->info.isEmpty)
        e->notes.push_back(std::move(unused));
    e->info.usefulGain = 1;
    if (const auto gain = planned ? plan::workspace_gain(*context.kernels, *planned, request) : std::nullopt) {
        e->info.usefulWorkspace = gain->bytes;
        e->info.usefulGain = gain->factor;
        e->useful_kernel = gain->kernel;
        e->notes.push_back(plan::to_text(*gain));
    }
    if (planned && planned->steps.table)
        std::ranges::copy(plan::group_alignment(planned->steps.steps[0]), e->info.groupAlignment);
    e->info.candidateCount = static_cast<uint32_t>(e->candidates.size());
    e->info.dispatchCount = static_cast<uint32_t>(e->dispatches.size());
    e->info.noteCount = static_cast<uint32_t>(e->notes.size());
    return e;
}

Result<std::unique_ptr<Explanation>> make_explanation(VkgemmContext context, const VkgemmProblem* problem,
                                                      const VkgemmPlanOptions* options) {
    if (!context) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "context is null"};
    auto request = vk::request_from(options, *context);
    if (!request) return request.status();
    auto given = vk::problem_from(problem);
    if (!given) return given.status();
    auto completed = plan::complete(*given);
    if (!completed) return completed.status();
    return explain(*context, *given, plan::normalise(*completed).problem, *request);
}

std::string cost_text(double cost) {
    char s[32];
    std::snprintf(s, sizeof s, "%.3g", cost);
    return s;
}

std::string text_of(const Explanation& e) {
    if (e.info.isEmpty) return "nothing to do: m or n is 0\n";
    const auto name = [](uint32_t kernel) { return std::string(plan::kernels()[kernel].name); };
    std::string out;
    if (e.info.chosen == UINT32_MAX) {
        out = plan::concat({"no kernel: ", e.result_text, "\n"});
    } else {
        const Explanation::Candidate& c = e.candidates[e.info.chosen];
        out = plan::concat({"kernel     ", name(c.data.kernelIndex), "\ntile       ", c.tile, "\ncost       ",
                            cost_text(c.data.cost), "\noperands   ",
                            (e.info.usesAddresses ? "device addresses" : "pushed descriptors"), "\nworkspace  ",
                            e.info.workspaceBytes, " bytes\n"});
    }
    for (const Explanation::Dispatch& d : e.dispatches) {
        const uint64_t groups = uint64_t{d.data.groupsX} * d.data.groupsY;
        out += plan::concat({"dispatch   ", name(d.data.kernelIndex), ", ", groups,
                             groups == 1 ? " work group of " : " work groups of ", d.data.invocations, "\n"});
    }
    if (!e.tuned.empty()) out += plan::concat({"tuned      ", e.tuned, "\n"});
    for (const std::string& note : e.notes) out += plan::concat({"note       ", note, "\n"});
    for (const Explanation::Candidate& c : e.candidates)
        if (c.data.state != VKGEMM_CANDIDATE_CHOSEN)
            out += plan::concat(
                {"not        ", name(c.data.kernelIndex), ": ",
                 (c.data.reason == VKGEMM_SUCCESS ? plan::concat({"costs ", cost_text(c.data.cost)}) : c.reason),
                 "\n"});
    return out;
}

}  // namespace

VkgemmResult vkgemmCreateExplanation(VkgemmContext context, const VkgemmProblem* problem,
                                     const VkgemmPlanOptions* options, VkgemmExplanation* explanation,
                                     VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!explanation) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "explanation is null"});
        *explanation = nullptr;
        auto made = make_explanation(context, problem, options);
        if (!made) return vk::to_result(error, made.status());
        *explanation = made->release();
        return vk::success(error);
    });
}

void vkgemmDestroyExplanation(VkgemmExplanation explanation) { vk::destroy(explanation); }

VkgemmResult vkgemmGetExplanationInfo(VkgemmExplanation e, VkgemmExplanationInfo* info) {
    return vk::get_struct(info, [&]() -> std::optional<VkgemmExplanationInfo> {
        if (!e) return std::nullopt;
        VkgemmExplanationInfo out = e->info;
        out.resultText = e->result_text.c_str();
        out.tunedRow = e->tuned.c_str();
        out.usefulKernel = e->useful_kernel ? e->useful_kernel->name.data() : "";
        return out;
    });
}

VkgemmResult vkgemmGetCandidate(VkgemmExplanation e, uint32_t index, VkgemmCandidate* candidate) {
    return vk::get_struct(candidate, [&]() -> std::optional<VkgemmCandidate> {
        if (!e || index >= e->candidates.size()) return std::nullopt;
        VkgemmCandidate out = e->candidates[index].data;
        out.kernel = plan::kernels()[out.kernelIndex].name.data();
        out.tile = e->candidates[index].tile.c_str();
        out.reasonText = e->candidates[index].reason.c_str();
        return out;
    });
}

VkgemmResult vkgemmGetDispatch(VkgemmExplanation e, uint32_t index, VkgemmDispatch* dispatch) {
    return vk::get_struct(dispatch, [&]() -> std::optional<VkgemmDispatch> {
        if (!e || index >= e->dispatches.size()) return std::nullopt;
        VkgemmDispatch out = e->dispatches[index].data;
        out.kernel = plan::kernels()[out.kernelIndex].name.data();
        out.tile = e->dispatches[index].tile.c_str();
        return out;
    });
}

const char* vkgemmGetNote(VkgemmExplanation e, uint32_t index) {
    return e && index < e->notes.size() ? e->notes[index].c_str() : nullptr;
}

VkgemmResult vkgemmExplain(VkgemmContext context, const VkgemmProblem* problem, const VkgemmPlanOptions* options,
                           char* text, size_t* size, VkgemmError* error) {
    return vk::guarded(error, [&]() -> VkgemmResult {
        if (!size) return vk::to_result(error, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "size is null"});
        const auto made = make_explanation(context, problem, options);
        if (!made) return vk::to_result(error, made.status());
        vk::success(error);
        return vk::copy_text(text_of(**made), text, size);
    });
}

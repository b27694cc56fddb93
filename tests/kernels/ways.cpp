// SPDX-License-Identifier: MIT
// A case that has been run, in the other ways that must lead to the same D or to the same plan.
#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/compare.h"
#include "kernels/launch.h"
#include "kernels/phases.h"
#include "plan/problem/problem_text.h"

namespace vkgemm::test {
namespace {

constexpr size_t d_slot = VKGEMM_SLOT_D;

bool same_bits(double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); }

/// A dry plan of the problem; its keys and its packed layouts must be those of the case's plan.
std::string compare_plan(const Case& x, const plan::Problem& given, const Ran& ran, const char* what) {
    VkgemmPlanOptions options = options_of(x, ran.problem);
    options.flags |= VKGEMM_PLAN_DRY;
    Launch dry;
    std::string keys;
    if (std::string why = make_plan(x, given, options, dry); !why.empty()) return std::string(what) + ": " + why;
    if (std::string why = keys_of(dry.plan.handle, keys); !why.empty()) return std::string(what) + ": " + why;
    if (keys != ran.keys) return std::string(what) + ": the plan has the keys " + keys + ", not " + ran.keys;
    if (dry.info.packedA != ran.with.info.packedA || dry.info.packedB != ran.with.info.packedB)
        return std::string(what) + ": the keys of packed operands differ";
    if (dry.info.missingPipelines) return std::string(what) + ": pipelines are missing";
    return "";
}

/// Each key must be one that vkgemmCompilePipelines takes, because that skips others and succeeds.
std::string check_keys(VkgemmContext context, const std::string& keys) {
    VkgemmError error{};
    for (size_t at = 0, end = 0; at < keys.size(); at = end + 1) {
        end = std::min(keys.find('\n', at), keys.size());
        const std::string key = keys.substr(at, end - at);
        if (vkgemmCheckPipelineKey(context, key.c_str(), &error) != VKGEMM_SUCCESS)
            return "the key '" + key + "' is refused: " + error.text;
    }
    const VkgemmResult code = vkgemmCompilePipelines(context, keys.c_str(), &error);
    return code == VKGEMM_SUCCESS ? "" : std::string("its keys do not compile: ") + error.text;
}

std::string run_text(const Case& x, const Ran& ran) {
    const Timed timed(Phase::plan);
    const VkgemmProblem c = for_api(x.problem);
    size_t size = 0;
    if (vkgemmFormatProblem(&c, x.alpha, x.beta, nullptr, &size) != VKGEMM_SUCCESS) return "the problem has no text";
    std::string text(size, '\0');
    if (vkgemmFormatProblem(&c, x.alpha, x.beta, text.data(), &size) != VKGEMM_SUCCESS)
        return "the problem has no text";
    text.resize(size - 1);
    const auto read = plan::parse_problem(text);
    if (!read) return "the text is not read: " + text + ": " + read.status().text;
    const bool same_factors = (std::isnan(x.alpha) ? std::isnan(read->alpha) : same_bits(x.alpha, read->alpha)) &&
                              (std::isnan(x.beta) ? std::isnan(read->beta) : same_bits(x.beta, read->beta));
    if (!same_factors) return "the text has other factors: " + text;
    if (std::string why = compare_plan(x, read->problem, ran, "from its text"); !why.empty()) return why;
    plan::Problem keyed = x.problem;
    if (ran.with.info.packedA) keyed.packedA = ran.with.info.packedA;
    if (ran.with.info.packedB) keyed.packedB = ran.with.info.packedB;
    if (std::string why = compare_plan(x, keyed, ran, "with the keys of its packed operands"); !why.empty()) return why;
    return check_keys(context_of(x), ran.keys);
}

/// D's buffer, and the scalars, after a plan has run the case's data anew. "" or what went wrong.
std::string run_again(const Case& x, const plan::Problem& given, const plan::Problem& p,
                      const VkgemmPlanOptions& options, const Ran& ran, uint32_t dispatches, Launch& with) {
    if (std::string why = upload(*ran.data); !why.empty()) return why;
    if (std::string why = make_plan(x, given, options, with); !why.empty()) return why;
    return launch(x, p, *ran.data, with, dispatches);
}

std::vector<std::byte> all_of_d(const Ran& ran) {
    const Timed timed(Phase::compare);
    return pool().read(d_slot, ran.data->d.bytes().size());
}

std::string first_difference(const std::vector<std::byte>& before, const std::vector<std::byte>& after) {
    size_t differ = 0, first = 0;
    for (size_t i = 0; i < before.size(); ++i)
        if (before[i] != after[i] && differ++ == 0) first = i;
    return differ ? std::to_string(differ) + " bytes of D differ, the first is byte " + std::to_string(first) : "";
}

/// The same, if NaNs are alike: their sign depends on the order of commutative operands, which the driver chooses anew
/// for other specialization constants.
std::string first_other_value(const Ran& ran, const std::vector<std::byte>& before,
                              const std::vector<std::byte>& after) {
    if (before == after) return "";
    const std::vector<double> was = ran.data->d.numbers_of(before), is = ran.data->d.numbers_of(after);
    const auto alike = [](double x, double y) { return same_bits(x, y) || (std::isnan(x) && std::isnan(y)); };
    return std::ranges::equal(was, is, alike) ? "" : first_difference(before, after);
}

std::string run_slices(const Case& x, const Ran& ran) {
    const std::vector<std::byte> before = all_of_d(ran);
    const VkgemmScalars scalars = pool().read_scalars();
    VkgemmPlanOptions options = options_of(x, ran.problem);
    options.dispatchSeconds = 0.01;
    options.runSeconds = 0.01 * static_cast<double>(2 + x.seed % 7);
    options.flags = VKGEMM_PLAN_NO_NATIVE;
    const plan::Kernel* const kernel = plan::find_kernel(ran.kernel);
    if (kernel && kernel->module.is_native()) return "";  // which no plan with dispatchSeconds has
    options.kernel = ran.kernel.empty() ? nullptr : ran.kernel.c_str();
    if (x.kernel.empty() && x.problem.upTo) options.kernel = nullptr;
    // A pair of two products has the kernel of the second one, which need not be for pairs.
    if (kernel && plan::is_pair(ran.problem) && !kernel->module.family.takes_pairs) options.kernel = nullptr;
    Launch with;
    if (std::string why =
            run_again(x, x.problem, ran.problem, options, ran, static_cast<uint32_t>(x.seed / 7 % 4), with);
        !why.empty())
        return "in slices: " + why;
    if (x.kernel.empty()) return compare(x, ran.problem, *ran.data, ran.error_bound);  // perhaps another tile
    if (std::string why = first_difference(before, all_of_d(ran)); !why.empty()) return "in slices: " + why;
    const VkgemmScalars after = pool().read_scalars();
    return std::memcmp(&scalars, &after, sizeof scalars) == 0 ? "" : "in slices: the scalars differ";
}

/// The first rows of the first product alone, in the same memory.
std::string run_rows(const Case& x, const Ran& ran) {
    // Another n or k may have another kernel.
    const bool varies = x.problem.upTo & (VKGEMM_UP_TO_N | VKGEMM_UP_TO_K);
    if (!x.problem.batchInvariant || varies || plan::is_empty(ran.problem)) return "";
    const std::vector<double> before = ran.data->d.numbers_of(all_of_d(ran));
    Case y = x;
    y.problem = plan::restated(ran.problem);
    plan::Problem& q = y.problem;
    q.m = 1 + x.seed % q.m;
    q.batch = q.outerBatch = 1;
    q.ratioA = q.ratioB = q.outerRatioA = q.outerRatioB = 1;
    for (plan::Matrix* const m : {&q.a, &q.b, &q.c, &q.d}) m->batchStride = 0;
    q.outerStrideA = q.outerStrideB = q.outerStrideC = q.outerStrideD = 0;
    q.upTo = 0;
    y.sizes.reset();
    const auto completed = plan::complete(q);
    if (!completed) return "the first rows: " + completed.status().text;
    Launch with;
    if (std::string why = run_again(y, q, *completed, options_of(x, ran.problem), ran, 0, with); !why.empty())
        return why.starts_with("no plan: ") ? "" : "the first rows: " + why;  // the kernel is not for so few
    const std::vector<double> after = ran.data->d.numbers_of(all_of_d(ran));
    for (uint64_t r = 0; r < q.m; ++r)
        for (uint64_t c = 0; c < q.n; ++c) {
            const uint64_t at = position(*completed, d_slot, 0, r, c);
            if (std::isnan(before[at]) ? !std::isnan(after[at]) : !same_bits(before[at], after[at]))
                return "row " + std::to_string(r) + " of " + std::to_string(q.m) + " has " + say(after[at]) +
                       " in column " + std::to_string(c) + ", of all rows " + say(before[at]);
        }
    return "";
}

/// The run as text, without the bytes of its operands.
std::string describe(const Case& x, const Ran& ran, std::string& out) {
    const VkgemmRun run = run_of(x, ran.problem, *ran.data, ran.with);
    size_t size = 0;
    VkgemmError error{};
    VkgemmResult code = vkgemmDescribeRun(ran.with.plan.handle, &run, nullptr, nullptr, &size, &error);
    if (code == VKGEMM_SUCCESS) {
        out.resize(size);
        code = vkgemmDescribeRun(ran.with.plan.handle, &run, nullptr, out.data(), &size, &error);
    }
    // A batch that does not vary merges into more rows than a gemv takes, and of varying rows it takes some multiples.
    const std::string_view refused = "no plan of these sizes has its kernel (for sizes up to ";
    const std::string why = error.text;
    if (code == VKGEMM_ERROR_UNSUPPORTED && x.problem.upTo && why.find(refused) != why.npos &&
        why.find(": gemv_") != why.npos)
        return "";
    if (code != VKGEMM_SUCCESS) return "the run is not described: " + why;
    out.pop_back();
    return "";
}

/// The description of the run, planned and run again: the short form of a capture.
std::string run_replay(const Case& x, const Ran& ran) {
    if (plan::is_empty(ran.problem) || ran.problem.batch == 0) return "";
    if (ran.recorded_text.empty()) return "the context reported no product";
    if (const auto read = plan::parse_problem(ran.recorded_text); !read)
        return "what the context reported is not read: " + read.status().text + ": " + ran.recorded_text;
    const std::vector<std::byte> before = all_of_d(ran);
    std::string text;
    if (std::string why = describe(x, ran, text); !why.empty() || text.empty()) return why;
    const auto described = host::parseCapture(text);
    if (!described) return "the description is not read: " + described.status().text;
    const auto read = plan::parse_problem(described->problem);
    if (!read) return "the described problem is not read: " + read.status().text + ": " + described->problem;
    const auto completed = plan::complete(read->problem);
    if (!completed) return "the replay: " + completed.status().text;
    Case y = x;
    y.problem = read->problem;
    y.alpha = read->alpha;
    y.beta = read->beta;
    y.strides.reset();
    y.sizes.reset();
    if (y.problem.upTo) y.sizes = plan::sizes_of(*completed);
    VkgemmPlanOptions options = options_of(x, ran.problem);
    options.kernel = described->kernel.c_str();
    options.tile = described->tile.c_str();
    options.operandAlignment = described->alignment;
    options.workspaceLimit = described->workspace;
    if (!described->addresses) options.operands = VKGEMM_OPERANDS_DESCRIPTORS;
    Launch with;
    std::string why = run_again(y, y.problem, *completed, options, ran, 0, with);
    if (why.empty()) why = first_other_value(ran, before, all_of_d(ran));
    return why.empty() ? ""
                       : "the replay of " + described->problem + " by " + described->kernel + " " + described->tile +
                             ": " + why;
}

struct Row {
    Way way;
    std::string (*run)(const Case&, const Ran&);
};
constexpr Row rows[] = {{way_text, run_text},
                        {way_slices, run_slices},
                        {way_replay, run_replay},
                        {way_fences, run_fenced_case},
                        {way_rows, run_rows}};

}  // namespace

std::string run_other_ways(const Case& x, const Ran& ran) {
    for (const Row& row : rows)
        if (x.ways & row.way)
            if (std::string why = row.run(x, ran); !why.empty()) return why;
    return "";
}

}  // namespace vkgemm::test

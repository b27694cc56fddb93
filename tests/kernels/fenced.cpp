// SPDX-License-Identifier: MIT
// What is read and changes no result: operands and the workspace begin or end at a page that nobody may touch. A CPU
// driver's shader that reads or writes there ends the program with SIGSEGV.
#include "kernels/fenced.h"

#include <doctest/doctest.h>

#if defined(__linux__)

#    include <array>
#    include <cstring>
#    include <set>
#    include <span>

#    include "kernels/data.h"
#    include "kernels/launch.h"
#    include "kernels/tally.h"
#    include "plan/problem/problem_text.h"
#    include "support/owned.h"

using namespace vkgemm::test;
using vkgemm::columnMajor;
using vkgemm::plan::f32;
using vkgemm::plan::Kernel;
using vkgemm::plan::Problem;

namespace {

/// Records and runs a plan, while the pages beside `all` must not be touched. "" or what is wrong.
std::string submit(VkgemmPlan plan, const VkgemmRun& run, std::initializer_list<Fenced*> all) {
    for (Fenced* const each : all) each->set(PROT_NONE);
    const auto done = device().submit([&](VkCommandBuffer commands) {
        VkgemmError error{};
        const VkgemmResult code = vkgemmRecord(plan, commands, &run, &error);
        return vkgemm::Status{code, error.vkResult, error.text};
    });
    for (Fenced* const each : all) each->set(PROT_READ | PROT_WRITE);
    return done.code == VKGEMM_SUCCESS ? "" : done.text;
}

VkgemmPlanInfo info_of(VkgemmPlan plan) {
    VkgemmPlanInfo info{};
    info.structSize = sizeof info;
    REQUIRE(vkgemmGetPlanInfo(plan, &info) == VKGEMM_SUCCESS);
    return info;
}

/// Runs a case without C, whose operands begin at multiples of `alignment` bytes; A may come packed. "" or what is
/// wrong.
std::string run_fenced(const Case& x, Side side, uint32_t alignment) {
    const auto p = vkgemm::plan::complete(x.problem);
    REQUIRE_MESSAGE(bool(p), p.status().text);
    const Data data(x, *p);
    const VkgemmProblem problem = vkgemm::convert::toC(x.problem);
    VkgemmPlanOptions options{};
    options.structSize = sizeof options;
    options.workspaceLimit = 64 << 20;
    options.kernel = x.kernel.c_str();
    options.operandAlignment = alignment;
    OwnedPlan plan, packer;
    VkgemmError error{};
    if (vkgemmCreatePlan(context_of(x), &problem, &options, &plan.handle, &error) != VKGEMM_SUCCESS) return error.text;
    const VkgemmPlanInfo info = info_of(plan.handle);
    const bool packs = info.packedA != VKGEMM_PACKED_NONE;

    // A and B of mixed types are read in words.
    Fenced a(packs ? data.a.span_bytes() : info.requiredBytes[VKGEMM_SLOT_A], side),
        b(info.requiredBytes[VKGEMM_SLOT_B], side), d(data.d.span_bytes(), side), bias(data.bias.span_bytes(), side),
        scale(data.scale.span_bytes(), side), residual(data.residual.span_bytes(), side),
        packed(packs ? info.requiredBytes[VKGEMM_SLOT_A] : 0, side),
        workspace(info.requiredBytes[VKGEMM_SLOT_WORKSPACE], side, info.workspaceAlignment);
    for (const auto& [to, from] : {std::pair{&a, &data.a},
                                   {&b, &data.b},
                                   {&bias, &data.bias},
                                   {&scale, &data.scale},
                                   {&residual, &data.residual}})
        if (from->span_bytes()) std::memcpy(to->data(), &from->bytes()[from->offset()], from->span_bytes());
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.alpha = 1;
    run.a = a.operand();
    if (packs) {
        if (vkgemmCreatePack(plan.handle, VKGEMM_SLOT_A, &packer.handle, &error) != VKGEMM_SUCCESS) return error.text;
        run.d = packed.operand();
        if (std::string why = submit(packer.handle, run, {&a, &packed}); !why.empty()) return why;
        run.a = packed.operand();
    }
    run.b = b.operand();
    run.d = d.operand();
    run.bias = bias.operand();
    run.scale = scale.operand();
    run.residual = residual.operand();
    run.workspace = workspace.operand();
    const std::string why = submit(plan.handle, run, {&a, &b, &d, &bias, &scale, &residual, &packed, &workspace});
    if (!why.empty()) return why;
    std::vector<std::byte> after = data.d.bytes();
    std::memcpy(&after[data.d.offset()], d.data(), data.d.span_bytes());
    const std::vector<double> got = data.d.numbers_of(after);
    const Operands in = data.numbers();
    for (uint64_t r = 0; r < p->m; ++r)
        for (uint64_t c = 0; c < p->n; ++c)
            if (got[position(*p, VKGEMM_SLOT_D, 0, r, c)] != reference(*p, 1, 0, in, 0, r, c).value)
                return "D[" + std::to_string(r) + "][" + std::to_string(c) + "] is wrong";
    return "";
}

}  // namespace

TEST_SUITE_BEGIN("rows");

TEST_CASE("fenced: nothing before or behind operands and workspace is touched, whatever is done with it") {
    if (device().info().kind != VK_PHYSICAL_DEVICE_TYPE_CPU) return;
    std::set<std::string_view> modules;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        const auto& m = kernel.module;
        if (!m.is_product() || m.is_mixed() || m.a != f32 || m.d != f32 || !is_chosen(kernel) || !fits(kernel))
            continue;
        if (wants_alignment(kernel) || !modules.insert(m.name).second) continue;
        const uint64_t depth = std::max(kernel.tile.BK, 4u);
        size_t ran = 0;
        using Size = std::array<uint64_t, 3>;
        const Size sizes[] = {{kernel.tile.BM + 3u, kernel.tile.BN + 5u, 2 * depth + 3},
                              {5, 3, 2},
                              {64, 8, 32},  // A in whole blocks of rows, which cpu_packed takes packed
                              {2u * kernel.tile.BM, kernel.tile.BN, 2 * depth}};
        for (const Size& size : std::span(sizes).first(is_quick() ? 1 : std::size(sizes)))
            for (const bool transposed : {false, true})
                for (const Side side : {Side::before, Side::behind}) {
                    Case x = case_for(kernel, size[0], size[1], size[2]);
                    if (transposed) x.problem.a.layout = x.problem.b.layout = columnMajor;
                    if (m.family.packs_fragments && size[1] == 8) x.problem.packedA = VKGEMM_PACKED_ANY;
                    if (refused(x)) continue;
                    INFO(to_text(x), side == Side::before ? " before" : " behind");
                    const std::string why = run_fenced(x, side, 4);
                    CHECK_MESSAGE(why == "", kernel.name, ": ", why);
                    ++ran;
                }
        CHECK_MESSAGE(ran > 0, kernel.name, " took none of the cases");
    }
}

TEST_CASE("fenced: operands of mixed types, whose fours begin anywhere, at every edge") {
    if (device().info().kind != VK_PHYSICAL_DEVICE_TYPE_CPU) return;
    std::set<std::string_view> modules;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        const auto& m = kernel.module;
        if (!m.is_product() || !m.is_mixed() || m.d != f32 || !is_chosen(kernel) || !fits(kernel)) continue;
        if (wants_alignment(kernel) || !modules.insert(m.name).second) continue;
        size_t ran = 0;
        using Size = std::array<uint64_t, 3>;
        const Size sizes[] = {{24, 12, 12},  // whole fours, less than a tile in each direction
                              {7, 8, 2u * kernel.tile.BK + 32},
                              {kernel.tile.BM + 3u, kernel.tile.BN + 5u, 2u * kernel.tile.BK + 3}};
        for (const Size& size : std::span(sizes).first(is_quick() ? 1 : std::size(sizes)))
            for (const bool transposed : {false, true})
                for (const uint32_t alignment : {4u, 2u}) {
                    Case x = case_for(kernel, size[0], size[1], size[2]);
                    Problem& p = x.problem;
                    if (transposed) p.a.layout = p.b.layout = columnMajor;
                    x = widened(x);
                    p.a.ld = (p.a.layout == columnMajor ? p.m : p.k) + 1;
                    if (refused(x)) continue;
                    INFO(to_text(x), " alignment ", alignment);
                    const std::string why = run_fenced(x, Side::behind, alignment);
                    CHECK_MESSAGE(why == "", kernel.name, ": ", why);
                    ++ran;
                }
        // Matrix units take no operand that begins anywhere; it is packed, or another kernel serves.
        CHECK_MESSAGE((ran > 0 || m.family.uses_matrix_units), kernel.name, " took none of the cases");
    }
}

TEST_CASE("fenced: operands of 16 bits beside whole sums are read element by element") {
    if (device().info().kind != VK_PHYSICAL_DEVICE_TYPE_CPU) return;
    std::set<std::string_view> modules;
    for (const Kernel& kernel : vkgemm::plan::kernels()) {
        const auto& m = kernel.module;
        if (!m.is_product() || m.is_mixed() || m.d != vkgemm::plan::scaled || !is_chosen(kernel) || !fits(kernel))
            continue;
        if (wants_alignment(kernel) || !modules.insert(m.name).second) continue;
        for (const Side side : {Side::before, Side::behind}) {
            Case x = case_for(kernel, 5, 7, 2 * std::max(kernel.tile.BK, 4u) + 3);
            x.problem.d.type = f32;
            x.problem.epilogue = {{VKGEMM_STEP_SCALE_ROW}, {VKGEMM_STEP_BIAS_COL}, {VKGEMM_STEP_RESIDUAL}};
            x.problem.scaleType = vkgemm::plan::bf16;
            x.problem.biasType = x.problem.residualType = vkgemm::plan::f16;
            if (refused(x)) continue;
            INFO(to_text(x), side == Side::before ? " before" : " behind");
            const std::string why = run_fenced(x, side, vkgemm::plan::info(x.problem.a.type).bytes);
            CHECK_MESSAGE(why == "", kernel.name, ": ", why);
        }
    }
    if (modules.empty()) MESSAGE("no kernel of whole sums with another D");
}

TEST_SUITE_END();

#endif

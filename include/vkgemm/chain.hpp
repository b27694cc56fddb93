// SPDX-License-Identifier: MIT
//
// The C++ interface of chain.h; vkgemm.hpp includes it. Header only; a later version may change it.
#ifndef VKGEMM_CHAIN_HPP
#define VKGEMM_CHAIN_HPP

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <vkgemm/operands.hpp>
#include <vkgemm/vkgemm.hpp>

namespace vkgemm {

/// VkgemmChainProblem
struct ChainProblem {
    std::span<const Problem> problems{};
    uint32_t kept = 0;   ///< bit i: D of product i is an operand of the run
    uint32_t flags = 0;  ///< VkgemmChainFlagBits
};

/// VkgemmChainRun
struct ChainRun {
    std::span<const Run> runs{};
    Operand workspace{};
    uint32_t flags = 0;  ///< VKGEMM_RECORD_BARRIER_BEFORE and _AFTER
};

namespace convert {

/// What a ChainProblem becomes, with the array that it points to.
class ChainProblemC {
   public:
    explicit ChainProblemC(const ChainProblem& from) {
        for (const Problem& p : from.problems) problems_.push_back(toC(p));
        value_ = {.structSize = sizeof value_,
                  .problemCount = static_cast<uint32_t>(problems_.size()),
                  .pNext = nullptr,
                  .problems = problems_.data(),
                  .kept = from.kept,
                  .flags = from.flags};
    }
    ChainProblemC(const ChainProblemC&) = delete;
    ChainProblemC& operator=(const ChainProblemC&) = delete;
    const VkgemmChainProblem* get() const { return &value_; }

   private:
    std::vector<VkgemmProblem> problems_;
    VkgemmChainProblem value_{};
};

/// The same of a ChainRun. Allocates nothing.
class ChainRunC {
   public:
    explicit ChainRunC(const ChainRun& from) {
        const size_t count = from.runs.size() < runs_.size() ? from.runs.size() : runs_.size();
        for (size_t i = 0; i < count; ++i) runs_[i] = toC(from.runs[i]);
        value_ = {.structSize = sizeof value_,
                  .flags = from.flags,
                  .pNext = nullptr,
                  .runs = runs_.data(),
                  .runCount = from.runs.size(),
                  .workspace = toC(from.workspace)};
    }
    ChainRunC(const ChainRunC&) = delete;
    ChainRunC& operator=(const ChainRunC&) = delete;
    const VkgemmChainRun* get() const { return &value_; }

   private:
    std::array<VkgemmRun, VKGEMM_MAX_CHAIN_PRODUCTS> runs_;
    VkgemmChainRun value_{};
};

struct DestroyChain {
    void operator()(VkgemmChain chain) const { vkgemmDestroyChain(chain); }
};

}  // namespace convert

/// Owns a VkgemmChain. Destroy it before its context.
class Chain {
   public:
    Chain() = default;
    explicit Chain(VkgemmChain owned) : handle_(owned) {}
    VkgemmChain handle() const { return handle_.get(); }

    static Result<Chain> create(const Context& context, const ChainProblem& problem, const PlanOptions& options = {}) {
        const convert::ChainProblemC p(problem);
        const VkgemmPlanOptions o = convert::toC(options);
        VkgemmChain chain = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmCreateChain(context.handle(), p.get(), &o, &chain, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Result<Chain>(Chain(chain), convert::toStatus(code, error));
    }

    /// vkgemmExplainChain
    static Result<std::string> explain(const Context& context, const ChainProblem& problem,
                                       const PlanOptions& options = {}) {
        const convert::ChainProblemC p(problem);
        const VkgemmPlanOptions o = convert::toC(options);
        VkgemmError error{};
        return convert::text(
            [&](char* s, size_t* size) { return vkgemmExplainChain(context.handle(), p.get(), &o, s, size, &error); },
            error);
    }

    VkgemmChainInfo info() const {
        auto out = convert::output<VkgemmChainInfo>();
        static_cast<void>(vkgemmGetChainInfo(handle(), &out));  // fails for a null handle alone
        return out;
    }

    /// vkgemmGetChainAccesses
    std::vector<VkgemmChainAccess> accesses() const {
        uint32_t count = 0;
        if (vkgemmGetChainAccesses(handle(), &count, nullptr) < 0) return {};
        std::vector<VkgemmChainAccess> all(count);
        static_cast<void>(vkgemmGetChainAccesses(handle(), &count, all.data()));
        return all;
    }

    /// What a run touches, as vkgemmGetRunAccesses states it of a plan: for a render graph. Sizes are those of the
    /// problems, also if the run has fewer rows. Refused as by check().
    Result<std::vector<VkgemmRunAccess>> accesses(const ChainRun& run) const {
        if (Status why = check(run); !why) return why;
        std::vector<VkgemmRunAccess> out;
        for (const VkgemmChainAccess& x : accesses()) {
            const bool is_space = x.product == UINT32_MAX;
            const VkgemmOperand o =
                is_space ? convert::toC(run.workspace) : operandOf(convert::toC(run.runs[x.product]), x.access.slot);
            VkAccessFlags2 access = 0;
            if (x.access.access & VK_ACCESS_SHADER_READ_BIT) access |= VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
            if (x.access.access & VK_ACCESS_SHADER_WRITE_BIT) access |= VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
            out.push_back({.slot = x.access.slot,
                           .reserved = 0,
                           .stage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                           .access = access,
                           .buffer = o.buffer,
                           .offset = o.buffer ? o.offset : 0,
                           .size = x.access.size,
                           .address = o.buffer ? 0 : o.address + o.offset});
        }
        return out;
    }

    Status check(const ChainRun& run) const {
        VkgemmError error{};
        const convert::ChainRunC c(run);
        return convert::toStatus(vkgemmCheckChainRun(handle(), c.get(), &error), error);
    }

    Status record(VkCommandBuffer commands, const ChainRun& run) const {
        VkgemmError error{};
        const convert::ChainRunC c(run);
        return convert::toStatus(vkgemmRecordChain(handle(), commands, c.get(), &error), error);
    }

   private:
    std::unique_ptr<VkgemmChain_T, convert::DestroyChain> handle_;
};

}  // namespace vkgemm
#endif

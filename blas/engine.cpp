// SPDX-License-Identifier: MIT
#include "blas/engine.h"

#include <bit>

namespace vkgemm::blas {
namespace {

constexpr uint64_t workspace_limit = 64u << 20;
constexpr uint64_t least_capacity = 64;  // rows of 16 bytes and more, for every type

/// Plans are made for powers of two. Such a size has a plan of its own, which compiles the fewest pipelines; all others
/// share the plan of the next power of two, which has their leading dimensions.
uint64_t capacity(uint64_t size) { return std::max(least_capacity, std::bit_ceil(size)); }

uint64_t bytes_of(Type type) { return type == f64 ? 8 : 4; }

Problem problem_for(const TileProduct& p) {
    Problem problem{.m = capacity(p.m), .n = capacity(p.n), .k = capacity(p.k)};
    problem.a = {p.type, p.a, p.a == columnMajor ? problem.m : problem.k, 0};
    problem.b = {p.type, p.b, p.b == columnMajor ? problem.k : problem.n, 0};
    problem.d = {p.type, columnMajor, problem.m, 0};
    problem.cSource = VKGEMM_C_IS_D;
    if (p.m != problem.m) problem.upTo |= VKGEMM_UP_TO_M;
    if (p.n != problem.n) problem.upTo |= VKGEMM_UP_TO_N;
    if (p.k != problem.k) problem.upTo |= VKGEMM_UP_TO_K;
    return problem;
}

/// Elements from the first to the last of a column-major matrix.
uint64_t span_of(uint64_t rows, uint64_t columns, uint64_t ld) { return (columns - 1) * ld + rows; }

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const std::string& device) {
    auto opened = host::Device::open({.device = device});
    if (!opened) return opened.status();
    std::unique_ptr<Engine> engine(new Engine(*std::move(opened)));
    const auto find = [&](const char* name) {
        return engine->device_.getInstanceProcAddr()(engine->device_.instance(), name);
    };
    engine->copy_ = reinterpret_cast<PFN_vkCmdCopyBuffer>(find("vkCmdCopyBuffer"));
    engine->barrier_ = reinterpret_cast<PFN_vkCmdPipelineBarrier>(find("vkCmdPipelineBarrier"));
    if (!engine->copy_ || !engine->barrier_)
        return Status{VKGEMM_ERROR_MISSING_FUNCTION, VK_SUCCESS, "the loader has no vkCmdCopyBuffer"};
    return engine;
}

Status Engine::check(Type type) const {
    const TileProduct small{.type = type, .m = 1, .n = 1, .k = 1};
    return device_.context().createPlan(problem_for(small), {.flags = VKGEMM_PLAN_DRY}).status();
}

Status Engine::reserve(host::Buffer& buffer, uint64_t bytes, host::Memory where) const {
    if (buffer.handle() && buffer.size() >= bytes) return {};
    buffer = {};  // first, so that both need not fit
    auto made = device_.createBuffer(std::bit_ceil(bytes), where);
    if (!made) return made.status();
    buffer = *std::move(made);
    return {};
}

Result<TileMemory> Engine::prepare(const TileProduct& p) {
    plan_ = nullptr;
    const Problem problem = problem_for(p);
    const Key key{p.type, p.a, p.b, problem.m, problem.n, problem.k, problem.upTo};
    auto known = plans_.find(key);
    if (known == plans_.end()) {
        auto plan = device_.context().createPlan(problem, {.workspaceLimit = workspace_limit});
        if (!plan) return plan.status();
        known = plans_.emplace(key, *std::move(plan)).first;
    }
    const VkgemmPlanInfo info = known->second.info();
    struct {
        Pair& pair;
        VkgemmSlot slot;
    } const rows[] = {{a_, VKGEMM_SLOT_A}, {b_, VKGEMM_SLOT_B}, {d_, VKGEMM_SLOT_D}};
    for (const auto& row : rows) {
        const uint64_t bytes = info.requiredBytes[row.slot];
        if (Status s = reserve(row.pair.device, bytes, host::Memory::device); !s) return s;
        if (Status s = reserve(row.pair.host, bytes, host::Memory::host); !s) return s;
    }
    if (const uint64_t bytes = info.requiredBytes[VKGEMM_SLOT_WORKSPACE])
        if (Status s = reserve(workspace_, bytes, host::Memory::device); !s) return s;
    plan_ = &known->second;
    memory_ = {.a = a_.host.mapped().data(),
               .b = b_.host.mapped().data(),
               .d = d_.host.mapped().data(),
               .lda = static_cast<int64_t>(problem.a.ld),
               .ldb = static_cast<int64_t>(problem.b.ld),
               .ldd = static_cast<int64_t>(problem.d.ld)};
    return memory_;
}

Status Engine::run(const TileProduct& p, const Factors& factors, uint32_t copies) {
    const auto ld = [](int64_t x) { return static_cast<uint64_t>(x); };
    const bool a_plain = p.a == columnMajor, b_plain = p.b == columnMajor;
    const uint64_t bytes = bytes_of(p.type),
                   bytes_a = bytes * span_of(a_plain ? p.m : p.k, a_plain ? p.k : p.m, ld(memory_.lda)),
                   bytes_b = bytes * span_of(b_plain ? p.k : p.n, b_plain ? p.n : p.k, ld(memory_.ldb)),
                   bytes_d = bytes * span_of(p.m, p.n, ld(memory_.ldd));
    const Run run{.a = a_.device.operand(),
                  .b = b_.device.operand(),
                  .d = d_.device.operand(),
                  .workspace = workspace_.operand(),
                  .alpha = factors.alpha,
                  .beta = factors.beta,
                  .sizes = Sizes{.m = p.m, .n = p.n, .k = p.k}};
    return device_.submit([&](VkCommandBuffer commands) -> Status {
        const auto copy = [&](const host::Buffer& from, const host::Buffer& to, uint64_t size) {
            const VkBufferCopy region{0, 0, size};
            copy_(commands, from.handle(), to.handle(), 1, &region);
        };
        const auto wait = [&](VkPipelineStageFlags before, VkAccessFlags wrote, VkPipelineStageFlags after,
                              VkAccessFlags uses) {
            const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, wrote, uses};
            barrier_(commands, before, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
        };
        copy(a_.host, a_.device, bytes_a);
        copy(b_.host, b_.device, bytes_b);
        if (copies & copy_d_in) copy(d_.host, d_.device, bytes_d);
        wait(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
             VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        if (Status s = plan_->record(commands, run); !s) return s;
        if (copies & copy_d_out) {
            wait(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                 VK_ACCESS_TRANSFER_READ_BIT);
            copy(d_.device, d_.host, bytes_d);
        }
        return {};
    });
}

}  // namespace vkgemm::blas

// SPDX-License-Identifier: MIT
// A run of a chain becomes runs of its products.
#include <array>
#include <bit>
#include <string_view>

#include "plan/base/concat.h"
#include "vk/chain.h"
#include "vk/checked_run.h"
#include "vk/versioned.h"

namespace vkgemm::vk {
namespace {

using plan::about_product;
using plan::Refusal;
using plan::Result;

bool is_unset(const VkgemmOperand& x) { return !x.buffer && !x.address && !x.offset && !x.size; }

VkgemmOperand part_of(const VkgemmOperand& workspace, const plan::ChainRegion& region) {
    VkgemmOperand out = workspace;
    out.offset += region.begin;
    out.size = region.bytes;
    return out;
}

// The D of a product: the caller's, or its place in the workspace; none if it is never stored.
VkgemmOperand d_of(const ChainRun& r, size_t product) {
    if (r.chain->plan.kept[product]) return array_element(r.run.runs, product)->d;
    if (r.chain->plan.fused) return {};
    return part_of(r.run.workspace, r.chain->plan.intermediate[product]);
}

std::optional<Status> unfit_flags(const VkgemmRun& run) {
    constexpr uint32_t known = VKGEMM_RECORD_SIZES | VKGEMM_RECORD_ZERO_ALPHA;
    if (run.flags & ~known)
        return Refusal{
            VKGEMM_ERROR_INVALID_ARGUMENT,
            plan::concat({"VkgemmRun::flags is ", run.flags, "; in a chain it may have VKGEMM_RECORD_SIZES (",
                          uint32_t{VKGEMM_RECORD_SIZES}, ") and VKGEMM_RECORD_ZERO_ALPHA (",
                          uint32_t{VKGEMM_RECORD_ZERO_ALPHA}, "); barriers belong to VkgemmChainRun::flags"})};
    return std::nullopt;
}

// Operands that the chain provides itself.
std::optional<Status> unfit_operands(const ChainRun& r, const VkgemmRun& run, size_t product) {
    const auto refused = [](std::string_view name, std::string_view why) {
        return Refusal{VKGEMM_ERROR_OPERAND, plan::concat({"operand ", name, " must be zero: ", why})};
    };
    if (product > 0 && !is_unset(run.a)) return refused("a", "it is the D of the product before");
    if (!r.chain->plan.kept[product] && !is_unset(run.d))
        return refused("d", "this D is not kept; set its bit in VkgemmChainProblem::kept to have it stored");
    if (!is_unset(run.workspace)) return refused("workspace", "set VkgemmChainRun::workspace");
    if (product > 0 && !is_unset(run.groups))
        return refused("groups", "the rows of all products are those of product 0");
    return std::nullopt;
}

std::optional<Status> unlike_first(const VkgemmRun& run, const VkgemmRun& first) {
    if ((run.flags ^ first.flags) & VKGEMM_RECORD_SIZES)
        return Refusal{
            VKGEMM_ERROR_INVALID_ARGUMENT,
            plan::concat({(run.flags & VKGEMM_RECORD_SIZES ? "it states its sizes, and product 0 does not"
                                                           : "it does not state its sizes, and product 0 does"),
                          "; set VKGEMM_RECORD_SIZES in all runs or in none"})};
    for (const auto& [name, size, of_first] :
         {std::tuple{"m", run.m, first.m}, std::tuple{"batch", run.batch, first.batch}})
        if (size != of_first)
            return Refusal{
                VKGEMM_ERROR_INVALID_ARGUMENT,
                plan::concat({name, " is ", size, ", but that of product 0 is ", of_first, "; all must be the same"})};
    return std::nullopt;
}

// An operand that the caller gives.
struct Touched {
    size_t product;
    VkgemmSlot slot;
    Resolved place;
    plan::Footprint bytes;  // by address if the product's plan takes addresses, otherwise within the buffer
};

// What the products of a run touch. Allocates nothing.
class TouchedList {
   public:
    void add(size_t product, VkgemmSlot slot, const Resolved& x, const plan::Footprint& bytes) {
        all_[count_++] = {product, slot, x, bytes};
    }
    std::span<const Touched> all() const { return {all_.data(), count_}; }

   private:
    std::array<Touched, size_t{VKGEMM_MAX_CHAIN_PRODUCTS} * VKGEMM_SLOT_COUNT + 1> all_;
    size_t count_ = 0;
};

plan::Footprint within_buffer(const Touched& x) {
    plan::Footprint out = x.bytes;
    out.begin = x.place.offset;
    out.end = x.place.offset + x.place.bytes;
    return out;
}

// Plans of the same chain may differ in their binding. Two addresses are compared as such. If one of the operands has
// none, both are buffers, because plans of one chain take the same VkgemmOperandKind.
struct Pair {
    plan::Footprint x, y;
    bool in_one_place;
};
Pair comparable(const Touched& x, const Touched& y) {
    if (x.place.address && y.place.address) return {x.bytes, y.bytes, true};
    return {within_buffer(x), within_buffer(y), x.place.buffer == y.place.buffer};
}

bool overlap(const Touched& x, const Touched& y) {
    const Pair pair = comparable(x, y);
    return pair.in_one_place && may_overlap(pair.x, pair.y);
}

Status overlapping(const Touched& d, const Touched& x) {
    const Pair pair = comparable(d, x);
    return about_product(
        x.product,
        Refusal{VKGEMM_ERROR_OPERAND,
                plan::concat({"operand ", plan::slot_name(x.slot), " overlaps the D of product ", d.product, ": ",
                              common_bytes(pair.y, pair.x, "that D"), "; give it memory of its own"})});
}

// A D that the caller gives must share nothing with the operands of other products.
std::optional<Status> overlap_with_kept(std::span<const Touched> all) {
    for (const Touched& d : all) {
        if (d.slot != VKGEMM_SLOT_D) continue;
        for (const Touched& x : all)
            if (x.product != d.product && overlap(d, x)) return overlapping(d, x);
    }
    return std::nullopt;
}

std::optional<Status> overlap_with_workspace(std::span<const Touched> all, const Touched& space) {
    for (const Touched& x : all) {
        if (!overlap(space, x)) continue;
        const Pair pair = comparable(space, x);
        return Refusal{VKGEMM_ERROR_WORKSPACE, plan::concat({"operand workspace of the chain overlaps operand ",
                                                             plan::slot_name(x.slot), " of product ", x.product, ": ",
                                                             common_bytes(pair.x, pair.y, plan::slot_name(x.slot)),
                                                             "; give it memory of its own"})};
    }
    return std::nullopt;
}

// One product of a chain that is one dispatch: its sizes, and the operands that the caller brings for it.
struct FusedProduct {
    VkgemmRun run;
    plan::RunProblem problem;
    plan::BySlot<plan::Requirement> slots;
    Work work;
    ResolvedOperands operands;
};
std::optional<Status> check_fused(FusedProduct& out, const ChainRun& r, size_t product, const VkgemmRun& given) {
    const VkgemmPlan_T& p = *r.chain->products[product];
    plan::Sizes sizes;
    if (auto why = read_run(out.run, sizes, p, &given)) return why;
    out.problem = plan::with_sizes(p.plan.problem, sizes);
    out.slots = {};
    if (!plan::is_empty(out.problem.completed))  // which reads nothing
        out.slots = plan::requirements_of(out.problem.completed, p.plan.operand_alignment);
    if (r.chain->plan.counted && product == 0 && !plan::is_empty(out.problem.completed))
        out.slots[VKGEMM_SLOT_GROUPS] = {.bytes = sizeof(VkgemmGroup), .alignment = 4, .reads = true};
    if (auto why = unused_operand(out.problem.completed, out.slots, out.run)) return why;
    if (product > 0) out.slots[VKGEMM_SLOT_A] = {};
    if (!r.chain->plan.kept[product]) out.slots[VKGEMM_SLOT_D] = {};
    out.work = {.problem = &out.problem.completed, .slots = &out.slots, .steps = {}, .parts = {}};
    return resolve(p, out.run, out.work, out.operands);
}

// The push constants (shaders/chain/args.h).
class FusedArguments {
   public:
    void set_rows(const Resolved& a, uint64_t rows) {
        put(0, a.address);
        words_[2] = static_cast<uint32_t>(rows);
    }
    void add(const FusedProduct& p) {
        put(at_, p.operands[VKGEMM_SLOT_B].address);
        const bool has_bias = p.slots[VKGEMM_SLOT_BIAS].bytes != 0;  // otherwise there may be a residual
        put(at_ + 2, p.operands[has_bias ? VKGEMM_SLOT_BIAS : VKGEMM_SLOT_RESIDUAL].address);
        put(at_ + 4, p.operands[VKGEMM_SLOT_D].address);
        words_[at_ + 6] = std::bit_cast<uint32_t>(static_cast<float>(p.run.alpha));
        at_ += CHAIN_LAYER_WORDS;
    }
    /// After the last layer.
    void set_group(const Resolved& group) { put(at_, group.address); }
    uint32_t rows() const { return words_[2]; }
    const void* data() const { return words_.data(); }

   private:
    void put(size_t at, uint64_t address) {
        words_[at] = static_cast<uint32_t>(address);
        words_[at + 1] = static_cast<uint32_t>(address >> 32);
    }
    std::array<uint32_t, CHAIN_ARGUMENT_WORDS(CHAIN_LAYERS)> words_{};
    size_t at_ = CHAIN_HEADER_WORDS;
};

// The caller's operands of one product.
void add_touched(TouchedList& list, const ChainRun& r, size_t product, const Work& work,
                 const ResolvedOperands& operands) {
    for (size_t i = 0; i < size_t{VKGEMM_SLOT_COUNT}; ++i) {
        const auto slot = VkgemmSlot(i);
        if ((*work.slots)[i].bytes == 0 || slot == VKGEMM_SLOT_WORKSPACE) continue;
        if ((slot == VKGEMM_SLOT_A || slot == VKGEMM_SLOT_GROUPS) && product > 0) continue;
        if (slot == VKGEMM_SLOT_D && !r.chain->plan.kept[product]) continue;
        list.add(product, slot, operands[i], footprint(work, slot, operands[i]));
    }
}

std::optional<Status> check_product(TouchedList& touched, const ChainRun& r, size_t product, const VkgemmRun& run) {
    if (r.chain->plan.fused) {
        FusedProduct fused;
        if (auto why = check_fused(fused, r, product, run)) return why;
        add_touched(touched, r, product, fused.work, fused.operands);
        return std::nullopt;
    }
    CheckedRun checked;
    if (auto why = check_run(checked, r.chain->products[product].get(), &run)) return why;
    add_touched(touched, r, product, checked.work, checked.operands);
    return std::nullopt;
}

// The place of the workspace, if the chain needs one; `out` has no bytes if it does not.
std::optional<Status> find_workspace(const ChainRun& r, Touched& out) {
    const plan::Chain& chain = r.chain->plan;
    out = {.product = 0, .slot = VKGEMM_SLOT_WORKSPACE, .place = {}, .bytes = {}};
    if (chain.workspace_bytes == 0) return std::nullopt;
    const plan::Requirement need = {.bytes = chain.workspace_bytes,
                                    .alignment = static_cast<uint32_t>(chain.workspace_alignment)};
    const auto space = resolve_one(*r.chain->products[0], r.run.workspace, VKGEMM_SLOT_WORKSPACE, need);
    if (!space) return space.status();
    const uint64_t begin = space->address ? space->address : space->offset;
    out.place = *space;
    out.bytes = {.begin = begin, .end = begin + space->bytes, .run_bytes = space->bytes, .pitch = 0, .stride = 0};
    return std::nullopt;
}

// Fields of the run itself.
std::optional<Status> check_fields(const ChainRun& r) {
    constexpr uint32_t known = VKGEMM_RECORD_BARRIER_BEFORE | VKGEMM_RECORD_BARRIER_AFTER;
    if (r.run.flags & ~known)
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"VkgemmChainRun::flags has unknown bits: ", r.run.flags & ~known})};
    if (r.run.runCount != r.chain->products.size())
        return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                       plan::concat({"runCount is ", r.run.runCount, ", and the chain has ", r.chain->products.size(),
                                     " products"})};
    if (!r.run.runs) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "runs is null"};
    return std::nullopt;
}

}  // namespace

Result<VkgemmRun> product_run(const ChainRun& r, size_t product) {
    const VkgemmRun* const given = array_element(r.run.runs, product);
    if (given->structSize != r.run.runs->structSize)
        return about_product(product, Refusal{VKGEMM_ERROR_INVALID_ARGUMENT,
                                              plan::concat({"VkgemmRun::structSize is ", given->structSize,
                                                            ", but that of product 0 is ", r.run.runs->structSize,
                                                            "; all must be the same"})});
    Result<VkgemmRun> run = read_struct(given);
    if (!run) return about_product(product, run.status());
    if (auto why = unfit_flags(*run)) return about_product(product, *why);
    if (auto why = unfit_operands(r, *run, product)) return about_product(product, *why);
    complete_sizes(*run, *r.chain->products[product]);
    if (product > 0) {
        Result<VkgemmRun> first = read_struct(r.run.runs);
        if (!first) return about_product(0, first.status());
        complete_sizes(*first, *r.chain->products[0]);
        if (auto why = unlike_first(*run, *first)) return about_product(product, *why);
        if (!r.chain->plan.fused) run->groups = first->groups;
    }
    if (product > 0 && !r.chain->plan.fused) run->a = d_of(r, product - 1);
    run->d = d_of(r, product);
    if (r.chain->plan.scratch.bytes) run->workspace = part_of(r.run.workspace, r.chain->plan.scratch);
    return run;
}

std::optional<Status> check_chain_run(ChainRun& out, VkgemmChain chain, const VkgemmChainRun* given) {
    if (!chain) return Refusal{VKGEMM_ERROR_INVALID_ARGUMENT, "chain is null"};
    const Result<VkgemmChainRun> read = read_struct(given);
    if (!read) return read.status();
    out = {chain, *read};
    if (auto why = check_fields(out)) return why;
    Touched workspace;
    if (auto why = find_workspace(out, workspace)) return why;
    TouchedList touched;
    for (size_t i = 0; i < chain->products.size(); ++i) {
        const Result<VkgemmRun> run = product_run(out, i);
        if (!run) return run.status();
        if (auto why = check_product(touched, out, i, *run)) return about_product(i, *why);
    }
    if (auto why = overlap_with_kept(touched.all())) return why;
    return overlap_with_workspace(touched.all(), workspace);
}

namespace {

void record_fused(const ChainRun& r, VkCommandBuffer cmd) {
    const VkgemmChain_T& chain = *r.chain;
    const DeviceFunctions& f = chain.context->device.functions;
    FusedArguments args;
    Resolved group{};
    for (size_t i = 0; i < chain.products.size(); ++i) {
        const Result<VkgemmRun> run = product_run(r, i);
        FusedProduct product;
        check_fused(product, r, i, *run);
        if (i == 0) args.set_rows(product.operands[VKGEMM_SLOT_A], product.problem.completed.m);
        if (i == 0) group = product.operands[VKGEMM_SLOT_GROUPS];
        args.add(product);
    }
    if (chain.plan.counted) args.set_group(group);
    const uint32_t groups = chain.plan.fused->groups(args.rows());
    record_barrier_before(f, cmd, r.run.flags);
    if (groups) {
        f.CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, chain.use.program().pipeline);
        f.CmdPushConstants(cmd, chain.context->pipelines.chain_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           chain.plan.fused->key.module->argument_bytes(), args.data());
        f.CmdDispatch(cmd, groups, 1, 1);
    }
    record_barrier_after(f, cmd, r.run.flags);
}

}  // namespace

void record_chain(const ChainRun& r, VkCommandBuffer cmd) {
    if (r.chain->plan.fused) return record_fused(r, cmd);
    const size_t count = r.chain->products.size();
    for (size_t i = 0; i < count; ++i) {
        Result<VkgemmRun> run = product_run(r, i);
        if (i > 0) record_barrier(r.chain->context->device.functions, cmd);
        if (i == 0) run->flags |= r.run.flags & VKGEMM_RECORD_BARRIER_BEFORE;
        if (i + 1 == count) run->flags |= r.run.flags & VKGEMM_RECORD_BARRIER_AFTER;
        CheckedRun checked;
        check_run(checked, r.chain->products[i].get(), &*run);
        record(*r.chain->products[i], cmd, checked.run, checked.work, checked.operands);
    }
}

}  // namespace vkgemm::vk

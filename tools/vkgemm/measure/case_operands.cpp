// SPDX-License-Identifier: MIT
// The memory of a case's operands: what is in it, and how it gets to the device.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include "cli/terminal.h"
#include "measure/in_parallel.h"
#include "measure/measure.h"
#include "measure/numbers.h"
#include "measure/scalars.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::tool {
namespace {

constexpr uint64_t random_period = 4'194'301;  // elements; a prime, so that rows and columns differ

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& list) {
    const auto bytes = std::as_bytes(std::span(list));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

/// The matrix in `slot`; null if the case has none there.
const MatrixInfo* CaseRunner::matrix(VkgemmSlot slot) const {
    const auto used = [](const MatrixInfo& m) { return m.span ? &m : nullptr; };
    switch (slot) {
        case VKGEMM_SLOT_A:
            return used(r_.a);
        case VKGEMM_SLOT_B:
            return used(r_.b);
        case VKGEMM_SLOT_B2:
            return is_pair(case_.problem) ? used(r_.b) : nullptr;
        case VKGEMM_SLOT_C:
            return case_.problem.cSource == VKGEMM_C_SEPARATE ? used(r_.c) : nullptr;
        case VKGEMM_SLOT_D:
            return used(r_.d);
        case VKGEMM_SLOT_RESIDUAL:
            return reads(case_.problem, VKGEMM_SLOT_RESIDUAL) ? used(residual_) : nullptr;
        default:
            return nullptr;
    }
}

std::vector<std::byte> CaseRunner::random_bytes(VkgemmSlot slot) const {
    const MatrixInfo* m = matrix(slot);
    const Type type = m ? m->type : slot == VKGEMM_SLOT_SCALE ? r_.scale : r_.bias;
    const uint32_t bytes = type_info(type).bytes, block = type_info(type).blockElements;
    const uint64_t count = m ? m->span / block : 2 * std::max(case_.problem.m, case_.problem.n);  // of blocks
    std::vector<std::byte> data(count * bytes);
    if (slot == VKGEMM_SLOT_D && case_.problem.cSource != VKGEMM_C_IS_D) return data;  // only written
    const uint64_t fresh = std::min(count, std::max<uint64_t>(random_period / block / block, 1));
    in_parallel(fresh, (1 << 16) / block, [&](uint64_t i, uint64_t end) {
        Random random{static_cast<uint64_t>(slot) + 1};
        random.skip(i * block);
        std::array<double, 256> values{};  // of the largest block
        for (; i < end; ++i) {
            for (double& value : std::span(values).first(block)) value = random_value(type, random);
            encodeBlock(type, std::span(values).first(block), &data[i * bytes]);
        }
    });
    for (uint64_t i = fresh; i < count; i += fresh)
        std::memcpy(&data[i * bytes], data.data(), std::min(fresh, count - i) * bytes);
    return data;
}

Status CaseRunner::fill_slot(OperandCopies& slot, const std::vector<std::byte>& bytes, size_t sets,
                             uint32_t poison) const {
    if (bytes.empty()) return {};
    if (!slot.buffer.handle()) {
        slot.bytes = bytes.size();
        slot.stride = roundUp(slot.bytes + 2 * guard, guard);
        auto buffer = device_.createBuffer(slot.stride * sets);
        if (!buffer) return buffer.status();
        slot.buffer = *std::move(buffer);
    }
    if (sets == 1) {
        if (Status s = device_.fill(slot.buffer, 0, slot.stride, poison); !s) return s;
        return device_.upload(slot.buffer, guard, bytes);
    }
    // Many small sets go up together.
    const size_t together = std::clamp<size_t>((size_t{32} << 20) / slot.stride, 1, sets);
    std::vector<std::byte> block(slot.stride * together);
    for (size_t set = 0; set < together; ++set)
        std::ranges::copy(bytes, block.begin() + static_cast<std::ptrdiff_t>(set * slot.stride + guard));
    for (size_t set = 0; set < sets; set += together) {
        const size_t now = std::min(together, sets - set);
        if (Status s = device_.upload(slot.buffer, set * slot.stride, std::span(block).first(now * slot.stride)); !s)
            return s;
    }
    return {};
}

bool CaseRunner::uses(VkgemmSlot slot) const {
    if (slot == VKGEMM_SLOT_BIAS2) return is_biased_pair(case_.problem);
    for (const Step& step : case_.problem.epilogue)
        if (vector_width(step, slot)) return true;
    return matrix(slot) != nullptr;
}

const OperandBytes& CaseRunner::operands(bool for_check) {
    std::optional<OperandBytes>& kept = for_check ? check_bytes_ : time_bytes_;
    if (kept) return *kept;
    kept.emplace();
    for (size_t i = 0; i < kept->size(); ++i)
        if (const auto slot = static_cast<VkgemmSlot>(i); uses(slot) && !interrupted())
            kept->at(i) = for_check ? exact().bytes(slot) : random_bytes(slot);
    if (interrupted()) return *kept;
    const bool has_groups = case_.problem.grouping != VKGEMM_GROUPING_NONE;
    const GroupTable table = has_groups ? group_table(case_.problem) : GroupTable{};
    kept->at(VKGEMM_SLOT_GROUPS) = bytes_of(table.groups);
    kept->at(VKGEMM_SLOT_INDICES) = bytes_of(table.indices);
    kept->at(VKGEMM_SLOT_SCALARS) =
        scalar_bytes(case_.problem, for_check ? exact().alpha() : case_.alpha, for_check ? exact().beta() : case_.beta);
    for (const VkgemmSlot slot :
         {VKGEMM_SLOT_A, VKGEMM_SLOT_B, VKGEMM_SLOT_C, VKGEMM_SLOT_BIAS, VKGEMM_SLOT_SCALE, VKGEMM_SLOT_RESIDUAL,
          VKGEMM_SLOT_B2, VKGEMM_SLOT_BIAS2})  // which may be read in words
        kept->at(slot).resize(roundUp(kept->at(slot).size(), 4));
    return *kept;
}

MemoryUse CaseRunner::memory_use() const {
    return {.check = options_.check,
            .timing = options_.timing,
            .shared = device_.info().kind != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
            .sets = sets_};
}

uint64_t CaseRunner::needed_memory() const { return tool::needed_memory(r_, memory_use()); }

/// Asked once, before anything of this case is there.
Status CaseRunner::refused_memory() {
    if (!too_large_) too_large_ = tool::refused_memory(case_, r_, memory_use(), memory_left());
    return *too_large_;
}

Status CaseRunner::prepare_check() {
    if (Status s = refused_memory(); !s) return s;
    const OperandBytes& bytes = operands(true);
    if (interrupted()) return {};
    const bool first = !check_slots_;
    if (first) check_slots_.emplace();
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (!first && i != VKGEMM_SLOT_D) continue;  // the others are still as they were
        if (interrupted()) return {};
        const MatrixInfo* m = matrix(static_cast<VkgemmSlot>(i));
        const uint32_t around = poison(m ? m->type : r_.d.type);
        OperandCopies& slot = check_slots_->at(i);
        const bool all_poison = i == VKGEMM_SLOT_D && case_.problem.cSource != VKGEMM_C_IS_D;
        Status filled = !first && all_poison && slot.bytes ? device_.fill(slot.buffer, 0, slot.stride, around)
                                                           : fill_slot(slot, bytes[i], 1, around);
        if (!filled) {
            check_slots_.reset();
            return filled;
        }
    }
    return {};
}

Status CaseRunner::prepare_timing() {
    if (time_slots_) return {};
    if (Status s = refused_memory(); !s) return s;
    const OperandBytes& bytes = operands(false);
    if (interrupted()) return {};
    time_slots_.emplace();
    for (size_t i = 0; i < bytes.size(); ++i) {
        const bool rotates = i <= VKGEMM_SLOT_D || i == VKGEMM_SLOT_B2;
        if (interrupted()) return {};
        if (Status s = fill_slot(time_slots_->at(i), bytes[i], rotates ? sets_ : 1, 0); !s) {
            time_slots_.reset();
            return s;
        }
    }
    return {};
}

Result<host::Buffer> CaseRunner::workspace(const Plan& plan) const {
    const uint64_t bytes = plan.info().requiredBytes[VKGEMM_SLOT_WORKSPACE];
    if (bytes == 0) return host::Buffer{};
    auto buffer = device_.createBuffer(roundUp(bytes, 4));
    if (!buffer) return buffer.status();
    if (Status s = device_.fill(*buffer, 0, buffer->size(), 0xffffffff); !s) return s;
    return buffer;
}

Result<OperandCopies> CaseRunner::packed(const Plan& plan, VkgemmSlot slot, const OperandCopies& from,
                                         size_t sets) const {
    const auto pack = plan.createPack(slot);
    if (!pack) return pack.status();
    OperandCopies to;
    to.bytes = pack->info().requiredBytes[VKGEMM_SLOT_D];
    to.stride = roundUp(to.bytes + 2 * guard, guard);
    auto buffer = device_.createBuffer(to.stride * sets);
    if (!buffer) return buffer.status();
    to.buffer = *std::move(buffer);
    if (Status s = device_.fill(to.buffer, 0, to.buffer.size(), 0xffffffff); !s) return s;
    const auto record = [&](VkCommandBuffer commands) {
        for (size_t set = 0; set < sets; ++set) {
            Run run{.d = to.operand(set)};
            (slot == VKGEMM_SLOT_A ? run.a : run.b) = from.operand(set);
            if (Status s = pack->record(commands, run); !s) return s;
        }
        return Status{};
    };
    if (Status s = device_.submit(record, std::chrono::seconds(is_cpu_ ? 600 : 60)); !s) return s;
    return to;
}

Result<PlanMemory> CaseRunner::memory(const Plan& plan, const OperandSet& slots, size_t sets) const {
    PlanMemory out;
    auto space = workspace(plan);
    if (!space) return space.status();
    out.workspace = *space;
    const VkgemmPlanInfo info = plan.info();
    for (const auto& [slot, key] : {std::pair{VKGEMM_SLOT_A, info.packedA}, {VKGEMM_SLOT_B, info.packedB}}) {
        if (key == VKGEMM_PACKED_NONE) continue;
        auto made = packed(plan, slot, slots[slot], sets);
        if (!made) return made.status();
        out.packed[slot] = *std::move(made);
    }
    return out;
}

Run CaseRunner::run_of(const OperandSet& slots, size_t set, const PlanMemory& memory, double alpha, double beta) const {
    const auto at = [&](VkgemmSlot slot, size_t which) {
        const bool packs = (slot == VKGEMM_SLOT_A || slot == VKGEMM_SLOT_B) && memory.packed[slot].bytes;
        return packs ? memory.packed[slot].operand(which) : slots[slot].operand(which);
    };
    Run run{.a = at(VKGEMM_SLOT_A, set),
            .b = at(VKGEMM_SLOT_B, set),
            .c = at(VKGEMM_SLOT_C, set),
            .d = at(VKGEMM_SLOT_D, set)};
    run.bias = at(VKGEMM_SLOT_BIAS, 0);
    run.scale = at(VKGEMM_SLOT_SCALE, 0);
    run.residual = at(VKGEMM_SLOT_RESIDUAL, 0);
    run.groups = at(VKGEMM_SLOT_GROUPS, 0);
    run.indices = at(VKGEMM_SLOT_INDICES, 0);
    run.scalars = at(VKGEMM_SLOT_SCALARS, 0);
    run.b2 = at(VKGEMM_SLOT_B2, set);
    run.bias2 = at(VKGEMM_SLOT_BIAS2, 0);
    if (memory.workspace.handle()) run.workspace = memory.workspace.operand();
    run.alpha = alpha;
    run.beta = beta;
    return run;
}

}  // namespace vkgemm::tool

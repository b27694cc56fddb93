// SPDX-License-Identifier: MIT
// What stays on the device from call to call: operands that are kept, and D, and how it comes back.
#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "blas/engine.h"
#include "blas/failed.h"

namespace vkgemm::blas {
namespace {

template <class R>
void fill_nan(const Place& place) {
    auto* const first = static_cast<std::byte*>(const_cast<void*>(place.address));
    for (uint64_t c = 0; c < place.columns; ++c)
        std::fill_n(reinterpret_cast<R*>(first + c * place.ld), place.rows / sizeof(R),
                    std::numeric_limits<R>::quiet_NaN());
}

}  // namespace

Engine::Block* Engine::find_resident(const Origin& d) {
    for (Block& b : blocks_)
        if (b.resident && b.origin == d) return &b;
    return nullptr;
}

bool Engine::has_result(const Origin& d) const {
    return std::ranges::any_of(blocks_, [&](const Block& b) { return b.dirty && b.origin == d; });
}

Status Engine::make(WriteBack& back, uint64_t bytes) {
    if (Status s = make(back.commands, down); !s) return s;
    if (Status s = make(back.fence); !s) return s;
    return reserve(back.buffer, bytes, host::Memory::host);
}

Status Engine::begin_write_back(Block& block, WriteBack& back) {
    if (Status s = retire_until(block.used + 1); !s) return s;
    if (Status s = make(back, block.copied); !s) return s;
    const auto commands = [&](VkCommandBuffer to) -> Status {
        const auto barrier = [&](VkPipelineStageFlags after, VkAccessFlags uses) {
            const VkMemoryBarrier all{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                      .pNext = nullptr,
                                      .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                      .dstAccessMask = uses};
            vk_.vkCmdPipelineBarrier(to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, after, 0, 1, &all, 0, nullptr, 0, nullptr);
        };
        barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        copy(to, {.from = block.buffer.handle(), .to = back.buffer.handle(), .bytes = block.copied});
        barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        return {};
    };
    if (Status s = record(back.commands, commands); !s) return s;
    Status sent = submit(down, back.commands, VK_NULL_HANDLE, VK_NULL_HANDLE, back.fence);
    if (!sent) broken_ = true;
    return sent;
}

Status Engine::end_write_back(Block& block, const WriteBack& back) {
    if (Status s = wait(back.fence); !s) return s;
    block.unpack(back.buffer.mapped().data(), block.ld);
    block.dirty = false;
    spent_.downloaded += block.copied;
    moved_d_.down += block.copied;
    return {};
}

/// One is copied while the one before is unpacked.
Status Engine::write_back(std::span<Block* const> blocks) {
    if (broken_) return {VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "the device failed before"};
    Status done;
    size_t begun = 0;
    for (size_t ended = 0; ended < blocks.size() && !broken_; ++ended) {
        for (; done && begun < std::min(ended + 2, blocks.size()); ++begun)
            if (done = begin_write_back(*blocks[begun], write_backs_[begun % 2]); !done) break;
        if (ended == begun) break;
        if (Status s = end_write_back(*blocks[ended], write_backs_[ended % 2]); !s) return s;
    }
    return done;
}

Status Engine::write_back(const Place& place, const Exempt& exempt) {
    std::vector<Block*> all;
    for (Block& b : blocks_)
        if (b.dirty && overlap(b.origin.place(), place) && !(exempt && exempt(b.origin))) all.push_back(&b);
    return all.empty() ? Status{} : write_back(all);
}

void Engine::discard(const Place& place, const Exempt& exempt) {
    for (Block& b : blocks_)
        if (b.resident && overlap(b.origin.place(), place) && !(exempt && exempt(b.origin))) b.clear();
}

std::vector<Place> Engine::invalidate(const Place& place, const Exempt& exempt) {
    std::vector<Place> lost;
    for (Block& b : blocks_) {
        if (!b.dirty || !overlap(b.origin.place(), place) || (exempt && exempt(b.origin))) continue;
        lost.push_back(b.origin.place());
        if (b.type == f64)
            fill_nan<double>(lost.back());
        else
            fill_nan<float>(lost.back());
        b.clear();
    }
    return lost;
}

std::vector<Place> Engine::write_back_each(const Place& place, const Exempt& exempt) {
    for (Block& b : blocks_) {
        if (!b.dirty || !overlap(b.origin.place(), place) || (exempt && exempt(b.origin))) continue;
        Block* const one[] = {&b};
        (void)write_back(one);  // what fails still differs
    }
    return invalidate(place, exempt);
}

bool Engine::is_kept(const Origin& o) const {
    const auto at = reinterpret_cast<uintptr_t>(o.address);
    for (const auto& [address, bytes] : kept_) {
        const auto begin = reinterpret_cast<uintptr_t>(address);
        if (begin <= at && at + o.bytes <= begin + bytes) return true;
    }
    return false;
}

void Engine::keep(const void* address, uint64_t bytes) { kept_[address] = bytes; }

void Engine::forget(const void* address) {
    const auto found = kept_.find(address);
    if (found == kept_.end()) return;
    wrote(address, found->second);
    kept_.erase(found);
}

void Engine::wrote(const void* address, uint64_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    for (Block& b : blocks_) {
        if (b.resident) continue;
        const auto at = reinterpret_cast<uintptr_t>(b.origin.address);
        if (at < begin + bytes && begin < at + b.origin.bytes) b.origin = {};
    }
}

void Engine::take_over(Engine& other) {
    kept_ = other.kept_;
    moved_d_ = other.moved_d_;
    if (!other.finish()) return;  // the device may still use its memory
    other.blocks_.clear();
    other.results_.clear();
    other.free_results_.clear();
    other.memory_used_ = 0;
    other.workspace_ = {};
    for (Piece& p : other.pieces_) p.buffer = {};
    for (int i = 0; i < 60'000 && other.compiling_ > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (other.compiling_ > 0) return;  // the process ends, and nothing is compiled any more
    other.plans_.clear();
    other.other_plans_.clear();
}

}  // namespace vkgemm::blas

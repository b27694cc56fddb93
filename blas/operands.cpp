// SPDX-License-Identifier: MIT
// The memory of operands on the device, and how they travel there.
#include <algorithm>
#include <utility>

#include "blas/engine.h"
#include "blas/plans.h"

namespace vkgemm::blas {

namespace {

constexpr uint64_t left_to_others = 256u << 20;  // bytes of the device

}  // namespace

Status Engine::reserve(host::Buffer& buffer, uint64_t bytes, host::Memory where) {
    if (buffer.handle() && buffer.size() >= bytes) return {};
    const Timer timer(spent_.make);
    buffer = {};  // first, so that both need not fit
    auto made = device_.createBuffer(bytes, where);
    if (!made) return made.status();
    buffer = *std::move(made);
    ++created_;
    return {};
}

bool Engine::has_room(uint64_t bytes) const {
    if (memory_used_ + bytes > memory_limit_) return false;
    const uint64_t left = device_.memoryLeft();
    return left == UINT64_MAX || left >= bytes + std::min(left_to_others, info().memoryBytes / 8);
}

/// The first of: memory that nothing uses, at most twice as much as that; new memory; that of the operand used least
/// recently.
Result<Engine::Block*> Engine::free_block(uint64_t bytes) {
    Block* least = nullptr;
    for (Block& b : blocks_)
        if (!b.origin.address && b.buffer.size() >= bytes && b.buffer.size() / 2 <= bytes && b.used < retired_ &&
            !b.open && (!least || b.buffer.size() < least->buffer.size()))
            least = &b;
    if (least) return least;
    for (;;) {
        auto oldest = blocks_.end();
        for (auto b = blocks_.begin(); b != blocks_.end(); ++b)
            if (!b->open && b->used != next_ && (oldest == blocks_.end() || b->used < oldest->used)) oldest = b;
        const bool must = oldest == blocks_.end();  // for one product, whatever the limit is
        if (must || has_room(bytes)) {
            const Timer timer(spent_.make);
            auto made = device_.createBuffer(bytes, host::Memory::device);
            if (made) {
                blocks_.push_back({.buffer = *std::move(made)});
                memory_used_ += bytes;
                ++created_;
                return &blocks_.back();
            }
            if (must || made.status().code != VKGEMM_ERROR_OUT_OF_MEMORY) return made.status();
            memory_limit_ = memory_used_;  // the device has no more than this
        }
        if (Status s = retire_until(oldest->used + 1); !s) return s;
        Block* const one[] = {&*oldest};
        if (oldest->dirty)
            if (Status s = write_back(one); !s) return s;
        oldest->clear();
        if (oldest->buffer.size() == bytes) return &*oldest;
        memory_used_ -= oldest->buffer.size();
        blocks_.erase(oldest);
    }
}

Result<Engine::Block*> Engine::operand(const Load& load) {
    for (Block& b : blocks_)
        if (b.origin == load.origin && b.buffer.size() >= load.bytes) {
            b.used = next_;
            return &b;
        }
    auto block = free_block(load.bytes);
    if (!block) return block;
    (*block)->used = next_;
    if (Status s = send(load, (*block)->buffer); !s) return s;
    (*block)->origin = load.origin;
    return block;
}

Status Engine::send(const Load& load, const host::Buffer& to) {
    const uint64_t column = static_cast<uint64_t>(load.ld) * load.element * load.pack.each;
    const int64_t at_once = static_cast<int64_t>(std::max<uint64_t>(1, piece_bytes_ / column));
    for (int64_t begin = 0; begin < load.pack.count; begin += at_once) {
        const int64_t end = std::min(load.pack.count, begin + at_once);
        const uint64_t offset = static_cast<uint64_t>(begin) * column;
        const uint64_t bytes = std::min(load.copied - offset, static_cast<uint64_t>(end - begin) * column);
        const auto piece = free_piece(std::max(piece_bytes_, column));
        if (!piece) return piece.status();
        std::byte* const mapped = (*piece)->buffer.mapped().data();
        const Workers::Work pack = [&](int64_t from, int64_t until) {
            load.pack.columns(mapped + static_cast<uint64_t>(from) * column, load.ld, begin + from, begin + until);
        };
        workers_.begin(end - begin, bytes, pack);
        Status sent;
        {
            const Timer timer(spent_.submit);
            try {
                sent = send_held(VK_NULL_HANDLE);
            } catch (const std::exception& e) {  // the workers use `pack` until end()
                sent = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
            }
        }
        {
            const Timer timer(spent_.pack);
            workers_.end();
        }
        if (!sent) return sent;
        (*piece)->copy = {.from = (*piece)->buffer.handle(), .to = to.handle(), .offset = offset, .bytes = bytes};
        held_ = *piece;
        spent_.uploaded += bytes;
    }
    return {};
}

/// Memory that no copy reads: any, or new, or that of the first copy.
Result<Engine::Piece*> Engine::free_piece(uint64_t bytes) {
    Piece* oldest = nullptr;
    for (Piece& p : pieces_) {
        if (&p == held_) continue;
        if (p.pending && vk_.vkGetFenceStatus(device_.handle(), p.fence) == VK_SUCCESS) {
            if (Status s = wait(p.fence); !s) return s;
            p.pending = false;
        }
        if (!p.pending) {
            oldest = &p;
            break;
        }
        if (!oldest || p.number < oldest->number) oldest = &p;
    }
    if ((!oldest || oldest->pending) && pieces_.size() < most_pieces) {
        Piece made;
        if (Status s = make(made.commands, up); !s) return s;
        if (Status s = make(made.fence); !s) return s;
        pieces_.push_back(std::move(made));
        oldest = &pieces_.back();
    }
    if (oldest->pending) {
        if (Status s = retire_done(); !s) return s;
        const Timer timer(spent_.wait);
        if (Status s = wait(oldest->fence); !s) return s;
        oldest->pending = false;
    }
    if (oldest->buffer.size() < bytes)
        if (Status s = reserve(oldest->buffer, bytes, host::Memory::host); !s) return s;
    return oldest;
}

Status Engine::send_held(VkSemaphore signal) {
    Piece* const piece = std::exchange(held_, nullptr);
    if (!piece) return {};
    const auto fill = [&](VkCommandBuffer commands) -> Status {
        copy(commands, piece->copy);
        return Status{};
    };
    if (Status s = record(piece->commands, fill); !s) return s;
    if (Status s = submit(up, piece->commands, VK_NULL_HANDLE, signal, piece->fence); !s) {
        broken_ = true;
        return s;
    }
    piece->pending = true;
    piece->number = ++copies_;
    return {};
}

}  // namespace vkgemm::blas

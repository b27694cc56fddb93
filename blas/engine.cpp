// SPDX-License-Identifier: MIT
#include "blas/engine.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "blas/plans.h"

namespace vkgemm::blas {
namespace {

constexpr uint64_t wait_limit = 60'000'000'000;  // ns
constexpr size_t most_plans = 2000;              // between calls

uint64_t bytes_of(Type type) { return type == f64 ? 8 : 4; }

/// Elements from the first to the last of a column-major matrix.
uint64_t span_of(uint64_t rows, uint64_t columns, uint64_t ld) { return (columns - 1) * ld + rows; }

/// Whatever fails here, the device is not to be used again: semaphores may be left signalled.
Status lost(VkResult result, const char* function) {
    return {VKGEMM_ERROR_DEVICE_LOST, result, std::string(function) + ": VkResult " + std::to_string(result)};
}

}  // namespace

Engine::Engine(host::Device device, const EngineOptions& use)
    : device_(std::move(device)),
      accuracies_(use.accuracies),
      piece_bytes_(use.piece),
      memory_share_(
          std::min(use.budget, static_cast<uint64_t>(use.memory_share * static_cast<double>(info().memoryBytes)))),
      memory_limit_(memory_share_) {}

Result<std::unique_ptr<Engine>> Engine::open(const host::DeviceOptions& options, const EngineOptions& use) {
    auto opened = host::Device::open(options);
    if (!opened) return opened.status();
    std::unique_ptr<Engine> engine(new Engine(*std::move(opened), use));
    if (Status s = engine->load(); !s) return s;
    return engine;
}

Status Engine::load() {
    const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        device_.getInstanceProcAddr()(device_.instance(), "vkGetDeviceProcAddr"));
    bool all = find != nullptr;
#define X(name) all = all && (vk_.name = reinterpret_cast<PFN_##name>(find(device_.handle(), #name))) != nullptr;
    VKGEMM_BLAS_FUNCTIONS(X)
#undef X
    if (!all) return {VKGEMM_ERROR_MISSING_FUNCTION, VK_SUCCESS, "the driver lacks a function of Vulkan 1.0"};
    const auto copying = device_.transferQueues();
    queues_.fill(device_.queue());
    families_.fill(device_.queueFamily());
    // Both directions in one queue would wait for each other.
    if (!copying.empty()) {
        queues_[up] = copying[0];
        families_[up] = device_.transferFamily();
    }
    if (copying.size() > 1) {
        queues_[down] = copying[1];
        families_[down] = device_.transferFamily();
    }
    return {};
}

Status Engine::check(Type type) const {
    const TileProduct small{.type = type, .m = 1, .n = 1, .k = 1};
    Problem problem = problem_for(small);
    problem.accuracy = accuracy_for(problem);
    return device_.context()
        .createPlan(problem, {.flags = VKGEMM_PLAN_DRY, .workspaceLimit = uint64_t{1} << 20})
        .status();
}

bool Engine::has_native_kernels() const {
    const auto list_of = reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(
        device_.getInstanceProcAddr()(device_.instance(), "vkEnumerateDeviceExtensionProperties"));
    uint32_t count = 0;
    if (!list_of || list_of(device_.physicalDevice(), nullptr, &count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkExtensionProperties> all(count);
    if (list_of(device_.physicalDevice(), nullptr, &count, all.data()) < 0) return false;
    return std::ranges::any_of(all, [](const VkExtensionProperties& e) {
        return std::string_view(e.extensionName) == VK_NVX_BINARY_IMPORT_EXTENSION_NAME;
    });
}

Result<Engine::Flight*> Engine::free_flight() {
    if (Status s = retire_done(); !s) return s;
    if (free_flights_.empty() && flights_.size() >= most_flights)
        if (Status s = retire_until(retired_ + 1); !s) return s;
    if (free_flights_.empty()) {
        flights_.push_back(std::make_unique<Flight>());
        free_flights_.push_back(flights_.back().get());
    }
    Flight* const flight = free_flights_.back();
    if (Status s = make(*flight); !s) return s;
    return flight;
}

Result<host::Buffer*> Engine::free_result(uint64_t bytes) {
    while (free_results_.empty() && results_.size() >= most_results)
        if (Status s = retire_until(retired_ + 1); !s) return s;
    if (free_results_.empty()) free_results_.push_back(&results_.emplace_back());
    host::Buffer* const result = free_results_.back();
    if (result->size() < bytes)
        if (Status s = reserve(*result, bytes, host::Memory::host); !s) return s;
    return result;
}

Status Engine::enqueue(const Work& work) try {
    return enqueue_unguarded(work);
} catch (const std::exception& e) {  // no memory; nothing throws once the product was submitted
    return {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
}

Status Engine::enqueue_unguarded(const Work& work) {
    const TileProduct& p = work.product;
    if (broken_) return {VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "the device failed before"};
    const auto taken = free_flight();
    if (!taken) return taken.status();
    Flight& flight = **taken;
    const auto planned = plan_for(p);
    if (!planned) return planned.status();
    const Plan& plan = (*planned)->plan;
    const VkgemmPlanInfo info = plan.info();
    const Problem problem = problem_for(p);
    const uint64_t size = bytes_of(p.type);
    const auto copied = [&](bool plain, uint64_t rows, uint64_t columns, uint64_t ld) {
        return size * span_of(plain ? rows : columns, plain ? columns : rows, ld);
    };
    const auto load = [&](const Origin& origin, const Pack& pack, uint64_t ld, uint64_t columns, uint64_t bytes) {
        return Load{.origin = origin,
                    .pack = pack,
                    .ld = static_cast<int64_t>(ld),
                    .bytes = size * ld * capacity(columns),
                    .copied = bytes,
                    .element = size};
    };
    const bool a_plain = p.a == columnMajor, b_plain = p.b == columnMajor;
    const uint64_t copies = copies_;
    const auto a =
        operand(load(work.a, work.pack_a, problem.a.ld, a_plain ? p.k : p.m, copied(a_plain, p.m, p.k, problem.a.ld)));
    if (!a) return a.status();
    const auto b =
        operand(load(work.b, work.pack_b, problem.b.ld, b_plain ? p.n : p.k, copied(b_plain, p.k, p.n, problem.b.ld)));
    if (!b) return b.status();
    const Load d = load({}, work.pack_d, problem.d.ld, p.n, size * span_of(p.m, p.n, problem.d.ld));
    if (Status s = prepare_d(work, d, flight); !s) return s;
    const uint64_t space = info.requiredBytes[VKGEMM_SLOT_WORKSPACE];
    if (space > workspace_.size()) {
        if (Status s = retire_until(next_); !s) return s;
        if (Status s = reserve(workspace_, space, host::Memory::device); !s) return s;
    }
    const Run run{.a = (*a)->buffer.operand(),
                  .b = (*b)->buffer.operand(),
                  .d = d_->buffer.operand(),
                  .workspace = workspace_.operand(),
                  .alpha = work.alpha,
                  .beta = work.beta};
    const bool downloads = flight.result != nullptr, uploads = held_ || copies_ != copies;
    const Copy back{
        .from = d_->buffer.handle(), .to = downloads ? flight.result->handle() : VK_NULL_HANDLE, .bytes = d.copied};
    const Timer timer(spent_.submit);
    if (Status s = record(flight, plan, run, downloads ? &back : nullptr); !s) return s;
    count((*planned)->accuracy);
    return send(work, d, flight, uploads);
}

Status Engine::send(const Work& work, const Load& d, Flight& flight, bool uploads) {
    const bool downloads = flight.result != nullptr;
    if (downloads) {
        flight.unpack = work.unpack_d;
        flight.ld = d.ld;
    }
    in_flight_.push_back(&flight);
    Status sent = send_held(flight.uploaded);
    if (!sent) {
        in_flight_.pop_back();
        return sent;
    }
    sent = submit(multiply, flight.commands[multiply], uploads ? flight.uploaded : VK_NULL_HANDLE,
                  downloads ? flight.multiplied : VK_NULL_HANDLE, downloads ? VK_NULL_HANDLE : flight.fence);
    if (sent && downloads) sent = submit(down, flight.commands[down], flight.multiplied, VK_NULL_HANDLE, flight.fence);
    if (!sent) {
        broken_ = true;
        in_flight_.pop_back();
        return sent;
    }
    if (downloads) {
        std::erase(free_results_, flight.result);
        close_chain(work.chain);
        spent_.downloaded += d.copied;
        moved_d_.down += d.copied;
    } else {
        d_->dirty = d_->resident;
    }
    std::erase(free_flights_, &flight);
    ++next_;
    ++spent_.products;
    return {};
}

void Engine::close_chain(size_t chain) {
    const auto found = open_.find(chain);
    if (found == open_.end()) return;
    found->second->open = false;
    open_.erase(found);
}

Status Engine::prepare_d(const Work& work, const Load& d, Flight& flight) {
    const bool resident = work.d.address != nullptr;
    flight.result = nullptr;
    if (work.is_first) {
        close_chain(work.chain);
        d_ = resident ? find_resident(work.d) : nullptr;
        if (!d_) {
            for (WriteBack& back : write_backs_)  // now, so that it will come back when memory has run out
                if (Status s = resident ? make(back, d.copied) : Status{}; !s) return s;
            const auto block = free_block(d.bytes);
            if (!block) return block.status();
            d_ = *block;
            d_->used = next_;
            if (work.pack_d) {
                if (Status s = send(d, d_->buffer); !s) return s;
                moved_d_.up += d.copied;
            }
        }
        if (resident) {
            d_->unpack = work.unpack_d;
            d_->ld = d.ld;
            d_->copied = d.copied;
            d_->resident = true;
            d_->type = work.product.type;
        }
        d_->origin = work.d;
        d_->open = true;
        open_[work.chain] = d_;
    }
    d_ = open_.at(work.chain);
    d_->used = next_;
    if (resident || !work.unpack_d) return {};
    const auto result = free_result(d.bytes);
    if (!result) return result.status();
    flight.result = *result;
    return {};
}

Status Engine::wait(VkFence fence) {
    if (const VkResult r = vk_.vkWaitForFences(device_.handle(), 1, &fence, VK_TRUE, wait_limit); r != VK_SUCCESS) {
        broken_ = true;
        return lost(r, "vkWaitForFences");
    }
    if (const VkResult r = vk_.vkResetFences(device_.handle(), 1, &fence); r != VK_SUCCESS) {
        broken_ = true;
        return lost(r, "vkResetFences");
    }
    return {};
}

Status Engine::retire_until(uint64_t number) {
    while (retired_ < number && retired_ < next_) {
        Flight& flight = *in_flight_.front();
        {
            const Timer timer(spent_.wait);
            if (Status s = wait(flight.fence); !s) return s;
        }
        // Now, because the fence is reset: if unpacking runs out of memory, nobody waits for it again.
        in_flight_.pop_front();
        ++retired_;
        free_flights_.push_back(&flight);
        if (flight.result) free_results_.push_back(flight.result);
        const Unpack unpack = std::exchange(flight.unpack, {});
        if (traced_) read_times(flight);
        const Timer timer(spent_.unpack);
        if (unpack) unpack(flight.result->mapped().data(), flight.ld);
    }
    return {};
}

Status Engine::retire_done() {
    while (!in_flight_.empty() && vk_.vkGetFenceStatus(device_.handle(), in_flight_.front()->fence) == VK_SUCCESS)
        if (Status s = retire_until(retired_ + 1); !s) return s;
    return {};
}

Status Engine::finish() {
    Status done = broken_ ? Status{} : retire_until(next_);
    held_ = nullptr;
    for (Piece& p : pieces_)  // of a product that failed: the next call may write where its copies do
        if (std::exchange(p.pending, false) && !broken_)
            if (Status s = wait(p.fence); !s && done) done = s;
    retired_ = next_;
    if (plans_.size() > most_plans && done && compiling_ == 0) plans_.clear();
    for (const auto& f : flights_) f->unpack = {};
    forget_operands();
    return done;
}

bool Engine::leave() {
    if (plans_.size() > most_plans) return false;
    forget_operands();
    return true;
}

void Engine::forget_operands() {
    memory_limit_ = memory_share_;  // others may have given memory back
    open_.clear();
    for (Block& b : blocks_) {
        b.open = false;
        const bool was_sent = b.used != next_;  // false: of a product that failed before it was submitted
        if (!was_sent) b.used = 0;
        if (b.resident) continue;
        if (!was_sent || broken_ || !is_kept(b.origin)) b.origin = {};
    }
}

}  // namespace vkgemm::blas

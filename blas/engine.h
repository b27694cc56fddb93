// SPDX-License-Identifier: MIT
// The device: a queue of products of tiles. While it multiplies one, the next is copied to it and the last one back.
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <tuple>
#include <vkgemm/host.hpp>

#include "blas/accuracy.h"
#include "blas/place.h"
#include "blas/workers.h"

namespace vkgemm::blas {

/// D = alpha A B + beta D, of real numbers. D is column-major.
struct TileProduct {
    Type type = f32;
    Layout a = columnMajor, b = columnMajor;
    uint64_t m = 0, n = 0, k = 0;
    auto operator<=>(const TileProduct&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
};

/// What an operand on the device was made of: address, leading dimension, rows, columns, and how it was stored.
struct Origin {
    const void* address = nullptr;
    int64_t ld = 0, rows = 0, columns = 0;
    uint32_t form = 0;
    std::array<double, 2> factor{1, 0};  // that it was multiplied by
    uint64_t bytes = 0;                  // from the address to the last element
    auto operator<=>(const Origin&) const = default;
    Place place() const {
        return place_of(address, rows, columns, ld, bytes / static_cast<uint64_t>((columns - 1) * ld + rows));
    }
};

/// Puts an operand into memory of the host, with a leading dimension: some of its columns at a time, on any thread.
struct Pack {
    std::function<void(std::byte* to, int64_t ld, int64_t begin, int64_t end)> columns{};  // `begin` goes to `to`
    int64_t count = 0;  // of columns; 0: there is no operand
    uint64_t each = 1;  // columns on the device for one of these
    explicit operator bool() const { return count > 0; }
};
using Unpack = std::function<void(const std::byte* from, int64_t ld)>;

/// One product of a chain that adds up to one tile of D.
struct Work {
    TileProduct product{};
    double alpha = 1, beta = 0;
    Origin a{}, b{};
    Pack pack_a{}, pack_b{};  // called if the device does not have the operand
    bool is_first = false;    // of its chain
    size_t chain = 0;         // of those that are under way, each of which has a D
    Pack pack_d{};            // first only; empty: D is not read
    Unpack unpack_d{};        // last only: when D is complete, during a later enqueue() or finish()
    /// Not empty: D stays on the device, in all products of the chain alike. If it is there pack_d is not called;
    /// unpack_d is, of each product, when write_back() asks for D.
    Origin d{};
};

/// The functions of Vulkan that are used beside those of vkgemm_host.
#define VKGEMM_BLAS_FUNCTIONS(X) \
    X(vkCmdCopyBuffer)           \
    X(vkCmdPipelineBarrier)      \
    X(vkCreateCommandPool)       \
    X(vkAllocateCommandBuffers)  \
    X(vkResetCommandPool)        \
    X(vkBeginCommandBuffer)      \
    X(vkEndCommandBuffer)        \
    X(vkCreateSemaphore)         \
    X(vkCreateFence)             \
    X(vkResetFences)             \
    X(vkWaitForFences)           \
    X(vkGetFenceStatus)          \
    X(vkQueueSubmit)             \
    X(vkCreateQueryPool)         \
    X(vkCmdResetQueryPool)       \
    X(vkCmdWriteTimestamp)       \
    X(vkGetQueryPoolResults)

/// Seconds since reset_spent(): of the thread that calls, and of the device's products, if they are traced.
struct Spent {
    double make = 0;       // plans and memory
    double pack = 0;       // A, B and D into mapped memory
    double submit = 0;     // recording, too
    double wait = 0;       // for the device
    double unpack = 0;     // D out of mapped memory
    double computing = 0;  // the sum over the products
    double span = 0;       // from the start of the first product to the end of the last one
    uint64_t uploaded = 0, downloaded = 0, products = 0;
};
/// What a call would have taken if plans and memory had been there, or somewhat less.
inline double working_seconds(const Spent& s) { return s.pack + s.submit + s.wait + s.unpack; }

struct EngineOptions {
    double memory_share = 0.25;    // the part of the device's memory that operands may take
    uint64_t budget = UINT64_MAX;  // the most bytes for them
    Accuracies accuracies{};
    uint64_t piece = 8u << 20;  // bytes of an operand that are packed and sent at once
};

/// One thread at a time may use it. What it has on the device stays until the process ends: it is never destroyed.
class Engine {
   public:
    static Result<std::unique_ptr<Engine>> open(const host::DeviceOptions& options, const EngineOptions& use);
    const host::Device& device() const { return device_; }

    const host::DeviceInfo& info() const { return device_.info(); }
    Workers& workers() { return workers_; }

    /// Whether the device has kernels of this type. Compiles nothing.
    Status check(Type type) const;

    /// Starts the product; operands are packed before it returns. After a failure, which may be an exception inside,
    /// D is as it was, unless the device is broken. Then call finish().
    Status enqueue(const Work& work);
    /// Waits for everything that was enqueued; forgets the operands, except those that are kept. D of a chain whose
    /// unpack_d was not called is not there.
    Status finish();
    /// As finish() where every D stays, but waits for nothing: that these products fail is then found by a later call.
    /// False: it is time for finish().
    bool leave();

    /// Whether the product's kernels are compiled, or cannot be. Otherwise they are compiled in the background.
    bool is_compiled(const TileProduct& product);

    /// The most bytes that operands may take, with the D of chains that are under way.
    uint64_t memory() const { return memory_share_; }

    /// The device's seconds for a product of one tile, without copies. Nothing may be enqueued.
    Result<double> time(const TileProduct& product);

    /// Operands inside [address, address + bytes) stay on the device between calls until forget() of the same address.
    void keep(const void* address, uint64_t bytes);
    void forget(const void* address);
    /// Something changes this memory: what was kept of it is stale. It does not concern D, which discard() is for.
    void wrote(const void* address, uint64_t bytes);

    /// Whether D stayed on the device and is dirty: newer than what the host has.
    bool has_result(const Origin& d) const;
    /// Writes dirty D that meets this place to the host, unless `exempt` is true for it. After a failure some of it is
    /// still dirty.
    using Exempt = std::function<bool(const Origin&)>;
    Status write_back(const Place& place, const Exempt& exempt = {});
    /// The device forgets D that meets this place, also where it is dirty.
    void discard(const Place& place, const Exempt& exempt = {});
    /// Discards dirty D, and sets the host's memory to NaN there. Returns these places.
    std::vector<Place> invalidate(const Place& place, const Exempt& exempt = {});
    /// After write_back() failed: writes back one D at a time, and invalidates those that fail again.
    std::vector<Place> write_back_each(const Place& place, const Exempt& exempt = {});
    /// Bytes of D that were sent and fetched, in all calls.
    struct Moved {
        uint64_t up = 0, down = 0;
    };
    const Moved& moved_d() const { return moved_d_; }

    /// How exact this product, whose accuracy is the default, is to be computed.
    VkgemmAccuracy accuracy_for(const Problem& problem) const;

    /// For products that this class does not know. Lives as long as it.
    Result<const Plan*> plan(const Problem& problem);

    /// Whether the driver has the extension for native kernels, enabled or not.
    bool has_native_kernels() const;
    /// Keeps what `other` keeps. Its memory is freed, and it must not be used any more.
    void take_over(Engine& other);

    /// Rises when a call has compiled kernels or made buffers, so that its time says little about the next one.
    uint64_t created() const { return created_; }
    uint64_t compiled() const { return compiled_; }    // plans whose kernels were not there
    uint64_t products() const { return next_; }        // of all calls
    uint64_t from_int8() const { return from_int8_; }  // products of f64 that were computed from those of int8
    void count(VkgemmAccuracy accuracy) { from_int8_ += isFromInt8(accuracy) ? 1 : 0; }
    bool is_broken() const { return broken_; }
    const Spent& spent() const { return spent_; }
    /// `traced`: the products are timed by the device from now on, if it can.
    void reset_spent(bool traced);

   private:
    Engine(host::Device device, const EngineOptions& use);

    enum Stage : size_t { up, multiply, down };
    static constexpr size_t stages = 3;
    struct Commands {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer buffer = VK_NULL_HANDLE;
    };

    /// Memory of the device.
    struct Block {
        Origin origin{};  // address null: nothing
        host::Buffer buffer{};
        uint64_t used = 0;  // number of the last product that uses it
        bool open = false;  // D of a chain that is under way
        // Of D that stays:
        bool resident = false, dirty = false;  // dirty: newer than what the host has
        Type type = f32;
        Unpack unpack{};
        int64_t ld = 0;
        uint64_t copied = 0;
        void clear() {
            origin = {};
            resident = dirty = false;
            unpack = {};
        }
    };
    /// Mapped memory that a D that stayed comes back through.
    struct WriteBack {
        host::Buffer buffer{};
        Commands commands{};
        VkFence fence = VK_NULL_HANDLE;
    };
    struct Copy {
        VkBuffer from = VK_NULL_HANDLE, to = VK_NULL_HANDLE;
        uint64_t offset = 0, bytes = 0;  // offset: in `to`
    };
    /// Mapped memory that columns of an operand are packed into, and the copy of them to the device.
    struct Piece {
        host::Buffer buffer{};
        Commands commands{};
        VkFence fence = VK_NULL_HANDLE;
        Copy copy{};
        uint64_t number = 0;   // of its copy, counted from 1
        bool pending = false;  // it was submitted, and the fence not waited for
    };
    /// What one product needs until the device has done it.
    struct Flight {
        std::array<Commands, stages> commands{};  // `up` is not used
        VkSemaphore uploaded = VK_NULL_HANDLE, multiplied = VK_NULL_HANDLE;
        VkFence fence = VK_NULL_HANDLE;  // of its last stage
        VkQueryPool times = VK_NULL_HANDLE;
        host::Buffer* result = nullptr;  // one of results_, for unpack
        Unpack unpack{};
        int64_t ld = 0;
    };
    struct Functions {
#define X(name) PFN_##name name = nullptr;
        VKGEMM_BLAS_FUNCTIONS(X)
#undef X
    };

    Status load();
    Status make(Commands& commands, Stage stage) const;
    Status make(VkFence& fence) const;
    Status make(Flight& flight) const;
    Status enqueue_unguarded(const Work& work);
    struct Planned {
        Plan plan{};
        VkgemmAccuracy accuracy = VKGEMM_ACCURACY_DEFAULT;
        bool asked = false;                 // the background compiles it, or did
        std::atomic<bool> settled = false;  // it is compiled, or that failed there
    };
    /// Whose kernels may not be compiled yet.
    Result<Planned*> planned(const TileProduct& product);
    Result<const Planned*> plan_for(const TileProduct& product);
    /// What `make` returns, with the time that it takes.
    template <class Make>
    auto timed(const Make& make);
    Status reserve(host::Buffer& buffer, uint64_t bytes, host::Memory where);
    /// What an operand needs: `bytes` of the device, of which `copied` are sent.
    struct Load {
        const Origin& origin;
        const Pack& pack;
        int64_t ld;
        uint64_t bytes, copied, element;
    };
    /// The block that holds the operand, which is sent if it was not there.
    Result<Block*> operand(const Load& load);
    Status prepare_d(const Work& work, const Load& d, Flight& flight);
    /// Submits what was recorded: the copies that were held back, the product, and where D does not stay its copy.
    Status send(const Work& work, const Load& d, Flight& flight, bool uploads);
    void close_chain(size_t chain);
    /// Packs and copies the operand piece by piece, one being packed while the one before is submitted. The last copy
    /// is held back until send_held.
    Status send(const Load& load, const host::Buffer& to);
    Status send_held(VkSemaphore signal);
    Result<Piece*> free_piece(uint64_t bytes);
    Result<Flight*> free_flight();
    Result<host::Buffer*> free_result(uint64_t bytes);
    Result<Block*> free_block(uint64_t bytes);
    /// Whether the limit and what the driver has left allow so many bytes more.
    bool has_room(uint64_t bytes) const;
    Status record(const Commands& to, const std::function<Status(VkCommandBuffer)>& commands) const;
    void copy(VkCommandBuffer commands, const Copy& copy) const;
    Status record(Flight& flight, const Plan& plan, const Run& run, const Copy* download) const;
    Status submit(Stage stage, const Commands& commands, VkSemaphore after, VkSemaphore signal, VkFence fence) const;
    Status wait(VkFence fence);
    void read_times(const Flight& flight);
    Status retire_until(uint64_t number);
    Status retire_done();
    void forget_operands();
    bool is_kept(const Origin& origin) const;
    Block* find_resident(const Origin& d);
    Status make(WriteBack& back, uint64_t bytes);
    Status begin_write_back(Block& block, WriteBack& back);
    Status end_write_back(Block& block, const WriteBack& back);
    Status write_back(std::span<Block* const> blocks);

    host::Device device_;
    const Accuracies accuracies_;
    const uint64_t piece_bytes_;
    Functions vk_{};
    std::array<VkQueue, stages> queues_{};
    std::array<uint32_t, stages> families_{};
    std::map<TileProduct, Planned> plans_;
    std::atomic<unsigned> compiling_ = 0;      // of them, in the background
    std::map<std::string, Plan> other_plans_;  // by the problem's text
    std::list<Block> blocks_;
    uint64_t memory_share_ = 0, memory_limit_ = 0, memory_used_ = 0;  // limit: less than the share once it ran out
    // Many products may be under way, so that operands are sent ahead while there is much to compute; what they need of
    // mapped memory is bounded apart.
    static constexpr size_t most_flights = 64, most_results = 4;
    static constexpr uint64_t most_pieces = 16;
    std::vector<std::unique_ptr<Flight>> flights_;
    std::vector<Flight*> free_flights_;
    std::deque<Flight*> in_flight_;  // numbers retired_ to next_
    std::list<Piece> pieces_;
    Piece* held_ = nullptr;  // packed, not yet submitted
    uint64_t copies_ = 0;
    std::list<host::Buffer> results_;
    std::vector<host::Buffer*> free_results_;
    uint64_t next_ = 0, retired_ = 0;  // numbers of products
    Block* d_ = nullptr;               // of the product that is being enqueued
    std::map<size_t, Block*> open_;    // D of chains
    host::Buffer workspace_;
    std::map<const void*, uint64_t> kept_;
    std::array<WriteBack, 2> write_backs_{};
    Moved moved_d_{};
    Workers workers_;
    bool broken_ = false;
    uint64_t created_ = 0, from_int8_ = 0;
    std::atomic<uint64_t> compiled_ = 0;
    Spent spent_{};
    bool traced_ = false;
    double seconds_per_tick_ = 0;
    uint64_t first_tick_ = 0;
};

}  // namespace vkgemm::blas

// SPDX-License-Identifier: MIT
// The device: multiplies one tile of real numbers after another. Plans are kept; each serves a range of sizes.
#pragma once
#include <map>
#include <tuple>
#include <vkgemm/host.hpp>

namespace vkgemm::blas {

/// D = alpha A B + beta D, of matrices that the caller has put where Engine::prepare says. D is column-major.
struct TileProduct {
    Type type = f32;
    Layout a = columnMajor, b = columnMajor;
    uint64_t m = 0, n = 0, k = 0;
};

/// Where the operands of a product go, and where D comes from. Leading dimensions in elements.
struct TileMemory {
    std::byte *a = nullptr, *b = nullptr, *d = nullptr;
    int64_t lda = 0, ldb = 0, ldd = 0;
};

/// One thread at a time may use it. What it has on the device stays until the process ends: it is never destroyed.
class Engine {
   public:
    static Result<std::unique_ptr<Engine>> open(const std::string& device);

    const host::DeviceInfo& info() const { return device_.info(); }

    /// Whether the device has kernels of this type. Compiles nothing.
    Status check(Type type) const;

    /// Makes the plan and the buffers.
    Result<TileMemory> prepare(const TileProduct& product);

    struct Factors {
        double alpha = 1, beta = 0;
    };
    enum Copy : uint32_t { copy_d_in = 1, copy_d_out = 2 };
    /// After prepare() for the same product. D is on the device between two runs, unless `copies` says otherwise.
    Status run(const TileProduct& product, const Factors& factors, uint32_t copies);

   private:
    explicit Engine(host::Device device) : device_(std::move(device)) {}
    using Key = std::tuple<Type, Layout, Layout, uint64_t, uint64_t, uint64_t, uint32_t>;

    /// An operand on the device, and the memory of the host that it is copied from or to.
    struct Pair {
        host::Buffer device, host;
    };
    Status reserve(host::Buffer& buffer, uint64_t bytes, host::Memory where) const;

    host::Device device_;
    PFN_vkCmdCopyBuffer copy_ = nullptr;
    PFN_vkCmdPipelineBarrier barrier_ = nullptr;
    std::map<Key, Plan> plans_;
    const Plan* plan_ = nullptr;  // of the last prepare()
    TileMemory memory_;
    Pair a_, b_, d_;
    host::Buffer workspace_;
};

}  // namespace vkgemm::blas

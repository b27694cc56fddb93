// SPDX-License-Identifier: MIT
// One call, tile by tile, on one device or several. A tile of C is written when it is complete; a tile that fails has
// not been written, and the CPU BLAS computes it.
#pragma once
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "blas/decision.h"
#include "blas/order.h"
#include "blas/packing.h"
#include "blas/state.h"

namespace vkgemm::blas {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What the device multiplies for T.
template <class T>
inline constexpr Type type_of = sizeof(Real<T>) == 8 ? f64 : f32;

/// Rows and columns of a tile of C, and the depth of the products that add up to it, in real numbers.
struct TileSize {
    int64_t side = 2048, depth = 2048;
};
/// Larger ones for f32 where there are many of them, because the kernels do more with those: on an NVIDIA H200
/// products of 2048^3 run at 38 TFLOP/s and of 4096^3 at 45, in f64 at 47 either way. With few of them, sending the
/// first operands and fetching the last tile takes what that gains.
template <class T>
TileSize tile_size(const Settings& s, const Gemm<T>& g) {
    constexpr int64_t large = 4096, many = 16;
    const int64_t m = real_rows<T> * g.m, k = real_rows<T> * g.k;
    const bool is_large = !s.tile_given && type_of<T> == f32 && (m / large) * (g.n / large) >= many && k >= large;
    const int64_t side = is_large ? large : s.tile;
    return {side, s.depth ? s.depth : side};
}

/// How an operand is stored on the device, for Origin: two operands with the same form and place are the same.
template <class T>
uint32_t form_of(bool is_a, Op op) {
    return static_cast<uint32_t>(routine_of<T>) << 4 | uint32_t{is_a} << 3 | static_cast<uint32_t>(op);
}

template <class T>
uint64_t extent(int64_t rows, int64_t columns, int64_t ld) {
    return static_cast<uint64_t>((columns - 1) * ld + rows) * sizeof(T);
}

/// The tiles of a call, and which of them are done.
template <class T>
class Tiles {
   public:
    Tiles(const Gemm<T>& g, TileSize size, size_t devices)
        : g_(g),
          columns_(size.side),
          rows_(std::max<int64_t>(1, size.side / real_rows<T>)),
          depth_(std::max<int64_t>(1, size.depth / real_rows<T>)),
          down_((g.m + rows_ - 1) / rows_),
          done_(static_cast<size_t>(down_ * ((g.n + columns_ - 1) / columns_))),
          shares_(down_, (g.n + columns_ - 1) / columns_, devices) {}

    /// Computes tiles on this device until none is left. What failed has left its tiles of C unchanged, and they are
    /// not done. Several devices may do this at once, each on a thread of its own, with numbers of 0 and up.
    Status run(Engine& engine, size_t device) {
        Status status;
        try {
            while (status) {
                const auto t = shares_.take(device);
                if (!t) break;
                status = chain(engine, *t);
            }
        } catch (const std::exception& e) {
            status = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
        }
        const Status finished = engine.finish();
        return status ? finished : status;
    }

    template <class Next>
    uint64_t rest(const Next& next) const {
        uint64_t count = 0;
        for (size_t t = 0; t < done_.size(); ++t)
            if (!done_[t]) next(tile(t)), ++count;
        return count;
    }

   private:
    Gemm<T> tile(size_t t) const {
        const int64_t i = static_cast<int64_t>(t) % down_ * rows_, j = static_cast<int64_t>(t) / down_ * columns_;
        return part(g_, i, j, std::min(rows_, g_.m - i), std::min(columns_, g_.n - j));
    }

    /// The products that add up to one tile of C.
    Status chain(Engine& engine, size_t t) {
        const Gemm<T> g = tile(t);
        const bool scale_a = !is_real(g.alpha), scale_c = !is_real(g.beta);
        const auto real = [](T x) { return static_cast<double>(std::real(x)); };
        for (int64_t l = 0; l < g.k; l += depth_) {
            Work work = product(g, l, std::min(depth_, g.k - l));
            work.is_first = l == 0;
            work.alpha = scale_a ? 1 : real(g.alpha);
            work.beta = !work.is_first || scale_c ? 1 : real(g.beta);
            if (work.is_first && g.beta != T{})
                work.pack_d = {[g, scale_c](std::byte* to, int64_t ld, int64_t from, int64_t until) {
                                   pack_c(g.c + from * g.ldc, g.ldc, g.m, until - from, scale_c ? g.beta : T{1},
                                          real_at(to), ld);
                               },
                               g.n};
            if (l + depth_ >= g.k)
                work.unpack_d = [this, &engine, g, t](const std::byte* from, int64_t ld) {
                    share(engine, g.n, g.m, [&](int64_t j, int64_t end) {
                        const auto* d = reinterpret_cast<const Real<T>*>(from);
                        unpack_c(d + j * ld, ld, g.m, end - j, g.c + j * g.ldc, g.ldc);
                    });
                    done_[t] = 1;
                };
            if (Status s = engine.enqueue(work); !s) return s;
        }
        return {};
    }

    /// The product of columns of op(A) and rows of op(B) from `l` on.
    static Work product(const Gemm<T>& g, int64_t l, int64_t k) {
        constexpr uint64_t parts = real_rows<T>;
        const bool a_plain = g.op_a == Op::none, b_plain = g.op_b == Op::none;
        const T factor = is_real(g.alpha) ? T{1} : g.alpha;
        const T* const a = g.a + (a_plain ? l * g.lda : l);
        const T* const b = g.b + (b_plain ? l : l * g.ldb);
        const int64_t a_rows = a_plain ? g.m : k, a_columns = a_plain ? k : g.m;
        const int64_t b_rows = b_plain ? k : g.n, b_columns = b_plain ? g.n : k;
        Work work{.product = {.type = type_of<T>,
                              .a = a_plain ? columnMajor : rowMajor,
                              .b = b_plain ? columnMajor : rowMajor,
                              .m = parts * static_cast<uint64_t>(g.m),
                              .n = static_cast<uint64_t>(g.n),
                              .k = parts * static_cast<uint64_t>(k)}};
        work.a = {a, g.lda, a_rows, a_columns, form_of<T>(true, g.op_a), {1, 0}, extent<T>(a_rows, a_columns, g.lda)};
        work.b = {b, g.ldb, b_rows, b_columns, form_of<T>(false, g.op_b), {1, 0}, extent<T>(b_rows, b_columns, g.ldb)};
        if constexpr (is_complex<T>) work.a.factor = {std::real(factor), std::imag(factor)};
        work.pack_a = {[g, a, a_rows, factor](std::byte* to, int64_t ld, int64_t from, int64_t until) {
                           pack_a(a + from * g.lda, g.lda, a_rows, until - from, g.op_a, factor, real_at(to), ld);
                       },
                       a_columns, parts};
        const int64_t each = b_plain ? 1 : real_rows<T>;
        work.pack_b = {[g, b, b_rows](std::byte* to, int64_t ld, int64_t from, int64_t until) {
                           pack_b(b + from * g.ldb, g.ldb, b_rows, until - from, g.op_b, real_at(to), ld);
                       },
                       b_columns, static_cast<uint64_t>(each)};
        return work;
    }

    static Real<T>* real_at(std::byte* memory) { return reinterpret_cast<Real<T>*>(memory); }

    static void share(Engine& engine, int64_t columns, int64_t rows,
                      const std::function<void(int64_t, int64_t)>& work) {
        engine.workers().run(columns, static_cast<uint64_t>(rows * columns) * sizeof(T), work);
    }

    const Gemm<T> g_;
    const int64_t columns_, rows_, depth_, down_;
    std::vector<char> done_;  // not bool: devices write them at once
    TileShares shares_;
};

/// How many of the devices compute this call: with VKGEMM_BLAS=auto those that are predicted to gain, else all that
/// have a tile.
template <class T>
size_t devices_for(const Gemm<T>& g, TileSize size, size_t devices) {
    const Measured& measured = measured_rates(type_of<T>);
    if (devices > 1 && predicts(settings()) && measured.done) {  // B is sent to each where C's rows are dealt
        const double rows = static_cast<double>(g.m >= g.n ? g.n : g.m), depth = static_cast<double>(g.k);
        devices = devices_worth(measured.rates, cost_of(g, size.side), rows * depth * sizeof(T), devices);
    }
    const int64_t rows = std::max<int64_t>(1, size.side / real_rows<T>);
    const int64_t tiles = ((g.m + rows - 1) / rows) * ((g.n + size.side - 1) / size.side);
    return std::min(devices, static_cast<size_t>(tiles));
}

/// Runs the tiles on these devices. Statuses of all of them.
template <class T>
std::vector<Status> run_tiles(Tiles<T>& tiles, std::span<Engine* const> engines) {
    std::vector<Status> done(engines.size());
    std::vector<std::thread> others;
    others.reserve(engines.size());
    for (size_t d = 1; d < engines.size(); ++d) try {
            others.emplace_back([&, d] { done[d] = tiles.run(*engines[d], d); });
        } catch (const std::system_error&) {  // no thread: the other devices take its tiles
        }
    done[0] = tiles.run(*engines[0], 0);
    for (std::thread& t : others) t.join();
    return done;
}

/// Computes what it can of the call on the device, the rest by `next(part)`, or returns false and has done nothing. C
/// is changed once everywhere. `seconds`: of a call for which nothing had to be made, otherwise unchanged.
template <class T, class Next>
bool multiply_tiles(const Gemm<T>& g, TileSize size, const Next& next, double& seconds) {
    std::optional<Tiles<T>> tiles;
    try {
        const LockedEngine locked = lock_engine(type_of<T>);
        if (!locked.engine()) return false;
        const auto used = locked.engines.first(devices_for(g, size, locked.engines.size()));
        const std::vector<Engine*> engines(used.begin(), used.end());
        const auto created = [&] {
            uint64_t sum = 0;
            for (const Engine* e : engines) sum += e->created();
            return sum;
        };
        const uint64_t before = created();
        const auto start = Clock::now();
        tiles.emplace(g, size, engines.size());
        const bool traced = settings().log == LogLevel::calls;
        for (Engine* e : locked.engines) e->wrote(g.c, extent<T>(g.m, g.n, g.ldc));
        for (Engine* e : engines) e->reset_spent(traced);
        const std::vector<Status> done = run_tiles(*tiles, engines);
        if (created() == before) seconds = seconds_since(start);
        keep_pipelines(locked);
        if (traced)
            for (const Engine* e : engines) log_spent(e->spent(), seconds_since(start));
        for (size_t d = 0; d < done.size(); ++d)
            if (!done[d]) report_failure(locked, engines[d], done[d]);
    } catch (...) {  // no memory for the tiles, or for a message
        if (!tiles) return false;
    }
    counts().failed_tiles += tiles->rest(next);
    return true;
}

/// Whether products of this type can be tried on the device. Opens it.
inline bool can_try(Type type) noexcept {
    if (const Support known = support_of(type); known != Support::unknown) return known == Support::yes && is_usable();
    try {
        const LockedEngine locked = lock_engine(type);
        if (!locked.engine()) return false;
        Status checked;
        for (const Engine* e : locked.engines)
            if (checked) checked = e->check(type);
        set_support(type, checked ? Support::yes : Support::no, checked);
        return bool(checked);
    } catch (...) {  // no memory
    }
    return false;
}

}  // namespace vkgemm::blas

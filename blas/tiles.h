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
/// Smaller ones where C would have two a side: with three, less time passes before the first product and after the
/// last one. 4096^3 on an H100: dgemm 14.5 -> 15.3 TFLOP/s, sgemm 24.0 -> 24.5; 5120^3 has three a side anyway.
/// `resident`: C does, whose tiles then are those of every call, however deep it is.
template <class T>
TileSize tile_size(const Settings& s, const Gemm<T>& g, bool resident = false) {
    constexpr int64_t large = 4096, many = 16;
    const int64_t m = real_rows<T> * g.m, k = real_rows<T> * g.k;
    const bool is_large =
        !s.tile_given && type_of<T> == f32 && (m / large) * (g.n / large) >= many && (resident || k >= large);
    if (is_large) return {large, s.depth ? s.depth : large};
    const auto has_two = [&](int64_t size) { return size > s.tile && size <= 2 * s.tile; };
    const bool is_small = !s.tile_given && !resident && has_two(m) && has_two(g.n);
    return {is_small ? s.tile * 3 / 4 : s.tile, s.depth ? s.depth : s.tile};
}

/// How an operand is stored on the device, for Origin: two operands with the same form and place are the same.
template <class T>
uint32_t form_of(bool is_a, Op op) {
    return static_cast<uint32_t>(routine_of<T>) << 4 | uint32_t{is_a} << 3 | static_cast<uint32_t>(op);
}

inline constexpr uint32_t form_of_c = 1u << 2;  // beside form_of, whose last two bits are less

template <class T>
uint64_t extent(int64_t rows, int64_t columns, int64_t ld) {
    return static_cast<uint64_t>((columns - 1) * ld + rows) * sizeof(T);
}

template <class T>
Place place_of_c(const Gemm<T>& g) {
    return place_of(g.c, g.m, g.n, g.ldc, sizeof(T));
}
template <class T>
Place place_of_a(const Gemm<T>& g) {
    return g.op_a == Op::none ? place_of(g.a, g.m, g.k, g.lda, sizeof(T)) : place_of(g.a, g.k, g.m, g.lda, sizeof(T));
}
template <class T>
Place place_of_b(const Gemm<T>& g) {
    return g.op_b == Op::none ? place_of(g.b, g.k, g.n, g.ldb, sizeof(T)) : place_of(g.b, g.n, g.k, g.ldb, sizeof(T));
}

/// The tiles of a call, and which of them are done.
template <class T>
class Tiles {
   public:
    /// `resident`: C does, on the devices. `memory`: bytes for operands on each of them.
    Tiles(const Gemm<T>& g, TileSize size, size_t devices, bool resident = false, uint64_t memory = UINT64_MAX)
        : g_(g),
          columns_(size.side),
          rows_(std::max<int64_t>(1, size.side / real_rows<T>)),
          depth_(std::max<int64_t>(1, size.depth / real_rows<T>)),
          down_((g.m + rows_ - 1) / rows_),
          done_(static_cast<size_t>(down_ * ((g.n + columns_ - 1) / columns_))),
          resident_tiles_(resident ? done_.size() : 0),
          lost_(devices),
          shares_(down_, (g.n + columns_ - 1) / columns_, devices, resident, room(devices, memory)) {}

    /// Computes tiles on this device until none is left. What failed has left its tiles of C unchanged, and they are
    /// not done. Several devices may do this at once, each on a thread of its own, with numbers of 0 and up.
    Status run(Engine& engine, size_t device) {
        Status status;
        try {
            while (status) {
                const std::vector<size_t> taken = shares_.take_together(device);
                if (taken.empty()) break;
                for (const size_t t : resident_tiles_.empty() ? std::vector<size_t>{} : taken)
                    resident_tiles_[t] = {
                        .device = device, .is_taken = true, .was_dirty = engine.has_result(origin_of(tile(t)))};
                status = chains(engine, taken);
            }
        } catch (const std::exception& e) {
            status = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
        }
        const auto is_own = [&](const ResidentTile& s) { return s.is_taken && s.device == device; };
        if (status && !resident_tiles_.empty() && engine.leave()) {
            for (size_t t = 0; t < resident_tiles_.size(); ++t)
                if (is_own(resident_tiles_[t])) done_[t] = 1;
            return {};
        }
        const Status finished = engine.finish();
        for (size_t t = 0; t < resident_tiles_.size(); ++t)
            if (is_own(resident_tiles_[t])) finish_tile(engine, t);
        if (status) status = finished;
        const bool says_lost = !status && status.code != VKGEMM_ERROR_OUT_OF_MEMORY;
        if (engine.is_broken() && !says_lost) return {VKGEMM_ERROR_DEVICE_LOST, VK_SUCCESS, "the device failed"};
        return status;
    }

    template <class Next>
    uint64_t rest(const Next& next) const {
        uint64_t count = 0;
        for (size_t t = 0; t < done_.size(); ++t)
            if (!done_[t]) {
                next(rest_of(t));
                ++count;
            }
        return count;
    }

    /// Whether D on this device is a tile of this call that the device will have, and that the call can begin with.
    bool is_here(const Origin& d, size_t device) const {
        if (!is_real(g_.beta) || d.ld != g_.ldc || d.rows < 1) return false;
        const int64_t bytes = static_cast<const std::byte*>(d.address) - reinterpret_cast<const std::byte*>(g_.c);
        const int64_t offset = bytes / static_cast<int64_t>(sizeof(T)), i = offset % g_.ldc, j = offset / g_.ldc;
        if (bytes < 0 || i >= g_.m || j >= g_.n || i % rows_ != 0 || j % columns_ != 0) return false;
        const auto t = static_cast<size_t>(i / rows_ + j / columns_ * down_);
        return origin_of(tile(t)) == d && shares_.has(device, t);
    }

    /// Whether the device has all kernels of the call. Those that it lacks are compiled in the background.
    bool is_compiled(Engine& engine) const {
        bool all = true;
        const auto sizes = [](int64_t whole, int64_t most) {  // of tiles
            std::vector<int64_t> found{std::min(whole, most)};
            if (whole > most && whole % most != 0) found.push_back(whole % most);
            return found;
        };
        for (const int64_t m : sizes(g_.m, rows_))
            for (const int64_t n : sizes(g_.n, columns_))
                for (const int64_t k : sizes(g_.k, depth_))
                    all = engine.is_compiled(product_of(part(g_, 0, 0, m, n), k)) && all;
        return all;
    }

    /// Where C is NaN now, because results of earlier calls were lost.
    std::span<const std::vector<Place>> lost() const { return lost_; }

   private:
    /// A tile that stays on its device.
    struct ResidentTile {
        size_t device = 0;
        bool is_taken = false;
        bool was_dirty = false;  // newer than the host's C before the call
        int64_t depth = 0;       // what was submitted, from the first column of A on
        int64_t rest_from = 0;   // what the CPU BLAS begins at, if it has to
    };

    static Origin origin_of(const Gemm<T>& g) {
        return {g.c,
                g.ldc,
                g.m,
                g.n,
                static_cast<uint32_t>(routine_of<T>) << 4 | form_of_c,
                {1, 0},
                extent<T>(g.m, g.n, g.ldc)};
    }

    Gemm<T> rest_of(size_t t) const {
        Gemm<T> p = tile(t);
        const int64_t from = resident_tiles_.empty() ? 0 : resident_tiles_[t].rest_from;
        if (from == 0) return p;
        p.a += p.op_a == Op::none ? from * p.lda : from;
        p.b += p.op_b == Op::none ? from : from * p.ldb;
        p.k -= from;
        p.beta = T{1};
        return p;
    }

    /// When nothing is under way any more: a tile is done, or the CPU BLAS computes it from what C is now.
    void finish_tile(Engine& engine, size_t t) {
        ResidentTile& s = resident_tiles_[t];
        const Gemm<T> g = tile(t);
        const Place place = place_of_c(g);
        const Origin own = origin_of(g);
        const auto others = [&](const Origin& d) { return d != own; };
        const bool here = engine.has_result(own), all = s.depth == g.k;
        if (all && (!here || !engine.is_broken())) return void(done_[t] = 1);     // !here: it went to the host for room
        if (!s.was_dirty || g.beta == T{}) return engine.discard(place, others);  // the host's C is what it was
        const auto write_back = [&] {
            for (int tries = 0; tries < 3 && !engine.is_broken(); ++tries) try {
                    if (engine.write_back(place, others)) return true;
                } catch (const std::bad_alloc&) {
                }
            return false;
        };
        if (write_back()) {
            s.rest_from = s.depth;
            engine.discard(place, others);
        } else
            for (const Place& p : engine.invalidate(place, others)) lost_[s.device].push_back(p);
    }

    Gemm<T> tile(size_t t) const {
        const int64_t i = static_cast<int64_t>(t) % down_ * rows_, j = static_cast<int64_t>(t) / down_ * columns_;
        return part(g_, i, j, std::min(rows_, g_.m - i), std::min(columns_, g_.n - j));
    }

    /// The products that add up to these tiles of C, those of one depth after the other.
    Status chains(Engine& engine, const std::vector<size_t>& taken) {
        for (int64_t l = 0; l < g_.k; l += depth_)
            for (size_t chain = 0; chain < taken.size(); ++chain)
                if (Status s = enqueue(engine, taken[chain], chain, l); !s) return s;
        return {};
    }

    /// The product of the tile from column `l` of op(A) on.
    Status enqueue(Engine& engine, size_t t, size_t chain, int64_t l) {
        const Gemm<T> g = tile(t);
        const bool scale_a = !is_real(g.alpha), scale_c = !is_real(g.beta);
        const auto real = [](T x) { return static_cast<double>(std::real(x)); };
        Work work = product(g, l, std::min(depth_, g.k - l));
        work.is_first = l == 0;
        work.chain = chain;
        work.alpha = scale_a ? 1 : real(g.alpha);
        work.beta = !work.is_first || scale_c ? 1 : real(g.beta);
        if (work.is_first && g.beta != T{})
            work.pack_d = {[g, scale_c](std::byte* to, int64_t ld, int64_t from, int64_t until) {
                               pack_c(g.c + from * g.ldc, g.ldc, g.m, until - from, scale_c ? g.beta : T{1},
                                      real_at(to), ld);
                           },
                           g.n};
        if (!resident_tiles_.empty()) {
            work.d = origin_of(g);
            work.unpack_d = [&engine, g](const std::byte* from, int64_t ld) { unpack(engine, g, from, ld); };
        } else if (l + depth_ >= g.k) {
            work.unpack_d = [this, &engine, g, t](const std::byte* from, int64_t ld) {
                unpack(engine, g, from, ld);
                done_[t] = 1;
            };
        }
        Status s = engine.enqueue(work);
        if (s && !resident_tiles_.empty()) resident_tiles_[t].depth = std::min(l + depth_, g.k);
        return s;
    }

    /// What the operands may take, beside the tiles of C that are on the device at once: all of a device's if they
    /// stay, otherwise those of the products that are under way, 64 at most, or of the square that begins.
    Room room(size_t devices, uint64_t memory) const {
        const double side = static_cast<double>(columns_), m = std::min(side, static_cast<double>(real_rows<T> * g_.m));
        const double n = std::min(side, static_cast<double>(g_.n)), each = sizeof(Real<T>);
        const double k = static_cast<double>(real_rows<T> * std::min(depth_, g_.k));
        const int64_t depth = (g_.k + depth_ - 1) / depth_;
        const double tiles = static_cast<double>(done_.size()) / static_cast<double>(devices);
        const double held =
            resident_tiles_.empty() ? std::min(tiles, std::clamp(64.0 / static_cast<double>(depth), 2.0, 8.0)) : tiles;
        return {static_cast<double>(memory) - each * held * m * n, depth, each * m * k, each * k * n};
    }

    static void unpack(Engine& engine, const Gemm<T>& g, const std::byte* from, int64_t ld) {
        share(engine, g.n, g.m, [&](int64_t j, int64_t end) {
            const auto* d = reinterpret_cast<const Real<T>*>(from);
            unpack_c(d + j * ld, ld, g.m, end - j, g.c + j * g.ldc, g.ldc);
        });
    }

    /// What the device multiplies for a tile of C, in products of this depth.
    static TileProduct product_of(const Gemm<T>& g, int64_t k) {
        constexpr uint64_t parts = real_rows<T>;
        return {.type = type_of<T>,
                .a = g.op_a == Op::none ? columnMajor : rowMajor,
                .b = g.op_b == Op::none ? columnMajor : rowMajor,
                .m = parts * static_cast<uint64_t>(g.m),
                .n = static_cast<uint64_t>(g.n),
                .k = parts * static_cast<uint64_t>(k)};
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
        Work work{.product = product_of(g, k)};
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
    std::vector<char> done_;                    // not bool: devices write them at once
    std::vector<ResidentTile> resident_tiles_;  // of all tiles, or empty
    std::vector<std::vector<Place>> lost_;
    TileShares shares_;
};

/// How many of the devices compute this call: with VKGEMM_BLAS=auto those that are predicted to gain, else all that
/// have a tile. `resident`: C does.
template <class T>
size_t devices_for(const Gemm<T>& g, TileSize size, size_t devices, bool resident) {
    const Measured& measured = measured_rates(type_of<T>);
    if (devices > 1 && predicts(settings()) && measured.done) {  // B is sent to each where C's rows are dealt
        const double rows = static_cast<double>(g.m >= g.n ? g.n : g.m), depth = static_cast<double>(g.k);
        devices = devices_worth(measured.rates, cost_of(g, size.side, resident), rows * depth * sizeof(T), devices);
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
            others.emplace_back([&, d] {
                const EngineMutex::Shared inside;
                done[d] = tiles.run(*engines[d], d);
            });
        } catch (const std::system_error&) {
            // no thread: the other devices take its tiles, or, if C stays, the CPU BLAS computes them
        }
    done[0] = tiles.run(*engines[0], 0);
    for (std::thread& t : others) t.join();
    return done;
}

/// Computes what it can of the call on the device, the rest by `next(part)`, or returns false and has done nothing. C
/// is changed once everywhere. `seconds`: how long it took, without what it took to make plans and memory; unchanged
/// if C stays on the device.
template <class T, class Next>
bool multiply_tiles(const Gemm<T>& g, TileSize size, const Next& next, double& seconds) {
    std::optional<Tiles<T>> tiles;
    try {
        const LockedEngine locked = lock_engine(type_of<T>);
        if (!locked.engine()) return false;
        const bool resident = may_be_resident(place_of_c(g));
        const auto used = locked.engines.first(devices_for(g, size, locked.engines.size(), resident));
        const std::vector<Engine*> engines(used.begin(), used.end());
        const auto created = [&] {
            uint64_t sum = 0;
            for (const Engine* e : engines) sum += e->created();
            return sum;
        };
        const uint64_t before = created();
        const auto start = Clock::now();
        const bool traced = settings().log == LogLevel::calls;
        for (Engine* e : locked.engines) e->reset_spent(traced);
        uint64_t memory = UINT64_MAX;
        for (const Engine* e : engines) memory = std::min(memory, e->memory());
        tiles.emplace(g, size, engines.size(), resident, memory);
        if (!flush_results(locked, place_of_a(g), false) || !flush_results(locked, place_of_b(g), false)) {
            tiles.reset();
            return false;
        }
        const auto here = [&](const Origin& d, size_t device) {
            return resident && device < engines.size() && tiles->is_here(d, device);
        };
        if (!flush_results(locked, place_of_c(g), true, here)) {
            tiles.reset();
            return false;
        }
        for (Engine* e : locked.engines) e->wrote(g.c, extent<T>(g.m, g.n, g.ldc));
        const std::vector<Status> done = run_tiles(*tiles, engines);
        if (!resident) {
            seconds = created() == before ? seconds_since(start) : 0;
            if (seconds == 0)
                for (const Engine* e : engines) seconds = std::max(seconds, working_seconds(e->spent()));
        }
        keep_pipelines(locked);
        if (traced)
            for (const Engine* e : engines) log_spent(e->spent(), seconds_since(start));
        for (size_t d = 0; d < done.size(); ++d)
            if (!done[d]) report_failure(locked, engines[d], done[d]);
        for (const auto& places : tiles->lost()) report_lost(places);
    } catch (...) {  // no memory for the tiles, or for a message
        if (!tiles) return false;
    }
    counts().failed_tiles += tiles->rest(next);
    return true;
}

/// Whether the devices have all kernels of the call. Those that they lack are compiled in the background.
template <class T>
bool is_compiled(const Gemm<T>& g, TileSize size, bool resident) noexcept try {
    const LockedEngine locked = lock_engine(type_of<T>);
    const Tiles<T> tiles(g, size, 1);
    bool all = true;
    for (Engine* e : locked.engines.first(devices_for(g, size, locked.engines.size(), resident)))
        all = tiles.is_compiled(*e) && all;
    return all;
} catch (...) {  // no memory: the call finds that out
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

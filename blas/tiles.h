// SPDX-License-Identifier: MIT
// The tiles of one call, on one device or several. A tile of C is written when it is complete; a tile that fails has
// not been written, and the CPU BLAS computes it.
#pragma once
#include <exception>
#include <vector>

#include "blas/order.h"
#include "blas/packing.h"
#include "blas/tile_size.h"
#include "vkgemm/rounding.hpp"

namespace vkgemm::blas {

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
          down_(divUp(g.m, rows_)),
          done_(static_cast<size_t>(down_ * divUp(g.n, columns_))),
          resident_tiles_(resident ? done_.size() : 0),
          lost_(devices),
          shares_(down_, divUp(g.n, columns_), devices, resident, room(devices, memory)) {}

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
        return {.address = g.c,
                .ld = g.ldc,
                .rows = g.m,
                .columns = g.n,
                .form = static_cast<uint32_t>(routine_of<T>) << 4 | form_of_c,
                .bytes = extent<T>(g.m, g.n, g.ldc)};
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
        const int64_t depth = divUp(g_.k, depth_);
        const double tiles = static_cast<double>(done_.size()) / static_cast<double>(devices);
        const double held =
            resident_tiles_.empty() ? std::min(tiles, std::clamp(64.0 / static_cast<double>(depth), 2.0, 8.0)) : tiles;
        return {.bytes = static_cast<double>(memory) - each * held * m * n,
                .depth = depth,
                .a = each * m * k,
                .b = each * k * n};
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
        work.a = {.address = a,
                  .ld = g.lda,
                  .rows = a_rows,
                  .columns = a_columns,
                  .form = form_of<T>(true, g.op_a),
                  .bytes = extent<T>(a_rows, a_columns, g.lda)};
        work.b = {.address = b,
                  .ld = g.ldb,
                  .rows = b_rows,
                  .columns = b_columns,
                  .form = form_of<T>(false, g.op_b),
                  .bytes = extent<T>(b_rows, b_columns, g.ldb)};
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

}  // namespace vkgemm::blas

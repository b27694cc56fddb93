// SPDX-License-Identifier: MIT
// One call, tile by tile. A tile of C is written when it is complete; a tile that fails has not been written, and the
// next BLAS computes it.
#pragma once
#include <exception>
#include <new>

#include "blas/decision.h"
#include "blas/packing.h"
#include "blas/state.h"

namespace vkgemm::blas {

/// What the device multiplies for T.
template <class T>
inline constexpr Type type_of = sizeof(Real<T>) == 8 ? f64 : f32;

/// Computes one tile of C: all of `g`.
template <class T>
Status multiply_tile(Engine& engine, const Gemm<T>& g, int64_t depth) {
    constexpr uint64_t parts = real_rows<T>;
    const bool scale_a = !is_real(g.alpha), scale_c = !is_real(g.beta), has_c = g.beta != T{};
    TileProduct p{.type = type_of<T>,
                  .a = g.op_a == Op::none ? columnMajor : rowMajor,
                  .b = g.op_b == Op::none ? columnMajor : rowMajor,
                  .m = parts * static_cast<uint64_t>(g.m),
                  .n = static_cast<uint64_t>(g.n)};
    const auto real = [](T x) { return static_cast<double>(std::real(x)); };
    for (int64_t l = 0; l < g.k; l += depth) {
        const int64_t k = std::min(depth, g.k - l);
        p.k = parts * static_cast<uint64_t>(k);
        const auto memory = engine.prepare(p);
        if (!memory) return memory.status();
        const auto at = [](std::byte* memory_of) { return reinterpret_cast<Real<T>*>(memory_of); };
        const bool a_plain = g.op_a == Op::none, b_plain = g.op_b == Op::none, first = l == 0;
        pack_a(g.a + (a_plain ? l * g.lda : l), g.lda, a_plain ? g.m : k, a_plain ? k : g.m, g.op_a,
               scale_a ? g.alpha : T{1}, at(memory->a), memory->lda);
        pack_b(g.b + (b_plain ? l : l * g.ldb), g.ldb, b_plain ? k : g.n, b_plain ? g.n : k, g.op_b, at(memory->b),
               memory->ldb);
        if (first && has_c) pack_c(g.c, g.ldc, g.m, g.n, scale_c ? g.beta : T{1}, at(memory->d), memory->ldd);
        const bool last = l + k == g.k;
        const Engine::Factors factors{.alpha = scale_a ? 1 : real(g.alpha),
                                      .beta = !first || scale_c ? 1 : real(g.beta)};
        const Status done = engine.run(
            p, factors,
            (first && has_c ? uint32_t{Engine::copy_d_in} : 0u) | (last ? uint32_t{Engine::copy_d_out} : 0u));
        if (!done) return done;
        if (last) unpack_c(at(memory->d), memory->ldd, g.m, g.n, g.c, g.ldc);
    }
    return {};
}

/// Computes one tile if the engine can be used. On failure C is unchanged.
template <class T>
bool try_tile(const Gemm<T>& g, int64_t depth) noexcept {
    try {
        const LockedEngine locked = lock_engine();
        if (!locked.engine) return ++counts().failed_tiles, false;
        Status done;
        try {
            done = multiply_tile(*locked.engine, g, depth);
        } catch (const std::exception& e) {
            done = {VKGEMM_ERROR_OUT_OF_MEMORY, VK_SUCCESS, e.what()};
        }
        if (done) return true;
        report_failure(locked, done);
    } catch (...) {  // no memory for a message
    }
    return false;
}

/// Whether products of this type can be tried on the device. Opens it.
inline bool can_try(Type type) noexcept {
    if (const Support known = support_of(type); known != Support::unknown) return known == Support::yes && is_usable();
    try {
        const LockedEngine locked = lock_engine();
        if (!locked.engine) return false;
        const Status checked = locked.engine->check(type);
        set_support(type, checked ? Support::yes : Support::no, checked);
        return bool(checked);
    } catch (...) {  // no memory
    }
    return false;
}

/// Computes the call on the device, or returns false and has done nothing. `next(part)` computes a part of it by the
/// next BLAS.
template <class T, class Next>
bool multiply(const Gemm<T>& g, const Next& next) {
    const Settings& s = settings();
    if (!has_product(g) || !is_worth_device(s, routine_of<T>, g.m, g.n, g.k) || !can_try(type_of<T>)) return false;
    const int64_t tile = s.tile, rows = std::max<int64_t>(1, tile / real_rows<T>);
    for (int64_t j = 0; j < g.n; j += tile)
        for (int64_t i = 0; i < g.m; i += rows) {
            const Gemm<T> p = part(g, i, j, std::min(rows, g.m - i), std::min(tile, g.n - j));
            if (!try_tile(p, rows)) next(p);
        }
    return true;
}

}  // namespace vkgemm::blas

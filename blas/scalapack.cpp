// SPDX-License-Identifier: MIT
// Two functions of ScaLAPACK's PBLAS that are exported in its place, so that its products are worth a device.
#include <algorithm>
#include <complex>
#include <cstring>

#include "blas/export.h"
#include "blas/next_library.h"
#include "blas/state.h"

namespace vkgemm::blas {
namespace {

/// B = alpha A + beta B of m x n elements, by columns.
template <class T>
struct Addition {
    using Function = void(const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* beta, T* b,
                          const int* ldb);
};

constexpr uint64_t least_copy = 4u << 20;  // bytes; less than this one thread copies as soon

/// PBLAS copies what it hands round by this function, a column after the other on one thread. Copies of many bytes are
/// made by the threads that pack operands; everything else goes to PBLAS. False: nothing was done.
template <class T>
bool copy_by_workers(int m, int n, const T* a, int lda, T* b, int ldb) {
    if (m <= 0 || n <= 0 || lda < m || ldb < m || device_count() == 0) return false;
    const auto rows = static_cast<size_t>(m) * sizeof(T);
    if (rows * static_cast<uint64_t>(n) < least_copy) return false;
    const HoldExceptions held;
    const LockedEngine locked = lock_engine({});
    if (!locked.engine()) return false;
    locked.engine()->workers().run(n, rows * static_cast<uint64_t>(n), [&](int64_t from, int64_t until) {
        for (int64_t j = from; j < until; ++j) std::memcpy(b + j * ldb, a + j * lda, rows);
    });
    return true;
}

template <class T>
void add(NextSymbol& next, const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* beta, T* b,
         const int* ldb) {
    if (notes_memory()) {
        note_read(place_of(a, *m, *n, *lda, sizeof(T)));
        if (*beta != T{}) note_read(place_of(b, *m, *n, *ldb, sizeof(T)));
        note_write(place_of(b, *m, *n, *ldb, sizeof(T)));
    }
    try {
        if (*alpha == T{1} && *beta == T{} && copy_by_workers(*m, *n, a, *lda, b, *ldb)) return;
    } catch (...) {  // no memory for threads
    }
    static_cast<void>(next.exists());  // finds it without a word in the summary, which names the CPU BLAS
    next.get<typename Addition<T>::Function>()(m, n, alpha, a, lda, beta, b, ldb);
}

}  // namespace
}  // namespace vkgemm::blas

/// PBLAS asks it how many columns of A and rows of B to hand round and multiply at a time (int of the process grid, a
/// letter for the type), and has one that says 32. So few are never worth the device: for each element of C it moves
/// 8 bytes, and multiplies 32 times. A program that has this function itself keeps it. All processes of a grid must
/// answer alike, so the answer depends on settings alone, and not on what device a process has. PBLAS counts the bytes
/// of what it hands round in an int, so more are right for small elements: 32 KiB of a row, 8192 of f32.
EXPORT int pilaenv_(const int*, const char* type) {
    constexpr int of_pblas = 32, row = 32 << 10;
    const vkgemm::blas::Settings& s = vkgemm::blas::settings();
    if (s.mode == vkgemm::blas::Mode::never) return of_pblas;
    if (s.pblas_depth) return *s.pblas_depth;
    return row / (*type == 'Z' || *type == 'z' ? 16 : *type == 'S' || *type == 's' ? 4 : 8);
}

#define ADDITION(name, T)                                                                                         \
    EXPORT void name(const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* beta, T* b, \
                     const int* ldb) {                                                                            \
        static constinit vkgemm::blas::NextSymbol next(#name);                                                    \
        vkgemm::blas::add<T>(next, m, n, alpha, a, lda, beta, b, ldb);                                            \
    }
ADDITION(smmadd_, float)
ADDITION(dmmadd_, double)
ADDITION(cmmadd_, std::complex<float>)
ADDITION(zmmadd_, std::complex<double>)

// SPDX-License-Identifier: MIT
// What is exported beside BLAS: for programs that know which matrices do not change (vkgemm_blas.h), and for
// ScaLAPACK's PBLAS.
#include "blas/state.h"
#include "blas/vkgemm_blas.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void vkgemm_blas_keep(const void* address, size_t bytes) {
    try {
        vkgemm::blas::keep(address, bytes);
    } catch (...) {  // no memory: it is not kept
    }
}

EXPORT int vkgemm_blas_hold(void* address, size_t bytes) {
    try {
        return vkgemm::blas::hold(address, bytes) ? 0 : 1;
    } catch (...) {
    }
    return 1;
}

EXPORT int vkgemm_blas_flush(const void* address) {
    try {
        return vkgemm::blas::flush(address) ? 0 : 1;
    } catch (...) {
    }
    return 1;
}

EXPORT int vkgemm_blas_forget(const void* address) {
    try {
        return vkgemm::blas::forget(address) ? 0 : 1;
    } catch (...) {
    }
    return 1;
}

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

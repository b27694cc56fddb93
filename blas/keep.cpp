// SPDX-License-Identifier: MIT
// What is exported beside BLAS for programs that know which matrices do not change (vkgemm_blas.h).
#include "blas/export.h"
#include "blas/state.h"
#include "blas/vkgemm_blas.h"

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

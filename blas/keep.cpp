// SPDX-License-Identifier: MIT
// For programs that know which matrices do not change (vkgemm_blas.h).
#include "blas/state.h"
#include "blas/vkgemm_blas.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void vkgemm_blas_keep(const void* address, size_t bytes) {
    try {
        vkgemm::blas::keep(address, bytes);
    } catch (...) {  // no memory: it is not kept
    }
}

EXPORT void vkgemm_blas_forget(const void* address) {
    try {
        vkgemm::blas::forget(address);
    } catch (...) {
    }
}

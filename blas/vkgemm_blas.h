/* SPDX-License-Identifier: MIT
 *
 * What libvkgemm_blas.so has beside BLAS. A program finds the functions by dlsym(RTLD_DEFAULT, ...), so that it also
 * runs without the library. */
#ifndef VKGEMM_BLAS_H
#define VKGEMM_BLAS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Operands that lie in [address, address + bytes) stay on the device between calls, as long as there is room. Until
 * vkgemm_blas_forget of the same address only routines that this library exports may change this memory: what else
 * changes it is not noticed, and products use the old values. Without a device it does nothing. */
void vkgemm_blas_keep(const void* address, size_t bytes);

/* Results of gemm whose C lies in [address, address + bytes) stay on the device, and products with the same C (address,
 * leading dimension, rows and columns) add to them there. gemm may return before they are computed; A and B may be
 * changed as soon as it returns. Until vkgemm_blas_flush only routines that this library exports may read this memory,
 * and until vkgemm_blas_forget only they may change it; what else does is not noticed. A routine that needs such
 * results in the host's memory, or has another C that overlaps them, brings them back first.
 *
 * Returns 0 on success. Returns 1 and changes nothing without a device, if `bytes` is 0, or if the memory overlaps
 * held memory without being the same. flush and forget may be called all the same. */
int vkgemm_blas_hold(void* address, size_t bytes);

/* Brings the results of the memory held at this address back from the device; those of all held memory, if the address
 * is NULL. The memory remains held.
 *
 * Returns 0 if all results are in the host's memory. Returns 1 if results of this memory were lost since its last
 * flush, because the device failed or a copy could not be made. Lost elements are set to NaN when the failure is
 * noticed, so that what is computed from them shows it, and a line on stderr says so. All other elements are right. */
int vkgemm_blas_flush(const void* address);

/* Ends keep and hold of this address. What was held is flushed first, and the result is that of vkgemm_blas_flush.
 * forget(NULL) does nothing and returns 0. */
int vkgemm_blas_forget(const void* address);

#ifdef __cplusplus
}
#endif
#endif

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
 * results in the host's memory, or has another C that meets them, brings them back first.
 *
 * 0: it is so. 1: nothing is changed, because there is no device, or because the memory meets other memory that is held
 * and is not the same; flush and forget may be called all the same. */
int vkgemm_blas_hold(void* address, size_t bytes);

/* Brings the results back that stayed on the device of the memory held at this address; of all that is held, if it is
 * null. It remains held.
 *
 * 0: all results are in the host's memory. 1: since the last flush or forget of this memory results were lost, because
 * the device failed. Elements of C that are not right are NaN then, and were since the failure, so that what is
 * computed from them shows it. A line on stderr says so at once. */
int vkgemm_blas_flush(const void* address);

/* Ends keep and hold of this address. What was held is flushed first; the result is that of vkgemm_blas_flush. */
int vkgemm_blas_forget(const void* address);

#ifdef __cplusplus
}
#endif
#endif

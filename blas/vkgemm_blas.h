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
 * changes it is not noticed, and products use the old values. Without a device both do nothing. */
void vkgemm_blas_keep(const void* address, size_t bytes);
void vkgemm_blas_forget(const void* address);

#ifdef __cplusplus
}
#endif
#endif

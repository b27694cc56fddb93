/* SPDX-License-Identifier: MIT */
/* Compiles volk's implementation, once per program. */
#define VOLK_IMPLEMENTATION
#include <volk.h>

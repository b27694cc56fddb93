/* SPDX-License-Identifier: MIT */
/* volk's one implementation in this program. */
#define VOLK_IMPLEMENTATION
#include <volk.h>

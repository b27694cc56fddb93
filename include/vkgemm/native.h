/* SPDX-License-Identifier: MIT
 *
 * Kernels in machine code (docs/native.md): whether plans may choose them. Part of vkgemm.h.
 */
#ifndef VKGEMM_NATIVE_H
#define VKGEMM_NATIVE_H

/* They are launched by VK_NVX_binary_import, which has no documentation. They are used only if that extension and
 * bufferDeviceAddress are enabled, the device loads code for sm_90a, and VkgemmContextInfo::queueFlags has
 * VK_QUEUE_COMPUTE_BIT and not VK_QUEUE_GRAPHICS_BIT. VKGEMM_NATIVE=0 in the environment turns them off, and
 * VKGEMM_NATIVE=any means VKGEMM_NATIVE_ANY_DRIVER where the program leaves this at 0. */
typedef enum VkgemmNativeKernels {
    VKGEMM_NATIVE_VERIFIED = 0,   /* on the devices and drivers on which they were verified */
    VKGEMM_NATIVE_OFF = 1,        /* never */
    VKGEMM_NATIVE_ANY_DRIVER = 2, /* on every driver; test them first, in a device that you can lose */
    VKGEMM_NATIVE_MAX_ENUM = 0x7fffffff
} VkgemmNativeKernels;

#endif

/* SPDX-License-Identifier: MIT
 *
 * Native kernels: kernels in machine code (docs/native.md), and whether plans may choose them. Part of vkgemm.h.
 */
#ifndef VKGEMM_NATIVE_H
#define VKGEMM_NATIVE_H

/* Native kernels are launched through VK_NVX_binary_import, an extension without public documentation. Plans choose
 * them only if that extension and bufferDeviceAddress are enabled, if the device loads code for sm_90a, and if
 * VkgemmContextInfo::queueFlags has VK_QUEUE_COMPUTE_BIT and not VK_QUEUE_GRAPHICS_BIT. In the environment,
 * VKGEMM_NATIVE=0 turns them off, and VKGEMM_NATIVE=any selects ANY_DRIVER unless the program sets another value than
 * 0. If the driver refuses a kernel that a plan has chosen, vkgemmCreatePlan returns VKGEMM_ERROR_VULKAN;
 * VKGEMM_PLAN_NO_NATIVE makes the plan without native kernels. */
typedef enum VkgemmNativeKernels {
    VKGEMM_NATIVE_VERIFIED = 0,   /* on the devices and drivers on which they were verified */
    VKGEMM_NATIVE_OFF = 1,        /* never */
    VKGEMM_NATIVE_ANY_DRIVER = 2, /* with every driver. Test them first (vkgemm::host::testNativeKernels): a driver that
                                     cannot run them may lose the device */
    VKGEMM_NATIVE_MAX_ENUM = 0x7fffffff
} VkgemmNativeKernels;

#endif

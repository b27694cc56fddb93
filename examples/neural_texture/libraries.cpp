// SPDX-License-Identifier: MIT
// The code of libraries that are headers: VMA and stb's PNG writer.
#include <volk.h>
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

/* SPDX-License-Identifier: MIT
 * What the blocks `embedding` of docs/embedding.md take from their engine. The blocks are extracted to embedding.inc,
 * in their order. */
#include <stdlib.h>
#include <vkgemm/vkgemm.h>

int give_up(const char* why);
void add_to_render_graph(const VkgemmRunAccess* access);

int embed(VkInstance instance, VkPhysicalDevice gpu, VkDevice device, VkCommandBuffer cmd, VkBuffer a, VkBuffer b,
          VkBuffer d, VkBuffer table, VkBuffer packed, uint64_t rows_of_this_step) {
#include "embedding.inc"
    return 0;
}

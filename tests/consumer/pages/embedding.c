/* SPDX-License-Identifier: MIT */
/* What the engine of docs/embedding.md has. */
/* [includes of the page] */
#include <stdlib.h>
#include <vkgemm/vkgemm.h>

void give_up(const char* why);
void add_to_render_graph(const VkgemmRunAccess* access);

void embedding(VkInstance instance, VkPhysicalDevice gpu, VkDevice device, VkCommandBuffer cmd, VkBuffer a, VkBuffer b,
               VkBuffer d, VkBuffer table, VkBuffer packed, PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr,
               uint32_t rows_of_this_step) {
    /* [code of the page] */
}

void give_up(const char* why) { (void)why; }
void add_to_render_graph(const VkgemmRunAccess* access) { (void)access; }
int main(void) { return 0; }

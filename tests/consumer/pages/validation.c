/* SPDX-License-Identifier: MIT */
/* What the engine of docs/validation.md has. */
/* [includes of the page] */
#include <stdio.h>
#include <vkgemm/vkgemm.h>

void give_up(const char* why);
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier);

void validation(VkgemmContext context, VkgemmProblem problem, VkgemmError error, VkCommandBuffer cmd, VkBuffer a,
                VkBuffer weights, VkBuffer x, VkBuffer y) {
    /* [code of the page] */
}

void give_up(const char* why) { (void)why; }
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier) {
    (void)cmd;
    (void)barrier;
}
int main(void) { return 0; }

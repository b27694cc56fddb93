/* SPDX-License-Identifier: MIT */
/* What the engine of docs/validation.md has. */
/* [includes of the page] */
#include <stdio.h>
#include <vkgemm/vkgemm.h>

void give_up(const char* why);
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier);
const void* read_back(const VkgemmRunAccess* operand);
const void* result_of(VkgemmPlan plan);

void validation(VkgemmContext context, VkgemmProblem problem, VkgemmError error, VkCommandBuffer cmd, VkBuffer a,
                VkBuffer weights, VkBuffer x, VkBuffer y, FILE* file) {
    /* [code of the page] */
}

void give_up(const char* why) { (void)why; }
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier) {
    (void)cmd;
    (void)barrier;
}
const void* read_back(const VkgemmRunAccess* operand) { return operand; }
const void* result_of(VkgemmPlan plan) { return plan; }
int main(void) { return 0; }

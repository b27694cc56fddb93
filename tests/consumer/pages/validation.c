/* SPDX-License-Identifier: MIT */
/* What the engine of docs/validation.md has: with VKGEMM_TESTS_PAGE that of tests/api/page.cpp, which runs the code. */
/* [includes of the page] */
#include <stdio.h>
#include <vkgemm/vkgemm.h>

void give_up(const char* why);
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier);
const void* read_back(const VkgemmRunAccess* operand);
const void* result_of(VkgemmPlan plan);
#ifdef VKGEMM_TESTS_PAGE
int print_line(const char* line);
#    define puts print_line
#endif

void validation(VkgemmContext context, VkgemmProblem problem, VkgemmError error, VkCommandBuffer cmd, VkBuffer a,
                VkBuffer weights, VkBuffer x, VkBuffer y, FILE* file) {
    /* [code of the page] */
    vkgemmDestroyPlan(hidden);
    vkgemmDestroyPlan(output);
}

#ifndef VKGEMM_TESTS_PAGE
void give_up(const char* why) { (void)why; }
void record_barrier(VkCommandBuffer cmd, const VkMemoryBarrier2* barrier) {
    (void)cmd;
    (void)barrier;
}
const void* read_back(const VkgemmRunAccess* operand) { return operand; }
const void* result_of(VkgemmPlan plan) { return plan; }
int main(void) { return 0; }
#endif

/* SPDX-License-Identifier: MIT
 * Uses vkgemm from C99: computes D = 2 A B + C for matrices of 3 x 4 and 4 x 2 on the first device. */
#include <stdio.h>
#include <string.h>

#include "gpu.h"

enum { M = 3, N = 2, K = 4 };

typedef struct Product {
    VkgemmPlan plan;
    VkgemmRun run;
    VkgemmError error;
} Product;

static int record(VkCommandBuffer commands, void* user) {
    Product* p = user;
    return vkgemmRecord(p->plan, commands, &p->run, &p->error) < 0;
}

static VkgemmOperand operand(const GpuBuffer* buffer, size_t count) {
    VkgemmOperand o = {.buffer = buffer->buffer, .size = count * sizeof(float)};
    return o;
}

/* Returns the number of wrong elements of D, or -1 with the reason in p->error. */
static int multiply(const Gpu* gpu, VkgemmContext context, const VkgemmProblem* problem, GpuBuffer buffers[4],
                    Product* p) {
    int i, j, k, wrong = 0;
    if (vkgemmCreatePlan(context, problem, NULL, &p->plan, &p->error) < 0) return -1;
    if (gpu_create_buffer(gpu, M * K * sizeof(float), &buffers[0]) ||
        gpu_create_buffer(gpu, K * N * sizeof(float), &buffers[1]) ||
        gpu_create_buffer(gpu, M * N * sizeof(float), &buffers[2]) ||
        gpu_create_buffer(gpu, M * N * sizeof(float), &buffers[3]))
        return -1;
    for (i = 0; i < M * K; ++i) buffers[0].data[i] = (float)(i + 1);
    for (i = 0; i < K * N; ++i) buffers[1].data[i] = (float)(3 - i);
    for (i = 0; i < M * N; ++i) buffers[2].data[i] = (float)(10 * i);

    p->run.structSize = sizeof p->run;
    p->run.a = operand(&buffers[0], M * K);
    p->run.b = operand(&buffers[1], K * N);
    p->run.c = operand(&buffers[2], M * N);
    p->run.d = operand(&buffers[3], M * N);
    p->run.alpha = 2;
    p->run.beta = 1;
    if (gpu_run(gpu, record, p)) return -1;

    for (i = 0; i < M; ++i)
        for (j = 0; j < N; ++j) {
            float sum = 0;
            for (k = 0; k < K; ++k) sum += buffers[0].data[i * K + k] * buffers[1].data[k * N + j];
            wrong += buffers[3].data[i * N + j] != 2 * sum + buffers[2].data[i * N + j];
        }
    return wrong;
}

int main(void) {
    Gpu gpu;
    Product product;
    GpuBuffer buffers[4];
    VkgemmProblem problem;
    VkgemmNeedsInfo needs_info;
    VkgemmNeeds needs;
    VkgemmContextInfo context_info;
    VkgemmContext context = NULL;
    int i, wrong = -1;
    memset(&product, 0, sizeof product);
    memset(buffers, 0, sizeof buffers);

    memset(&problem, 0, sizeof problem); /* every field defaults to zero */
    problem.structSize = sizeof problem;
    problem.m = M;
    problem.n = N;
    problem.k = K;
    problem.cSource = VKGEMM_C_SEPARATE;

    if (gpu_create_instance(&gpu)) {
        fprintf(stderr, "no Vulkan device\n");
        gpu_destroy(&gpu);
        return 1;
    }
    memset(&needs_info, 0, sizeof needs_info);
    needs_info.structSize = sizeof needs_info;
    needs_info.instance = gpu.instance;
    needs_info.physicalDevice = gpu.physical;
    needs_info.apiVersion = gpu.api_version;
    needs_info.getInstanceProcAddr = gpu_loader();
    needs_info.problems = &problem;
    needs_info.problemCount = 1;
    memset(&needs, 0, sizeof needs);
    needs.structSize = sizeof needs;
    if (vkgemmQueryNeeds(&needs_info, &needs, &product.error) >= 0 && gpu_create_device(&gpu, &needs) == 0) {
        memset(&context_info, 0, sizeof context_info);
        context_info.structSize = sizeof context_info;
        context_info.instance = gpu.instance;
        context_info.physicalDevice = gpu.physical;
        context_info.device = gpu.device;
        context_info.apiVersion = gpu.api_version;
        context_info.getInstanceProcAddr = gpu_loader();
        context_info.enabledFeatures = &gpu.features;
        context_info.enabledExtensions = needs.requiredExtensions;
        context_info.enabledExtensionCount = needs.requiredExtensionCount;
        if (vkgemmCreateContext(&context_info, &context, &product.error) >= 0)
            wrong = multiply(&gpu, context, &problem, buffers, &product);
    }
    if (wrong < 0)
        fprintf(stderr, "%s: %s\n", gpu.name, product.error.text[0] ? product.error.text : "Vulkan failed");
    else
        printf("%s: D = 2 A B + C, %d of %d elements wrong\n", gpu.name, wrong, M * N);

    vkgemmDestroyPlan(product.plan);
    for (i = 0; i < 4; ++i) gpu_destroy_buffer(&gpu, &buffers[i]);
    vkgemmDestroyContext(context);
    gpu_destroy(&gpu);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* Reads and writes a problem with the C API; no device needed. Code 0 when it comes back as it was. */
#include <stdio.h>
#include <string.h>
#include <vkgemm/vkgemm.h>

int main(void) {
    const char* const line = "f32*f32+f32->f32 64x128x256 batch=4";
    VkgemmProblem problem;
    VkgemmError error;
    double alpha, beta;
    char text[256], again[256];
    size_t size = sizeof text, size_again = sizeof again;
    memset(&error, 0, sizeof error);
    memset(&problem, 0, sizeof problem);
    problem.structSize = sizeof problem;
    if (vkgemmVersion() != VKGEMM_VERSION) {
        puts("the header is of another version than the library");
        return 1;
    }
    if (vkgemmParseProblem(line, &problem, &alpha, &beta, &error) != VKGEMM_SUCCESS) {
        puts(error.text);
        return 1;
    }
    if (problem.m != 64 || problem.n != 128 || problem.k != 256 || problem.batch != 4) {
        puts("read wrongly");
        return 1;
    }
    if (vkgemmFormatProblem(&problem, alpha, beta, text, &size) != VKGEMM_SUCCESS) {
        puts("not written");
        return 1;
    }
    if (vkgemmParseProblem(text, &problem, NULL, NULL, &error) != VKGEMM_SUCCESS) {
        puts(error.text);
        return 1;
    }
    if (vkgemmFormatProblem(&problem, alpha, beta, again, &size_again) != VKGEMM_SUCCESS) {
        puts("unwritten");
        return 1;
    }
    if (strcmp(text, again) != 0) {
        printf("%s became %s\n", text, again);
        return 1;
    }
    return vkgemmKernelCount() > 0 ? 0 : 1;
}

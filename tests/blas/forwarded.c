// SPDX-License-Identifier: MIT
// Times 10^6 calls of sgemm of 4x4x4, which libvkgemm_blas.so forwards. docs/blas.md has the command.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void sgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc);

static double nanoseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void* x, const void* y) {
    const double a = *(const double*)x, b = *(const double*)y;
    return (a > b) - (a < b);
}

int main(void) {
    enum { rounds = 1000, calls = 1000 };
    static double each[rounds];
    const int size = 4;
    const float one = 1, zero = 0, a[16] = {1, 2, 3}, b[16] = {4, 5, 6};
    float c[16];
    for (int round = 0; round < rounds; ++round) {
        const double start = nanoseconds();
        for (int call = 0; call < calls; ++call)
            sgemm_("N", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
        each[round] = (nanoseconds() - start) / calls;
    }
    qsort(each, rounds, sizeof *each, compare);
    printf("%.1f ns each (median), %.1f (best) of %d rounds of %d calls\n", each[rounds / 2], each[0], rounds, calls);
    return 0;
}

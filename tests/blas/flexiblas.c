/* SPDX-License-Identifier: MIT
 *
 * Loads libvkgemm_blas.so (the argument) as FlexiBLAS loads a hook, calls what it would call, and has the functions
 * that hooks forward to. INTEGER is the integer of this FlexiBLAS; the one of 64 bits has 64 in its file's name. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef INTEGER
#    define INTEGER int32_t
#endif
typedef INTEGER Int;
#define EXPORT __attribute__((visibility("default")))

static int chained;
static Int last_m;

typedef void sgemm(const char*, const char*, const Int*, const Int*, const Int*, const float*, const float*, const Int*,
                   const float*, const Int*, const float*, float*, const Int*, size_t, size_t);
/* The backend. */
EXPORT sgemm flexiblas_chain_sgemm_;
void flexiblas_chain_sgemm_(const char* op_a, const char* op_b, const Int* m, const Int* n, const Int* k,
                            const float* alpha, const float* a, const Int* lda, const float* b, const Int* ldb,
                            const float* beta, float* c, const Int* ldc, size_t length_a, size_t length_b) {
    (void)op_a;
    (void)op_b;
    (void)length_a;
    (void)length_b;
    ++chained;
    last_m = *m;
    for (Int j = 0; j < *n; ++j)
        for (Int i = 0; i < *m; ++i) {
            float sum = 0;
            for (Int l = 0; l < *k; ++l) sum += a[i + l * *lda] * b[l + j * *ldb];
            c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
        }
}

struct hook {
    char *name, *section, *description, *authors;
};

#define FAIL(...) return fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), 1
int main(int argc, char** argv) {
    void* const library = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!library) FAIL("%s", dlerror());
    const struct hook* const hook = dlsym(library, "flexiblas_register");
    void* const* const options = dlsym(library, "flexiblas_options");
    if (!hook || strcmp(hook->name, "vkgemm") != 0 || !hook->section || !hook->description || !hook->authors ||
        !options || options[0])
        FAIL("it does not register");
    void (*begin)(void);
    void (*end)(void);
    sgemm* multiply;
    *(void**)&begin = dlsym(library, "__flexiblas_hook_initialize");
    *(void**)&end = dlsym(library, "__flexiblas_hook_finalize");
    *(void**)&multiply = dlsym(library, "hook_sgemm_");
    if (!begin || !end || !multiply) FAIL("a function is not there");
    if (dlsym(library, "hook_cblas_sgemm")) FAIL("FlexiBLAS 3.4 would call it for sgemm");
    begin();

    enum { side = 20 };
    static float a[side * side], b[side * side], c[side * side], wanted[side * side];
    for (int i = 0; i < side * side; ++i) {
        a[i] = (float)(i % 7 - 3);
        b[i] = (float)(i % 5 - 2);
    }
    const Int n = side, minus = -1;
    const float one = 1, zero = 0;
    flexiblas_chain_sgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, wanted, &n, 1, 1);
    chained = 0;
    multiply("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    if (chained != 0 || memcmp(c, wanted, sizeof c) != 0) FAIL("the device's product is wrong, or was forwarded");
    multiply("N", "N", &minus, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    if (chained != 1 || last_m != -1) FAIL("a bad argument was not forwarded as it came");
    end();
    dlclose(library);
    puts("right");
    fflush(stdout); /* before the summary */
    return 0;
}

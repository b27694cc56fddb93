/* SPDX-License-Identifier: MIT
 *
 * C = A B by ScaLAPACK's psgemm on a grid of MPI processes: timed, and checked by C x = A (B x). With libvkgemm_blas.so
 * preloaded each process multiplies its part on a GPU; without it the program runs, too. docs/cluster.md has commands.
 *
 * usage: mpirun -n PROCESSES psgemm [N [BLOCK [ROWS [HOLD]]]]
 *
 * N is the order of the matrices (4096), BLOCK that of the blocks that are dealt to the processes (1024), ROWS the rows
 * of the grid, which divide the number of processes (as square as possible). PBLAS adds to each part of C once for each
 * block of k, so C stays on the GPU until the product is complete; not if HOLD is 0. The last line has the best of
 * three times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* BLACS, and ScaLAPACK's Fortran functions */
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keeps_mpi);
int numroc_(const int* n, const int* block, const int* index, const int* first, const int* count);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* row, const int* column,
               const int* context, const int* ld, int* info);
void psgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const float* alpha,
             const float* a, const int* ia, const int* ja, const int* desc_a, const float* b, const int* ib,
             const int* jb, const int* desc_b, const float* beta, float* c, const int* ic, const int* jc,
             const int* desc_c);
void psgemv_(const char* op, const int* m, const int* n, const float* alpha, const float* a, const int* ia,
             const int* ja, const int* desc_a, const float* x, const int* ix, const int* jx, const int* desc_x,
             const int* inc_x, const float* beta, float* y, const int* iy, const int* jy, const int* desc_y,
             const int* inc_y);
int pilaenv_(const int* context, const char* type); /* how many columns of A PBLAS hands round at a time */

static const int zero = 0, one = 1;
static const float zero_f = 0, one_f = 1;

/* A matrix whose blocks are dealt to the processes of a grid, and this process's part of it, column by column. */
struct matrix {
    int rows, columns; /* of the part */
    int desc[9];
    float* part;
};

/* Numbers in [-1, 1) that do not repeat from process to process. */
static float random_number(unsigned long long* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int)(*state >> 32) * 0x1p-31f;
}

static struct matrix make(int context, int m, int n, int block, unsigned long long seed) {
    int rows, columns, row, column, info;
    struct matrix a;
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    a.rows = numroc_(&m, &block, &row, &zero, &rows);
    a.columns = numroc_(&n, &block, &column, &zero, &columns);
    const int ld = a.rows > 0 ? a.rows : 1;
    descinit_(a.desc, &m, &n, &block, &block, &zero, &zero, &context, &ld, &info);
    const size_t count = (size_t)ld * (size_t)(a.columns > 0 ? a.columns : 1);
    a.part = malloc(count * sizeof *a.part);
    if (info != 0 || !a.part) {
        fprintf(stderr, "psgemm: no memory for %zu floats, or descinit says %d\n", count, info);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    seed += 1000003u * (unsigned)(row * columns + column);
    for (size_t i = 0; i < count; ++i) a.part[i] = random_number(&seed);
    return a;
}

static void multiply_vector(const struct matrix* a, const struct matrix* x, struct matrix* y, int n) {
    psgemv_("N", &n, &n, &one_f, a->part, &one, &one, a->desc, x->part, &one, &one, x->desc, &one, &zero_f, y->part,
            &one, &one, y->desc, &one);
}

/* PBLAS counts the bytes of what it hands round in an int, and crashes where that overflows. */
static int fits_pblas(int context, int n, int block) {
    int rows, columns, row, column;
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    const int depth = pilaenv_(&context, "S"), most = depth < n ? depth : n;
    const int longest = numroc_(&n, &block, &zero, &zero, rows < columns ? &rows : &columns);
    return rows * columns == 1 || (long long)longest * most * (long long)sizeof(float) <= INT_MAX;
}

/* PBLAS takes new memory for each block of k. If that goes back to the system, it comes as pages that are cleared
 * first, which takes longer than to fill them. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

/* libvkgemm_blas.so's functions (vkgemm_blas.h), if it is there. */
typedef int hold_function(void* address, size_t bytes);
typedef int flush_function(const void* address);
static hold_function* hold;
static flush_function *flush, *forget;
static void find_functions(void) {
    *(void**)&hold = dlsym(RTLD_DEFAULT, "vkgemm_blas_hold");
    *(void**)&flush = dlsym(RTLD_DEFAULT, "vkgemm_blas_flush");
    *(void**)&forget = dlsym(RTLD_DEFAULT, "vkgemm_blas_forget");
}

/* The largest of |C x - A (B x)|, relative to the size that rounding gives it. */
static double error_of(int context, const struct matrix* a, const struct matrix* b, const struct matrix* c, int n,
                       int block) {
    struct matrix x = make(context, n, 1, block, 3), y = make(context, n, 1, block, 4);
    struct matrix z = make(context, n, 1, block, 5), wanted = make(context, n, 1, block, 6);
    multiply_vector(b, &x, &y, n);
    multiply_vector(a, &y, &wanted, n);
    multiply_vector(c, &x, &z, n);
    double worst[2] = {0, 0}, all[2];
    for (int i = 0; z.columns > 0 && i < z.rows; ++i) {
        const double error = fabs((double)z.part[i] - (double)wanted.part[i]);
        worst[0] = fmax(worst[0], isnan(error) ? HUGE_VAL : error); /* fmax ignores NaN */
        worst[1] = fmax(worst[1], fabs((double)wanted.part[i]));
    }
    MPI_Allreduce(worst, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    free(x.part);
    free(y.part);
    free(z.part);
    free(wanted.part);
    return all[0] / (all[1] * sqrt((double)n) * 0x1p-24);
}

int main(int argc, char** argv) {
    int processes, rank;
    keep_freed_memory();
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int n = argc > 1 ? atoi(argv[1]) : 4096, block = argc > 2 ? atoi(argv[2]) : 1024;
    int rows = (int)sqrt((double)processes);
    while (processes % rows != 0) --rows;
    if (argc > 3) rows = atoi(argv[3]);
    if (n < 1 || block < 1 || rows < 1 || processes % rows != 0) {
        if (rank == 0)
            fprintf(stderr, "usage: mpirun -n PROCESSES psgemm [N [BLOCK [ROWS [HOLD]]]], ROWS divides PROCESSES\n");
        MPI_Finalize();
        return 1;
    }
    int context;
    Cblacs_get(0, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, processes / rows);
    if (!fits_pblas(context, n, block)) {
        if (rank == 0)
            fprintf(stderr,
                    "psgemm: PBLAS would need 2 GiB or more for %d columns of A or rows of B at a time: choose "
                    "a smaller VKGEMM_BLAS_PBLAS or more processes\n",
                    pilaenv_(&context, "S"));
        MPI_Finalize();
        return 1;
    }
    const struct matrix a = make(context, n, n, block, 1), b = make(context, n, n, block, 2);
    struct matrix c = make(context, n, n, block, 7);
    find_functions();
    const int holds = hold && flush && forget && (argc <= 4 || atoi(argv[4]) != 0);
    const size_t bytes = sizeof(float) * (size_t)c.rows * (size_t)c.columns;
    if (holds && bytes > 0) hold(c.part, bytes); /* where that cannot be, flush has nothing to do */
    int lost = 0;
    double best = HUGE_VAL;
    for (int run = 0; run < 3; ++run) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        psgemm_("N", "N", &n, &n, &n, &one_f, a.part, &one, &one, a.desc, b.part, &one, &one, b.desc, &zero_f, c.part,
                &one, &one, c.desc);
        if (holds) lost |= flush(c.part);
        MPI_Barrier(MPI_COMM_WORLD);
        best = fmin(best, MPI_Wtime() - start);
    }
    if (holds) lost |= forget(c.part);
    if (lost) fprintf(stderr, "psgemm: process %d has lost results with its GPU\n", rank);
    const double error = error_of(context, &a, &b, &c, n, block);
    const int right = error < 8;
    if (rank == 0)
        printf("psgemm %d on %dx%d processes, blocks of %d: %.3f s, %.2f TFLOP/s, error %.2f of sqrt(n) eps: %s\n", n,
               rows, processes / rows, block, best, 2e-12 * n * n * (double)n / best, error, right ? "right" : "WRONG");
    free(a.part);
    free(b.part);
    free(c.part);
    Cblacs_gridexit(context);
    Cblacs_exit(1);
    MPI_Finalize();
    return right ? 0 : 1;
}

// SPDX-License-Identifier: MIT
#include "blas/library.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "blas/cpu_blas.h"
#include "support/random.h"

namespace vkgemm::test {
namespace {

using blas::Gemm;
using blas::Op;

void* loaded(const char* file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::abort();
    }
    return library;
}

void* cpu_function(const char* name) {
    static void* const library = loaded(plain_is_wide() ? VKGEMM_TESTS_CPU_BLAS64 : VKGEMM_TESTS_CPU_BLAS);
    return dlsym(library, name);
}
int count_of(const char* name) { return reinterpret_cast<int (*)()>(cpu_function(name))(); }

template <class T, class Int>
Entry<T> fortran(const char* name) {
    using Function = void(const char*, const char*, const Int*, const Int*, const Int*, const T*, const T*, const Int*,
                          const T*, const Int*, const T*, T*, const Int*);
    return {.name = name,
            .call =
                [name](const Gemm<T>& g) {
                    auto* const f = reinterpret_cast<Function*>(blas_function(name));
                    const Int m = static_cast<Int>(g.m), n = static_cast<Int>(g.n), k = static_cast<Int>(g.k),
                              lda = static_cast<Int>(g.lda), ldb = static_cast<Int>(g.ldb),
                              ldc = static_cast<Int>(g.ldc);
                    f(&"NTC"[static_cast<int>(g.op_a)], &"ntc"[static_cast<int>(g.op_b)], &m, &n, &k, &g.alpha, g.a,
                      &lda, g.b, &ldb, &g.beta, g.c, &ldc);
                },
            .wide = sizeof(Int) == 8};
}

template <class T, class Int>
void call_cblas(const char* name, int order, const Gemm<T>& g) {
    const auto i = [](int64_t x) { return static_cast<Int>(x); };
    const int op_a = 111 + static_cast<int>(g.op_a), op_b = 111 + static_cast<int>(g.op_b);
    if constexpr (blas::is_complex<T>) {
        using Function = void(int, int, int, Int, Int, Int, const void*, const void*, Int, const void*, Int,
                              const void*, void*, Int);
        reinterpret_cast<Function*>(blas_function(name))(order, op_a, op_b, i(g.m), i(g.n), i(g.k), &g.alpha, g.a,
                                                         i(g.lda), g.b, i(g.ldb), &g.beta, g.c, i(g.ldc));
    } else {
        using Function = void(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
        reinterpret_cast<Function*>(blas_function(name))(order, op_a, op_b, i(g.m), i(g.n), i(g.k), g.alpha, g.a,
                                                         i(g.lda), g.b, i(g.ldb), g.beta, g.c, i(g.ldc));
    }
}

template <class T, class Int>
Entry<T> cblas(const char* name) {
    return {.name = name,
            .call = [name](const Gemm<T>& g) { call_cblas<T, Int>(name, 102, g); },
            .call_row_major =
                [name](Gemm<T> g) {
                    std::swap(g.op_a, g.op_b);
                    std::swap(g.m, g.n);
                    std::swap(g.a, g.b);
                    std::swap(g.lda, g.ldb);
                    call_cblas<T, Int>(name, 101, g);
                },
            .wide = sizeof(Int) == 8};
}

template <class T>
T whole_number(Random& random) {
    const auto one = [&] { return static_cast<double>(random.between(1, 4) * (random.one_in(2) ? 1 : -1)); };
    if constexpr (blas::is_complex<T>) {
        const double real = one();
        return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(one()));
    } else {
        return static_cast<T>(one());
    }
}

template <class T>
std::vector<T> filled(int64_t rows, int64_t columns, int64_t ld, Random& random) {
    std::vector<T> all(static_cast<size_t>(ld * columns + 5), T(std::numeric_limits<float>::quiet_NaN()));
    for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < rows; ++r) all[static_cast<size_t>(r + c * ld)] = whole_number<T>(random);
    return all;
}

thread_local int allocations_left = -1;

/// Where the library is in memory.
struct Library {
    uintptr_t begin = 0, end = 0;

    Library() {
        Dl_info own{};
        if (dladdr(blas_function("sgemm_"), &own)) begin = reinterpret_cast<uintptr_t>(own.dli_fbase);
        dl_iterate_phdr(
            [](dl_phdr_info* info, size_t, void* data) {
                auto& library = *static_cast<Library*>(data);
                if (info->dlpi_addr != library.begin) return 0;
                for (int i = 0; i < info->dlpi_phnum; ++i)
                    if (const auto& part = info->dlpi_phdr[i]; part.p_type == PT_LOAD)
                        library.end = std::max<uintptr_t>(library.end, library.begin + part.p_vaddr + part.p_memsz);
                return 1;
            },
            this);
    }
};

/// Not those of drivers, which do not expect it, and make a million while they compile.
bool is_of_library(const void* caller) {
    static const Library library;
    const auto at = reinterpret_cast<uintptr_t>(caller);
    return at >= library.begin && at < library.end;
}

}  // namespace

void* blas_function(const char* name) {
    static void* const library = loaded(VKGEMM_TESTS_BLAS);
    return dlsym(library, name);
}

void fail_allocation(int after) { allocations_left = after; }
bool allocation_failed() { return allocations_left < 0; }
int vulkan_calls() { return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "test_vulkan_calls"))(); }
FailVulkan* fail_vulkan() { return reinterpret_cast<FailVulkan*>(dlsym(RTLD_DEFAULT, "test_fail_vulkan")); }
int cpu_calls() { return count_of("test_cpu_blas_calls"); }
int cpu_bad_calls() { return count_of("test_cpu_blas_bad_calls"); }
void set_cpu_hook(void (*hook)()) { reinterpret_cast<void (*)(void (*)())>(cpu_function("test_cpu_blas_hook"))(hook); }
void fail_vulkan_times(int count) {
    reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "test_fail_vulkan_times"))(count);
}

// The rows of names.def as entries of one type.
#define FORTRAN(Int, before, after)                                                   \
    is_wide(#before, #after, sizeof(Int)) ? fortran<T, int64_t>(ENTRY(before, after)) \
                                          : fortran<T, int32_t>(ENTRY(before, after)),
#define CBLAS(Int, before, after)                                                   \
    is_wide(#before, #after, sizeof(Int)) ? cblas<T, int64_t>(ENTRY(before, after)) \
                                          : cblas<T, int32_t>(ENTRY(before, after)),
#define TEXT(x) #x
#define JOINED(before, letter, after) TEXT(before##letter##gemm##after)
template <>
std::vector<Entry<float>> entries() {
    using T = float;
#define ENTRY(before, after) JOINED(before, s, after)
    return {
#include "blas/names.def"
    };
}
template <>
std::vector<Entry<double>> entries() {
    using T = double;
#undef ENTRY
#define ENTRY(before, after) JOINED(before, d, after)
    return {
#include "blas/names.def"
    };
}
template <>
std::vector<Entry<std::complex<float>>> entries() {
    using T = std::complex<float>;
#undef ENTRY
#define ENTRY(before, after) JOINED(before, c, after)
    return {
#include "blas/names.def"
    };
}
template <>
std::vector<Entry<std::complex<double>>> entries() {
    using T = std::complex<double>;
#undef ENTRY
#define ENTRY(before, after) JOINED(before, z, after)
    return {
#include "blas/names.def"
    };
}

template <class T>
Operands<T>::Operands(Op op_a, Op op_b, int64_t m, int64_t n, int64_t k, T alpha, T beta, uint64_t seed, int64_t gap) {
    Random random(seed);
    const bool a_plain = op_a == Op::none, b_plain = op_b == Op::none;
    const int64_t lda = (a_plain ? m : k) + gap, ldb = (b_plain ? k : n) + gap, ldc = m + gap;
    a_ = filled<T>(a_plain ? m : k, a_plain ? k : m, lda, random);
    b_ = filled<T>(b_plain ? k : n, b_plain ? n : k, ldb, random);
    c_ = filled<T>(beta == T{} ? 0 : m, n, ldc, random);  // NaN where C must not be read
    wanted_ = c_;
    g_ = {op_a, op_b, m, n, k, alpha, a_.data(), lda, b_.data(), ldb, beta, wanted_.data(), ldc};
    multiply_plainly(g_);
    g_.c = c_.data();
}

template <class T>
Gemm<T> Operands<T>::call() {
    return g_;
}

template <class T>
bool Operands<T>::is_right() const {
    for (size_t i = 0; i < c_.size(); ++i) {
        const int64_t row = static_cast<int64_t>(i) % g_.ldc, column = static_cast<int64_t>(i) / g_.ldc;
        const bool inside = row < g_.m && column < g_.n;
        if (inside ? c_[i] == wanted_[i] : std::memcmp(&c_[i], &wanted_[i], sizeof(T)) == 0) continue;
        std::printf("C[%d][%d] is %g and should be %g\n", static_cast<int>(row), static_cast<int>(column),
                    static_cast<double>(std::real(c_[i])), static_cast<double>(std::real(wanted_[i])));
        return false;
    }
    return true;
}

int status_of_child(const std::function<int()>& run) {
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);
        const int code = run();
        std::fflush(nullptr);
        _exit(code);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

template class Operands<float>;
template class Operands<double>;
template class Operands<std::complex<float>>;
template class Operands<std::complex<double>>;

}  // namespace vkgemm::test

// Replaces that of the whole program, the library included.
void* operator new(size_t bytes) {
    int& left = vkgemm::test::allocations_left;
    if (left >= 0 && vkgemm::test::is_of_library(__builtin_return_address(0)) && left-- == 0) throw std::bad_alloc();
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
// Not inlined: GCC 12 would warn that free() does not match the `operator new` that it does not inline.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// SPDX-License-Identifier: MIT
// A CPU's BLAS as a baseline, through its C names (cblas_...).
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "baselines/baseline.h"
#include "baselines/shared_library.h"

namespace vkgemm::tool {
namespace {

constexpr int column_major = 102, as_stored = 111, transposed = 112;  // CBLAS_ORDER, CBLAS_TRANSPOSE

template <class T>
using Gemm = void(int order, int op_a, int op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
                  T beta, T* c, int ldc);

/// OpenBLAS picks its kernels by the processor's model when it is opened, and takes the slowest for a model that is
/// newer than itself. So the tool names the processor's type to it, unless the user did.
void suggest_core() {
#if (defined(__GNUC__) || defined(__clang__)) && (defined(__x86_64__) || defined(__i386__))
    if (std::getenv("OPENBLAS_CORETYPE")) return;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    const char* core = wide                                                              ? "SkylakeX"
                       : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell"
                                                                                         : nullptr;
    if (!core) return;
#    ifdef _WIN32
    _putenv_s("OPENBLAS_CORETYPE", core);
#    else
    setenv("OPENBLAS_CORETYPE", core, 0);
#    endif
#endif
}

class OpenBlas final : public Baseline {
   public:
    static Result<std::unique_ptr<Baseline>> open();
    const char* name() const override { return "openblas"; }
    std::string title() const override { return title_; }
    host::Clock clock() const override { return host::Clock::host; }
    std::string unfit(const Case& c) const override;
    Status load(const Case& c, const OperandBytes& operands, size_t sets) override;
    Result<std::vector<double>> run(size_t runs, size_t first, double alpha, double beta) override;
    Result<double> run_together(size_t runs, double alpha, double beta) override {
        const auto each = run(runs, 0, alpha, beta);
        if (!each) return each.status();
        return std::accumulate(each->begin(), each->end(), 0.0);
    }
    Result<std::vector<std::byte>> result() override {
        const auto end = d_.begin() + static_cast<std::ptrdiff_t>(bytes(VKGEMM_SLOT_D));
        return std::vector<std::byte>(d_.begin(), end);
    }
    void unload() override {
        for (std::vector<std::byte>* o : {&a_, &b_, &d_}) *o = {};
    }

   private:
    size_t bytes(VkgemmSlot slot) const { return memory(slot).size() / sets_; }
    const std::vector<std::byte>& memory(VkgemmSlot slot) const {
        return slot == VKGEMM_SLOT_A ? a_ : slot == VKGEMM_SLOT_B ? b_ : d_;
    }
    template <class T>
    void multiply(Gemm<T>* gemm, size_t set, double alpha, double beta);

    std::string title_;
    Gemm<float>* sgemm_ = nullptr;
    Gemm<double>* dgemm_ = nullptr;
    BlasProblem problem_;
    bool doubles_ = false;
    std::vector<std::byte> a_, b_, d_;  // the sets one after another
    size_t sets_ = 1;
};

Result<std::unique_ptr<Baseline>> OpenBlas::open() {
    static const std::string names[] = {"libopenblas.so.0",  "libopenblas.so",  "libopenblas.0.dylib",
                                        "libopenblas.dylib", "libopenblas.dll", "openblas.dll",
                                        "libcblas.so.3",     "libcblas.so",     "libcblas.dll"};
    suggest_core();
    const Library library = Library::open(names, baseline_folders());
    auto baseline = std::make_unique<OpenBlas>();
    if (!library || !library.find(baseline->sgemm_, "cblas_sgemm") || !library.find(baseline->dgemm_, "cblas_dgemm"))
        return Status{
            VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            "OpenBLAS (libopenblas.so.0, libopenblas.dll) is not installed; VKGEMM_BASELINE_PATH can name its "
            "folder"};
    const char* (*config)() = nullptr;
    const char* (*core)() = nullptr;
    void (*set_threads)(int count) = nullptr;
    int (*get_threads)() = nullptr;
    baseline->title_ = "a CBLAS";
    if (library.find(config, "openblas_get_config")) {
        const std::string words = config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
        baseline->title_ = words.substr(0, words.find(' ', words.find(' ') + 1));
    }
    if (library.find(core, "openblas_get_corename")) baseline->title_ += std::string(", ") + core() + " kernels";
    if (library.find(set_threads, "openblas_set_num_threads"))
        set_threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    if (library.find(get_threads, "openblas_get_num_threads"))
        baseline->title_ += ", " + std::to_string(get_threads()) + (get_threads() == 1 ? " thread" : " threads");
    return std::unique_ptr<Baseline>(std::move(baseline));
}

std::string OpenBlas::unfit(const Case& c) const {
    if (std::string why = unfit_for_blas(c); !why.empty()) return why;
    const Resolved resolved = resolve(c.problem);
    const bool known = resolved.a.type == f32 || resolved.a.type == f64;
    if (!known || resolved.b.type != resolved.a.type || resolved.accumulate != resolved.a.type ||
        resolved.d.type != resolved.a.type)
        return "it multiplies f32 and f64 only";
    if (c.problem.epilogue.count) return "it has no epilogue";
    return "";
}

Status OpenBlas::load(const Case& c, const OperandBytes& operands, size_t sets) {
    const auto repeated = [sets](const std::vector<std::byte>& one) {
        std::vector<std::byte> all;
        all.reserve(one.size() * sets);
        for (size_t i = 0; i < sets; ++i) all.insert(all.end(), one.begin(), one.end());
        return all;
    };
    problem_ = blas_problem(c);
    doubles_ = resolve(c.problem).a.type == f64;
    sets_ = sets;
    a_ = repeated(operands[VKGEMM_SLOT_A]);
    b_ = repeated(operands[VKGEMM_SLOT_B]);
    d_ = repeated(operands[VKGEMM_SLOT_D]);
    return {};
}

template <class T>
void OpenBlas::multiply(Gemm<T>* gemm, size_t set, double alpha, double beta) {
    const BlasProblem& p = problem_;
    const auto start = [&](const BlasMatrix& m) {
        return reinterpret_cast<const T*>(memory(m.slot).data() + set * bytes(m.slot));
    };
    const auto op = [](const BlasMatrix& m) { return m.transposed ? transposed : as_stored; };
    const T *left = start(p.left), *right = start(p.right);
    T* out = reinterpret_cast<T*>(d_.data() + set * bytes(VKGEMM_SLOT_D));
    for (int i = 0; i < p.batch; ++i)
        gemm(column_major, op(p.left), op(p.right), p.rows, p.cols, p.depth, static_cast<T>(alpha),
             left + i * p.left.batch_step, p.left.ld, right + i * p.right.batch_step, p.right.ld, static_cast<T>(beta),
             out + i * p.out.batch_step, p.out.ld);
}

Result<std::vector<double>> OpenBlas::run(size_t runs, size_t first, double alpha, double beta) {
    std::vector<double> seconds;
    for (size_t i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        if (doubles_)
            multiply(dgemm_, (first + i) % sets_, alpha, beta);
        else
            multiply(sgemm_, (first + i) % sets_, alpha, beta);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return seconds;
}

}  // namespace

Result<std::unique_ptr<Baseline>> open_openblas() { return OpenBlas::open(); }

}  // namespace vkgemm::tool

// SPDX-License-Identifier: MIT
#include "baselines/cublas.h"

#include <cstdlib>

#include "measure/numbers.h"

namespace vkgemm::tool {
namespace {

constexpr int default_algorithm = -1;     // CUBLAS_GEMM_DEFAULT
constexpr int no_reduced_reduction = 16;  // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION

/// cuBLAS's functions, as NVIDIA documents them. Operations: 0 as stored, 1 transposed.
struct CublasCalls {
    int (*Create)(void** handle);
    int (*Destroy)(void* handle);
    int (*GetVersion)(void* handle, int* version);
    int (*SetMathMode)(void* handle, int mode);
    int (*GemmEx)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int a_type,
                  int lda, const void* b, int b_type, int ldb, const void* beta, void* c, int c_type, int ldc,
                  int compute, int algorithm);
    int (*GemmStridedBatchedEx)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                                int a_type, int lda, long long a_step, const void* b, int b_type, int ldb,
                                long long b_step, const void* beta, void* c, int c_type, int ldc, long long c_step,
                                int count, int compute, int algorithm);

    const char* bind(const Library& library) {
        const char* missing = nullptr;
        const auto want = [&](auto& function, const char* name) {
            if (!library.find(function, name) && !missing) missing = name;
        };
        want(Create, "cublasCreate_v2");
        want(Destroy, "cublasDestroy_v2");
        want(GetVersion, "cublasGetVersion_v2");
        want(SetMathMode, "cublasSetMathMode");
        want(GemmEx, "cublasGemmEx");
        want(GemmStridedBatchedEx, "cublasGemmStridedBatchedEx");
        return missing;
    }
};

/// The bits of the epilogue that cuBLASLt has; nothing for a list that it has not.
std::optional<uint32_t> cublas_epilogue(const Problem& p) {
    uint32_t bits = 0;
    for (const Step& step : p.epilogue) {
        // Its bias runs along the rows of what it computes, which is D transposed where D is row-major.
        const VkgemmStepKind bias = p.d.layout == rowMajor ? VKGEMM_STEP_BIAS_COL : VKGEMM_STEP_BIAS_ROW;
        if (step.kind == bias && bits == 0)
            bits = epilogue_bias;
        else if (step.kind == VKGEMM_STEP_RELU && (bits & ~epilogue_bias) == 0)
            bits |= epilogue_relu;
        else if (step.kind == VKGEMM_STEP_GELU && (bits & ~epilogue_bias) == 0)
            bits |= epilogue_gelu;
        else
            return std::nullopt;
    }
    return bits;
}

/// How it accumulates in `type`; nothing: it cannot.
std::optional<CublasCompute> cublas_compute(Type type) {
    switch (type) {
        case f16:
            return compute_f16;
        case f32:
            return compute_f32;
        case f64:
            return compute_f64;
        case i32:
            return compute_i32;
        default:
            return std::nullopt;
    }
}

bool is_fp8(Type t) { return t == VKGEMM_TYPE_E4M3 || t == VKGEMM_TYPE_E5M2; }

/// The types of A and B, of the accumulator and of D that its documentation of cublasGemmEx lists, or of cublasLtMatmul
/// for floats of 8 bits.
bool cublas_types(const Resolved& resolved) {
    const Type in = resolved.a.type, sum = resolved.accumulate, out = resolved.d.type;
    if (is_fp8(in) && is_fp8(resolved.b.type))
        return sum == f32 && (out == f32 || out == f16 || out == bf16) &&
               (in == VKGEMM_TYPE_E4M3 || resolved.b.type == VKGEMM_TYPE_E4M3);
    if (resolved.b.type != in) return false;
    if (in == f32 || in == f64) return sum == in && out == in;
    if (in == f16) return (sum == f16 && out == in) || (sum == f32 && (out == in || out == f32));
    if (in == bf16) return sum == f32 && (out == in || out == f32);
    return in == i8 && sum == i32 && out == i32;
}

class Cublas final : public Baseline {
   public:
    static Result<std::unique_ptr<Baseline>> open(const host::Device& device);
    ~Cublas() override {
        if (handle_) call_.Destroy(handle_);
    }

    const char* name() const override { return "cublas"; }
    std::string title() const override;
    host::Clock clock() const override { return host::Clock::device; }
    std::string unfit(const Case& c) const override;
    Status load(const Case& c, const OperandBytes& operands, size_t sets) override;
    Result<std::vector<double>> run(size_t runs, size_t first, double alpha, double beta) override;
    Result<double> run_together(size_t runs, double alpha, double beta) override;
    Result<std::vector<std::byte>> result() override;
    void unload() override {
        for (CudaCopies& o : operands_) o.reset();
    }

   private:
    Status launch(size_t set, const Scalar& alpha, const Scalar& beta);

    std::shared_ptr<Cuda> cuda_;
    std::vector<std::string> folders_;
    CublasCalls call_{};
    void* handle_ = nullptr;
    std::unique_ptr<CublasLt> lt_;
    CudaOperands operands_;
    CublasProblem problem_;
    size_t sets_ = 1;
};

Result<std::unique_ptr<Baseline>> Cublas::open(const host::Device& device) {
    static const std::string names[] = {"libcublas.so.14", "libcublas.so.13", "libcublas.so.12",
                                        "libcublas.so.11", "libcublas.so",    "cublas64_14.dll",
                                        "cublas64_13.dll", "cublas64_12.dll", "cublas64_11.dll"};
    auto cuda = Cuda::open(device);
    if (!cuda) return cuda.status();
    const Library library = Library::open(names, baseline_folders());
    if (!library)
        return Status{
            VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            "cuBLAS (libcublas.so.13, cublas64_13.dll, ...) is not installed; VKGEMM_BASELINE_PATH can name its "
            "folder"};
    auto baseline = std::make_unique<Cublas>();
    baseline->cuda_ = *cuda;
    baseline->folders_ = {library.folder()};
    if (const char* missing = baseline->call_.bind(library))
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, std::string("cuBLAS lacks ") + missing};
    if (const int status = baseline->call_.Create(&baseline->handle_)) return cublas_failed(status, "cublasCreate");
    // Slices of K are to be added in the accumulator's type, as vkgemm does; a cuBLAS that refuses this is judged by
    // the same tolerance.
    static_cast<void>(baseline->call_.SetMathMode(baseline->handle_, no_reduced_reduction));
    return std::unique_ptr<Baseline>(std::move(baseline));
}

std::string Cublas::title() const {
    int v = 0;
    call_.GetVersion(handle_, &v);
    std::string text = "cuBLAS " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
                       std::to_string(v % 100) + ", CUDA runtime " + cuda_->version();
    const char* tf32 = std::getenv("NVIDIA_TF32_OVERRIDE");
    if (tf32 && std::string_view(tf32) == "1") text += ", f32 rounded to TF32 by NVIDIA_TF32_OVERRIDE";
    return text;
}

std::string Cublas::unfit(const Case& c) const {
    if (std::string why = unfit_for_blas(c); !why.empty()) return why;
    if (!cublas_types(resolve(c.problem))) return "it does not multiply these types";
    if (!cublas_epilogue(c.problem)) return "it has no such epilogue: bias along a row of D, then ReLU or GELU";
    return "";
}

Status Cublas::load(const Case& c, const OperandBytes& operands, size_t sets) {
    const Resolved resolved = resolve(c.problem);
    const BlasProblem blas = blas_problem(c);
    const auto type_of = [&](const BlasMatrix& m) {
        return cuda_type(m.slot == VKGEMM_SLOT_A ? resolved.a.type : resolved.b.type);
    };
    const uint32_t epilogue = *cublas_epilogue(c.problem);
    problem_ = {.blas = blas,
                .left = type_of(blas.left),
                .right = type_of(blas.right),
                .result = cuda_type(resolved.d.type),
                .scalar = resolved.accumulate,
                .compute = *cublas_compute(resolved.accumulate),
                .epilogue = epilogue,
                .wants_lt = epilogue != 0 || is_fp8(resolved.a.type)};
    sets_ = sets;
    for (size_t i = 0; i < operands.size(); ++i)
        if (Status s = operands_[i].load(cuda_, operands[i], i <= VKGEMM_SLOT_D ? sets : 1); !s) return s;
    if (!problem_.wants_lt) return {};
    if (!lt_) {
        auto lt = CublasLt::open(cuda_, folders_);
        if (!lt) return lt.status();
        lt_ = *std::move(lt);
    }
    return lt_->prepare(problem_, operands_);
}

Status Cublas::launch(size_t set, const Scalar& alpha, const Scalar& beta) {
    if (problem_.wants_lt) return lt_->launch(problem_, operands_, set, alpha, beta);
    const BlasProblem& b = problem_.blas;
    const void* left = operands_[b.left.slot].copy(set);
    const void* right = operands_[b.right.slot].copy(set);
    void* out = operands_[VKGEMM_SLOT_D].copy(set);
    const int in = problem_.left;
    const int status =
        b.batch == 1 ? call_.GemmEx(handle_, b.left.transposed, b.right.transposed, b.rows, b.cols, b.depth,
                                    alpha.bytes, left, in, b.left.ld, right, in, b.right.ld, beta.bytes, out,
                                    problem_.result, b.out.ld, problem_.compute, default_algorithm)
                     : call_.GemmStridedBatchedEx(
                           handle_, b.left.transposed, b.right.transposed, b.rows, b.cols, b.depth, alpha.bytes, left,
                           in, b.left.ld, b.left.batch_step, right, in, b.right.ld, b.right.batch_step, beta.bytes, out,
                           problem_.result, b.out.ld, b.out.batch_step, b.batch, problem_.compute, default_algorithm);
    return status ? cublas_failed(status, b.batch == 1 ? "cublasGemmEx" : "cublasGemmStridedBatchedEx") : Status{};
}

Result<std::vector<double>> Cublas::run(size_t runs, size_t first, double alpha, double beta) {
    const Scalar a(problem_.scalar, alpha), b(problem_.scalar, beta);
    return cuda_->time(runs, [&](size_t i) { return launch((first + i) % sets_, a, b); });
}

Result<double> Cublas::run_together(size_t runs, double alpha, double beta) {
    const Scalar a(problem_.scalar, alpha), b(problem_.scalar, beta);
    return cuda_->time_together(runs, [&](size_t i) { return launch(i % sets_, a, b); });
}

Result<std::vector<std::byte>> Cublas::result() {
    std::vector<std::byte> d;
    if (Status s = operands_[VKGEMM_SLOT_D].read(d); !s) return s;
    return d;
}

}  // namespace

CudaType cuda_type(Type type) {
    switch (type) {
        case f64:
            return cuda_f64;
        case f16:
            return cuda_f16;
        case bf16:
            return cuda_bf16;
        case i32:
            return cuda_i32;
        case i8:
            return cuda_i8;
        case VKGEMM_TYPE_E4M3:
            return cuda_e4m3;
        case VKGEMM_TYPE_E5M2:
            return cuda_e5m2;
        default:  // f32, and what cublas_types never asks for
            return cuda_f32;
    }
}

Scalar::Scalar(Type type, double value) { encode(type, value, bytes); }

Status cublas_failed(int status, const char* what) {
    const char* why = status == 7    ? "refuses these sizes or alignments (invalid value)"
                      : status == 15 ? "does not support these types, sizes or alignments"
                      : status == 3  ? "found no memory"
                      : status == 8  ? "has no kernel for this GPU"
                      : status == 13 ? "failed on the GPU"
                                     : "failed";
    return {VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS,
            std::string(what) + " " + why + " (status " + std::to_string(status) + ")"};
}

Result<std::unique_ptr<Baseline>> open_cublas(const host::Device& device) { return Cublas::open(device); }

}  // namespace vkgemm::tool

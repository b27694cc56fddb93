// SPDX-License-Identifier: MIT
#include "baselines/cublas.h"

namespace vkgemm::tool {
namespace {

constexpr size_t workspace_bytes = size_t{32} << 20;  // what cuBLAS itself takes on an H100

// cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t, cublasLtMatmulPreferenceAttributes_t
constexpr int desc_left_transposed = 3, desc_right_transposed = 4, desc_epilogue = 7, desc_bias_pointer = 8;
constexpr int layout_batch_count = 5, layout_batch_step = 6;
constexpr int preference_workspace_bytes = 1, preference_reduction_schemes = 3;

constexpr uint32_t reduce_in_compute_type = 2;  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, beside no reduction at all

/// cublasLtMatmulHeuristicResult_t
struct Heuristic {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};
static_assert(sizeof(Heuristic) == 64 + sizeof(size_t) + 24);

}  // namespace

/// Descriptors and layouts are pointers to what stays closed: void*.
struct CublasLt::Calls {
    int (*Create)(void** handle);
    int (*Destroy)(void* handle);
    int (*DescCreate)(void** desc, int compute, int scalar_type);
    int (*DescDestroy)(void* desc);
    int (*DescSet)(void* desc, int attribute, const void* value, size_t bytes);
    int (*LayoutCreate)(void** layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
    int (*LayoutDestroy)(void* layout);
    int (*LayoutSet)(void* layout, int attribute, const void* value, size_t bytes);
    int (*PreferenceCreate)(void** preference);
    int (*PreferenceDestroy)(void* preference);
    int (*PreferenceSet)(void* preference, int attribute, const void* value, size_t bytes);
    int (*GetHeuristic)(void* handle, void* desc, void* a, void* b, void* c, void* d, void* preference, int wanted,
                        Heuristic* results, int* count);
    int (*Matmul)(void* handle, void* desc, const void* alpha, const void* a, void* a_layout, const void* b,
                  void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                  const void* algorithm, void* workspace, size_t workspace_bytes, void* stream);

    /// The name of the first function that is missing; null: all are there.
    const char* bind(const Library& library) {
        const char* missing = nullptr;
        const auto want = [&](auto& function, const char* name) {
            if (!library.find(function, name) && !missing) missing = name;
        };
        want(Create, "cublasLtCreate");
        want(Destroy, "cublasLtDestroy");
        want(DescCreate, "cublasLtMatmulDescCreate");
        want(DescDestroy, "cublasLtMatmulDescDestroy");
        want(DescSet, "cublasLtMatmulDescSetAttribute");
        want(LayoutCreate, "cublasLtMatrixLayoutCreate");
        want(LayoutDestroy, "cublasLtMatrixLayoutDestroy");
        want(LayoutSet, "cublasLtMatrixLayoutSetAttribute");
        want(PreferenceCreate, "cublasLtMatmulPreferenceCreate");
        want(PreferenceDestroy, "cublasLtMatmulPreferenceDestroy");
        want(PreferenceSet, "cublasLtMatmulPreferenceSetAttribute");
        want(GetHeuristic, "cublasLtMatmulAlgoGetHeuristic");
        want(Matmul, "cublasLtMatmul");
        return missing;
    }
};

/// What one problem needs; gone with it.
struct CublasLt::Prepared {
    const Calls& call;
    void *desc = nullptr, *left = nullptr, *right = nullptr, *out = nullptr, *preference = nullptr;
    Heuristic chosen{};

    explicit Prepared(const Calls& calls) : call(calls) {}
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;
    ~Prepared() {
        if (desc) call.DescDestroy(desc);
        for (void* layout : {left, right, out})
            if (layout) call.LayoutDestroy(layout);
        if (preference) call.PreferenceDestroy(preference);
    }

    int make_desc(const CublasProblem& p, const void* bias) {
        int status = call.DescCreate(&desc, p.compute, cuda_type(p.scalar));
        const auto set = [&](int attribute, const auto& value) {
            if (status == 0) status = call.DescSet(desc, attribute, &value, sizeof value);
        };
        set(desc_left_transposed, int32_t{p.blas.left.transposed});
        set(desc_right_transposed, int32_t{p.blas.right.transposed});
        set(desc_epilogue, p.epilogue ? p.epilogue : epilogue_none);
        if (p.epilogue & epilogue_bias) set(desc_bias_pointer, bias);
        return status;
    }

    /// Of a matrix as it is stored: `rows` x `cols`, or the other way round where it is transposed.
    int make_layout(void*& layout, const BlasMatrix& m, int type, int rows, int cols, int32_t batch) const {
        if (m.transposed) std::swap(rows, cols);
        int status = call.LayoutCreate(&layout, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), m.ld);
        const int64_t step = m.batch_step;
        if (status == 0 && batch > 1) status = call.LayoutSet(layout, layout_batch_count, &batch, sizeof batch);
        if (status == 0 && batch > 1) status = call.LayoutSet(layout, layout_batch_step, &step, sizeof step);
        return status;
    }

    int make_preference() {
        const int status = call.PreferenceCreate(&preference);
        const uint64_t bytes = workspace_bytes;
        if (status) return status;
        const int set = call.PreferenceSet(preference, preference_reduction_schemes, &reduce_in_compute_type,
                                           sizeof reduce_in_compute_type);
        return set ? set : call.PreferenceSet(preference, preference_workspace_bytes, &bytes, sizeof bytes);
    }
};

CublasLt::CublasLt() : call_(std::make_unique<Calls>()) {}

Result<std::unique_ptr<CublasLt>> CublasLt::open(std::shared_ptr<Cuda> cuda, const std::vector<std::string>& folders) {
    static const std::string names[] = {"libcublasLt.so.14", "libcublasLt.so.13", "libcublasLt.so.12",
                                        "libcublasLt.so.11", "libcublasLt.so",    "cublasLt64_14.dll",
                                        "cublasLt64_13.dll", "cublasLt64_12.dll", "cublasLt64_11.dll"};
    const Library library = Library::open(names, folders);
    if (!library) return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "cuBLASLt (libcublasLt) is not installed"};
    std::unique_ptr<CublasLt> lt(new CublasLt);
    lt->cuda_ = std::move(cuda);
    if (const char* missing = lt->call_->bind(library))
        return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, std::string("cuBLASLt lacks ") + missing};
    if (const int status = lt->call_->Create(&lt->handle_)) return cublas_failed(status, "cublasLtCreate");
    if (const int error = lt->cuda_->call.Malloc(&lt->workspace_, workspace_bytes))
        return lt->cuda_->failed(error, "cudaMalloc");
    return lt;
}

CublasLt::~CublasLt() {
    prepared_.reset();
    if (handle_) call_->Destroy(handle_);
    if (workspace_) cuda_->call.Free(workspace_);
}

Status CublasLt::prepare(const CublasProblem& p, const CudaOperands& operands) {
    prepared_ = std::make_unique<Prepared>(*call_);
    Prepared& now = *prepared_;
    const BlasProblem& b = p.blas;
    const void* bias = operands[VKGEMM_SLOT_BIAS].copy(0);
    int status = now.make_desc(p, bias);
    if (status == 0) status = now.make_layout(now.left, b.left, p.left, b.rows, b.depth, b.batch);
    if (status == 0) status = now.make_layout(now.right, b.right, p.right, b.depth, b.cols, b.batch);
    if (status == 0) status = now.make_layout(now.out, b.out, p.result, b.rows, b.cols, b.batch);
    if (status == 0) status = now.make_preference();
    if (status) return cublas_failed(status, "cuBLASLt's descriptors");
    int count = 0;
    status = call_->GetHeuristic(handle_, now.desc, now.left, now.right, now.out, now.out, now.preference, 1,
                                 &now.chosen, &count);
    if (status == 0 && count > 0) status = now.chosen.status;
    if (status) return cublas_failed(status, "cublasLtMatmulAlgoGetHeuristic");
    if (count == 0) return Status{VKGEMM_ERROR_UNSUPPORTED, VK_SUCCESS, "cuBLASLt has no algorithm for it"};
    return {};
}

Status CublasLt::launch(const CublasProblem& p, const CudaOperands& operands, size_t set, const Scalar& alpha,
                        const Scalar& beta) {
    const Prepared& now = *prepared_;
    void* d = operands[VKGEMM_SLOT_D].copy(set);
    const int status = call_->Matmul(handle_, now.desc, alpha.bytes, operands[p.blas.left.slot].copy(set), now.left,
                                     operands[p.blas.right.slot].copy(set), now.right, beta.bytes, d, now.out, d,
                                     now.out, now.chosen.algorithm, workspace_, workspace_bytes, nullptr);
    return status ? cublas_failed(status, "cublasLtMatmul") : Status{};
}

}  // namespace vkgemm::tool

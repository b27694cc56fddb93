// SPDX-License-Identifier: MIT
// cuBLAS as a baseline: its GEMM for plain products, cuBLASLt's for those with an epilogue and for floats of 8 bits.
#pragma once
#include "baselines/baseline.h"
#include "baselines/cuda.h"

namespace vkgemm::tool {

/// cuBLAS's numbers for types (cudaDataType_t) and for arithmetic (cublasComputeType_t).
enum CudaType : int {
    cuda_f32 = 0,
    cuda_f64 = 1,
    cuda_f16 = 2,
    cuda_i8 = 3,
    cuda_i32 = 10,
    cuda_bf16 = 14,
    cuda_e4m3 = 28,
    cuda_e5m2 = 29
};
enum CublasCompute : int { compute_f16 = 64, compute_f32 = 68, compute_f64 = 70, compute_i32 = 72 };

CudaType cuda_type(Type type);

/// The operands of a case on the device, by VkgemmSlot.
using CudaOperands = std::array<CudaCopies, VKGEMM_SLOT_COUNT>;

/// Bits of cublasLtEpilogue_t.
inline constexpr uint32_t epilogue_none = 1, epilogue_relu = 2, epilogue_bias = 4, epilogue_gelu = 32;

/// A case in cuBLAS's terms.
struct CublasProblem {
    BlasProblem blas;
    CudaType left = cuda_f32, right = cuda_f32, result = cuda_f32;
    Type scalar = f32;  // of alpha and beta: the accumulator's
    CublasCompute compute = compute_f32;
    uint32_t epilogue = 0;  // bits of cublasLtEpilogue_t
    bool wants_lt = false;  // cublasGemmEx has no such product
};

/// alpha or beta in the type that cuBLAS expects.
struct Scalar {
    Scalar(Type type, double value);
    std::byte bytes[8]{};
};

Status cublas_failed(int status, const char* what);

/// One matmul of cuBLASLt, its algorithm chosen by cuBLASLt's own heuristics.
class CublasLt {
   public:
    static Result<std::unique_ptr<CublasLt>> open(std::shared_ptr<Cuda> cuda, const std::vector<std::string>& folders);
    ~CublasLt();
    CublasLt(const CublasLt&) = delete;
    CublasLt& operator=(const CublasLt&) = delete;

    Status prepare(const CublasProblem& problem, const CudaOperands& operands);
    Status launch(const CublasProblem& problem, const CudaOperands& operands, size_t set, const Scalar& alpha,
                  const Scalar& beta);

   private:
    CublasLt();
    struct Calls;
    struct Prepared;
    std::unique_ptr<Calls> call_;
    std::unique_ptr<Prepared> prepared_;
    std::shared_ptr<Cuda> cuda_;
    void* handle_ = nullptr;
    void* workspace_ = nullptr;
};

}  // namespace vkgemm::tool

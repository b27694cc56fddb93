// SPDX-License-Identifier: MIT
//
// explain.h for C++20: types, kernels, device properties and decisions as data. Included by vkgemm.hpp.
#ifndef VKGEMM_EXPLAIN_HPP
#define VKGEMM_EXPLAIN_HPP

#include <vkgemm/vkgemm.hpp>

namespace vkgemm {

/// vkgemmGetTypeInfo; `type` is any type except DEFAULT.
inline VkgemmTypeInfo typeInfo(Type type) {
    auto info = convert::output<VkgemmTypeInfo>();
    static_cast<void>(vkgemmGetTypeInfo(type, &info));
    return info;
}

/// vkgemmCompleteProblem
inline Result<Problem> completeProblem(const Problem& problem) {
    const VkgemmProblem c = convert::toC(problem);
    auto completed = convert::output<VkgemmProblem>();
    VkgemmError error{};
    const VkgemmResult code = vkgemmCompleteProblem(&c, &completed, &error);
    if (code < 0) return convert::toStatus(code, error);
    return convert::fromC(completed);
}

/// vkgemmConvertFactors
inline Status convertFactors(const Problem& problem, double& alpha, double& beta) {
    const VkgemmProblem c = convert::toC(problem);
    VkgemmError error{};
    return convert::toStatus(vkgemmConvertFactors(&c, &alpha, &beta, &error), error);
}

/// vkgemmGetKernelTraits; `kernel` is an index of kernels().
inline Result<VkgemmKernelTraits> kernelTraits(uint32_t kernel, const char* tile = nullptr) {
    auto traits = convert::output<VkgemmKernelTraits>();
    VkgemmError error{};
    const VkgemmResult code = vkgemmGetKernelTraits(kernel, tile, &traits, &error);
    if (code < 0) return convert::toStatus(code, error);
    return traits;
}

/// vkgemmGetKernelProblem; `kernel` is an index of kernels(). `like` itself if there is no such kernel.
inline Problem kernelProblem(uint32_t kernel, const Problem& like) {
    const VkgemmProblem given = convert::toC(like);
    auto problem = convert::output<VkgemmProblem>();
    return vkgemmGetKernelProblem(kernel, &given, &problem, nullptr) < 0 ? like : convert::fromC(problem);
}

/// vkgemmGetTileConstant for every constant of the tile. Fails as kernelTraits() does.
inline Result<std::vector<VkgemmTileConstant>> tileConstants(uint32_t kernel, const char* tile = nullptr) {
    const auto traits = kernelTraits(kernel, tile);
    if (!traits) return traits.status();
    std::vector<VkgemmTileConstant> all(traits->constantCount, convert::output<VkgemmTileConstant>());
    for (uint32_t i = 0; i < all.size(); ++i) static_cast<void>(vkgemmGetTileConstant(kernel, tile, i, &all[i]));
    return all;
}

/// VkgemmDeviceCaps with its matrix shapes.
struct DeviceCaps {
    VkgemmDeviceCaps limits{};
    std::vector<VkgemmMatrixShape> matrixShapes{};
};

inline DeviceCaps deviceCaps(const Context& context) {
    DeviceCaps caps{convert::output<VkgemmDeviceCaps>(), {}};
    static_cast<void>(vkgemmGetDeviceCaps(context.handle(), &caps.limits));
    caps.matrixShapes.resize(caps.limits.matrixShapeCount, convert::output<VkgemmMatrixShape>());
    for (uint32_t i = 0; i < caps.matrixShapes.size(); ++i)
        static_cast<void>(vkgemmGetMatrixShape(context.handle(), i, &caps.matrixShapes[i]));
    return caps;
}

/// Owns a VkgemmExplanation, and the strings in the structs that it returns.
class Explanation {
   public:
    Explanation() = default;
    explicit Explanation(VkgemmExplanation owned) : handle_(owned) {}
    VkgemmExplanation handle() const { return handle_.get(); }

    static Result<Explanation> create(const Context& context, const Problem& problem, const PlanOptions& options = {}) {
        const VkgemmProblem p = convert::toC(problem);
        const VkgemmPlanOptions o = convert::toC(options);
        VkgemmExplanation explanation = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmCreateExplanation(context.handle(), &p, &o, &explanation, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Explanation(explanation);
    }

    VkgemmExplanationInfo info() const {
        auto info = convert::output<VkgemmExplanationInfo>();
        static_cast<void>(vkgemmGetExplanationInfo(handle(), &info));
        return info;
    }
    std::vector<VkgemmCandidate> candidates() const { return list(info().candidateCount, vkgemmGetCandidate); }
    std::vector<VkgemmDispatch> dispatches() const { return list(info().dispatchCount, vkgemmGetDispatch); }
    std::vector<std::string> notes() const {
        std::vector<std::string> all;
        for (uint32_t i = 0; const char* note = vkgemmGetNote(handle(), i); ++i) all.emplace_back(note);
        return all;
    }

   private:
    template <class T>
    std::vector<T> list(uint32_t count, VkgemmResult (*get)(VkgemmExplanation, uint32_t, T*)) const {
        std::vector<T> all(count, convert::output<T>());
        for (uint32_t i = 0; i < count; ++i) static_cast<void>(get(handle(), i, &all[i]));
        return all;
    }
    std::unique_ptr<VkgemmExplanation_T, convert::Destroy> handle_;
};

/// Owns VkgemmRows, and the strings in the structs that it returns.
class Rows {
   public:
    Rows() = default;
    explicit Rows(VkgemmRows owned) : handle_(owned) {}

    /// vkgemmReadTunedRows; with a context, only the rows of its device.
    static Result<Rows> tuned(const char* text, const Context* context = nullptr) {
        VkgemmRows rows = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmReadTunedRows(context ? context->handle() : nullptr, text, &rows, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Rows(rows);
    }
    /// vkgemmReadDisabledKernels
    static Result<Rows> disabledKernels(const char* text) {
        VkgemmRows rows = nullptr;
        VkgemmError error{};
        const VkgemmResult code = vkgemmReadDisabledKernels(text, &rows, &error);
        if (code < 0) return convert::toStatus(code, error);
        return Rows(rows);
    }

    std::vector<VkgemmRow> all() const {
        std::vector<VkgemmRow> rows(vkgemmGetRowCount(handle_.get()), convert::output<VkgemmRow>());
        for (uint32_t i = 0; i < rows.size(); ++i) static_cast<void>(vkgemmGetRow(handle_.get(), i, &rows[i]));
        return rows;
    }
    /// vkgemmFindTunedRow. Returns whether there is a row of exactly these sizes.
    bool has(const Problem& problem) const {
        const VkgemmProblem p = convert::toC(problem);
        uint32_t index = UINT32_MAX;
        double distance = 0;
        const VkgemmResult code = vkgemmFindTunedRow(handle_.get(), &p, 0, &index, &distance, nullptr);
        return code >= 0 && index != UINT32_MAX && distance == 0;
    }

   private:
    std::unique_ptr<VkgemmRows_T, convert::Destroy> handle_;
};

}  // namespace vkgemm
#endif

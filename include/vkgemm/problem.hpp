// SPDX-License-Identifier: MIT
//
// Problems and results in C++: the part of vkgemm.hpp that needs no Vulkan header.
#ifndef VKGEMM_PROBLEM_HPP
#define VKGEMM_PROBLEM_HPP

#include <vkgemm/problem.h>

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace vkgemm {

/// How a call ended. Negative codes are failures; positive codes are successes with a reservation.
struct [[nodiscard]] Status {
    VkgemmResult code = VKGEMM_SUCCESS;
    int32_t vkResult = 0;  ///< VkgemmError::vkResult
    std::string text{};    ///< the reason; may be empty on success

    explicit operator bool() const { return code >= 0; }
};

/// A value, or the reason why there is none. Test it before you dereference it.
template <class T>
class [[nodiscard]] Result {
   public:
    Result(T value, Status status = {}) : value_(std::move(value)), status_(std::move(status)) {}
    Result(Status failure) : status_(std::move(failure)) { assert(!status_); }

    explicit operator bool() const { return value_.has_value(); }
    const Status& status() const { return status_; }
    T& operator*() & {
        assert(value_);
        return *value_;
    }
    const T& operator*() const& {
        assert(value_);
        return *value_;
    }
    T&& operator*() && { return std::move(**this); }
    T* operator->() { return &**this; }
    const T* operator->() const { return &**this; }

   private:
    std::optional<T> value_;
    Status status_;
};

using Type = VkgemmType;
#define VKGEMM_ROW(name, number, text, bytes, elements, digits, isFloat, accumulator, result) \
    inline constexpr Type text = name;
VKGEMM_TYPE_ROWS(VKGEMM_ROW)  // f32 = VKGEMM_TYPE_F32, ...
#undef VKGEMM_ROW
using Layout = VkgemmLayout;
inline constexpr Layout rowMajor = VKGEMM_LAYOUT_ROW_MAJOR, columnMajor = VKGEMM_LAYOUT_COLUMN_MAJOR;
inline constexpr uint64_t broadcast = VKGEMM_BROADCAST;

/// Whether f64 is computed from products of int8.
constexpr bool isFromInt8(VkgemmAccuracy accuracy) { return accuracy >= VKGEMM_ACCURACY_F64_SPLIT; }

/// VkgemmMatrix
struct Matrix {
    Type type = VKGEMM_TYPE_DEFAULT;
    Layout layout = rowMajor;
    uint64_t ld = 0, batchStride = 0;
};

/// VkgemmEpilogueStep
struct Step {
    VkgemmStepKind kind = VKGEMM_STEP_NONE;
    float low = 0, high = 0;
};

/// The steps after the product, in order. If there are too many, vkgemmCreatePlan refuses the problem.
class Epilogue {
   public:
    constexpr Epilogue() = default;
    constexpr Epilogue(std::initializer_list<Step> steps) : count(static_cast<uint32_t>(steps.size())) {
        for (uint32_t i = 0; i < count && i < VKGEMM_MAX_EPILOGUE_STEPS; ++i) step[i] = steps.begin()[i];
    }
    constexpr void add(const Step& s) {
        if (count < VKGEMM_MAX_EPILOGUE_STEPS) step[count] = s;
        ++count;
    }
    constexpr const Step* begin() const { return step; }
    constexpr const Step* end() const {
        return step + (count < VKGEMM_MAX_EPILOGUE_STEPS ? count : VKGEMM_MAX_EPILOGUE_STEPS);
    }

    Step step[VKGEMM_MAX_EPILOGUE_STEPS];
    uint32_t count = 0;
};

/// VkgemmProblem
struct Problem {
    uint64_t m = 0, n = 0, k = 0, batch = 1;
    Matrix a{}, b{}, c{}, d{};
    VkgemmC cSource = VKGEMM_C_NONE;
    Type accumulate = VKGEMM_TYPE_DEFAULT;
    VkgemmAccuracy accuracy = VKGEMM_ACCURACY_DEFAULT;
    Epilogue epilogue{};
    uint64_t packedA = VKGEMM_PACKED_NONE, packedB = VKGEMM_PACKED_NONE;
    uint32_t upTo = 0;  ///< VkgemmUpToFlagBits
    VkgemmGrouping grouping = VKGEMM_GROUPING_NONE;
    uint32_t indicesPerRow = 0;
    bool batchInvariant = false;
    uint64_t outerBatch = 1;
    uint64_t outerStrideA = 0, outerStrideB = 0, outerStrideC = 0, outerStrideD = 0;
    uint64_t ratioA = 1, ratioB = 1, outerRatioA = 1, outerRatioB = 1;
    Type biasType = VKGEMM_TYPE_DEFAULT, scaleType = VKGEMM_TYPE_DEFAULT, residualType = VKGEMM_TYPE_DEFAULT;
    uint32_t scalars = 0;  ///< VkgemmScalarFlagBits
};

/// A parsed line of text: the problem, and the factors of a run.
struct ParsedProblem {
    Problem problem{};
    double alpha = 1, beta = 0;
};

/// Conversions between the structs above and those of problem.h.
namespace convert {

inline VkgemmMatrix toC(const Matrix& m) {
    return {.type = m.type, .layout = m.layout, .ld = m.ld, .batchStride = m.batchStride};
}
inline Matrix fromC(const VkgemmMatrix& m) {
    return {.type = m.type, .layout = m.layout, .ld = m.ld, .batchStride = m.batchStride};
}

/// Counts whose default is 1, which the C structs state as 0. A library without the field then accepts the struct.
inline uint64_t countToC(uint64_t count) { return count == 1 ? 0 : count; }
inline uint64_t countFromC(uint64_t count) { return count == 0 ? 1 : count; }

inline VkgemmProblem toC(const Problem& p) {
    VkgemmProblem c{.structSize = sizeof(VkgemmProblem),
                    .pNext = nullptr,
                    .m = p.m,
                    .n = p.n,
                    .k = p.k,
                    .batch = p.batch,
                    .a = toC(p.a),
                    .b = toC(p.b),
                    .c = toC(p.c),
                    .d = toC(p.d),
                    .cSource = p.cSource,
                    .accumulate = p.accumulate,
                    .accuracy = p.accuracy,
                    .epilogueCount = p.epilogue.count,
                    .epilogue = {},
                    .packedA = p.packedA,
                    .packedB = p.packedB,
                    .upTo = p.upTo,
                    .grouping = p.grouping,
                    .indicesPerRow = p.indicesPerRow,
                    .batchInvariant = p.batchInvariant,
                    .outerBatch = countToC(p.outerBatch),
                    .outerStrideA = p.outerStrideA,
                    .outerStrideB = p.outerStrideB,
                    .outerStrideC = p.outerStrideC,
                    .outerStrideD = p.outerStrideD,
                    .ratioA = countToC(p.ratioA),
                    .ratioB = countToC(p.ratioB),
                    .outerRatioA = countToC(p.outerRatioA),
                    .outerRatioB = countToC(p.outerRatioB),
                    .biasType = p.biasType,
                    .scaleType = p.scaleType,
                    .residualType = p.residualType,
                    .scalars = p.scalars};
    for (uint32_t i = 0; i < VKGEMM_MAX_EPILOGUE_STEPS; ++i)
        c.epilogue[i] = {p.epilogue.step[i].kind, p.epilogue.step[i].low, p.epilogue.step[i].high};
    return c;
}

inline Problem fromC(const VkgemmProblem& c) {
    Problem p{.m = c.m,
              .n = c.n,
              .k = c.k,
              .batch = c.batch,
              .a = fromC(c.a),
              .b = fromC(c.b),
              .c = fromC(c.c),
              .d = fromC(c.d),
              .cSource = c.cSource,
              .accumulate = c.accumulate,
              .accuracy = c.accuracy,
              .epilogue = {},
              .packedA = c.packedA,
              .packedB = c.packedB,
              .upTo = c.upTo,
              .grouping = c.grouping,
              .indicesPerRow = c.indicesPerRow,
              .batchInvariant = c.batchInvariant != 0,
              .outerBatch = countFromC(c.outerBatch),
              .outerStrideA = c.outerStrideA,
              .outerStrideB = c.outerStrideB,
              .outerStrideC = c.outerStrideC,
              .outerStrideD = c.outerStrideD,
              .ratioA = countFromC(c.ratioA),
              .ratioB = countFromC(c.ratioB),
              .outerRatioA = countFromC(c.outerRatioA),
              .outerRatioB = countFromC(c.outerRatioB),
              .biasType = c.biasType,
              .scaleType = c.scaleType,
              .residualType = c.residualType,
              .scalars = c.scalars};
    p.epilogue.count = c.epilogueCount;
    for (uint32_t i = 0; i < VKGEMM_MAX_EPILOGUE_STEPS; ++i)
        p.epilogue.step[i] = {c.epilogue[i].kind, c.epilogue[i].low, c.epilogue[i].high};
    return p;
}

}  // namespace convert
}  // namespace vkgemm
#endif

// SPDX-License-Identifier: MIT
// Compares two problems member by member.
#pragma once
#include <algorithm>

#include "plan/problem/problem.h"

namespace vkgemm::test {

inline bool same(const plan::Matrix& x, const plan::Matrix& y) {
    return x.type == y.type && x.layout == y.layout && x.ld == y.ld && x.batchStride == y.batchStride;
}

/// Both must be complete (plan::complete), because a problem's text leaves out what follows from the rest.
inline bool same(const plan::Problem& x, const plan::Problem& y) {
    const auto same_step = [](const plan::EpilogueStep& s, const plan::EpilogueStep& t) {
        return s.kind == t.kind && s.low == t.low && s.high == t.high;
    };
    if (!std::equal(x.epilogue.begin(), x.epilogue.end(), y.epilogue.begin(), y.epilogue.end(), same_step))
        return false;
    return x.m == y.m && x.n == y.n && x.k == y.k && x.batch == y.batch && same(x.a, y.a) && same(x.b, y.b) &&
           same(x.d, y.d) && same(x.c, y.c) && x.cSource == y.cSource && x.accumulate == y.accumulate &&
           x.accuracy == y.accuracy && x.upTo == y.upTo && x.batchInvariant == y.batchInvariant &&
           x.outerBatch == y.outerBatch && x.outerStrideA == y.outerStrideA && x.outerStrideB == y.outerStrideB &&
           x.outerStrideC == y.outerStrideC && x.outerStrideD == y.outerStrideD && x.ratioA == y.ratioA &&
           x.ratioB == y.ratioB && x.outerRatioA == y.outerRatioA && x.outerRatioB == y.outerRatioB &&
           x.biasType == y.biasType && x.scaleType == y.scaleType && x.residualType == y.residualType &&
           x.scalars == y.scalars;
}

}  // namespace vkgemm::test

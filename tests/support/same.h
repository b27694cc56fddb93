// SPDX-License-Identifier: MIT
// Compares two problems member by member.
#pragma once
#include "plan/problem/problem.h"

namespace vkgemm::test {

inline bool same(const plan::Matrix& x, const plan::Matrix& y) {
    return x.type == y.type && x.layout == y.layout && x.ld == y.ld && x.stride == y.stride;
}

/// Both must be complete (plan::complete), because a problem's text leaves out what follows from the rest.
inline bool same(const plan::Problem& x, const plan::Problem& y) {
    for (size_t i = 0; i < plan::max_epilogue_steps; ++i)
        if (x.epilogue[i].kind != y.epilogue[i].kind || x.epilogue[i].low != y.epilogue[i].low ||
            x.epilogue[i].high != y.epilogue[i].high)
            return false;
    return x.m == y.m && x.n == y.n && x.k == y.k && x.batch == y.batch && same(x.a, y.a) && same(x.b, y.b) &&
           same(x.d, y.d) && same(x.c, y.c) && x.c_source == y.c_source && x.accumulate == y.accumulate &&
           x.accuracy == y.accuracy;
}

}  // namespace vkgemm::test

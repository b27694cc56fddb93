// SPDX-License-Identifier: MIT
// What pack_panels and cpu_packed share: panels of PANEL rows of A, or columns of B, step by step of k.
#ifndef VKGEMM_PANELS_GLSL
#define VKGEMM_PANELS_GLSL

const uint PANEL = 8;  // WG and SG too

// The place `elements` behind `begin`.
uvec2 further(uvec2 begin, uint elements) {
#ifdef VKGEMM_ADDRESSES
    uint high, low, carry;
    umulExtended(elements, BYTES(TYPE_A), high, low);
    low = uaddCarry(begin.x, low, carry);
    return uvec2(low, begin.y + high + carry);
#else
    return uvec2(begin.x + elements, 0);
#endif
}

// The one of the eight whose number is the lane's.
acc_t by_lane(acc_t lanes[PANEL]) {
    acc_t x = lanes[0];
    [[unroll]] for (uint i = 1; i < PANEL; ++i) x = mix(x, lanes[i], gl_SubgroupInvocationID == i);
    return x;
}

#endif

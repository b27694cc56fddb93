// SPDX-License-Identifier: MIT
// Hopper's instructions that CUDA C++ has no words for. Addresses of shared memory are 32-bit.
#pragma once
#include "native/native_args.h"

#define DEVICE __device__ __forceinline__

namespace vkgemm::native {

DEVICE uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Registers of each thread of a warp group, which take from and give to the others of the block.
template <int count>
DEVICE void shrink_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
DEVICE void grow_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

// Barriers in shared memory (mbarrier): a phase ends when all arrivals and all announced bytes have come.
DEVICE void init_barrier(uint32_t barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
DEVICE void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
DEVICE void arrive_expecting(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE bool has_ended(uint32_t barrier, uint32_t phase) {
    uint32_t done;
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(phase)
        : "memory");
    return done != 0;
}
/// Stops the kernel with a fault. Not trap: where a warp group that has grown could reach one, ptxas keeps the group to
/// the registers that its threads began with, without a word, and spills.
DEVICE void fail() { asm volatile("st.global.u32 [%0], %1;" ::"l"(uint64_t{1}), "r"(0) : "memory"); }

/// Bounded: a wait that never ends would hold the caller's queue. One that is given up costs the device, by a fault.
DEVICE void wait(uint32_t barrier, uint32_t phase) {
    for (uint32_t tries = 0; !has_ended(barrier, phase); ++tries)
        if (tries == 4'000'000) fail();
}

// Where two warp groups meet: the first goes on, the second waits for it.
DEVICE void announce() { asm volatile("bar.arrive 1, 256;" ::: "memory"); }
DEVICE void await_announcement() { asm volatile("bar.sync 1, 256;" ::: "memory"); }
DEVICE void await_each_other() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

// The copy engine (TMA): boxes of a TensorMap, from and to shared memory.
DEVICE void prefetch(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }
DEVICE void load_box(uint32_t to, const TensorMap& map, uint32_t barrier, uint32_t x, uint32_t y, uint32_t z) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}
DEVICE void store_box(const TensorMap& map, uint32_t from, uint32_t x, uint32_t y, uint32_t z) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
                 "r"(from), "r"(x), "r"(y), "r"(z)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Until no more than `left` of this thread's stores still read shared memory.
template <int left>
DEVICE void wait_until_stores_have_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
}

/// Makes this thread's writes to shared memory visible to the copy engine.
DEVICE void publish_to_engine() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Four 8 x 8 matrices of 16-bit elements; each lane says where one of the 32 rows goes.
DEVICE void store_matrices(uint32_t to, const uint32_t (&pairs)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(pairs[0]),
                 "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
}
DEVICE void store_one(uint32_t to, uint32_t x) { asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x) : "memory"); }
DEVICE uint32_t load_word(uint32_t from) {
    uint32_t x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
    return x;
}
DEVICE uint32_t load_half(uint32_t from) {
    uint16_t x;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(from) : "memory");
    return x;
}
DEVICE float load_one(uint32_t from) {
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
    return x;
}
DEVICE uint4 load_chunk(uint32_t from) {
    uint4 x;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(from)
                 : "memory");
    return x;
}
DEVICE void store_two(uint32_t to, double x, double y) {
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(x), "d"(y) : "memory");
}
DEVICE void store_two(uint32_t to, uint32_t x, uint32_t y) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x), "r"(y) : "memory");
}

}  // namespace vkgemm::native

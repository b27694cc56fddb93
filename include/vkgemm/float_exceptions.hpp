// SPDX-License-Identifier: MIT
//
// The floating-point exceptions of the calling thread, kept from what a function computes inside. Header only, without
// Vulkan; a later version may change it.
#ifndef VKGEMM_FLOAT_EXCEPTIONS_HPP
#define VKGEMM_FLOAT_EXCEPTIONS_HPP

#include <cfenv>
#if defined(__x86_64__) && defined(__GNUC__)
#    include <xmmintrin.h>
#    define VKGEMM_READS_FLOAT_REGISTERS 1
#else
#    define VKGEMM_READS_FLOAT_REGISTERS 0
#endif

namespace vkgemm {

/// While this exists no floating-point exception traps on its thread. Afterwards the traps and the flags are those that
/// were there before. Both ends must be on one thread, and one inside the other where there are several.
///
/// feholdexcept and fesetenv take 110 ns on a Xeon, as long as recording a run. So on x86-64 the registers are read
/// first, which takes 3 ns, and the functions are called only where the thread has traps.
class HoldFloatExceptions {
   public:
    HoldFloatExceptions() { hold(); }
    HoldFloatExceptions(const HoldFloatExceptions&) = delete;
    HoldFloatExceptions& operator=(const HoldFloatExceptions&) = delete;
    ~HoldFloatExceptions() { release(); }

    /// For a time, so that the caller's traps and flags are in force: of what is called on the caller's behalf.
    void release() {
#if VKGEMM_READS_FLOAT_REGISTERS
        if (!traps_) {
            const int raised = x87_flags() & ~x87_;
            if (raised) std::feclearexcept(raised);  // of both units; the flags of SSE come back below
            if (_mm_getcsr() != sse_) _mm_setcsr(sse_);
            return;
        }
#endif
        std::fesetenv(&environment_);
    }
    void hold() {
#if VKGEMM_READS_FLOAT_REGISTERS
        sse_ = _mm_getcsr();
        x87_ = x87_flags();
        traps_ = (~sse_ & _MM_MASK_MASK) != 0 || (~x87_control() & FE_ALL_EXCEPT) != 0;
        if (!traps_) return;
#endif
        std::feholdexcept(&environment_);
    }

   private:
#if VKGEMM_READS_FLOAT_REGISTERS
    static int x87_flags() {
        unsigned short status = 0;
        __asm__ volatile("fnstsw %0" : "=am"(status));
        return status & FE_ALL_EXCEPT;
    }
    static int x87_control() {
        unsigned short control = 0;
        __asm__ volatile("fnstcw %0" : "=m"(control));
        return control;
    }

    unsigned sse_ = 0;
    int x87_ = 0;
    bool traps_ = false;
#endif
    std::fenv_t environment_;
};

}  // namespace vkgemm
#endif

// SPDX-License-Identifier: MIT
// Runs native kernels without the library, and compares with naive ones.
#pragma once
#include <array>
#include <sstream>

#include "check.h"
#include "gpu.h"
#include "plan/native/arguments.h"
#include "rows.h"

namespace harness {

using namespace vkgemm;
using native::Case, native::Finding;
using plan::Type;

/// What is to be computed, and how it lies in memory.
struct Setup {
    const plan::Module& module;
    const Row& row;
    std::string layout;
    uint32_t m, n, k, batch = 1;
    uint32_t gap = 0;     // elements between the rows of each operand, beyond what their pitch needs
    uint32_t d_gap = 0;   // likewise of D; an odd one keeps the copy engine away
    uint32_t slices = 0;  // of K; 0: not partial
    bool one_b = false;   // the same B for the whole batch
    bool use_c = false, c_turned = false, scalars = false;
    float alpha = 1, beta = 0;
    std::vector<uint32_t> steps{};
    uint32_t other = 0;  // the type of C, bias, scale and residual; 0: D's
    float tolerance = 0;
    uint32_t filling = native::whole_numbers;
    float error = 0;                         // of f32 from parts, as in Case
    bool alone = false;                      // they are in the workspace already
    std::string folder{}, finish = "plain";  // of the cubin, inside the harness's; how a line of cases names the steps

    Type scaled_d = plan::f32;               // D's, of a module whose D is scaled
    Type fp8_a = plan::e4m3, fp8_b = fp8_a;  // of one that multiplies both

    bool is_scaled() const { return module.d == plan::scaled; }
    bool is_fp8() const { return plan::is_fp8(module.a); }
    Type type_a() const { return is_fp8() ? fp8_a : module.a; }
    Type type_b() const { return is_fp8() ? fp8_b : module.b; }
    Type type_d() const { return slices ? module.accumulate : is_scaled() ? scaled_d : module.d; }
    double work() const { return 2.0 * m * n * k * batch; }
    uint32_t parts() const { return module.family.operand_split.count; }
    std::string text() const {
        std::ostringstream s;
        s << module.name << "_" << row.name << "_" << layout << " " << m << "x" << n << "x" << k << " batch " << batch
          << " gap " << gap << "/" << d_gap << " slices " << slices << " c " << use_c << c_turned << " alpha " << alpha
          << " beta " << beta << " scalars " << scalars << " other " << other << " d " << uint32_t(type_d()) << " a "
          << uint32_t(type_a()) << " b " << uint32_t(type_b()) << " steps";
        for (uint32_t x : steps) s << " " << x;
        return s.str();
    }
};

/// Operands one behind the other in a piece of memory, and the arguments of a launch.
struct Arrangement {
    Case c{};
    native::NativeArgs args{};
    uint64_t bytes = 0;                 // of all of them
    uint64_t d_begin = 0, d_bytes = 0;  // with what is round D
    uint64_t scalars = 0;
    std::array<uint64_t, 2> parts{};  // of A and B, where they are split first
    std::array<native::NativeArgs, 2> packing{};
};

class Harness {
   public:
    explicit Harness(std::string folder) : folder_(std::move(folder)) {
        memory_ = gpu_.allocate(3ull << 30, false);
        host_ = gpu_.allocate(4096, true);
        fill_ = gpu_.function(folder_ + "/check.cubin", "fill");
        compare_ = gpu_.function(folder_ + "/check.cubin", "compare");
        guard_ = gpu_.function(folder_ + "/check.cubin", "guard");
    }
    bool check(const Setup&);
    /// Prints the rates of cases, which are timed in turn in every round, so that all are equally hot.
    void time(const std::vector<Setup>& cases, int rounds);
    uint32_t failed = 0, passed = 0;

   private:
    Arrangement arranged(const Setup&, uint64_t begin);
    void fill_matrix(uint64_t to, uint32_t type, uint32_t lines, uint32_t length, uint64_t pitch, uint64_t stride,
                     uint32_t count, uint32_t kind);
    void fill_operands(const Setup&, const Arrangement&, uint32_t kind);
    void launch(const Setup&, const Arrangement&, VkCuFunctionNVX);
    std::vector<double> timed(const Setup&, int warm);
    VkCuFunctionNVX kernel(const Setup&);
    VkCuFunctionNVX found(const std::string& module, const std::string& name);

    Gpu gpu_;
    std::string folder_;
    Memory memory_, host_;
    VkCuFunctionNVX fill_, compare_, guard_;
    std::vector<std::pair<std::string, VkCuFunctionNVX>> kernels_;
    uint32_t seed_ = 1;
};

/// Whether the module has the tile and the layout of the setup.
bool exists(const Setup&);

template <class List>
auto& named(List& list, const std::string& name) {
    for (auto& item : list)
        if (item.name == name) return item;
    stop("no " + name);
}

}  // namespace harness

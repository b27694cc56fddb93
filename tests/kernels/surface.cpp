// SPDX-License-Identifier: MIT
// Random problems over the whole public surface, each against the reference, in several ways, on any number of threads.
#include "kernels/surface.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <thread>

#include "kernels/phases.h"
#include "support/limited_device.h"

namespace vkgemm::test {
namespace {

using plan::info;
using plan::Kernel;
using Clock = std::chrono::steady_clock;

/// Those of one module, for each module of each family: families are drawn equally often, however many rows they have.
/// On a CPU driver only rows that compile fast.
using Rows = std::vector<const Kernel*>;
std::vector<std::vector<Rows>> rows_by_family() {
    const bool slow = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    std::map<std::string, std::map<std::string_view, Rows>> found;
    for (const Kernel& k : plan::kernels()) {
        if (!k.module.is_product() || !is_chosen(k) || !fits(k)) continue;
        Rows& rows = found[variant_of(k.module)][k.module.name];
        if (rows.empty() || !slow || k.tile.BM * k.tile.BN <= 1024) rows.push_back(&k);
    }
    std::vector<std::vector<Rows>> out;
    for (const auto& [family, modules] : found) {
        auto& list = out.emplace_back();
        for (const auto& [module, rows] : modules) list.push_back(rows);
    }
    return out;
}

/// What the threads of one surface share.
class Surface {
   public:
    explicit Surface(const SurfaceOptions& options) : options_(options), rows_(rows_by_family()) {
        counts_.all_families = rows_.size();
        for (const Dimension& d : dimensions()) counts_.of_dimension[d.name] = 0;
        if (options.draw) next_ = *options.draw;
    }

    SurfaceCounts run() {
        if (rows_.empty()) return counts_;
        limited_context(0);  // so that no thread waits for another one that makes it
        std::vector<std::thread> threads;
        for (uint32_t i = 1; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
        work();
        for (std::thread& thread : threads) thread.join();
        counts_.seconds = passed();
        counts_.processor = static_cast<double>(std::clock() - used_) / CLOCKS_PER_SEC;
        return counts_;
    }

   private:
    double passed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
    bool is_over() const {
        return stopped_ || done_ >= options_.count ||
               (options_.seconds && passed() >= static_cast<double>(options_.seconds));
    }

    void work() {
        while (!is_over()) {
            const uint64_t number = next_++;
            if (options_.draw && number != *options_.draw) return;
            if (number > 40 * (options_.count / options_.of_a_draw + rows_.size())) return;  // most are refused
            run_draw(number);
            if (number % 256 == 255) trim_contexts();
        }
    }

    void run_draw(uint64_t number) {
        Random random = random_of(number);
        const Kernel& k = *random.pick(random.pick(rows_[number % rows_.size()]));
        const Draw d = some_draw(random, k);
        SurfaceCounts own;
        for (uint64_t i = 0; i < options_.of_a_draw && !is_over(); ++i) {
            const std::optional<Case> offered = offer(random, d);
            ++own.offered;
            if (!offered) continue;
            const Case& x = *offered;
            ++own.done;
            ++done_;
            for (const Dimension& dimension : dimensions()) own.of_dimension[dimension.name] += dimension.has(x);
            const std::string why = test::run(x);
            if (why.empty()) continue;
            ++own.wrong;
            report(number, i, why);
        }
        const std::lock_guard lock(mutex_);
        counts_.done += own.done;
        counts_.wrong += own.wrong;
        counts_.offered += own.offered;
        ++counts_.draws;
        const PhaseSeconds spent = Timed::take();
        for (size_t i = 0; i < spent.size(); ++i) counts_.phases[i] += spent[i];
        for (const auto& [name, count] : own.of_dimension) counts_.of_dimension[name] += count;
        if (own.done) counts_.families.insert(variant_of(k.module));
        if (passed() < said_ + 30) return;
        said_ = passed();
        std::printf("%.0f s: %llu problems, %llu wrong\n", said_, static_cast<unsigned long long>(counts_.done),
                    static_cast<unsigned long long>(counts_.wrong));
    }

    /// Of neighbouring seeds and numbers, too, no part of one sequence is part of another.
    Random random_of(uint64_t number) const {
        uint64_t seed = options_.seed, mixed = splitmix64(seed) + number;
        return Random(splitmix64(mixed));
    }

    /// A problem that some plan takes.
    static std::optional<Case> offer(Random& random, const Draw& d) {
        const Timed timed(Phase::draw);
        Case x = some_case(random, d);
        if (refused(x) || !is_planned(x)) return std::nullopt;
        return x;
    }

    void report(uint64_t draw, uint64_t problem, std::string why) {
        const std::lock_guard lock(mutex_);
        for (char& c : why)
            if (c == '\n') c = ' ';
        if (++shown_ <= 100)
            std::printf("wrong, seed %llu draw %llu problem %llu: %s\n", static_cast<unsigned long long>(options_.seed),
                        static_cast<unsigned long long>(draw), static_cast<unsigned long long>(problem), why.c_str());
        if (why.find("DEVICE_LOST") != std::string::npos || why.find("did not finish") != std::string::npos)
            stopped_ = true;  // nothing runs any more
    }

    SurfaceOptions options_;
    std::vector<std::vector<Rows>> rows_;
    const Clock::time_point began_ = Clock::now();
    const std::clock_t used_ = std::clock();
    std::atomic<uint64_t> next_ = 0, done_ = 0;
    std::atomic<bool> stopped_ = false;
    std::mutex mutex_;
    SurfaceCounts counts_;
    uint64_t shown_ = 0;
    double said_ = 0;
};

bool has_type(const Case& x, bool (*is)(plan::Type)) { return is(x.problem.a.type) || is(x.problem.b.type); }
bool is_block(plan::Type t) { return t != VKGEMM_TYPE_DEFAULT && !info(t).is_plain(); }
bool is_fp8_type(plan::Type t) { return plan::is_fp8(t); }
bool is_16_bit(plan::Type t) { return t == plan::f16 || t == plan::bf16; }
bool is_byte(plan::Type t) { return t == plan::i8 || t == plan::u8; }
template <VkgemmGrouping grouping>
bool is_grouped(const Case& x) {
    return x.problem.grouping == grouping;
}
template <uint32_t bit>
bool tries(const Case& x) {
    return x.ways & bit;
}
template <Fill fill>
bool holds(const Case& x) {
    return x.fill == fill;
}

}  // namespace

const std::vector<Dimension>& dimensions() {
    static const std::vector<Dimension> all = {
        {"kernel: the context's choice", [](const Case& x) { return x.kernel.empty(); }},
        {"tile: other constants", [](const Case& x) { return !x.tile.empty(); }},
        {"as on a GPU", [](const Case& x) { return x.invocations != 0; }},
        {"addresses", [](const Case& x) { return x.addresses; }},
        {"workspace of few bytes", [](const Case& x) { return x.workspace.has_value(); }},
        {"offsets", [](const Case& x) { return x.shifts != std::array<uint32_t, 7>{}; }},
        {"f64", [](const Case& x) { return x.problem.a.type == plan::f64; }},
        {"f16, bf16", [](const Case& x) { return has_type(x, is_16_bit); }},
        {"i8, u8", [](const Case& x) { return has_type(x, is_byte); }},
        {"fp8", [](const Case& x) { return has_type(x, is_fp8_type); }},
        {"block formats", [](const Case& x) { return has_type(x, is_block); }},
        {"A and B of two types", [](const Case& x) { return x.problem.a.type != x.problem.b.type; }},
        {"accuracy", [](const Case& x) { return x.problem.accuracy != VKGEMM_ACCURACY_DEFAULT; }},
        {"m, n or k 0", [](const Case& x) { return !x.problem.m || !x.problem.n || !x.problem.k; }},
        {"column-major D", [](const Case& x) { return x.problem.d.layout == plan::columnMajor; }},
        {"batch", [](const Case& x) { return x.problem.batch > 1; }},
        {"levels", [](const Case& x) { return x.problem.outerBatch > 1; }},
        {"ratios", [](const Case& x) { return x.problem.ratioA > 1 || x.problem.ratioB > 1; }},
        {"C is D", [](const Case& x) { return x.problem.cSource == VKGEMM_C_IS_D; }},
        {"C separate", [](const Case& x) { return x.problem.cSource == VKGEMM_C_SEPARATE; }},
        {"C or residual on D", [](const Case& x) { return x.alias != Alias::none; }},
        {"alpha 0", [](const Case& x) { return x.alpha == 0; }},
        {"beta 0 beside C", [](const Case& x) { return x.beta == 0 && x.problem.cSource != VKGEMM_C_NONE; }},
        {"factor not finite", [](const Case& x) { return !std::isfinite(x.alpha) || !std::isfinite(x.beta); }},
        {"NaN and infinities", holds<Fill::special>},
        {"one at an end of k", holds<Fill::placed>},
        {"inexact numbers", holds<Fill::random>},
        {"steps", [](const Case& x) { return x.problem.epilogue.count > 0; }},
        {"operand types",
         [](const Case& x) {
             return x.problem.biasType || x.problem.scaleType || x.problem.residualType ||
                    (x.problem.cSource == VKGEMM_C_SEPARATE && x.problem.c.type != x.problem.d.type);
         }},
        {"scalars", [](const Case& x) { return x.problem.scalars != 0; }},
        {"sizes vary", [](const Case& x) { return x.sizes.has_value(); }},
        {"strides vary", [](const Case& x) { return x.strides.has_value(); }},
        {"packed", [](const Case& x) { return x.problem.packedA || x.problem.packedB; }},
        {"split K", [](const Case& x) { return x.tile.find("SPLIT=3") != std::string::npos; }},
        {"invariant", [](const Case& x) { return x.problem.batchInvariant != 0; }},
        {"groups: table", is_grouped<VKGEMM_GROUPING_TABLE>},
        {"groups: indexed", is_grouped<VKGEMM_GROUPING_INDEXED>},
        {"groups: addresses", is_grouped<VKGEMM_GROUPING_ADDRESSES>},
        {"groups: selected", is_grouped<VKGEMM_GROUPING_SELECTED>},
        {"groups: broken rules", [](const Case& x) { return x.broken; }},
        {"way: text and keys", tries<way_text>},
        {"way: slices", tries<way_slices>},
        {"way: replay", tries<way_replay>},
        {"way: first rows", tries<way_rows>},
        {"way: guard pages", tries<way_fences>},
    };
    return all;
}

SurfaceCounts run_surface(const SurfaceOptions& options) {
    device();
    return Surface(options).run();
}

std::string to_text(const SurfaceCounts& counts) {
    std::string out;
    char line[160];
    for (const Dimension& d : dimensions()) {
        std::snprintf(line, sizeof line, "%10llu  %s\n",
                      static_cast<unsigned long long>(counts.of_dimension.at(d.name)), d.name);
        out += line;
    }
    std::snprintf(line, sizeof line, "%llu of %llu problems are wrong; %llu draws, %zu of %zu families, %.1f s\n",
                  static_cast<unsigned long long>(counts.wrong), static_cast<unsigned long long>(counts.done),
                  static_cast<unsigned long long>(counts.draws), counts.families.size(), counts.all_families,
                  counts.seconds);
    out += line;
    const double thousands = static_cast<double>(std::max<uint64_t>(counts.done, 1)) / 1000;
    std::snprintf(line, sizeof line,
                  "s per 1,000 problems: processor %.2f, threads' time:", counts.processor / thousands);
    out += line;
    for (size_t i = 0; i < counts.phases.size(); ++i) {
        std::snprintf(line, sizeof line, " %s %.2f", phase_names[i], counts.phases[i] / thousands);
        out += line;
    }
    return out + "\n";
}

}  // namespace vkgemm::test

using namespace vkgemm::test;

namespace {

void check_surface(uint64_t seed, uint64_t problems) {
    const SurfaceCounts counts =
        run_surface({.seed = seed, .count = problems, .of_a_draw = std::clamp<uint64_t>(problems / 60, 20, 300)});
    if (counts.all_families == 0) return;  // of the family that is asked for
    CHECK_MESSAGE(counts.wrong == 0, counts.wrong, " of ", counts.done, " problems are wrong");
    CHECK(counts.done >= problems);
    if (problems < 10000) return;
    CHECK(counts.families.size() == counts.all_families);
    if (problems < 100000) return;  // sixty draws need not have fp8
    const bool is_cpu = device().info().kind == VK_PHYSICAL_DEVICE_TYPE_CPU;
    for (const auto& dimension : counts.of_dimension)
        if (is_cpu || dimension.first != "way: guard pages") CHECK_MESSAGE(dimension.second > 0, dimension.first);
}

}  // namespace

TEST_SUITE_BEGIN("surface");
TEST_CASE("random problems over the whole surface") { check_surface(seed_or(20), is_quick() ? 80 : 200); }
TEST_CASE("the problems that are drawn have operands whose products are exact, or a tolerance") {
    Random random(22);
    for (const auto& modules : rows_by_family())
        for (const auto& rows : modules) {
            const int draws = is_quick() ? 1 : 12;
            Draw d;
            for (int i = 0; i < 300 * draws; ++i) {
                if (i % 300 == 0) d = some_draw(random, *random.pick(rows));
                const Case x = some_case(random, d);
                if (!refused(x)) CHECK_MESSAGE(can_be_exact(x), to_text(x));
            }
        }
}
TEST_CASE("a problem for each way to run it again") {
    for (const char* line :
         {"kernel=naive_f32_8x8 ways=text fill=exact seed=3 f32*f32 33x70x12 layout_c=t c=separate beta=2",
          "kernel=naive_f32_8x8 ways=slices fill=exact seed=3 f32*f32 33x70x129 layout=nt c=d beta=2",
          "sizes=17x50x60x1 ways=replay fill=exact seed=6 f32*f32 40x50x60 upto=m",
          "ways=rows fill=random seed=70 f32*f32 70x70x2048 invariant",
          "kernel=naive_f32_8x8 ways=fences fill=exact seed=3 f32*f32 33x70x12"}) {
        const auto x = parse_case(line);
        REQUIRE_MESSAGE(bool(x), line);
        CHECK(x->ways != 0);
        const std::string why = run(*x);
        CHECK_MESSAGE(why.empty(), line, ": ", why);
    }
}
// Without the colon, because SwiftShader would take an hour.
TEST_CASE("problems of the surface that were wrong") {
    for (
        const char* line :
        {// a stride of an odd number of blocks, which do not begin on words
         "kernel=gemv_blocks_f16_1x8 sizes=1x6x64x1 strides=96,96,48,32,128,576,80,32,0,1184,176,96 "
         "shifts=2,2,4,8,2,1,0 fill=exact seed=28504 q4_0*q5_0+f32->f16 1x22x64 upto=mnbs layout=nt act=relu residual",
         "sizes=1x6x64x1 strides=96,96,48,32,128,576,80,32,0,1184,176,96 fill=exact seed=3 "
         "q4_0*q5_0+f32->f16 1x22x64 upto=mnbs layout=nt act=relu residual",
         // no k
         "fill=exact seed=58962 u4_g32*mxfp4+f32->f32 1x38x0 batch=2 groups=selected layout=nt alpha=0",
         "sizes=3x7x0x1 ways=slices,replay fill=exact seed=99348 i8_g32_f32*i8_g128_f32+f32->f32 3x7x0 "
         "accuracy=narrow upto=b layout=nt layout_d=t beta=1 clamp=row",
         // an offset of half a word, by descriptors that end before the operand does
         "invocations=65536 shifts=1,0,0,0,0,0,0 fill=exact seed=1 bf16*q4_0+f32->f32 1x5x64 batch=3 "
         "outer=2 layout=nt stride_a=512 outer_stride_a=256",
         // the description of a run whose K fills fewer slices than a smaller K would
         "kernel=simt_bf16_128x128x8 tile=WG=64,BM=32,BN=32,BK=8,WM=16,WN=32,TM=4,TN=4,SPLIT=3 invocations=65536 "
         "sizes=8x16x25x1 shifts=0,8,24,0,0,3,0 ways=replay fill=random seed=59732 "
         "bf16*bf16+f32->bf16 48x16x64 upto=mkb layout_d=t lda=64 ldb=16 alpha=0",
         "kernel=tiled_u8_i8_16x16 tile=SPLIT=3,PACK=4 sizes=48x70x33x1 shifts=0,3,0,0,0,2,0 ways=replay fill=exact "
         "seed=15859 u8*i8+i32->i32 48x70x92 upto=k lda=95 ldd=70",
         // levels that merge where sizes do not vary: into one with more partial sums, and into rows
         "kernel=block_f32_64x64 tile=WG=16,BM=16,BN=16,BK=4,TM=4,TN=4,SPLIT=3,PACK=1 sizes=9x32x46x2 "
         "strides=0,48,0,64,0,1552,304,576,16,6240,1232,2320 shifts=8,12,8,4,0,1,4 ways=slices,replay fill=placed "
         "seed=20 f32*f32+f32->f32 9x32x60 batch=2 ratio_a=2 upto=kbs layout=nt layout_c=t ldb=68 ldc=19 "
         "stride_b=2312 stride_c=9 alpha=-1 beta=1 c=separate scalars=beta,monitor",
         "kernel=tiled_f32_8x8 tile=SPLIT=3 sizes=4x25x31x1 ways=replay fill=exact seed=4 f32*f32 4x25x31 batch=4 "
         "outer=3 upto=b layout=tn ldd=25 stride_d=150",
         "kernel=gemv_f32_1x16 sizes=1x32x64x70 ways=replay fill=exact seed=5 f32*f32 1x32x64 batch=70 upto=b "
         "layout=nt stride_b=0",
         "invocations=65536 operands=addresses sizes=16x16x48x1 shifts=0,4,4,0,0,0,0 ways=replay fill=exact seed=46048 "
         "f32*f32+f32->f32 16x32x48 outer=3 upto=mnbs layout=nt lda=48 ldb=64 ldd=48 outer_stride_b=0 alpha=0.5",
         "kernel=tiled_f32_8x8 sizes=11x1x18x2 shifts=12,4,8,0,2,0,0 ways=replay fill=exact seed=8297 "
         "f32*f32+f32->f32 20x1x18 batch=3 outer=3 upto=mbs layout=tn layout_d=t layout_c=n lda=20 ldb=2 ldc=1 "
         "stride_a=0 "
         "stride_b=108 stride_c=21 stride_d=40 outer_stride_a=360 outer_stride_b=36 outer_stride_c=64 alpha=0.5 beta=1 "
         "c=separate c_type=bf16",
         // levels of strides that vary, which would merge into more rows than the kernel takes
         "kernel=gemv_mxint8_f32_4x16 sizes=16x16x256x4 shifts=0,0,12,4,0,0,0 ways=replay fill=random seed=7912 "
         "f16*q4_k+f32->f32 16x16x256 accuracy=mxint8 batch=4 upto=ns layout=nt lda=272 ldd=16 stride_b=0 "
         "stride_d=256 gate=gelu bias=col",
         // rows of A that overlap by 16 elements, so that an element is rounded in two blocks
         "kernel=gemv_mxint8_f32_4x16 sizes=16x2x256x2 strides=256,256,0,16,0,512,32,256,48,2048,160,1024 "
         "shifts=0,0,0,4,0,0,8 fill=random seed=96562 f16*q4_k+f32->f32 16x48x256 accuracy=mxint8 batch=2 outer=3 "
         "outer_ratio_b=3 upto=ns layout=nt lda=256 ldb=256 stride_a=4608 stride_d=864 gate=gelu bias=col",
         // the same into rows, where sums of a row had another order in another row of the tile
         "kernel=gemv_mixed_f32_2x8 tile=SPLIT=1 operands=addresses sizes=1x69x128x1 shifts=0,0,0,1,0,0,2 "
         "ways=text,replay fill=random seed=94290 u4_g32_f32*u4_g128+f32->f32 2x69x128 outer=3 upto=ms layout=nt "
         "layout_d=t lda=160 ldd=8 outer_stride_a=0 outer_stride_d=552",
         "kernel=gemv_mixed_f32_2x8 tile=SPLIT=1 operands=addresses sizes=1x1x128x4 "
         "strides=0,128,32,48,160,128,64,80,1312,1024,512,0 shifts=2,2,1,3,1,0,0 ways=text,replay fill=random "
         "seed=5125 "
         "u4_g32_f32*u4_g128+f32->f32 2x1x128 batch=4 outer=2 ratio_a=4 outer_ratio_b=2 upto=ms layout=nt layout_d=t "
         "ldd=2 stride_b=0 outer_stride_d=9 alpha=0.5",
         // a batch-invariant run, whose reference of more rows wants more workspace
         "kernel=simt_f32_64x64x16 tile=PACK=4 ways=replay fill=exact seed=3 f32*f32 21x13x20 invariant",
         // NaN, whose sign the description of a run does not determine
         "kernel=block_f32_64x64 tile=WG=16,BM=16,BN=16,BK=4,TM=4,TN=4,PACK=1 invocations=65536 sizes=64x34x48x3 "
         "strides=96,64,0,80,4608,2176,2192,2736,27664,13072,13168,0 shifts=0,0,0,12,3,1,8 ways=text,slices,replay "
         "fill=special seed=9193 f32*f32+f32->f32 64x48x48 batch=3 upto=ns layout=tt layout_d=t lda=80 ldb=48 ldd=64 "
         "stride_b=0 alpha=-1 residual bias=row scalars=alpha,largest residual_type=f16",
         // a pair of two products, whose kernel is for none, in slices
         "shifts=0,4,0,16,2,0,24 ways=slices fill=random seed=64018 f16*q4_0+f32->f16 16x32x256 accuracy=mxint8 "
         "batch=3 layout=nt lda=272 stride_b=0 alpha=2 pair=silu",
         "ways=slices,replay fill=exact seed=3 f32*f32 200x200x64 pair=relu",
         // the same without a k, whose workspace ends with the gate
         "kernel=naive_i32_8x8 tile=SPLIT=3,PACK=3 ways=replay fill=exact seed=8919 i32*i32+i32->i32 48x16x0 ldd=32 "
         "alpha=-1 pair=relu",
         // slices, between which a validation layer missed barriers
         "invocations=65536 ways=slices fill=exact seed=1 f32*f32+f32->f32 63x63x60"}) {
        const auto x = parse_case(line);
        REQUIRE_MESSAGE(bool(x), line);
        const std::string why = run(*x);
        const bool refused = why.find("is for groups, and strides that vary") != std::string::npos ||
                             why.find("needs what is not enabled on the device") != std::string::npos ||
                             why.find("the work group must not be larger than the device allows") != std::string::npos;
        CHECK_MESSAGE((why.empty() || refused), line, ": ", why);
    }
}

TEST_CASE("slow random problems over the whole surface") { check_surface(seed_or(21), everything() ? 100000 : 12000); }
TEST_SUITE_END();

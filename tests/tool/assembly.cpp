// SPDX-License-Identifier: MIT
// Compilers' assembly becomes instructions, the inner loop and its bound. The texts here are made up.
#include <doctest/doctest.h>

#include "tools/vkgemm/assembly/bound.h"

using namespace vkgemm::tool;

namespace {

double count(const std::vector<Instruction>& loop, Unit unit) { return counts_of(loop)[static_cast<size_t>(unit)]; }

// A loop of a matrix instruction and all else, in another loop that stores.
constexpr const char* aco = R"(BB0:
	s_mov_b32 s0, s3                                            ; be800003
	v_fma_f32 v1, v2, v3, v4                                    ; 00000000
BB1:
	global_load_b128 v[0:3], v4, s[0:1]                         ; 00000000
BB2:
	ds_load_u16_d16_hi v5, v41 offset:8                         ; 00000000
	ds_load_2addr_b64 v[6:9], v41 offset1:1                     ; 00000000
	s_waitcnt lgkmcnt(0)                                        ; bf89fc07
	v_wmma_f32_16x16x16_f16 v[64:71], v[112:119], v[96:103], v[64:71] ; cc404040 1d02c170
	v_mov_b16_e32 v45.h, v53.h                                  ; 7f5a39b5
	scratch_load_b32 v1, off, off offset:16                     ; 00000000
	s_cbranch_scc0 BB2                                          ; bfa1fe6d
BB3:
	s_cbranch_scc1 BB1                                          ; 00000000
	global_store_b32 v[0:1], v2, off                            ; 00000000
)";

constexpr const char* aco_f32 = R"(BB1:
	v_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6    ; 00000000
	v_dual_fmac_f32 v1, v2, v3 :: v_dual_mov_b32 v4, v5         ; 00000000
	v_fmac_f32_e32 v1, v2, v3                                   ; 00000000
	v_add_nc_u32_e32 v1, v2, v3                                 ; 00000000
	s_cbranch_vccnz BB1                                         ; 00000000
)";

constexpr const char* nak = R"(block.u 0 L2 [] -> {
                 nop L0                                             // delay=1
      r1       = lop3.LUT[0xc0] r0 0x3 rZ                           // delay=4 wt=000001
} -> [1]
block.u 1 L15 [0, 1] -> {
      ur0      = iadd3 ur0 ur3 rZ                                   // delay=3
      r40..44  = ldsm.16.m8n8.x4 [r1]                               // delay=2 wr:0
      r2..4    = ld.shared.strong.cta.b64 [r1]                      // delay=2 wr:0
      r4       = ld.global.a64.constant.b128 [r8..10]               // delay=2 wr:0
                 st.local.b32 [r1] r3                               // delay=1
      r0..4    = hmma.m16n8k16.f32 r40..44 r16..18 r0..4            // delay=15 wr:0
      r5       = ffma r1 r2 r5                                      // delay=4
@!p0             bra pT L15                                         // delay=1
} -> [1, 2]
)";

constexpr const char* ir3 = R"(; num_ubos: 0
@in(r48.x)	in0 (wrmask=0x7)
l951:
(ss)(rpt1)mad.f32 r18.z, r23.y, (r)r6.x, (r)(last)r18.z
(sy)(ss)mov.u32u32 r3.z, (last)r2.y
ldl.u32 r23.y, l[r21.z+64], 4
isam.v.base0 (u32)(xyzw)r6.x, r5.y, s#0, t#0
stp.u32 p[r1.x], r2.x, 1
nop
(ss)br p0.x, #l951
end
)";

// Compilers write packed products so; a loop of nothing else runs at its peak.
constexpr const char* aco_packed = R"(BB1:
	v_dot4_i32_i8 v1, v2, v3, v1                                ; 00000000
	v_dot4_i32_iu8 v1, v2, v3, v1 neg_lo:[1,1,0]                ; 00000000
	v_pk_fma_f16 v1, v2, v3, v1                                 ; 00000000
	v_dot2_f32_f16 v1, v2, v3, v1                               ; 00000000
)";
constexpr const char* nak_packed = R"(block.u 1 L15 [0, 1] -> {
      r5       = idp4.i8.i8 r1 r2 r5                                // delay=4
      r6       = hfma2 r1 r2 r6                                     // delay=4
@!p0             bra pT L15                                         // delay=1
} -> [1, 2]
)";

// A jump by address, and one by label, as nvdisasm writes them with and without its analysis of jumps.
constexpr const char* sass = R"sass(	.headerflags    @"EF_CUDA_SM90 EF_CUDA_PTX_SM(EF_CUDA_SM90)"
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/              @!P0 BRA 0x0 ;
        /*0030*/                   LDSM.16.M88.4 R20, [R8] ;
        /*0040*/                   LDS.64 R24, [R9+0x80] ;
        /*0050*/                   HMMA.16816.F32 R4, R12, R20, R4 ;
        /*0060*/                   IMMA.16832.S8.S8 R4, R12.ROW, R20.COL, R4 ;
        /*0070*/                   FFMA R5, R6, R7, R5 ;
        /*0080*/                   IDP.4A.S8.S8 R5, R6, R7, R5 ;
        /*0090*/                   UIADD3 UR4, UR4, 0x1, URZ ;
        /*00a0*/                   IADD3 R2, R2, 0x10, RZ ;
        /*00b0*/                   STL [R1], R2 ;
        /*00c0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00d0*/               @P1 BRA P2, 0x30 ;
        /*00e0*/                   EXIT ;
)sass";
constexpr const char* sass_labels = R"(        /*0000*/                   MOV R1, R2;
.L_x_1:
        /*0010*/                   FFMA R5, R6, R7, R5 ;
        /*0020*/               @P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0030*/                   BRA `(.L_x_2);
)";

constexpr const char* intel = R"(; coopmat_f16_64x64x32_mma8x8x16
mov(8)          g84<1>UD        0x0000UW                        { align1 1Q };

LABEL8:
dpas.8x8(8)     g88<1>F         g16<1,1,0>F     g24<1,1,0>HF    g32<1,1,0>HF { align1 WE_all 1Q $8 };
dpas.8x8(8)     g88<1>D         g16<1,1,0>D     g24<1,1,0>B     g32<1,1,0>UB { align1 WE_all 1Q $8 };
sync nop(1)                     null<0,1,0>UB                   { align1 WE_all 1N I@3 };
send(8)         g51UD           g109UD          nullUD          0x02100500                0x00000000
                slm MsgDesc: ( load, a32, d32, V4, dst_len = 1, src1_len = 0 flat )  base_offset 0  { align1 1Q $8 };
send(1)         g8UD            g9UD            nullUD          0x4210c500                a0.2<0>UD
                ugm MsgDesc: ( load, a32, d32, V8, transpose, dst_len = 1, src0_len = 1, ss )  src1_len = 0
send(8)         g8UD            g4UD            nullUD          0x62403500                0x01000000
                ugm MsgDesc: ( load, a32, d16u32, V1, dst_len = 4, src1_len = 0 bti )  BTI 1  base_offset 0
(+f0.0.any8h) send(8) nullUD    g13UD           nullUD          0x02000004                0x00000000
                gateway MsgDesc: (barrier msg)  mlen 1 ex_mlen 0 rlen 0 { align1 WE_all 1Q $2 };
mad(8)          g10<1>F         g11<8,8,1>F     g12<8,8,1>F     g13<1,1,0>F { align1 1Q };
mad(8)          g10<1>UD        0x0180UW        g10<8,8,1>UW    0x0004UW { align1 WE_all 1Q I@2 };
(+f0.0) sel(8)  g65<1>UD        g63<1,1,0>UD    g62<1,1,0>UD    { align1 1Q I@2 compacted };
and(1)          a0.2<1>UD       g0.5<0,1,0>UD   0xfffffc00UD    { align1 WE_all 1N };
while(8)        JIP:  LABEL8                                    { align1 1Q };
)";

}  // namespace

TEST_CASE("assembly: Intel, with the message behind a send") {
    const auto loop = inner_loop(read_intel(intel));
    REQUIRE(loop.size() == 12);
    CHECK(loop[0].op == "dpas.8x8.hf");
    CHECK(loop[0].multiply_adds == 8 * 8 * 16);
    CHECK(loop[1].op == "dpas.8x8.b");
    CHECK(loop[1].multiply_adds == 8 * 8 * 32);
    CHECK(loop[3].unit == Unit::shared);
    CHECK(loop[3].bytes == 16);
    CHECK(loop[4].unit == Unit::scratch);
    CHECK(loop[4].bytes == 4);  // 32 bytes of one lane, for eight
    CHECK(loop[5].unit == Unit::memory);
    CHECK(loop[5].bytes == 2);
    for (const auto& [unit, n] :
         {std::pair{Unit::matrix, 2}, {Unit::wait, 2}, {Unit::multiply_add, 1}, {Unit::vector, 2}, {Unit::scalar, 2}})
        CHECK(count(loop, unit) == n);
    CHECK(read_intel(intel).subgroup_size == 8);
    // Two products of 16 cycles; 22 bytes of eight invocations through 8 bytes a cycle take 22.
    const auto bound = bound_of(loop, *find_architecture("Intel(R) Arc(tm) A770 Graphics (DG2)"), 8);
    REQUIRE(bound);
    CHECK(bound->cycles == 32);
    CHECK(std::string(bound->unit) == "matrix");
}

TEST_CASE("assembly: the inner loop of ACO, and not the one around it") {
    const auto loop = inner_loop(read_aco(aco));
    REQUIRE(loop.size() == 7);
    CHECK(loop[0].bytes == 2);
    CHECK(loop[1].bytes == 16);
    CHECK(loop[3].op == "v_wmma_f32_16x16x16_f16");
    CHECK(loop[3].multiply_adds == 4096);
    CHECK(loop[5].bytes == 4);
    for (const auto& [unit, n] : {std::pair{Unit::matrix, 1},
                                  {Unit::shared, 2},
                                  {Unit::wait, 1},
                                  {Unit::vector, 1},
                                  {Unit::scratch, 1},
                                  {Unit::scalar, 1},
                                  {Unit::memory, 0},
                                  {Unit::multiply_add, 0}})
        CHECK(count(loop, unit) == n);
}

TEST_CASE("assembly: two products of an instruction count twice") {
    const auto loop = inner_loop(read_aco(aco_f32));
    REQUIRE(loop.size() == 5);
    CHECK(loop[0].multiply_adds == 2);
    CHECK(loop[1].multiply_adds == 1);
    CHECK(loop[2].multiply_adds == 1);
    CHECK(loop[3].unit == Unit::vector);
    CHECK(read_aco(aco_f32).subgroup_size == 32);  // pairs
    CHECK(read_aco(aco).subgroup_size == 0);
}

TEST_CASE("assembly: NAK") {
    const auto loop = inner_loop(read_nak(nak));
    REQUIRE(loop.size() == 8);
    CHECK(loop[0].unit == Unit::scalar);  // of uniform registers
    CHECK(loop[1].unit == Unit::shared);
    CHECK(loop[1].bytes == 16);
    CHECK(loop[2].bytes == 8);
    CHECK(loop[3].unit == Unit::memory);
    CHECK(loop[3].bytes == 16);
    CHECK(loop[4].unit == Unit::scratch);
    CHECK(loop[5].multiply_adds == 2048);
    CHECK(loop[6].unit == Unit::multiply_add);
}

TEST_CASE("assembly: ir3, with what an instruction repeats") {
    const auto loop = inner_loop(read_ir3(ir3));
    REQUIRE(loop.size() == 7);
    CHECK(count(loop, Unit::multiply_add) == 2);
    CHECK(loop[2].unit == Unit::shared);
    CHECK(loop[2].bytes == 16);
    CHECK(loop[3].bytes == 16);
    CHECK(loop[4].unit == Unit::scratch);
}

TEST_CASE("assembly: SASS") {
    const auto loop = inner_loop(read_sass(sass));
    REQUIRE(loop.size() == 11);
    CHECK(loop[0].unit == Unit::shared);
    CHECK(loop[0].bytes == 16);
    CHECK(loop[1].bytes == 8);
    CHECK(loop[2].unit == Unit::matrix);
    CHECK(loop[2].multiply_adds == 2048);
    CHECK(loop[3].multiply_adds == 4096);
    CHECK(loop[4].unit == Unit::multiply_add);
    CHECK(loop[5].multiply_adds == 4);
    CHECK(loop[6].unit == Unit::scalar);  // of uniform registers
    CHECK(loop[7].unit == Unit::vector);
    CHECK(loop[8].unit == Unit::scratch);
    CHECK(loop[9].unit == Unit::wait);
    CHECK(inner_loop(read_sass(sass_labels)).size() == 2);
}

TEST_CASE("assembly: text without a loop that multiplies has none") {
    CHECK(inner_loop(read_aco("BB0:\n\tv_fma_f32 v1, v2, v3, v4 ; 0\n\ts_endpgm ; 0\n")).empty());
    CHECK(inner_loop(read_aco("BB0:\n\ts_nop 0 ; 0\n\ts_branch BB0 ; 0\n")).empty());
    CHECK(inner_loop(read_sass("        /*0000*/ FFMA R5, R6, R7, R5 ;\n        /*0010*/ BRA.U UP0 ;\n")).empty());
    for (const auto read : {read_aco, read_nak, read_ir3, read_sass, read_intel})
        for (const char* text : {"", "\n", ":", "BB", "(", "@!p0", "block", "(rpt", "l9:", "/**/", "/*0*/",
                                 ".L:", "LABEL", "send(8)", "send(8)\n slm MsgDesc:", "while(8)"})
            CHECK(inner_loop(read(text)).empty());
    CHECK(!program_of({{}, {{"NIR", aco}}}));
    CHECK(program_of({{}, {{"NIR", ""}, {"Assembly", aco}}}));
}

TEST_CASE("bound: the unit that is busy for longest") {
    const Architecture* const rdna3 = find_architecture("AMD Radeon Graphics (RADV NAVI31)");
    REQUIRE(rdna3);
    CHECK(rdna3->name == "RDNA3");
    CHECK(find_architecture("RDNA3") == rdna3);
    CHECK(!find_architecture("a GPU"));
    // One product of 32 cycles and one other vector instruction, which have one unit.
    const auto bound = bound_of(inner_loop(read_aco(aco)), *rdna3, 32);
    REQUIRE(bound);
    CHECK(bound->cycles == 33);
    CHECK(bound->peak_part == doctest::Approx(32 / 33.0));
    CHECK(std::string(bound->unit) == "vector");
    // Ten times the loads of shared memory: 18 bytes by 32 invocations, at 64 bytes a cycle.
    auto loop = inner_loop(read_aco(aco));
    loop[0].repeats = loop[1].repeats = 10;
    const auto by_shared = bound_of(loop, *rdna3, 32);
    CHECK(by_shared->cycles == 90);
    CHECK(std::string(by_shared->unit) == "shared");
    loop[5].repeats = 100;
    CHECK(std::string(bound_of(loop, *rdna3, 32)->unit) == "scratch");
}

TEST_CASE("bound: multiply-adds of f32 by the size of the subgroup") {
    const auto loop = inner_loop(read_aco(aco_f32));
    // Waves of 32: three instructions that multiply, with four of six possible products, and another one.
    const auto small = bound_of(loop, *find_architecture("RDNA3"), 32);
    CHECK(small->cycles == 4);
    CHECK(small->peak_part == doctest::Approx(2 / 4.0));
    // RDNA2 has 32 lanes for all of them.
    const auto rdna2 = bound_of(loop, *find_architecture("RDNA2"), 64);
    CHECK(rdna2->cycles == 8);
}

TEST_CASE("bound: a matrix instruction without a rate has none, and NVIDIA issues one instruction in a cycle") {
    const auto loop = inner_loop(read_nak(nak));
    CHECK(!bound_of(loop, *find_architecture("RDNA3"), 32));
    const auto ampere = bound_of(loop, *find_architecture("Ampere"), 32);
    REQUIRE(ampere);
    CHECK(ampere->cycles ==
          44);  // of shared memory, which is the cache: 44 bytes by 32 invocations, at 32 bytes a cycle
    auto many = loop;
    many[0].repeats = 50;
    CHECK(bound_of(many, *find_architecture("Ampere"), 32)->cycles == 57);
    CHECK(std::string(bound_of(many, *find_architecture("Ampere"), 32)->unit) == "issue");
}

TEST_CASE("bound: products that an instruction packs are at most its peak") {
    Program program = read_aco(std::string(aco_packed) + "\ts_cbranch_vccnz BB1 ; 0\n");
    const auto loop = inner_loop(program);
    REQUIRE(loop.size() == 5);
    CHECK(loop[0].multiply_adds == 4);
    CHECK(loop[2].multiply_adds == 2);
    for (const char* name : {"RDNA2", "RDNA3", "RDNA4"})
        for (const uint32_t size : {32U, 64U}) {
            const auto bound = bound_of(loop, *find_architecture(name), size);
            REQUIRE(bound);
            CHECK(bound->cycles == 4 * size / 32);  // without the pairs that f32 has
            CHECK(bound->peak_part == doctest::Approx(1));
        }
    for (const char* name : {"Turing", "Ampere"}) {
        const auto bound = bound_of(inner_loop(read_nak(nak_packed)), *find_architecture(name), 32);
        REQUIRE(bound);
        CHECK(bound->cycles == 4);  // 16 lanes of both
        CHECK(bound->peak_part == doctest::Approx(1));
    }
}

TEST_CASE("bound: f64 has two units in a multiprocessor of Turing and Ampere, and 64 in one of Hopper") {
    const auto cycles = [](const Program& program, const char* architecture) {
        return bound_of(inner_loop(program), *find_architecture(architecture), 32)->cycles;
    };
    const auto nvk = read_nak("block.u 1 L1 [] -> {\n r0..2 = dfma r2..4 r4..6 r0..2 // \n bra pT L1 // \n}\n");
    CHECK(cycles(nvk, "Turing") == 64);
    CHECK(cycles(nvk, "Ampere") == 64);
    CHECK(cycles(read_sass("/*00*/ DFMA R0, R2, R4, R0 ;\n/*10*/ BRA 0x00 ;\n"), "Hopper") == 2);
}

TEST_CASE("bound: Hopper, whose matrix units take four cycles for 16x8x16") {
    const auto loop = inner_loop(read_sass(sass));
    const auto hopper = bound_of(loop, *find_architecture("NVIDIA H200"), 32);
    REQUIRE(hopper);
    CHECK(hopper->cycles == 28);  // of shared memory: 28 bytes by 32 invocations, at 32 bytes a cycle
    CHECK(std::string(hopper->unit) == "shared");
    const std::vector<Instruction> products(loop.begin() + 2, loop.begin() + 4);
    CHECK(bound_of(products, *find_architecture("Hopper"), 32)->cycles == 8);
    // Invocations that read the same 16 bytes share the time; matrices have no such twins.
    for (const auto& [op, cycles] :
         {std::pair{"LDS.128", 80}, {"LDS.U.128", 80}, {"LDS.64", 80}, {"LDSM.16.M88.4", 160}, {"STS.128", 160}}) {
        const std::string text = std::string(op) + " R0, [R1] ;\n";
        Program program = read_sass("/*00*/ FFMA R0, R1, R2, R0 ;\n/*10*/ " + text + "/*20*/ BRA 0x0 ;\n");
        program.instructions[1].repeats = 10;
        CHECK(bound_of(inner_loop(program), *find_architecture("Hopper"), 32)->cycles == cycles);
    }
}

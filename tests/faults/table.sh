# The faults that the kernel tests are known to catch, for tests/faults/run.
#     fault NAME FILE SED-EXPRESSION MODULES TEST
# SED-EXPRESSION (sed -E) puts the fault into FILE. Of a shader, the modules whose names match MODULES are compiled again
# with it, and no others; of C++, MODULES is ''. TEST is the test of ctest that must fail.
# shellcheck shell=bash

gemm=shaders/common/gemm.glsl epilogue=shaders/common/epilogue.glsl types=shaders/common/types.glsl
naive=kernels.lavapipe.naive

fault "a row past the edge is written" shaders/common/store.glsl \
    's/inside\(row, col, args\.m, args\.n\)/inside(row, col, args.m + 1, args.n)/' naive_f32 $naive
fault "B's batch stride is left out" $gemm \
    's/return batch \* args\.batch_b \+ \(TRANS_B/return (TRANS_B/' naive_f32 $naive
fault "D's matrices are taken for dense" $epilogue \
    's/return batch \* args\.batch_d \+ row/return batch * args.m * args.ldd + row/' naive_f32 $naive
fault "the last band of tiles, with fewer rows, is numbered wrongly" $gemm \
    's/min\(band_rows, down - band \* band_rows\)/band_rows/' simt_f32 kernels.lavapipe.simt
fault "a descriptor's offset that the arguments carry is left out" shaders/common/operands.glsl \
    's/NOTED\(name, begin\.x \+ \(i\), 1\)/NOTED(name, (i), 1)/' naive_f32 $naive

fault "beta is left out" $epilogue 's/x \+= beta \* c;/x += c;/' naive_f32 $naive
fault "C is read where beta is 0" $epilogue \
    's/return USE_C != 0 && beta != out_t\(0\);/return USE_C != 0;/' naive_f32 $naive
fault "C's layout is not transposed" $epilogue \
    's/\(TRANS_C != 0 \? col \* args\.ldc \+ row : row \* args\.ldc \+ col\)/(row * args.ldc + col)/' naive_f32 $naive
fault "bias by column is used for bias by row" $epilogue \
    's/bias_at\(step == VKGEMM_STEP_BIAS_ROW \? row : col\)/bias_at(col)/' naive_f32 $naive
fault "a residual ignores ldd" $epilogue \
    's/residual_at\(index_d\(row, col\)\)/residual_at(batch * args.batch_d + row * args.n + col)/' naive_f32 $naive
fault "a constant of GELU is off by 4e-4" $epilogue 's/2\.3022081985/2.3031290818/' naive_f32 $naive
fault "a constant of GELU is off by 1e-4" $epilogue 's/2\.3022081985/2.3024384193/' naive_f32 $naive
fault "the derivative of ReLU is 0 where the residual is NaN" $epilogue \
    's/residual <= out_t\(0\) \? out_t\(0\) : x/residual > out_t(0) ? x : out_t(0)/' naive_f32 $naive
fault "the derivative of ReLU keeps what is at 0" $epilogue \
    's/residual <= out_t\(0\) \? out_t/residual < out_t(0) ? out_t/' naive_f32 $naive
fault "the derivative of ReLU is taken for ReLU" $epilogue \
    's/residual <= out_t\(0\) \? out_t\(0\) : x/max(x, out_t(0))/' naive_f32 $naive
fault "an infinite alpha is multiplied by an empty sum" $epilogue \
    's/return is_nothing \? acc_t\(0\) : alpha \* sum/return alpha * sum/' naive_f32 $naive

fault "u8 is read as i8" $types 's/(#define u8_stored4?) u(int8_t|8vec4)/\1 \2/; s/(u8_stored4) 8vec4/\1 i8vec4/' \
    '(tiled|simt)_u8' kernels.lavapipe.tiled
fault "bf16 is rounded half up" $types 's/\(bits \+ 0x7fff \+ \(bits >> 16 & 1\)\)/(bits + 0x8000)/' \
    'tiled_bf16' kernels.lavapipe.tiled
fault "a coefficient of exp is off by 1e-10" shaders/common/activated_f64.glsl \
    's/4\.1666666666666664e-02lf/4.16666667666666664e-02lf/' naive_f64 $naive
fault "the low word of alpha of f64 is left out" $types \
    's/uvec2\(args\.name, args\.name##_high\)/uvec2(0, args.name##_high)/' naive_f64 $naive

fault "the barrier before a tile is overwritten is missing" shaders/ladder/tiled.comp \
    '/barrier\(\);  \/\/ every invocation has read the tiles/d' 'tiled_f32' kernels.lavapipe.tiled
fault "wide loads do not check edges" shaders/simt/simt_copy.glsl \
    's/if \(VEC4_OF_##X && is_beyond\)/if (VEC4_OF_##X \&\& false)/' simt_f32 kernels.lavapipe.simt
fault "the batch stride is left out" shaders/simt/simt_copy.glsl \
    's/starts_##x\[l\] = batch \* args\.batch_##x \+ line/starts_##x[l] = line/' simt_f32 kernels.lavapipe.simt
fault "fours of mixed types begin at the last element" shaders/simt/simt_copy.glsl \
    's/\(\(along\) \? UNIT_##X - 1 : 0\)/0/' simt_mixed_f32 kernels.lavapipe.simt
fault "the last row of a column-major A is read from the row before" shaders/cpu/cpu.comp \
    's/min\(i, args\.m - 1 - row0\)/min(i, max(args.m - 1 - row0, 1) - 1)/' cpu_f32 kernels.lavapipe.cpu
fault "panels behind the last one of A are read" shaders/cpu_packed/cpu_packed.comp \
    's/min\(panel, last\)/panel/' cpu_packed_f32 kernels.lavapipe.cpu_packed
fault "rows behind the last one are read" shaders/cpu_packed/pack_panels.comp \
    's/min\(row0, args\.m - PANEL\)/row0/' pack_panels_f32 kernels.lavapipe.cpu_packed
fault "steps behind the last k are read" shaders/cpu_packed/pack_panels.comp \
    's/min\(k0, args\.k - PANEL\)/k0/' pack_panels_f32 kernels.lavapipe.cpu_packed
fault "no zeros follow the last k" shaders/cpu_packed/pack_panels.comp \
    '/for \(k = max\(k0, args\.k\); k < end; \+\+k\) put/d' pack_panels_f32 kernels.lavapipe.cpu_packed
fault "the last, partial step of K is dropped" shaders/coopmat/coopmat.comp \
    's/\(k_end - k_begin \+ BK - 1\) \/ BK/(k_end - k_begin) \/ BK/' '^coopmat_f16' kernels.lavapipe.coopmat
fault "one of the subgroups that share a part is not added" shaders/common/matrix_out.glsl \
    's/for \(uint s = 1; s < SETS; \+\+s\) sum \+=/for (uint s = 2; s < SETS; ++s) sum +=/' '^coopmat_f16' \
    kernels.lavapipe.coopmat
fault "A is not 0 past the end of K" shaders/coopmat_resident/coopmat_resident.comp \
    's/coming\[i\] = inside\(r, k, args\.m, args\.k\) \? chunk : uvec4\(0\)/coming[i] = chunk/' coopmat_resident \
    kernels.lavapipe.coopmat_resident
fault "B is not 0 past the end of K" shaders/coopmat_resident/coopmat_resident.comp \
    's/= inside\(k, col, args\.k, args\.n\) \? chunk : uvec4\(0\)/= chunk/' coopmat_resident \
    kernels.lavapipe.coopmat_resident
fault "the last chunk has one element too many" shaders/common/chunk16.glsl \
    's/, left \* BYTES\(TYPE_##X\)\)/, (left + 1) * BYTES(TYPE_##X))/' '^coopmat_f16' \
    kernels.lavapipe.coopmat
fault "no zeros follow the last chunk" shaders/common/chunk16.glsl \
    's/first_bytes\((shifted\(lower, upper, begin % 16\)), left \* BYTES\(TYPE_##X\)\)/\1/' '^coopmat_f16' \
    kernels.lavapipe.coopmat
fault "offsets of descriptors are left out" shaders/common/chunk16.glsl \
    's/#define BYTES_PAST_16\(name\) \(args\.name\.x \* name##_bytes\)/#define BYTES_PAST_16(name) 0/' '^pack_(8|16|32)' \
    kernels.lavapipe.pack
fault "k is compared in place of k + i" shaders/gemv/gemv.comp 's/(small\(v0 \+ v, k \+ i\), k) \+ i,/\1,/' gemv_f32 \
    kernels.lavapipe.gemv
fault "a product of parts is left out" shaders/f32_split/f16x2.comp '/^    multiply\(1, 0\);$/d' f16x2_f32 \
    kernels.lavapipe.f16x2
fault "the factor of another row is used" shaders/f32_split/f16x2.comp 's/rows\[r % 4\]/rows[(r + 1) % 4]/' f16x2_f32 \
    kernels.lavapipe.f16x2
fault "sums that are not finite are left as they are" shaders/f32_split/f16x2.comp 's/^    mend\(first, end\);//' \
    f16x2_f32 kernels.lavapipe.f16x2
fault "tiles beyond the first are read from the first" shaders/pack/pack.comp \
    's/chunk_a\(row0 \+ at\.x, col0 \+ at\.y\)/chunk_a(at.x, at.y)/' '^pack_(16|32)' kernels.lavapipe.pack
fault "the last slice of an odd number of slices is left out" shaders/reduce_k/reduce_k.comp \
    's/end = min\(begin \+ each, slices\(\)\)/end = min(begin + each, slices() \& ~1u)/' '^reduce_f32' \
    kernels.lavapipe.reduce_k
fault "the last slice of a short last run is left out" shaders/reduce_k/reduce_k.comp \
    's/sum \+= s \+ j < end \?/sum += s + j < (s + AHEAD > end ? end - 1 : end) ?/' '^reduce_f32' \
    kernels.lavapipe.reduce_k

fault "B has one matrix more than it has" src/vk/record.cpp \
    's/out\.matrices_b = b\.matrices;/out.matrices_b = b.matrices + 1;/' '' kernels.lavapipe.groups
fault "indices begin one place later" src/vk/record.cpp \
    's/(out\.indices = two_words\(operands\[VKGEMM_SLOT_INDICES\]\.address)\)/\1 + 4)/' '' kernels.lavapipe.groups
fault "index lists are ignored" src/vk/record.cpp \
    's/table\.indices = two_words\(operands\[VKGEMM_SLOT_INDICES\]\.address\)/table.indices = {0, 0}/' '' \
    kernels.lavapipe.groups
fault "an alpha of 0 does not reach the list of tiles" src/vk/record.cpp 's/table\.k = args\.k;//' '' \
    kernels.lavapipe.groups

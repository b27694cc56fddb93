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

# What only another way to run a problem sees: a test of test_kernels for each of them (Case::ways).
ways=kernels.lavapipe
fault "C's layout is left out of a problem's text" src/plan/problem/problem_text.cpp \
    's/if \(p\.c\.layout != default_c_layout\(p\)\)/if (false)/' '' $ways
fault "slices that are recorded together begin at one place" src/vk/record.cpp \
    's/CmdDispatchBase\(cmd, 0, i \* rows/CmdDispatchBase(cmd, 0, begin * rows/' '' $ways
fault "a run with sizes of its own is reported with the plan's" src/vk/api_record.cpp \
    's/\(VKGEMM_RECORD_SIZES \| VKGEMM_RECORD_STRIDES\)/VKGEMM_RECORD_STRIDES/' '' $ways
fault "K of few rows is cut though the product is invariant" src/plan/choice/split_k.cpp \
    's/!search\.request\.workspace_limit \|\| p\.batchInvariant\)/!search.request.workspace_limit)/' '' $ways
fault "rows of A behind the last one are read, and not used" $gemm \
    's/ROW_OF_A\(nearest\(row, args\.m\)\)/ROW_OF_A(row)/' naive_f32 $ways

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

# Of the planner, which the test `plan` must catch.
plan_fault() { fault "$1" "src/plan/$2" "$3" '' plan; }

plan_fault "the workspace of a plan for many sizes is that of the largest sizes" plan.cpp \
    's/of_one\.bytes > of_all\.bytes/false/'
plan_fault "passes that pack ahead are not cut by dispatchSeconds" plan.cpp \
    's/for \(Steps& pack : plan\.packs\) limit\(pack\);//'
plan_fault "a measured time of a run is ignored" plan.cpp \
    's/request\.run_seconds > 0 && whole > 0/false/'
plan_fault "ranges of sizes need not agree on the layout of a packed A" plan.cpp \
    's/if \(const uint64_t key = choice->schedule\.a\.key\) whole\.normalised\.problem\.packedA = key;//'
plan_fault "what packs an operand varies with the sizes of the product" plan.cpp \
    's/out\.problem\.given\.upTo = out\.problem\.completed\.upTo = 0;//'
plan_fault "a kernel that multiplies nothing can be asked for" plan.cpp \
    's/!kernel->module\.is_product\(\)/false/'
plan_fault "batches of batches are not counted as work" plan.cpp \
    's/double\(p\.batch\) \* double\(p\.outerBatch\)/double(p.batch)/'
plan_fault "the outer stride leaves no place for the last matrix" problem/problem.cpp \
    's/std::max\(\*one, \*all\)/*all/'
plan_fault "both operands may be shared by parts of a level" problem/problem.cpp \
    's/ratio_a > 1 && ratio_b > 1 && ratio_a != count && ratio_b != count/false/'
plan_fault "a transposed problem keeps its ratios" problem/problem.cpp \
    's/std::swap\(p\.ratioA, p\.ratioB\);//'
plan_fault "a transposed problem keeps which operand is packed" problem/problem.cpp \
    's/std::swap\(p\.packedA, p\.packedB\);//'
plan_fault "the reference of invariant products has its own leading dimensions" problem/problem.cpp \
    's/if \(x->layout == columnMajor\) x->ld = reference_rows;//'
plan_fault "an odd beginning of a part is let pass where words are read" problem/problem.cpp \
    's/uint64_t step = odd\(slot, normalised\.begin\);/uint64_t step = 0;/'
plan_fault "a packed operand of a transposed product may have several levels" problem/problem.cpp \
    's/\(normalised\.swapped \? step_b : step_a\) != 0/step_a != 0/'
plan_fault "a product whose operands come packed is cut" problem/problem.cpp \
    's/ p\.packedA != VKGEMM_PACKED_NONE \|\|$//'
plan_fault "K is cut though every batch must get the same bits" problem/problem.cpp \
    's/p\.d\.type == p\.accumulate && !p\.batchInvariant/p.d.type == p.accumulate/'
plan_fault "K is cut before a step that reads all of a residual" problem/problem.cpp \
    's/(return info\(s\.kind\)\.shape == StepShape::MATRIX); \};/\1 \&\& false; };/'
plan_fault "m of a run is taken for n of a transposed problem" problem/problem.cpp \
    's/normalised\.swapped \? sizes\.n : sizes\.m/sizes.m/'
plan_fault "the common step of levels is the largest stride" problem/levels.cpp \
    's/out = std::gcd\(out, l\.stride\[operand\]\);/out = std::max(out, l.stride[operand]);/'
plan_fault "what products share moves with each of them" problem/levels.cpp \
    's/whole\.stride\[i\] \*= inner\.count \/ ratio;/whole.stride[i] *= inner.count;/'
plan_fault "levels are joined though C does not go on" problem/levels.cpp \
    's/\(i != C \|\| p\.cSource != VKGEMM_C_NONE\)/i != C/'
plan_fault "matrices side by side may overlap" problem/levels.cpp \
    's/x\.ld < count \* length/x.ld < length/'
plan_fault "a level becomes rows though each product has a bias for its own" problem/levels.cpp \
    's/\|\| reads_for_each\(p, is_n\)/|| false/'
plan_fault "a level becomes columns beyond the limit of n" problem/levels.cpp \
    's/\(\(uint64_t\{1\} << 31\) - 1\) \/ size/(uint64_t{1} << 31) \/ size/'
plan_fault "a level becomes rows though m varies" problem/levels.cpp \
    's/p\.upTo & \(is_n \? VKGEMM_UP_TO_N : VKGEMM_UP_TO_M\) \|\|/false ||/'
plan_fault "the longest level is dispatched though another one moves what is packed" problem/levels.cpp \
    's/std::pair\{moves_packed\(l\), l\.count\} > .*chosen\.count\}/l.count > chosen.count/'
plan_fault "matrices of one row become a matrix whose rows overlap" problem/levels.cpp \
    's/stride >= length \? std::optional\(stride\)/stride > 0 ? std::optional(stride)/'
plan_fault "strides of D may overlap by one" problem/rules.cpp \
    's/if \(p\.d\.batchStride >= one\) return "";/if (p.d.batchStride + 1 >= one) return "";/'
plan_fault "matrices of D side by side may overlap by one" problem/rules.cpp \
    's/p\.d\.ld >= \*row_of_all/p.d.ld + 1 >= *row_of_all/'
plan_fault "an outer stride inside a block is let pass" problem/rules.cpp \
    's/outer_stride != broadcast \? outer_stride : 0/0/'
plan_fault "a slope may be infinite" problem/rules.cpp \
    's/!std::isfinite\(s\.low\)/false/'
plan_fault "the upper bound of a clamp may be below the lower" problem/rules.cpp \
    's/!\(s\.low <= s\.high\)/false/'
plan_fault "a table may have one group less" problem/rules.cpp \
    's/if \(p\.batch > most_groups_of_table\)/if (p.batch >= most_groups_of_table)/'
plan_fault "outer strides of D may overlap by one" problem/shape.cpp \
    's/x\.width < reach \+ below/x.width + 1 < reach + below/'
plan_fault "a run with strides of its own keeps C's batch stride" problem/shape.cpp \
    's/p\.c\.batchStride = x\.batchStrideC;//'
plan_fault "rows of B that vary are taken for columns" problem/shape.cpp \
    's/ragged\(p\.b, k, n\)/ragged(p.b, n, k)/'
plan_fault "operands at a multiple of 8 bytes are read 16 bytes at a time" problem/shape.cpp \
    's/operand_alignment % 16 == 0 && !x\.loose && \(x\.padded/operand_alignment % 8 == 0 \&\& !x.loose \&\& (x.padded/'
plan_fault "a matrix spans one row more" problem/shape.cpp \
    's/!add_steps\(span, outer - 1, x\.ld\)/!add_steps(span, outer, x.ld)/'
plan_fault "a product of a batch of 0 is not empty" problem/shape.cpp \
    's/p\.m == 0 \|\| p\.n == 0 \|\| p\.batch == 0/p.m == 0 || p.n == 0/'
plan_fault "2^31 is a factor of whole sums" problem/factors.cpp \
    's/x <= 2147483647\.0/x <= 2147483648.0/'
plan_fault "a factor that f32 makes 0 is let pass" problem/factors.cpp \
    's/rounds_to_infinity\(x\) \|\| rounds_to_zero\(x\)/rounds_to_infinity(x)/'
plan_fault "an empty sum keeps the batch strides of what it does not read" problem/factors.cpp \
    's/args\.lda = args\.ldb = args\.batch_a = args\.batch_b =/args.lda = args.ldb =/'
plan_fault "whole numbers are added to sums that were scaled" problem/operand_types.cpp \
    's/info\(p\.epilogue\.begin\(\)->kind\)\.operand == slot/true/'
plan_fault "beta is in memory where there is no C" problem/operand_types.cpp \
    's/\(p\.scalars & VKGEMM_SCALARS_BETA\) && p\.cSource == VKGEMM_C_NONE/false/'
plan_fault "16 bits beside scaled sums are read in words" problem/operand_types.cpp \
    's/info\(\*type\)\.bytes == 2 && !is_scaled\(p\)/info(*type).bytes == 2/'
plan_fault "the text of a problem leaves out how many indices share a row" problem/problem_text.cpp \
    's/if \(p\.indicesPerRow > 1\)/if (false)/'
plan_fault "the text of a problem has an outer broadcast as a number" problem/problem_text.cpp \
    's/p\.\*value == VKGEMM_BROADCAST \? 0 : p\.\*value/p.*value/'
plan_fault "more than 2^32 indices may share a row" problem/parse_problem.cpp \
    's/n == 0 \|\| n > UINT32_MAX/n == 0/'
plan_fault "a key may have fewer digits" problem/parse_problem.cpp \
    's/v\.size\(\) == key_digits/true/'
plan_fault "a scalar may come twice" problem/parse_problem.cpp \
    's/out\.problem\.scalars & bit/false/'
plan_fault "an operand may span one element less" choice/reach.cpp \
    's/span > dev\.max_span \|\|/span >= dev.max_span ||/'
plan_fault "a descriptor reaches over its offset" choice/reach.cpp \
    's/ \+ dev\.offset_alignment > dev\.max_storage_range/ > dev.max_storage_range/'
plan_fault "m may be 2^31" choice/reach.cpp \
    's/value > max_dimension/value > max_dimension + 1/'
plan_fault "matrices straight from memory may be of any layout" choice/unfit.cpp \
    's/straight && \(p\.a\.layout != rowMajor \|\| p\.b\.layout != columnMajor\)/false/'
plan_fault "a K longer than a tile is kept in registers" choice/unfit.cpp \
    's/family\.in_one_step && p\.k > t\.BK/false/'
plan_fault "a format whose blocks take too much shared memory is let pass" choice/unfit.cpp \
    's/bytes && bytes\(t, m\.element_bytes\(\), p\.b\.type\) > dev\.shared_bytes/false/'
plan_fault "a tuned row is followed though its kernel falls behind" choice/select.cpp \
    's/if \(here > most_behind \* cost_ratio\(of_row, of_its_problem\)\) return;//'
plan_fault "descriptors need no storage buffers" choice/binding.cpp \
    's/(bool descriptors = .*push_descriptor\)) && dev\.max_storage_buffers >= BIND_COUNT/\1/'
plan_fault "the last slice of K is forgotten" choice/split_k.cpp \
    's/static_cast<uint32_t>\(div_up\(p\.k, chunk\)\)/static_cast<uint32_t>(p.k \/ chunk)/'
plan_fault "K is split by how many rows there are though they must not matter" choice/split_k.cpp \
    's/!search\.request\.workspace_limit \|\| p\.batchInvariant/!search.request.workspace_limit/'
plan_fault "the workspace ends with the longer of two packed operands" choice/schedule.cpp \
    's/packed = std::max\(packed, x->offset \+ x->bytes\);/packed = std::max(packed, x->bytes);/'
plan_fault "operands are packed though their strides vary" choice/schedule.cpp \
    's/!search\.request\.packs && \(k\.module\.family\.packs_fragments \|\| t\.PACK > 1 \|\| converted\(k, p\)\)/false/'
plan_fault "a kernel that reads 16 bytes takes any operand" choice/schedule.cpp \
    's/wants_wide && !reads_wide\(schedule\.operands\(\), search\.request\)/false/'
plan_fault "packed rows begin at multiples of 32 bytes" choice/packing.cpp \
    's/64 \/ info\(out\.type\)\.bytes/32 \/ info(out.type).bytes/'
plan_fault "packed matrices of a batch begin within the last row block" choice/packing.cpp \
    's/round_up\(is_a \? x\.rows : x\.cols, PACKED_ROW_BLOCK\) \* out\.ld/(is_a ? x.rows : x.cols) * out.ld/'
plan_fault "a batch is packed into the place of one matrix" choice/packing.cpp \
    's/return batch \* round_up\(packed\.layout/return (batch ? 1 : 1) * round_up(packed.layout/'
plan_fault "a plan takes any key" choice/packing.cpp \
    's/ahead == VKGEMM_PACKED_ANY \|\| ahead == packing\.key/true/'
plan_fault "a packed operand may be out of reach" choice/packing.cpp \
    's/matrix\.ld != 0 && rows > max_span \/ matrix\.ld/false/'
plan_fault "the key of a packed operand leaves out the driver" choice/packing_key.cpp \
    's/dev\.device, dev\.driver_version\}/dev.device}/'
plan_fault "the key of a packed operand leaves out its batch" choice/packing_key.cpp \
    's/x\.rows, x\.cols, batch,/x.rows, x.cols, uint64_t{1},/'
plan_fault "a work group may have one subgroup less" choice/device_kernels.cpp \
    's/t\.WG \/ t\.SG > dev\.max_subgroups\)/t.WG \/ t.SG >= dev.max_subgroups)/'
plan_fault "push constants may be too many" choice/device_kernels.cpp \
    's/bytes > dev\.max_push_constant_bytes\)/false \&\& bytes)/'
plan_fault "a disabled kernel is chosen" choice/device_kernels.cpp \
    's/if \(x\.kernel == k\.name\)/if (false)/'
plan_fault "slices are added by a kernel of other types" choice/device_kernels.cpp \
    's/!k->module\.has_result_of\(p\)/false/'
plan_fault "a row holds for problems within a factor of 1.5 alone" choice/tuned.cpp \
    's/<= 3 \* double\(std::min\(a, b\)\)/< 3 * double(std::min(a, b))/'
plan_fault "of equally near rows the later one counts" choice/tuned.cpp \
    's/distance < s\.least \|\| sorted\.front\(\)\.row < s\.found\.front\(\)/distance <= s.least/'
plan_fault "a weight may be given twice" choice/tuned.cpp \
    's/part == std::end\(known\) \|\| part->given \|\|/part == std::end(known) ||/'
plan_fault "a tile at the edge counts by its share" choice/cost.cpp \
    's/tiles_\(ceil_of\(double\(p\.m\), k\.rows\) \*/tiles_(double(p.m) \/ k.rows */'
plan_fault "the factor of a tile has no limit" choice/tile_terms.cpp \
    's/std::clamp\(double\(sum\), -most_correction, most_correction\)/double(sum)/'
plan_fault "tiles down are taken for tiles across" choice/tile_facts.cpp \
    's/some\(tiles_n\),/some(tiles_m),/'
plan_fault "a product does not wait for a packed B" steps/steps.cpp \
    's/schedule\.a\.in_workspace\(\) \|\| schedule\.b\.in_workspace\(\)/schedule.a.in_workspace()/'
plan_fault "the sum of slices does not wait for them" steps/steps.cpp \
    's/reduce\.waits = true;/reduce.waits = false;/'
plan_fault "a part does not wait for the one before it" steps/steps.cpp \
    's/part\.steps\[0\]\.waits = true;//'
plan_fault "the workspace of parts is that of the first" steps/steps.cpp \
    's/if \(one\.bytes > all\.bytes\) all = one;//'
plan_fault "the last columns of slices are not added" steps/steps.cpp \
    's/p\.m \* div_up\(p\.n, 4\) \* p\.batch/p.m * (p.n \/ 4) * p.batch/'
plan_fault "packed operands are bound to their end" steps/steps.cpp \
    's/s\.bytes\[BIND_D\] = packing\.bytes;//'
plan_fault "what packs an operand reads its result" steps/steps.cpp \
    's/std::swap\(out\.slots\[VKGEMM_SLOT_D\]\.reads, out\.slots\[VKGEMM_SLOT_D\]\.writes\);//'
plan_fault "the product of slices finishes D" steps/steps.cpp \
    's/clear_epilogue\(c\);//'
plan_fault "B's blocks are cut where K is" steps/parts.cpp \
    's/std::max\(info\(p\.a\.type\)\.block, info\(p\.b\.type\)\.block\)/uint64_t{info(p.a.type).block}/'
plan_fault "the epilogue is done before the last part of K" steps/parts.cpp \
    's/p\.epilogue = \{\};//'
plan_fault "the last part of K is one of those that do not finish D" steps/parts.cpp \
    's/blocks_of\(size - block, block, true\)/blocks_of(size - block, block, false)/'
plan_fault "repetitions use one workspace without waiting" steps/repeats.cpp \
    's/!= s\.slots\.end\(\)\) out\.are_ordered = true;/!= s.slots.end()) out.are_ordered = false;/'
plan_fault "a tile is whole though K ends within it" steps/constants.cpp \
    's/\(t\.BK == 0 \|\| p\.k % t\.BK == 0\)/true/'
plan_fault "invariant products have a pipeline for whole tiles" steps/constants.cpp \
    's/is_whole\(t, p\) && !p\.batchInvariant/is_whole(t, p)/'
plan_fault "a bias by row has an element for each column" steps/requirements.cpp \
    's/vector\(step\.operand, p\.m \* step\.width\(\)\);/vector(step.operand, p.n * step.width());/'
plan_fault "D is not read where it is C" steps/requirements.cpp \
    's/p\.cSource == VKGEMM_C_IS_D, true/false, true/'
plan_fault "the largest size is refused" steps/buckets.cpp \
    's/p\.upTo & d\.bit \? size <= limit : size == limit/p.upTo \& d.bit ? size < limit : size == limit/'
plan_fault "a constant of a tile may be given twice" kernels/family.cpp \
    's/if \(s == name\) return/if (false) return/'
plan_fault "a shape of two numbers is three" device/device_caps.cpp \
    's/x1 == string_view::npos \|\| x1 == x2/x1 == string_view::npos/'
plan_fault "kernels that are disabled on one device are so on all" device/disabled_kernels.cpp \
    's/caps\.name\.find\(row\.device\) != std::string::npos/true/'
plan_fault "needs of all problems but the last are forgotten" needs.cpp \
    's/out\.required \|= one->required;/out.required = one->required;/'
plan_fault "atomics of the device are not asked for" needs.cpp \
    's/\(out\.required \| out\.optional\) & need::memory_model/false/'
plan_fault "addresses are required though buffers reach" needs.cpp \
    's/!addresses && choose_binding\(out, \{\}\) \? out : dev/dev/'
plan_fault "strides beyond 2^36 bytes lose their upper bits" native/tensor_map.cpp \
    's/down >> 32 \| deep >> 32 << 4/down >> 32/'
plan_fault "the copy engine writes lines that end within 16 bytes" native/arguments.cpp \
    's/can_be_mapped\(\) && uint64_t\{length\} \* bytes % 16 == 0/can_be_mapped()/'
plan_fault "parts of K of 0 are more than one slice" native/arguments.cpp \
    's/c\.PARTIAL && k \? parts\(k, args\.k_chunk\) : 1/c.PARTIAL ? parts(k, args.k_chunk) : 1/'

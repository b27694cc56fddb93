// SPDX-License-Identifier: MIT
// The arguments of a work group whose product is one of many. list_tiles has written a list of the products (abi.h),
// each with the number of tiles before it. The work groups of one dispatch are numbered through all tiles of all
// products. gemm.glsl includes this in place of arguments that all work groups share.
#ifndef VKGEMM_GROUPED_GLSL
#define VKGEMM_GROUPED_GLSL

layout(push_constant, std430) uniform Push { GroupedArgs common_args; };
GemmArgs args;  // of this product, as every family reads them

// Sets the arguments that all products share. K is never sliced here, and only a list gives a C.
void set_common_args() {
    args.m = common_args.m;
    args.n = common_args.n;
    args.k = common_args.k;
    args.k_chunk = common_args.k;
    args.batch = common_args.batch;
    args.raster = common_args.raster;
    args.lda = common_args.lda;
    args.ldb = common_args.ldb;
    args.ldc = 0;
    args.ldd = common_args.ldd;
    args.batch_a = common_args.batch_a;
    args.batch_b = 0;
    args.batch_c = 0;
    args.batch_d = common_args.batch_d;
    args.alpha = common_args.alpha;
    args.beta = common_args.beta;
#ifdef SUMS_IN_F64
    args.alpha_high = common_args.alpha_high;
    args.beta_high = common_args.beta_high;
#endif
    args.clamp_or_scalars = common_args.clamp_or_scalars;
    args.a = common_args.a;
    args.b = common_args.b;
    args.c = uvec2(0);
    args.d = common_args.d;
    args.bias = common_args.bias;
    args.scale = common_args.scale;
    args.residual = common_args.residual;
}

layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer word_list { uint at[]; };
uvec2 indices;  // the address of this product's first index

uvec2 address_at(word_list list, uint i) { return uvec2(list.at[i], list.at[i + 1]); }

#ifdef VKGEMM_SELECTS  // families of few rows, which define it
// Sets the arguments of the product of the batch that tile `linear` belongs to. Returns false if the product's index
// is not that of a matrix of B.
bool select_b(uint linear) {
    set_common_args();
    args.raster = 1;
    const uint tiles = (args.m + BM - 1) / BM * ((args.n + BN - 1) / BN);
    const uint chosen = word_list(common_args.indices).at[linear / tiles % args.batch];
    uint low, high, carry;
    umulExtended(chosen, common_args.apart_b, high, low);
    args.b.x = uaddCarry(args.b.x, low, carry);
    args.b.y += high + carry;
    return chosen < common_args.matrices_b;
}
#endif

// Finds the product that tile `linear` belongs to, and sets its arguments. `linear` then counts from the product's
// first tile. Returns false past the last tile.
bool find_group(inout uint linear) {
#ifdef VKGEMM_SELECTS
    if (BY_INDEX == 2) return select_b(linear);
#endif
    word_list list = word_list(common_args.list);
    // Finds the last product whose first tile is at most `linear`. Each trip loads seven places of the list at once,
    // because a trip takes as long as memory needs to answer.
    uint low = 0, high = common_args.batch;
    while (high - low > 1) {
        const uint stride = (high - low + 7) / 8;
        uint place = low;
        [[unroll]] for (uint i = 1; i < 8; ++i) {
            const uint next = min(low + i * stride, high - 1);
            place = list.at[LIST_HEADER_WORDS + next * LISTED_WORDS + LISTED_FIRST_TILE] > linear ? place : next;
        }
        low = place;
        high = min(place + stride, high);
    }
    const uint at = LIST_HEADER_WORDS + low * LISTED_WORDS;
    set_common_args();
    args.m = list.at[at + LISTED_M];
    args.n = list.at[at + LISTED_N];
    args.k = args.k_chunk = list.at[at + LISTED_K];
    args.lda = list.at[at + LISTED_LD];
    args.ldb = list.at[at + LISTED_LD + 1];
    args.ldc = list.at[at + LISTED_LD + 2];
    args.ldd = list.at[at + LISTED_LD + 3];
    args.a = address_at(list, at + LISTED_ADDRESS);
    args.b = address_at(list, at + LISTED_ADDRESS + 2);
    args.c = address_at(list, at + LISTED_ADDRESS + 4);
    args.d = address_at(list, at + LISTED_ADDRESS + 6);
    indices = address_at(list, at + LISTED_ADDRESS + 8);
    args.batch = 1;
    args.batch_a = args.batch_b = args.batch_c = args.batch_d = 0;
    uint borrow, carry;  // the residual has the same offset from its beginning as D
    const uint low_word = usubBorrow(args.d.x, common_args.d.x, borrow);
    args.residual.x = uaddCarry(common_args.residual.x, low_word, carry);
    args.residual.y = common_args.residual.y + args.d.y - common_args.d.y - borrow + carry;
    linear -= list.at[at + LISTED_FIRST_TILE];
    return linear < (args.m + BM - 1) / BM * ((args.n + BN - 1) / BN);
}

// rows_of_a is the number of rows of the whole A. row_of_d and row_of_a map row `row` of this product to a row of the
// whole D and A. An index past the end reads the last row of A, and its row of D is not written (has_row).
uint rows_of_a() {
    return BY_INDEX == 1 ? (common_args.m + INDICES_PER_ROW - 1) / INDICES_PER_ROW : args.m;
}
uint row_of_d(uint row) { return BY_INDEX == 1 ? word_list(indices).at[min(row, args.m - 1)] : row; }
uint row_of_a(uint row) { return BY_INDEX == 1 ? min(row_of_d(row) / INDICES_PER_ROW, rows_of_a() - 1) : row; }
bool has_row(uint row) { return BY_INDEX != 1 || row_of_d(row) < common_args.m; }

#endif

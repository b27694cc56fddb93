// SPDX-License-Identifier: MIT
//
// Included in ggml-vulkan.cpp before ggml_vk_mul_mat, by a line that `hook` puts there. It turns ggml's tensors into
// those of the adapter, and borrows ggml's scratch buffers.
#ifndef VKGEMM_GGML_HOOK_H
#define VKGEMM_GGML_HOOK_H

#include "vkgemm_ggml/registry.h"

static VkgemmType vkgemm_type(ggml_type type) {
    switch (type) {
        case GGML_TYPE_F32:
            return VKGEMM_TYPE_F32;
        case GGML_TYPE_F16:
            return VKGEMM_TYPE_F16;
        case GGML_TYPE_BF16:
            return VKGEMM_TYPE_BF16;
        case GGML_TYPE_Q8_0:
            return VKGEMM_TYPE_Q8_0;
        case GGML_TYPE_Q4_0:
            return VKGEMM_TYPE_Q4_0;
        case GGML_TYPE_Q4_1:
            return VKGEMM_TYPE_Q4_1;
        case GGML_TYPE_Q5_0:
            return VKGEMM_TYPE_Q5_0;
        case GGML_TYPE_Q5_1:
            return VKGEMM_TYPE_Q5_1;
        case GGML_TYPE_Q4_K:
            return VKGEMM_TYPE_Q4_K;
        case GGML_TYPE_Q5_K:
            return VKGEMM_TYPE_Q5_K;
        case GGML_TYPE_Q6_K:
            return VKGEMM_TYPE_Q6_K;
        case GGML_TYPE_IQ4_NL:
            return VKGEMM_TYPE_IQ4_NL;
        case GGML_TYPE_MXFP4:
            return VKGEMM_TYPE_MXFP4;
        case GGML_TYPE_NVFP4:
            return VKGEMM_TYPE_NVFP4;
        default:
            return VKGEMM_TYPE_DEFAULT;
    }
}

static vkgemm::ggml::Tensor vkgemm_tensor(const ggml_backend_vk_context* ctx, const ggml_tensor* x) {
    vkgemm::ggml::Tensor out;
    out.type = vkgemm_type(x->type);
    for (int i = 0; i < 4; ++i) {
        out.ne[i] = static_cast<uint64_t>(x->ne[i]);
        out.nb[i] = x->nb[i];
    }
    // The part of a buffer for a descriptor begins at a multiple of the device's alignment, and ends with the tensor.
    const vk_subbuffer place = ggml_vk_tensor_subbuffer(ctx, x, true);
    out.buffer = place.buffer->buffer;
    out.offset = place.offset + (place.size - ggml_nbytes(x));
    return out;
}

// Makes sure that a buffer of ggml's has `bytes`, as ggml does for itself.
static VkgemmOperand vkgemm_scratch(ggml_backend_vk_context* ctx, vk_context& subctx, vk_buffer& buffer, size_t& size,
                                    bool needs_sync, uint64_t bytes) {
    if (size < bytes) {
        size = bytes;
        ggml_vk_preallocate_buffers(ctx, subctx);
    }
    if (needs_sync) ggml_vk_sync_buffers(ctx, subctx);
    VkgemmOperand whole{};
    whole.buffer = buffer->buffer;
    whole.size = buffer->size;
    return whole;
}

static vkgemm::ggml::Reason vkgemm_record(ggml_backend_vk_context* ctx, vk_context& subctx,
                                          vkgemm::ggml::Adapter& adapter, const vkgemm::ggml::MulMat& product,
                                          const ggml_tensor* src1, vkgemm::ggml::Work& work) {
    using vkgemm::ggml::Reason;
    const Reason planned = adapter.prepare(product, work);
    if (planned != Reason::SERVED) return planned;
    if (work.scratch_bytes > ctx->device->max_buffer_size || work.rounded_bytes > ctx->device->max_buffer_size)
        return Reason::SCRATCH;
    VkgemmOperand scratch{}, rounded{};
    // Rounded rows are kept for the products that follow with the same rows, where ggml keeps its own copy of them. An
    // address in the adapter marks them as its own, and their type.
    char* const mark = reinterpret_cast<char*>(&adapter) + (work.products.problem.a.type == VKGEMM_TYPE_BF16);
    auto* const owner = reinterpret_cast<vk_pipeline_struct*>(mark);
    work.is_rounded = ctx->prealloc_y_last_pipeline_used == owner && ctx->prealloc_y_last_tensor_used == src1;
    if (work.rounded_bytes)
        rounded = vkgemm_scratch(ctx, subctx, ctx->prealloc_y, ctx->prealloc_size_y,
                                 ctx->prealloc_y_need_sync && !work.is_rounded, work.rounded_bytes);
    if (work.scratch_bytes)
        scratch = vkgemm_scratch(ctx, subctx, ctx->prealloc_split_k, ctx->prealloc_size_split_k,
                                 ctx->prealloc_split_k_need_sync, work.scratch_bytes);
    const Reason recorded = adapter.record(subctx->s->buffer->buf, work, scratch, rounded);
    if (recorded != Reason::SERVED) return recorded;
    if (work.scratch_bytes) ctx->prealloc_split_k_need_sync = true;
    if (work.rounded_bytes) {
        ctx->prealloc_y_need_sync = true;
        ctx->prealloc_y_last_pipeline_used = owner;
        ctx->prealloc_y_last_tensor_used = src1;
        ctx->prealloc_y_last_k_padded = false;
    }
    return Reason::SERVED;
}

// What is fused with a MUL_MAT if those are additions: their other operands. False: something else.
static bool vkgemm_fused(const ggml_backend_vk_context* ctx, const ggml_cgraph* cgraph, int node_idx,
                         vkgemm::ggml::MulMat& product) {
    product.fused_count = static_cast<uint32_t>(ctx->num_additional_fused_ops);
    if (product.fused_count > product.fused.size()) return false;
    for (uint32_t i = 0; i < product.fused_count; ++i) {
        const ggml_tensor* const last = cgraph->nodes[node_idx + int(i)];
        const ggml_tensor* const add = cgraph->nodes[node_idx + int(i) + 1];
        if (add->op != GGML_OP_ADD) return false;
        product.fused[i] = vkgemm_tensor(ctx, add->src[add->src[0] == last ? 1 : 0]);
    }
    product.dst = vkgemm_tensor(ctx, cgraph->nodes[node_idx + int(product.fused_count)]);
    return true;
}

// Whether ggml would round the rows of src1 to 8 bits, 32 at a time: the condition of its own products of few rows.
static bool vkgemm_is_quantised(ggml_backend_vk_context* ctx, const ggml_tensor* dst) {
    const ggml_tensor *const w = dst->src[0], *const y = dst->src[1];
    const bool has_ids = dst->op == GGML_OP_MUL_MAT_ID;
    const int64_t rows = has_ids ? y->ne[2] : y->ne[1];
    if (!ctx->device->integer_dot_product || y->type != GGML_TYPE_F32 || !ggml_is_quantized(w->type)) return false;
    if (!ggml_is_contiguous(y) || y->ne[0] * y->ne[1] % 4 != 0) return false;
    if (rows > mul_mat_vec_max_cols || (!has_ids && rows > 1 && y->ne[2] * y->ne[3] > 1)) return false;
    const auto m = static_cast<uint32_t>(w->ne[1]), n = static_cast<uint32_t>(rows),
               k = static_cast<uint32_t>(w->ne[0]);
    if (!ggml_vk_should_use_mmvq(ctx->device, m, n, k, w->type)) return false;
    return has_ids ? ggml_vk_get_dequantize_mul_mat_vec_id(ctx, w->type, GGML_TYPE_Q8_1, m, k) != nullptr
                   : ggml_vk_get_dequantize_mul_mat_vec(ctx, w->type, GGML_TYPE_Q8_1, n, m, k) != nullptr;
}

// What a tensor looks like to a kernel: its type, sizes, strides and alignment.
static uint64_t vkgemm_hash(const ggml_tensor* x) {
    const auto type = static_cast<uint64_t>(x->type), offset = uint64_t(reinterpret_cast<uintptr_t>(x->data));
    uint64_t h = type << 4 | (offset & 15);
    for (int i = 0; i < 4; ++i) h = vkgemm::ggml::mixed(vkgemm::ggml::mixed(h, uint64_t(x->ne[i])), x->nb[i]);
    return h;
}

// What decides which side multiplies a node, without looking up its buffers. The tensors are hashed side by side.
static uint64_t vkgemm_hash(const ggml_backend_vk_context* ctx, const ggml_cgraph* cgraph, int node_idx) {
    const ggml_tensor* const dst = cgraph->nodes[node_idx];
    const auto fused = static_cast<int>(ctx->num_additional_fused_ops);
    const uint64_t w = vkgemm_hash(dst->src[0]), y = vkgemm_hash(dst->src[1]),
                   d = vkgemm_hash(cgraph->nodes[node_idx + fused]);
    uint64_t h = vkgemm::ggml::mixed(vkgemm::ggml::mixed(w, y), d);
    h = vkgemm::ggml::mixed(h, uint64_t(dst->op_params[0]) << 32 | uint32_t(dst->op_params[1]));
    for (int i = 0; i <= fused; ++i) h = vkgemm::ggml::mixed(h, cgraph->nodes[node_idx + i]->op);
    return dst->op == GGML_OP_MUL_MAT_ID ? vkgemm::ggml::mixed(h, vkgemm_hash(dst->src[2])) : h;
}

/// Node `node_idx`, a MUL_MAT or a MUL_MAT_ID: records it with vkgemm, or leaves it to ggml. It lives until the node is
/// recorded, because while both are timed it writes a timestamp then.
class vkgemm_node {
   public:
    vkgemm_node(ggml_backend_vk_context* ctx, vk_context& subctx, const ggml_cgraph* cgraph, int node_idx)
        : ctx_(ctx), subctx_(subctx), adapter_(vkgemm::ggml::adapter_of(ctx->device->device)) {
        if (!adapter_) return;
        const uint64_t hash = vkgemm_hash(ctx, cgraph, node_idx);
        if (!adapter_->is_left(hash)) decide(cgraph, node_idx, hash);
    }
    ~vkgemm_node() {
        if (turn_.is_timed()) stamp(true);
    }
    vkgemm_node(const vkgemm_node&) = delete;
    vkgemm_node& operator=(const vkgemm_node&) = delete;

    bool is_served = false;

   private:
    void decide(const ggml_cgraph* cgraph, int node_idx, uint64_t hash) {
        using vkgemm::ggml::Reason;
        ggml_backend_vk_context* const ctx = ctx_;
        const ggml_tensor* const dst = cgraph->nodes[node_idx];
        vkgemm::ggml::MulMat product;
        product.src0 = vkgemm_tensor(ctx, dst->src[0]);
        product.src1 = vkgemm_tensor(ctx, dst->src[1]);
        product.dst = vkgemm_tensor(ctx, dst);
        product.is_precise = dst->op_params[0] == GGML_PREC_F32;
        product.is_rounding = ctx->device->coopmat2;
        product.is_quantising = vkgemm_is_quantised(ctx, dst);
        vkgemm::ggml::Tensor ids;
        if (dst->op == GGML_OP_MUL_MAT_ID) {
            ids = vkgemm_tensor(ctx, dst->src[2]);
            product.ids = &ids;
        }
        vkgemm::ggml::Work work;
        Reason reason = Reason::SERVED;
        if (!vkgemm_fused(ctx, cgraph, node_idx, product))
            reason = Reason::FUSED;
        else if (!product.ids && ggml_vk_can_use_fwht(ctx, dst->src[1], dst))
            reason = Reason::HADAMARD;  // ggml has a fast transform for it
        else {
            turn_ = adapter_->turn_of(product);
            reason = turn_.reason;
        }
        if (turn_.is_timed()) stamp(false);
        if (reason == Reason::SERVED) {
            reason = vkgemm_record(ctx, subctx_, *adapter_, product, dst->src[1], work);
            is_served = reason == Reason::SERVED;
            if (!is_served) adapter_->drop(product);
        }
        if (reason == Reason::SLOWER) adapter_->leave(hash);
        adapter_->note(product, work, reason);
    }
    // What is timed overlaps nothing.
    void stamp(bool is_end) {
        if (!is_end) ggml_vk_sync_buffers(ctx_, subctx_);
        adapter_->stamp(subctx_->s->buffer->buf, turn_, is_end);
        if (is_end) ggml_vk_sync_buffers(ctx_, subctx_);
    }

    ggml_backend_vk_context* const ctx_;
    vk_context& subctx_;
    vkgemm::ggml::Adapter* const adapter_;
    vkgemm::ggml::Turn turn_;
};

#endif

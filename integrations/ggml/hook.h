// SPDX-License-Identifier: MIT
//
// Included in ggml-vulkan.cpp before ggml_vk_mul_mat, by a line that `hook` puts there. It turns ggml's tensors into
// those of the adapter, and borrows ggml's scratch buffer for split k.
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

static vkgemm::ggml::Reason vkgemm_record(ggml_backend_vk_context* ctx, vk_context& subctx,
                                          vkgemm::ggml::Adapter& adapter, const vkgemm::ggml::MulMat& product,
                                          vkgemm::ggml::Work& work) {
    using vkgemm::ggml::Reason;
    const Reason planned = adapter.prepare(product, work);
    if (planned != Reason::SERVED) return planned;
    VkgemmOperand scratch{};
    if (work.scratchBytes) {
        if (work.scratchBytes > ctx->device->max_buffer_size) return Reason::SCRATCH;
        if (ctx->prealloc_size_split_k < work.scratchBytes) {
            ctx->prealloc_size_split_k = work.scratchBytes;
            ggml_vk_preallocate_buffers(ctx, subctx);
        }
        if (ctx->prealloc_split_k_need_sync) ggml_vk_sync_buffers(ctx, subctx);
        scratch.buffer = ctx->prealloc_split_k->buffer;
        scratch.size = ctx->prealloc_split_k->size;
    }
    const Reason recorded = adapter.record(subctx->s->buffer->buf, work, scratch);
    if (recorded == Reason::SERVED && work.scratchBytes) ctx->prealloc_split_k_need_sync = true;
    return recorded;
}

/// Records node `node_idx`, a MUL_MAT or a MUL_MAT_ID, with vkgemm. False: nothing was recorded, and ggml does it.
static bool vkgemm_mul_mat(ggml_backend_vk_context* ctx, vk_context& subctx, const ggml_cgraph* cgraph, int node_idx) {
    using vkgemm::ggml::Reason;
    vkgemm::ggml::Adapter* const adapter = vkgemm::ggml::adapterOf(ctx->device->device);
    if (!adapter) return false;
    const ggml_tensor* const dst = cgraph->nodes[node_idx];
    vkgemm::ggml::MulMat product;
    product.src0 = vkgemm_tensor(ctx, dst->src[0]);
    product.src1 = vkgemm_tensor(ctx, dst->src[1]);
    product.dst = vkgemm_tensor(ctx, dst);
    product.isPrecise = dst->op_params[0] == GGML_PREC_F32;
    vkgemm::ggml::Tensor ids;
    if (dst->op == GGML_OP_MUL_MAT_ID) {
        ids = vkgemm_tensor(ctx, dst->src[2]);
        product.ids = &ids;
    }
    vkgemm::ggml::Work work;
    Reason reason = Reason::SERVED;
    if (ctx->num_additional_fused_ops > 0)
        reason = Reason::FUSED;
    else if (!product.ids && ggml_vk_can_use_fwht(ctx, dst->src[1], dst))
        reason = Reason::POLICY;  // a Hadamard matrix, for which ggml has a fast transform
    else
        reason = vkgemm_record(ctx, subctx, *adapter, product, work);
    adapter->note(product, work, reason);
    return reason == Reason::SERVED;
}

#endif

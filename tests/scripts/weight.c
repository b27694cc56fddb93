/* SPDX-License-Identifier: MIT
 * A program that links vkgemm, for weight.cmake. It checks that the library has the kernels that the first argument
 * names and no others: all of them, machine code if the build has some; those that multiply f32 and their helpers,
 * without machine code, cpu_packed, vec4 and block; or those of the family tiled and their helpers. With the second
 * argument "count" it prints how many of these the library has. */
#include <stdio.h>
#include <string.h>
#include <vkgemm/vkgemm.h>

#ifdef LIST_KERNELS
static int is_helper_of_f32(const char* name) {
    return strncmp(name, "reduce_f32", 10) == 0 || strncmp(name, "pack_32", 7) == 0 ||
           strncmp(name, "pack_fragments_bf16x3", 21) == 0 || strncmp(name, "pack_fragments_f16x2", 20) == 0 ||
           strncmp(name, "list_tiles", 10) == 0;
}

static int is_helper_of_tiled(const char* name, const char* family) {
    return strcmp(family, "reduce_k") == 0 || strcmp(family, "list_tiles") == 0 || strcmp(family, "split_int8") == 0 ||
           strcmp(family, "join_int8") == 0 || strcmp(family, "finish_f64") == 0 ||
           (strcmp(family, "pack") == 0 && strncmp(name, "pack_", 5) == 0);
}

static int is_native(const char* name) {
    return strncmp(name, "wgmma_", 6) == 0 || strncmp(name, "pack_parts_", 11) == 0;
}

/* A library without the program vkgemm has these only if VKGEMM_FAMILIES names them. */
static int is_on_request(const char* family) {
    return strcmp(family, "cpu_packed") == 0 || strcmp(family, "vec4") == 0 || strcmp(family, "block") == 0;
}

static int wanted(const VkgemmKernelInfo* k, const char* which) {
    if (strcmp(which, "f32") == 0 && (is_native(k->name) || is_on_request(k->family))) return 0;
    if (strcmp(which, "f32") == 0) return k->helper ? is_helper_of_f32(k->name) : k->a == VKGEMM_TYPE_F32;
    if (strcmp(which, "tiled") == 0)
        return k->helper ? is_helper_of_tiled(k->name, k->family) : strcmp(k->family, "tiled") == 0;
    return !is_native(k->name) || k->built; /* a build without nvcc has none of these */
}

static int list_kernels(const char* which, int count) {
    uint32_t i, built = 0, wrong = 0, here = 0;
    VkgemmKernelInfo k;
    for (i = 0; i < vkgemmKernelCount(); ++i) {
        memset(&k, 0, sizeof k);
        k.structSize = sizeof k;
        if (vkgemmGetKernel(i, &k) != VKGEMM_SUCCESS) return 3;
        built += k.built != 0;
        here += k.built && wanted(&k, which);
        if (count || (k.built != 0) == (wanted(&k, which) != 0)) continue;
        printf("%s is%s built\n", k.name, k.built ? "" : " not");
        ++wrong;
    }
    if (count) {
        printf("%u", here);
        return 0;
    }
    printf("%u of %u kernels are built\n", built, vkgemmKernelCount());
    return wrong || built == 0;
}
#endif

int main(int count, char** arguments) {
    VkgemmContext context = NULL;
    VkgemmPlan plan = NULL;
    if (count != 2 && count != 3) return 2;
    /* Refused; they are called so that the linker keeps what a program uses. */
    if (vkgemmCreateContext(NULL, &context, NULL) == VKGEMM_SUCCESS) return 4;
    if (vkgemmCreatePlan(context, NULL, NULL, &plan, NULL) == VKGEMM_SUCCESS) return 5;
    if (vkgemmRecord(plan, VK_NULL_HANDLE, NULL, NULL) == VKGEMM_SUCCESS) return 6;
#ifdef LIST_KERNELS
    return list_kernels(arguments[1], count == 3);
#else
    return arguments[1][0] == '\0';
#endif
}

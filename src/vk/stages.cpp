// SPDX-License-Identifier: MIT
#include "vk/stages.h"

#include <charconv>
#include <span>

namespace vkgemm::vk {
namespace {

using Bits = uint64_t;

struct Name {
    Bits bit;
    const char* text;
};
// The graphics pipeline in its logical order, which begins as the compute pipeline does.
constexpr Name graphics[] = {
    {VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, "DRAW_INDIRECT"},
    {VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT, "INDEX_INPUT"},
    {VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT, "VERTEX_ATTRIBUTE_INPUT"},
    {VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, "VERTEX_SHADER"},
    {VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT, "TESSELLATION_CONTROL_SHADER"},
    {VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT, "TESSELLATION_EVALUATION_SHADER"},
    {VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT, "GEOMETRY_SHADER"},
    {VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT, "TASK_SHADER"},
    {VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT, "MESH_SHADER"},
    {VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT, "EARLY_FRAGMENT_TESTS"},
    {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, "FRAGMENT_SHADER"},
    {VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT, "LATE_FRAGMENT_TESTS"},
    {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, "COLOR_ATTACHMENT_OUTPUT"},
};
constexpr Name other_stages[] = {
    {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, "COMPUTE_SHADER"},
    {VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, "ALL_TRANSFER"},
    {VK_PIPELINE_STAGE_2_COPY_BIT, "COPY"},
    {VK_PIPELINE_STAGE_2_RESOLVE_BIT, "RESOLVE"},
    {VK_PIPELINE_STAGE_2_BLIT_BIT, "BLIT"},
    {VK_PIPELINE_STAGE_2_CLEAR_BIT, "CLEAR"},
    {VK_PIPELINE_STAGE_2_HOST_BIT, "HOST"},
    {VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, "ALL_GRAPHICS"},
    {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, "ALL_COMMANDS"},
};
constexpr Name reads[] = {
    {VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, "INDIRECT_COMMAND_READ"},
    {VK_ACCESS_2_INDEX_READ_BIT, "INDEX_READ"},
    {VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT, "VERTEX_ATTRIBUTE_READ"},
    {VK_ACCESS_2_UNIFORM_READ_BIT, "UNIFORM_READ"},
    {VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT, "INPUT_ATTACHMENT_READ"},
    {VK_ACCESS_2_SHADER_READ_BIT, "SHADER_READ"},
    {VK_ACCESS_2_SHADER_SAMPLED_READ_BIT, "SHADER_SAMPLED_READ"},
    {VK_ACCESS_2_SHADER_STORAGE_READ_BIT, "SHADER_STORAGE_READ"},
    {VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT, "COLOR_ATTACHMENT_READ"},
    {VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT, "DEPTH_STENCIL_ATTACHMENT_READ"},
    {VK_ACCESS_2_TRANSFER_READ_BIT, "TRANSFER_READ"},
    {VK_ACCESS_2_HOST_READ_BIT, "HOST_READ"},
    {VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR, "ACCELERATION_STRUCTURE_READ"},
    {VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR, "SHADER_BINDING_TABLE_READ"},
    {VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT, "DESCRIPTOR_BUFFER_READ"},
    {VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT, "CONDITIONAL_RENDERING_READ"},
    {VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT, "TRANSFORM_FEEDBACK_COUNTER_READ"},
    {VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT, "COLOR_ATTACHMENT_READ_NONCOHERENT"},
    {VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR, "FRAGMENT_SHADING_RATE_ATTACHMENT_READ"},
    {VK_ACCESS_2_MEMORY_READ_BIT, "MEMORY_READ"},
};
constexpr Name writes[] = {
    {VK_ACCESS_2_SHADER_WRITE_BIT, "SHADER_WRITE"},
    {VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, "SHADER_STORAGE_WRITE"},
    {VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT, "COLOR_ATTACHMENT_WRITE"},
    {VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, "DEPTH_STENCIL_ATTACHMENT_WRITE"},
    {VK_ACCESS_2_TRANSFER_WRITE_BIT, "TRANSFER_WRITE"},
    {VK_ACCESS_2_HOST_WRITE_BIT, "HOST_WRITE"},
    {VK_ACCESS_2_MEMORY_WRITE_BIT, "MEMORY_WRITE"},
};

constexpr Bits all_of(std::span<const Name> names) {
    Bits out = 0;
    for (const Name& n : names) out |= n.bit;
    return out;
}
constexpr Bits known_reads = all_of(reads);
constexpr Bits all_commands = ~VK_PIPELINE_STAGE_2_HOST_BIT;  // the host is no command

std::string names_of(Bits bits, std::span<const Name> some, std::span<const Name> others) {
    if (bits == 0) return "NONE";
    std::string out;
    for (const std::span<const Name> names : {some, others})
        for (const Name& n : names) {
            if (!(bits & n.bit)) continue;
            out += (out.empty() ? "" : " | ") + std::string(n.text);
            bits &= ~n.bit;
        }
    if (bits == 0) return out;
    return out + (out.empty() ? "" : " | ") + hex_text(bits);
}

// The stages of the graphics pipeline before or after any of `stages`.
Bits beside(Bits stages, bool earlier) {
    Bits out = 0, passed = 0;
    bool met = false;
    for (const Name& n : graphics) {
        met = met || (stages & n.bit);
        if (!earlier && met) out |= n.bit;
        passed |= n.bit;
        if (earlier && (stages & n.bit)) out = passed;
    }
    return out;
}

}  // namespace

VkPipelineStageFlags2 with_aliases(VkPipelineStageFlags2 stages) {
    if (stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT) return all_commands | stages;
    if (stages & VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT) stages |= all_of(graphics);
    if (stages & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT)
        stages |= VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT |
                  VK_PIPELINE_STAGE_2_CLEAR_BIT;
    if (stages & VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT)
        stages |= VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT;
    if (stages & VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT)
        stages |= VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT |
                  VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT | VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT |
                  VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT | VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT;
    return stages;
}

VkAccessFlags2 with_aliases_of_access(VkAccessFlags2 access) {
    if (access & VK_ACCESS_2_MEMORY_READ_BIT) access |= known_reads;
    if (access & VK_ACCESS_2_MEMORY_WRITE_BIT) access |= ~known_reads;
    if (access & VK_ACCESS_2_SHADER_READ_BIT)
        access |= VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
    if (access & VK_ACCESS_2_SHADER_WRITE_BIT) access |= VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
    return access;
}

VkPipelineStageFlags2 first_scope(VkPipelineStageFlags2 stages) {
    if (stages & VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT) return all_commands | stages;
    stages = with_aliases(stages);
    if (stages & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT) stages |= VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT;
    return stages | beside(stages, true);
}

VkPipelineStageFlags2 second_scope(VkPipelineStageFlags2 stages) {
    if (stages & VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT) return all_commands | stages;
    stages = with_aliases(stages);
    if (stages & VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT) stages |= VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    return stages | beside(stages, false);
}

VkAccessFlags2 writes_of(VkAccessFlags2 access) { return access & ~known_reads; }

std::string stages_text(VkPipelineStageFlags2 stages) { return names_of(stages, graphics, other_stages); }
std::string access_text(VkAccessFlags2 access) { return names_of(access, reads, writes); }

std::string hex_text(uint64_t value) {
    char digits[16];
    char* const end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
    return "0x" + std::string(digits, end);
}

}  // namespace vkgemm::vk

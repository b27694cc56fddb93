// SPDX-License-Identifier: MIT
#include "vk/convert.h"

#include <algorithm>
#include <cstring>

#include "shaders/abi.h"

namespace vkgemm::vk {
namespace {

using plan::Refusal;
using plan::Result;

static_assert(VKGEMM_TYPE_F32 == int(plan::Type::f32) + 1 && VKGEMM_TYPE_U8 == int(plan::Type::u8) + 1,
              "types differ by the default");
static_assert(VKGEMM_STEP_CLAMP == int(plan::StepKind::clamp) && STEP_CLAMP == int(plan::StepKind::clamp),
              "steps are the same everywhere");
static_assert(VKGEMM_STEP_BIAS_ROW == STEP_BIAS_ROW && VKGEMM_STEP_RESIDUAL == STEP_RESIDUAL &&
              VKGEMM_STEP_SILU == STEP_SILU);
static_assert(VKGEMM_C_SEPARATE == int(plan::CSource::separate) &&
              VKGEMM_LAYOUT_COLUMN_MAJOR == int(plan::Layout::column_major));
static_assert(VKGEMM_MAX_EPILOGUE_STEPS == plan::max_epilogue_steps);
static_assert(VKGEMM_ERROR_INVALID_ARGUMENT == int(Refusal::argument) &&
                  VKGEMM_ERROR_INVALID_PROBLEM == int(Refusal::problem) &&
                  VKGEMM_ERROR_UNSUPPORTED == int(Refusal::unsupported) && VKGEMM_ERROR_LIMIT == int(Refusal::limit) &&
                  VKGEMM_ERROR_TILE == int(Refusal::tile) && VKGEMM_ERROR_OPERAND == int(Refusal::operand) &&
                  VKGEMM_ERROR_WORKSPACE == int(Refusal::workspace) &&
                  VKGEMM_ERROR_MISSING_FUNCTION == int(Refusal::missing_function) &&
                  VKGEMM_ERROR_OUT_OF_MEMORY == int(Refusal::memory) &&
                  VKGEMM_ERROR_DEVICE_LOST == int(Refusal::device_lost) &&
                  VKGEMM_ERROR_VULKAN == int(Refusal::vulkan) && VKGEMM_ERROR_PARSE == int(Refusal::parse),
              "refusals have the public codes");

// As much of `text` as fits into `room` bytes with a terminating null, and no half character at its end.
size_t copy_text(std::string_view text, char* to, size_t room) {
    size_t n = std::min(text.size(), room - 1);
    if (n < text.size())
        while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
    std::memcpy(to, text.data(), n);
    to[n] = '\0';
    return n;
}

// One line, whatever the words were that it quotes.
void put_text(VkgemmError* error, std::string_view text, VkResult r) {
    if (!error) return;
    error->vkResult = r;
    const size_t n = copy_text(text, error->text, sizeof error->text);
    std::replace_if(
        error->text, error->text + n, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
}

// A public enum as it came: the number, refused beyond `last`.
std::optional<Refusal> check_word(const char* what, int value, int last) {
    if (value >= 0 && value <= last) return std::nullopt;
    return Refusal{Refusal::argument,
                   std::string(what) + " is " + std::to_string(value) + "; known are 0 to " + std::to_string(last)};
}

std::optional<plan::Type> type_from(VkgemmType t) {
    if (t == VKGEMM_TYPE_DEFAULT) return std::nullopt;
    return static_cast<plan::Type>(int(t) - 1);
}

std::optional<Refusal> matrix_from(const VkgemmMatrix& from, plan::Matrix& to, const char* type_name,
                                   const char* layout_name) {
    if (auto why = check_word(type_name, from.type, VKGEMM_TYPE_U8)) return why;
    if (auto why = check_word(layout_name, from.layout, VKGEMM_LAYOUT_COLUMN_MAJOR)) return why;
    to = {type_from(from.type), static_cast<plan::Layout>(from.layout), from.ld, from.batchStride};
    return std::nullopt;
}

VkgemmMatrix matrix_to(const plan::Matrix& m) {
    return {m.type ? type_to(*m.type) : VKGEMM_TYPE_DEFAULT, static_cast<VkgemmLayout>(m.layout), m.ld, m.stride};
}

}  // namespace

VkgemmResult to_result(VkgemmError* error, const Refusal& r) {
    put_text(error, r.why, static_cast<VkResult>(r.vk_result));
    return static_cast<VkgemmResult>(r.kind);
}

VkgemmResult to_result(VkgemmError* error, VkgemmResult positive, std::string_view text) {
    put_text(error, text, VK_SUCCESS);
    return positive;
}

VkgemmResult success(VkgemmError* error) { return to_result(error, VKGEMM_SUCCESS, ""); }

VkgemmResult copy_text(std::string_view text, char* to, size_t* size) {
    if (!size) return VKGEMM_ERROR_INVALID_ARGUMENT;
    const size_t room = *size;
    *size = text.size() + 1;
    if (!to) return VKGEMM_SUCCESS;
    if (room == 0) return VKGEMM_INCOMPLETE;
    return copy_text(text, to, room) == text.size() ? VKGEMM_SUCCESS : VKGEMM_INCOMPLETE;
}

VkgemmType type_to(plan::Type t) { return static_cast<VkgemmType>(int(t) + 1); }

Result<plan::Problem> problem_from(const VkgemmProblem* given) {
    const Result<VkgemmProblem> from = read_struct(given);
    if (!from) return from.refusal();
    plan::Problem p;
    p.m = from->m, p.n = from->n, p.k = from->k, p.batch = from->batch ? from->batch : 1;
    if (auto why = matrix_from(from->a, p.a, "a.type", "a.layout")) return *why;
    if (auto why = matrix_from(from->b, p.b, "b.type", "b.layout")) return *why;
    if (auto why = matrix_from(from->c, p.c, "c.type", "c.layout")) return *why;
    if (auto why = matrix_from(from->d, p.d, "d.type", "d.layout")) return *why;
    if (auto why = check_word("cSource", from->cSource, VKGEMM_C_SEPARATE)) return *why;
    if (auto why = check_word("accumulate", from->accumulate, VKGEMM_TYPE_U8)) return *why;
    if (auto why = check_word("accuracy", from->accuracy, VKGEMM_ACCURACY_F32_SPLIT_ROWS)) return *why;
    if (from->epilogueCount > VKGEMM_MAX_EPILOGUE_STEPS)
        return Refusal{Refusal::argument, "epilogueCount is " + std::to_string(from->epilogueCount) +
                                              ", above the limit of " + std::to_string(VKGEMM_MAX_EPILOGUE_STEPS)};
    p.c_source = static_cast<plan::CSource>(from->cSource);
    p.accumulate = type_from(from->accumulate);
    p.accuracy = static_cast<plan::Accuracy>(from->accuracy);
    for (uint32_t i = 0; i < from->epilogueCount; ++i) {
        if (auto why = check_word("epilogue.kind", from->epilogue[i].kind, VKGEMM_STEP_CLAMP)) return *why;
        if (from->epilogue[i].kind == VKGEMM_STEP_NONE)
            return Refusal{Refusal::argument,
                           "epilogue[" + std::to_string(i) + "].kind is VKGEMM_STEP_NONE, but epilogueCount is " +
                               std::to_string(from->epilogueCount) + "; the first epilogueCount entries must be steps"};
        p.epilogue[i] = {static_cast<plan::StepKind>(from->epilogue[i].kind), from->epilogue[i].low,
                         from->epilogue[i].high};
    }
    return p;
}

VkgemmProblem problem_to(const plan::Problem& p) {
    VkgemmProblem out = {};
    out.structSize = sizeof out;
    out.m = p.m, out.n = p.n, out.k = p.k, out.batch = p.batch;
    out.a = matrix_to(p.a), out.b = matrix_to(p.b), out.c = matrix_to(p.c), out.d = matrix_to(p.d);
    out.cSource = static_cast<VkgemmC>(p.c_source);
    out.accumulate = p.accumulate ? type_to(*p.accumulate) : VKGEMM_TYPE_DEFAULT;
    out.accuracy = static_cast<VkgemmAccuracy>(p.accuracy);
    for (const plan::EpilogueStep& s : p.epilogue)
        if (s.kind != plan::StepKind::none)
            out.epilogue[out.epilogueCount++] = {static_cast<VkgemmStepKind>(s.kind), s.low, s.high};
    return out;
}

}  // namespace vkgemm::vk

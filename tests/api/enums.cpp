// SPDX-License-Identifier: MIT
// Every enum that a caller sets, at values far outside it. With -fsanitize=enum, a value that is loaded as its enum
// before it is refused ends the test; so the test itself writes them as bytes.
#include <climits>
#include <cstring>

#include "api/api.h"
#include "plan/problem/epilogue.h"

using namespace vkgemm::test;

namespace {

constexpr int last_type = std::size(vkgemm::plan::type_info), last_step = std::size(vkgemm::plan::step_info);

/// An enum field of T, the words that an error has for it, and its limits.
struct Field {
    const char* name;
    size_t offset;
    int first, last;
};

template <class T>
T with_value(T from, size_t offset, int value) {
    std::memcpy(reinterpret_cast<char*>(&from) + offset, &value, sizeof value);
    return from;
}

/// The caller's mistake, which the sanitizer would find here.
template <class Enum>
[[gnu::no_sanitize("enum")]] Enum enum_of(int value) {
    Enum out;
    std::memcpy(&out, &value, sizeof out);
    return out;
}

std::string refusal_of(const Field& f, int value) {
    return std::string(f.name) + " is " + std::to_string(value) + "; known are " + std::to_string(f.first) + " to " +
           std::to_string(f.last);
}

/// `call` refuses `from` if any of its enums has a value outside its limits.
template <class T, class Call>
void check_fields(const T& from, const std::vector<Field>& fields, const Call& call) {
    for (const Field& f : fields)
        for (const int value : {f.last + 1, 1 << 30, INT_MAX, -1, INT_MIN})
            expect(call(with_value(from, f.offset, value)), VKGEMM_ERROR_INVALID_ARGUMENT, {refusal_of(f, value)});
}

std::vector<Field> fields_of_problems() {
    std::vector<Field> out = {
        {"cSource", offsetof(VkgemmProblem, cSource), 0, VKGEMM_C_SEPARATE},
        {"accumulate", offsetof(VkgemmProblem, accumulate), 0, last_type},
        {"accuracy", offsetof(VkgemmProblem, accuracy), 0, VKGEMM_ACCURACY_F64_SPLIT_WIDE},
        {"grouping", offsetof(VkgemmProblem, grouping), 0, VKGEMM_GROUPING_SELECTED},
        {"biasType", offsetof(VkgemmProblem, biasType), 0, last_type},
        {"scaleType", offsetof(VkgemmProblem, scaleType), 0, last_type},
        {"residualType", offsetof(VkgemmProblem, residualType), 0, last_type},
    };
    const struct {
        const char *type, *layout;
        size_t offset;
    } matrices[] = {{"a.type", "a.layout", offsetof(VkgemmProblem, a)},
                    {"b.type", "b.layout", offsetof(VkgemmProblem, b)},
                    {"c.type", "c.layout", offsetof(VkgemmProblem, c)},
                    {"d.type", "d.layout", offsetof(VkgemmProblem, d)}};
    for (const auto& m : matrices) {
        out.push_back(
            {.name = m.type, .offset = m.offset + offsetof(VkgemmMatrix, type), .first = 0, .last = last_type});
        out.push_back({.name = m.layout,
                       .offset = m.offset + offsetof(VkgemmMatrix, layout),
                       .first = 0,
                       .last = VKGEMM_LAYOUT_COLUMN_MAJOR});
    }
    static const char* const steps[] = {"epilogue[0].kind", "epilogue[1].kind", "epilogue[2].kind", "epilogue[3].kind"};
    static_assert(std::size(steps) == VKGEMM_MAX_EPILOGUE_STEPS);
    for (size_t i = 0; i < std::size(steps); ++i)
        out.push_back({.name = steps[i],
                       .offset = offsetof(VkgemmProblem, epilogue) + i * sizeof(VkgemmEpilogueStep),
                       .first = 1,
                       .last = last_step});
    return out;
}

Said dry_plan(const VkgemmProblem& p, VkgemmPlanOptions o = options()) {
    o.flags |= VKGEMM_PLAN_DRY;
    OwnedPlan plan;
    return make_plan(plan, p, o);
}

VkgemmProblem with_four_steps() { return problem("20x30x40 c=separate bias=row act=relu clamp=0:1 residual"); }

Said needs_of(const VkgemmNeedsInfo& info) {
    VkgemmNeeds needs{};
    needs.structSize = sizeof needs;
    return said([&](VkgemmError* e) { return vkgemmQueryNeeds(&info, &needs, e); });
}

}  // namespace

TEST_CASE("enums out of range: problems") {
    check_fields(with_four_steps(), fields_of_problems(), [](const VkgemmProblem& p) { return dry_plan(p); });
    check_fields(with_four_steps(), fields_of_problems(), [](const VkgemmProblem& p) {
        VkgemmProblem out{};
        out.structSize = sizeof out;
        return said([&](VkgemmError* e) { return vkgemmCompleteProblem(&p, &out, e); });
    });
    check_fields(with_four_steps(), fields_of_problems(), [](const VkgemmProblem& p) {
        VkgemmNeedsInfo info = needs_info();
        info.problems = &p;
        info.problemCount = 1;
        return needs_of(info);
    });
}

TEST_CASE("enums out of range: entries behind the epilogue's steps are not read") {
    VkgemmProblem p = problem("20x30x40 act=relu");
    for (size_t i = 1; i < VKGEMM_MAX_EPILOGUE_STEPS; ++i)
        p = with_value(p, offsetof(VkgemmProblem, epilogue) + i * sizeof(VkgemmEpilogueStep), -1);
    expect(dry_plan(p), VKGEMM_SUCCESS, {});
    char text[100] = "";
    size_t size = sizeof text;
    REQUIRE(vkgemmFormatProblem(&p, 1, 0, text, &size) == VKGEMM_SUCCESS);
    CHECK(std::string(text) == "f32*f32+f32->f32 20x30x40 act=relu");
}

TEST_CASE("enums out of range: options, contexts, needs, chains") {
    check_fields(
        options(),
        {{"VkgemmPlanOptions::operands", offsetof(VkgemmPlanOptions, operands), 0, VKGEMM_OPERANDS_DESCRIPTORS}},
        [](const VkgemmPlanOptions& o) { return dry_plan(problem("20x30x40"), o); });
    check_fields(
        context_info(),
        {{"VkgemmContextInfo::nativeKernels", offsetof(VkgemmContextInfo, nativeKernels), 0, VKGEMM_NATIVE_ANY_DRIVER}},
        [](const VkgemmContextInfo& info) {
            OwnedContext c;
            return said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); });
        });
    check_fields(needs_info(),
                 {{"VkgemmNeedsInfo::operands", offsetof(VkgemmNeedsInfo, operands), 0, VKGEMM_OPERANDS_DESCRIPTORS}},
                 needs_of);
    const VkgemmChainHeader header = with_value(VkgemmChainHeader{}, offsetof(VkgemmChainHeader, type), -5);
    VkgemmProblem p = problem("20x30x40");
    p.pNext = &header;
    expect(dry_plan(p), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmProblem::pNext has a struct of type -5"});
}

TEST_CASE("enums out of range: arguments") {
    OwnedPlan product, pack;
    plan_for(product, "20x30x40");
    VkgemmTypeInfo type{};
    type.structSize = sizeof type;
    for (const int value : {VKGEMM_SLOT_COUNT + 0, 1 << 30, INT_MAX, -1, INT_MIN}) {
        expect(said([&](VkgemmError* e) {
                   return vkgemmCreatePack(product.handle, enum_of<VkgemmSlot>(value), &pack.handle, e);
               }),
               VKGEMM_ERROR_INVALID_ARGUMENT, {refusal_of({"slot", 0, 0, VKGEMM_SLOT_COUNT - 1}, value)});
    }
    for (const int value : {last_type + 1, 1 << 30, INT_MAX, 0, -1, INT_MIN})
        CHECK(vkgemmGetTypeInfo(enum_of<VkgemmType>(value), &type) == VKGEMM_ERROR_INVALID_ARGUMENT);
    for (const int value : {1 << 30, INT_MAX, INT_MIN})
        CHECK(std::string(vkgemmResultName(enum_of<VkgemmResult>(value))) == "unknown result");
}

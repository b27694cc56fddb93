// SPDX-License-Identifier: MIT
// Callers that were compiled with another version of the header: an older one, whose structs are smaller, and a newer
// one, whose structs are larger.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "api/api.h"
#include "vk/versioned.h"

using namespace vkgemm::test;
using vkgemm::vk::struct_info;

namespace {

constexpr std::byte poison{0xcd};

/// A struct as another version has it, between poison.
template <class T>
class Other {
   public:
    /// The first `size` bytes of `value`; beyond its own size, zeros.
    Other(const T& value, size_t size) : bytes_(size + 256, poison) {
        const size_t copied = std::min(size, sizeof(T));
        std::memcpy(bytes_.data(), &value, copied);
        std::memset(bytes_.data() + copied, 0, size - copied);
        get()->structSize = static_cast<uint32_t>(size);
    }
    T* get() { return reinterpret_cast<T*>(bytes_.data()); }
    std::byte& operator[](size_t i) { return bytes_[i]; }
    bool poisoned_from(size_t i) const {
        return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(i), bytes_.end(),
                           [](std::byte b) { return b == poison; });
    }

   private:
    std::vector<std::byte> bytes_;
};

/// All that a call answers, as text.
using Answer = std::function<std::string(const void*)>;

/// An older caller gets the answer of one that left the missing fields at zero, a newer one that of this version.
template <class T>
void check_input(const T& value, const Answer& answer) {
    INFO(std::string(struct_info<T>.name));
    const std::string whole = answer(&value);
    for (size_t size = struct_info<T>.least; size < sizeof(T); size += 8) {
        CAPTURE(size);
        T zeroed{};
        std::memcpy(&zeroed, &value, size);
        Other<T> older(value, size);
        CHECK(answer(older.get()) == answer(&zeroed));
    }
    for (const size_t more : {size_t{8}, size_t{64}, 4096 - sizeof(T)}) {
        CAPTURE(more);
        Other<T> newer(value, sizeof(T) + more);
        CHECK(answer(newer.get()) == whole);
        for (const size_t at : {size_t{0}, more / 2, more - 1}) {
            newer[sizeof(T) + at] = std::byte{1};
            CHECK(has_words(answer(newer.get()),
                            std::string(struct_info<T>.name) + "::structSize is " + std::to_string(sizeof(T) + more),
                            "knows " + std::to_string(sizeof(T)), "newer header"));
            newer[sizeof(T) + at] = std::byte{0};
        }
    }
    for (const size_t size :
         {size_t{0}, size_t{4}, struct_info<T>.least - 8, sizeof(T) - 4, sizeof(T) + 1, size_t{4104}}) {
        CAPTURE(size);
        Other<T> odd(value, size);
        CHECK(has_words(answer(odd.get()), std::string(struct_info<T>.name) + "::structSize is " + std::to_string(size),
                        "sizeof(" + std::string(struct_info<T>.name) + ")"));
    }
}

/// An older caller gets the fields it has, and no byte beyond; a newer one gets zeros in those that it has more.
template <class T>
void check_output(const std::function<VkgemmResult(T*)>& call) {
    INFO(std::string(struct_info<T>.name));
    T whole{};
    whole.structSize = sizeof whole;
    REQUIRE(call(&whole) == VKGEMM_SUCCESS);
    for (size_t size = struct_info<T>.least; size <= sizeof(T) + 64; size += alignof(T)) {
        CAPTURE(size);
        Other<T> other(T{}, size);
        for (size_t i = 4; i < size; ++i) other[i] = poison;
        REQUIRE(call(other.get()) == VKGEMM_SUCCESS);
        CHECK(other.get()->structSize == size);
        const size_t common = std::min(size, sizeof(T));
        CHECK(std::memcmp(&other[4], reinterpret_cast<const std::byte*>(&whole) + 4, common - 4) == 0);
        for (size_t i = common; i < size; ++i) CHECK(other[i] == std::byte{0});
        CHECK(other.poisoned_from(size));
    }
    for (const size_t size : {size_t{0}, struct_info<T>.least - 8, sizeof(T) - alignof(T) / 2, size_t{4104}}) {
        Other<T> odd(whole, size);
        CHECK(call(odd.get()) == VKGEMM_ERROR_INVALID_ARGUMENT);
        CHECK(odd.poisoned_from(std::max(size, sizeof(uint32_t))));
    }
}

using OwnedChain = Owned<VkgemmChain, vkgemmDestroyChain>;

std::string answer_of(const Said& got, const std::string& more = "") {
    return std::string(vkgemmResultName(got.code)) + ": " + got.text + "|" + more;
}

std::string needs_of(const VkgemmNeedsInfo* info) {
    VkgemmNeeds needs{};
    needs.structSize = sizeof needs;
    const Said got = said([&](VkgemmError* e) { return vkgemmQueryNeeds(info, &needs, e); });
    return answer_of(got, std::to_string(needs.requiredFeatures) + "," + std::to_string(needs.optionalFeatures));
}

}  // namespace

TEST_CASE("an older and a newer caller: problems") {
    check_input(problem("f16*f16+f16->f16 64x128x256 batch=4 lda=300 ldb=200 stride_b=0 c=d bias=row act=gelu "
                        "clamp=0:1 outer=2 outer_stride_b=0 ratio_a=2"),
                [](const void* p) -> std::string {
                    char text[300] = "";
                    size_t size = sizeof text;
                    OwnedPlan plan;
                    VkgemmPlanOptions o = options();
                    o.flags = VKGEMM_PLAN_DRY;
                    const auto* given = static_cast<const VkgemmProblem*>(p);
                    const Said got = make_plan(plan, *given, o);
                    if (vkgemmFormatProblem(given, 1, 0, text, &size) < 0) *text = '\0';
                    return answer_of(got, text);
                });
    const std::string longest = "64x128x256 batch=4 lda=300 c=d bias=row act=gelu";
    check_output<VkgemmProblem>(
        [](VkgemmProblem* p) { return vkgemmParseProblem("64x128x256", p, nullptr, nullptr, nullptr); });
    // What an older struct has no place for is refused, not dropped.
    Other<VkgemmProblem> older(VkgemmProblem{}, offsetof(VkgemmProblem, epilogue));
    expect(said([&](VkgemmError* e) { return vkgemmParseProblem(longest.c_str(), older.get(), nullptr, nullptr, e); }),
           VKGEMM_ERROR_UNSUPPORTED, {"VkgemmProblem of " + std::to_string(offsetof(VkgemmProblem, epilogue))});
    CHECK(older.poisoned_from(offsetof(VkgemmProblem, epilogue)));
    CHECK(older.get()->m == 0);
    CHECK(vkgemmParseProblem("64x128x256 batch=4 c=d", older.get(), nullptr, nullptr, nullptr) == VKGEMM_SUCCESS);

    const VkgemmProblem plain = problem("64x128x256 batch=4 c=d"), with_epilogue = problem(longest.c_str());
    CHECK(vkgemmCompleteProblem(&plain, older.get(), nullptr) == VKGEMM_SUCCESS);
    CHECK(older.get()->a.ld == 256);
    expect(said([&](VkgemmError* e) { return vkgemmCompleteProblem(&with_epilogue, older.get(), e); }),
           VKGEMM_ERROR_UNSUPPORTED, {"VkgemmProblem of " + std::to_string(offsetof(VkgemmProblem, epilogue))});
    CHECK(older.poisoned_from(offsetof(VkgemmProblem, epilogue)));
    // A struct from before batches of two levels takes every problem without them, ratios of 1 included.
    Other<VkgemmProblem> one_level(VkgemmProblem{}, offsetof(VkgemmProblem, outerBatch));
    CHECK(vkgemmParseProblem("8x8x8 batch=4 outer=1 ratio_a=1", one_level.get(), nullptr, nullptr, nullptr) ==
          VKGEMM_SUCCESS);
    CHECK(vkgemmCompleteProblem(&plain, one_level.get(), nullptr) == VKGEMM_SUCCESS);
    for (const char* more : {"8x8x8 batch=4 ratio_b=2", "8x8x8 outer=2"})
        expect(said([&](VkgemmError* e) { return vkgemmParseProblem(more, one_level.get(), nullptr, nullptr, e); }),
               VKGEMM_ERROR_UNSUPPORTED, {"VkgemmProblem of " + std::to_string(offsetof(VkgemmProblem, outerBatch))});
    Other<VkgemmProblem> newer(VkgemmProblem{}, sizeof(VkgemmProblem) + 8);
    newer[sizeof(VkgemmProblem)] = std::byte{1};
    CHECK(vkgemmCompleteProblem(&with_epilogue, newer.get(), nullptr) == VKGEMM_SUCCESS);
    CHECK(newer[sizeof(VkgemmProblem)] == std::byte{0});
}

TEST_CASE("an older and a newer caller: needs") {
    const VkgemmProblem p = problem("20x30x40");
    VkgemmNeedsInfo info = needs_info();
    info.problems = &p;
    info.problemCount = 1;
    check_input(info, [](const void* i) { return needs_of(static_cast<const VkgemmNeedsInfo*>(i)); });
    check_output<VkgemmNeeds>([&](VkgemmNeeds* n) { return vkgemmQueryNeeds(&info, n, nullptr); });
}

TEST_CASE("an older and a newer caller: contexts") {
    VkgemmContextInfo info = context_info();
    info.flags = VKGEMM_CONTEXT_IGNORE_ENVIRONMENT;
    info.tunedRows = "# none";
    info.disabledKernels = "# none";
    check_input(info, [](const void* i) {
        OwnedContext c;
        const auto* given = static_cast<const VkgemmContextInfo*>(i);
        return answer_of(said([&](VkgemmError* e) { return vkgemmCreateContext(given, &c.handle, e); }));
    });
}

TEST_CASE("an older and a newer caller: options, kernels, plans") {
    VkgemmPlanOptions o = options();
    o.flags = VKGEMM_PLAN_DRY;
    o.kernel = "tiled_f32_8x8";
    o.tile = "SPLIT=4";
    o.workspaceLimit = 9600;
    o.operandAlignment = 4;
    check_input(o, [](const void* given) {
        OwnedPlan plan;
        const Said got = make_plan(plan, problem("20x30x400"), *static_cast<const VkgemmPlanOptions*>(given));
        return answer_of(got, plan.handle ? info_of(plan.handle).tile : "");
    });
    check_output<VkgemmKernelInfo>([](VkgemmKernelInfo* k) { return vkgemmGetKernel(3, k); });
    OwnedPlan plan;
    plan_for(plan, "20x30x40");
    check_output<VkgemmPlanInfo>([&](VkgemmPlanInfo* i) { return vkgemmGetPlanInfo(plan.handle, i); });
}

TEST_CASE("an older and a newer caller: what explain.h gives") {
    check_output<VkgemmTypeInfo>([](VkgemmTypeInfo* i) { return vkgemmGetTypeInfo(VKGEMM_TYPE_F16, i); });
    check_output<VkgemmKernelTraits>(
        [](VkgemmKernelTraits* t) { return vkgemmGetKernelTraits(3, nullptr, t, nullptr); });
    check_output<VkgemmTileConstant>([](VkgemmTileConstant* c) { return vkgemmGetTileConstant(3, nullptr, 0, c); });
    check_output<VkgemmDeviceCaps>([](VkgemmDeviceCaps* c) { return vkgemmGetDeviceCaps(context(), c); });
    VkgemmDeviceCaps caps{};
    caps.structSize = sizeof caps;
    REQUIRE(vkgemmGetDeviceCaps(context(), &caps) == VKGEMM_SUCCESS);
    if (caps.matrixShapeCount)
        check_output<VkgemmMatrixShape>([](VkgemmMatrixShape* s) { return vkgemmGetMatrixShape(context(), 0, s); });

    const VkgemmProblem p = problem("20x30x40");
    OwnedExplanation e;
    REQUIRE(vkgemmCreateExplanation(context(), &p, nullptr, &e.handle, nullptr) == VKGEMM_SUCCESS);
    check_output<VkgemmExplanationInfo>(
        [&](VkgemmExplanationInfo* i) { return vkgemmGetExplanationInfo(e.handle, i); });
    check_output<VkgemmCandidate>([&](VkgemmCandidate* c) { return vkgemmGetCandidate(e.handle, 0, c); });
    check_output<VkgemmDispatch>([&](VkgemmDispatch* d) { return vkgemmGetDispatch(e.handle, 0, d); });

    OwnedRows rows;
    const char* const text = "a device | tiled_f32_8x8 | D[0][0] is wrong";
    REQUIRE(vkgemmReadDisabledKernels(text, &rows.handle, nullptr) == VKGEMM_SUCCESS);
    check_output<VkgemmRow>([&](VkgemmRow* r) { return vkgemmGetRow(rows.handle, 0, r); });
}

TEST_CASE("an older and a newer caller: runs") {
    OwnedPlan plan;
    plan_for(plan, "20x30x40 c=separate bias=row");
    const auto a = buffer(1 << 13), b = buffer(1 << 13), c = buffer(1 << 13), d = buffer(1 << 13),
               bias = buffer(1 << 13);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a.buffer = a.handle();
    run.b.buffer = b.handle();
    run.c.buffer = c.handle();
    run.d.buffer = d.handle();
    run.bias.buffer = bias.handle();
    run.alpha = 2;
    run.beta = 3;
    check_input(run, [&](const void* r) {
        return answer_of(
            said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, static_cast<const VkgemmRun*>(r), e); }));
    });
}

TEST_CASE("an older and a newer caller: commands and the data of a run") {
    OwnedPlan plan;
    plan_for(plan, "16x16x16");
    const auto memory = buffer(8192);
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.a = at(memory, 0, 1024);
    run.b = at(memory, 1024, 1024);
    run.d = at(memory, 2048, 1024);
    const VkgemmRunAccess copied = {.slot = VKGEMM_SLOT_A,
                                    .reserved = 0,
                                    .stage = VK_PIPELINE_STAGE_2_COPY_BIT,
                                    .access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                    .buffer = memory.handle(),
                                    .offset = 4096,
                                    .size = 16,
                                    .address = 0};
    VkgemmCommand command{};
    command.structSize = sizeof command;
    command.name = "a step";
    command.plan = plan.handle;
    command.run = &run;
    command.accessCount = 1;
    command.accesses = &copied;
    const auto hazards_of_two = [](const void* c) {  // of an array of it
        const size_t size = static_cast<const VkgemmCommand*>(c)->structSize;
        std::vector<std::byte> two(2 * size + sizeof(VkgemmCommand));
        for (const size_t place : {size_t{0}, size}) std::memcpy(&two[place], c, size);
        VkgemmHazard found[8] = {};
        uint32_t count = 8;
        const Said got = said([&](VkgemmError* e) {
            return vkgemmFindHazards(reinterpret_cast<const VkgemmCommand*>(two.data()), 2, &count, found, e);
        });
        return answer_of(got, std::to_string(count) + found[0].text);
    };
    CHECK(has_words(hazards_of_two(&command), "commands[1] 'a step'", "commands[0] 'a step'"));
    check_input(command, hazards_of_two);

    const std::vector<std::byte> bytes(1024);
    const VkgemmOperandData operands[] = {
        {.slot = VKGEMM_SLOT_A, .reserved = 0, .data = bytes.data(), .size = bytes.size()},
        {.slot = VKGEMM_SLOT_B, .reserved = 0, .data = bytes.data(), .size = bytes.size()},
        {.slot = VKGEMM_SLOT_D, .reserved = 0, .data = bytes.data(), .size = bytes.size()}};
    VkgemmRunData data{};
    data.structSize = sizeof data;
    data.operandCount = static_cast<uint32_t>(std::size(operands));
    data.operands = operands;
    data.result = bytes.data();
    const auto description = [&](const void* d) {
        char text[8192] = "";
        size_t size = sizeof text;
        const Said got = said([&](VkgemmError* e) {
            return vkgemmDescribeRun(plan.handle, &run, static_cast<const VkgemmRunData*>(d), text, &size, e);
        });
        return answer_of(got, text);
    };
    CHECK(has_words(description(&data), "result"));
    check_input(data, description);
}

TEST_CASE("an older and a newer caller: chains") {
    VkgemmProblem products[] = {problem("8x16x4"), problem("8x4x16")};
    products[1].a = {};
    VkgemmChainProblem p{};
    p.structSize = sizeof p;
    p.problemCount = 2;
    p.problems = products;
    p.kept = 1;
    p.flags = VKGEMM_CHAIN_SEPARATE;
    VkgemmPlanOptions dry = options();
    dry.flags = VKGEMM_PLAN_DRY;
    const auto create = [&](const void* given, OwnedChain& chain) {
        return said([&](VkgemmError* e) {
            return vkgemmCreateChain(context(), static_cast<const VkgemmChainProblem*>(given), &dry, &chain.handle, e);
        });
    };
    check_input(p, [&](const void* given) {
        OwnedChain chain;
        const Said got = create(given, chain);
        VkgemmChainInfo info{};
        info.structSize = sizeof info;
        if (chain.handle) REQUIRE(vkgemmGetChainInfo(chain.handle, &info) == VKGEMM_SUCCESS);
        return answer_of(got, std::to_string(info.workspaceBytes));
    });
    OwnedChain chain;
    p.kept = 0;
    expect(create(&p, chain), VKGEMM_SUCCESS, {});
    check_output<VkgemmChainInfo>([&](VkgemmChainInfo* i) { return vkgemmGetChainInfo(chain.handle, i); });

    const auto memory = buffer(1 << 14);
    VkgemmRun runs[2] = {};
    for (VkgemmRun& r : runs) r.structSize = sizeof r;
    runs[0].a = at(memory, 0, 1024);
    runs[0].b = at(memory, 1024, 1024);
    runs[1].b = at(memory, 2048, 1024);
    runs[1].d = at(memory, 3072, 1024);
    VkgemmChainRun run{};
    run.structSize = sizeof run;
    run.runs = runs;
    run.runCount = 2;
    run.workspace = at(memory, 4096, 4096);
    const auto checked = [&](const void* r) {
        return answer_of(said([&](VkgemmError* e) {
            return vkgemmCheckChainRun(chain.handle, static_cast<const VkgemmChainRun*>(r), e);
        }));
    };
    CHECK(has_words(checked(&run), "success"));
    check_input(run, checked);
    const VkgemmChainHeader unknown = {static_cast<VkgemmStructureType>(1234), nullptr};
    run.pNext = p.pNext = &unknown;
    CHECK(has_words(checked(&run), "VkgemmChainRun::pNext", "1234"));
    OwnedChain none;
    expect(create(&p, none), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmChainProblem::pNext", "1234"});
}

TEST_CASE("an array of problems is walked by its structs' size") {
    const VkgemmProblem good = problem("20x30x40"), bad = problem("f64*f64+f32->f64 5x5x5");
    VkgemmNeedsInfo info = needs_info();
    const size_t least = struct_info<VkgemmProblem>.least;
    for (const size_t size : {offsetof(VkgemmProblem, epilogue), sizeof(VkgemmProblem), sizeof(VkgemmProblem) + 8,
                              sizeof(VkgemmProblem) + 72}) {
        CAPTURE(size);
        std::vector<std::byte> memory(3 * size);
        const auto put = [&](size_t i, const VkgemmProblem& p) {
            std::memcpy(&memory[i * size], &p, std::min(size, sizeof p));
            const auto bytes = static_cast<uint32_t>(size);
            std::memcpy(&memory[i * size], &bytes, sizeof bytes);
        };
        put(0, good);
        put(1, good);
        put(2, good);
        info.problems = reinterpret_cast<const VkgemmProblem*>(memory.data());
        info.problemCount = 3;
        CHECK(needs_of(&info).starts_with("success"));
        put(2, bad);
        CHECK(has_words(needs_of(&info), "problems[2]: ", "f64*f64"));
        put(2, good);
        if (size > sizeof(VkgemmProblem)) {
            memory[2 * size - 1] = std::byte{1};
            CHECK(has_words(needs_of(&info), "problems[1]: ", "newer header"));
            memory[2 * size - 1] = std::byte{0};
        }
        const auto other = static_cast<uint32_t>(least);
        std::memcpy(&memory[size], &other, sizeof other);
        CHECK(has_words(needs_of(&info), "problems[1]: ", "structSize is " + std::to_string(least),
                        "problems[0] is " + std::to_string(size)));
    }
    // A first struct of no version's size is alone, so that a sanitizer sees what is read beyond it.
    for (const uint32_t size : {0u, 8u, static_cast<uint32_t>(sizeof(VkgemmProblem)) - 4, 1u << 20}) {
        const auto first = std::make_unique<VkgemmProblem>(good);
        first->structSize = size;
        info.problems = first.get();
        info.problemCount = 1000;
        CHECK(has_words(needs_of(&info), "problems[0]: ", "structSize is " + std::to_string(size)));
    }
}

TEST_CASE("a chained struct of an unknown type is refused with its number") {
    const VkgemmChainHeader header = {static_cast<VkgemmStructureType>(1234), nullptr};
    VkgemmProblem p = problem("20x30x40");
    p.pNext = &header;
    OwnedPlan plan;
    expect(make_plan(plan, p), VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmProblem::pNext", "1234"});
    VkgemmPlanOptions o = options();
    o.pNext = &header;
    expect(make_plan(plan, problem("20x30x40"), o), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"VkgemmPlanOptions::pNext", "1234"});
    VkgemmContextInfo info = context_info();
    info.pNext = &header;
    OwnedContext c;
    expect(said([&](VkgemmError* e) { return vkgemmCreateContext(&info, &c.handle, e); }),
           VKGEMM_ERROR_INVALID_ARGUMENT, {"VkgemmContextInfo::pNext", "1234"});
    VkgemmNeedsInfo needs = needs_info();
    needs.pNext = &header;
    CHECK(has_words(needs_of(&needs), "VkgemmNeedsInfo::pNext", "1234"));
    plan_for(plan, "20x30x40");
    VkgemmRun run{};
    run.structSize = sizeof run;
    run.pNext = &header;
    expect(said([&](VkgemmError* e) { return vkgemmCheckRun(plan.handle, &run, e); }), VKGEMM_ERROR_INVALID_ARGUMENT,
           {"VkgemmRun::pNext", "1234"});
}

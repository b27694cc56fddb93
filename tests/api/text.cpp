// SPDX-License-Identifier: MIT
// The functions that only tell: names, text and its sizes, the table of kernels.
#include <cstring>

#include "api/api.h"

using namespace vkgemm::test;

TEST_CASE("versions and names") {
    CHECK(vkgemmVersion() == VKGEMM_VERSION);
    CHECK(std::string(vkgemmResultName(VKGEMM_SUCCESS)) == "success");
    for (int code = -12; code <= 2; ++code) CHECK(std::strlen(vkgemmResultName(static_cast<VkgemmResult>(code))) > 3);
    CHECK(vkgemmResultName(static_cast<VkgemmResult>(-99)) != nullptr);
    CHECK(std::string(vkgemmResultName(VKGEMM_ERROR_TILE)) != vkgemmResultName(VKGEMM_ERROR_LIMIT));
}

TEST_CASE("text that does not fit is cut, and its whole size told") {
    const VkgemmProblem p = problem("f32*f32 64x128x256 batch=4");
    const std::string whole = "f32*f32+f32->f32 64x128x256 batch=4 beta=1";
    size_t size = 12345;
    CHECK(vkgemmFormatProblem(&p, 1, 1, nullptr, &size) == VKGEMM_SUCCESS);
    // beta without a C is said as it stands
    const size_t need = size;
    std::string text(need, '#');
    CHECK(vkgemmFormatProblem(&p, 1, 1, text.data(), &size) == VKGEMM_SUCCESS);
    CHECK(std::strlen(text.c_str()) + 1 == need);
    CHECK(text.substr(0, whole.size()) == whole);

    std::string cut(need + 1, '#');
    size = 10;
    CHECK(vkgemmFormatProblem(&p, 1, 1, cut.data(), &size) == VKGEMM_INCOMPLETE);
    CHECK(size == need);
    CHECK(cut.substr(0, 9) == text.substr(0, 9));
    CHECK(cut[9] == '\0');
    CHECK(cut[10] == '#');
    size = need - 1;
    CHECK(vkgemmFormatProblem(&p, 1, 1, cut.data(), &size) == VKGEMM_INCOMPLETE);
    CHECK(cut[need - 1] == '#');
    size = 0;
    CHECK(vkgemmFormatProblem(&p, 1, 1, cut.data(), &size) == VKGEMM_INCOMPLETE);
    CHECK(size == need);
    CHECK(vkgemmFormatProblem(&p, 1, 1, cut.data(), nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmFormatProblem(nullptr, 1, 1, cut.data(), &size) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("a line is parsed, or refused with its code") {
    VkgemmProblem p{};
    CHECK(vkgemmParseProblem("2x3x4", &p, nullptr, nullptr, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);  // structSize 0
    p.structSize = sizeof p;
    double alpha = 7, beta = 7;
    CHECK(vkgemmParseProblem("f16*f16 2x3x4 layout=nt alpha=2", &p, &alpha, &beta, nullptr) == VKGEMM_SUCCESS);
    CHECK(p.structSize == sizeof p);
    CHECK(p.a.type == VKGEMM_TYPE_F16);
    CHECK(p.b.layout == VKGEMM_LAYOUT_COLUMN_MAJOR);
    CHECK(p.k == 4);
    CHECK(alpha == 2);
    CHECK(beta == 0);
    const auto parse = [&](const char* text, VkgemmProblem* to) {
        return said([&](VkgemmError* e) { return vkgemmParseProblem(text, to, nullptr, nullptr, e); });
    };
    expect(parse("2x3", &p), VKGEMM_ERROR_PARSE, {"character 4", "MxNxK"});
    expect(parse("2x3x4 lda=3", &p), VKGEMM_ERROR_INVALID_PROBLEM, {"lda", "3", "4"});
    expect(parse("2x3x4 act=gelu act=gelu", &p), VKGEMM_ERROR_INVALID_PROBLEM, {"twice"});
    expect(parse(nullptr, &p), VKGEMM_ERROR_INVALID_ARGUMENT, {"text"});
    expect(parse("2x3x4", nullptr), VKGEMM_ERROR_INVALID_ARGUMENT, {"problem"});
    CHECK(p.m == 2);  // what was refused left the last answer alone
}

TEST_CASE("a refusal is one line of whole characters, whatever it quotes") {
    const VkgemmProblem p = problem("2x3x4");
    VkgemmPlanOptions o = options();
    const auto refused = [&](const std::string& kernel) {
        o.kernel = kernel.c_str();
        OwnedPlan plan;
        return make_plan(plan, p, o).text;
    };
    CHECK(refused("two\nlines\tand\x01").find("'two lines and '") != std::string::npos);
    for (const char* const character : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {  // of 2, 3 and 4 bytes
        std::string name;
        for (int i = 0; i < 600; ++i) name += character;
        for (size_t shift = 0; shift < 4; ++shift) {
            std::string text = refused(std::string(shift, 'x') + name);
            const size_t size = std::strlen(character), begin = text.find(character);
            CHECK(text.size() > 1023 - size);
            REQUIRE(text.ends_with(" ..."));  // it is cut
            text.resize(text.size() - 4);
            CHECK((text.size() - begin) % size == 0);
        }
    }
}

TEST_CASE("problems with words outside their enums are not written") {
    char text[200];
    size_t size;
    const auto code = [&](auto change) {
        VkgemmProblem p = problem("2x3x4");
        change(p);
        size = sizeof text;
        return vkgemmFormatProblem(&p, 1, 0, text, &size);
    };
    CHECK(code([](VkgemmProblem& p) {
              p.epilogueCount = 1;
              p.epilogue[0].kind = static_cast<VkgemmStepKind>(99);
          }) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(code([](VkgemmProblem& p) { p.a.type = static_cast<VkgemmType>(78); }) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(code([](VkgemmProblem& p) { p.d.layout = static_cast<VkgemmLayout>(2); }) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(code([](VkgemmProblem& p) { p.epilogueCount = 5; }) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(code([](VkgemmProblem& p) { p.structSize = 0; }) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(code([](VkgemmProblem&) {}) == VKGEMM_SUCCESS);
}

TEST_CASE("the table of kernels") {
    const uint32_t count = vkgemmKernelCount();
    CHECK(count >= 17);
    for (uint32_t i = 0; i < count; ++i) {
        VkgemmKernelInfo k{};
        k.structSize = sizeof k;
        REQUIRE(vkgemmGetKernel(i, &k) == VKGEMM_SUCCESS);
        const std::string name = k.name;
        const std::string family = k.family, variant = k.variant, first = name.substr(0, name.find('_'));
        CHECK_MESSAGE((family.starts_with(first) || variant == first || variant == "native"), name);
        CHECK(std::string(k.tile).find("WG=") != std::string::npos);
        VkgemmKernelTraits traits{};
        traits.structSize = sizeof traits;
        REQUIRE(vkgemmGetKernelTraits(i, nullptr, &traits, nullptr) == VKGEMM_SUCCESS);
        CHECK_MESSAGE((k.built == 1 || traits.native), name);  // machine code needs nvcc
        CHECK(k.helper == (family == "reduce_k" || family == "list_tiles" || family.ends_with("_int8") ||
                           family == "finish_f64" || family.starts_with("pack")));
        CHECK((k.a == VKGEMM_TYPE_DEFAULT) ==
              (variant == "convert" || family == "gemv_blocks" || name.find("_mixed") != std::string::npos));
        CHECK(k.accumulate >= VKGEMM_TYPE_F32);
    }
    VkgemmKernelInfo k{};
    k.structSize = sizeof k;
    CHECK(vkgemmGetKernel(count, &k) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmGetKernel(UINT32_MAX, &k) == VKGEMM_ERROR_INVALID_ARGUMENT);
    CHECK(vkgemmGetKernel(0, nullptr) == VKGEMM_ERROR_INVALID_ARGUMENT);
    k.structSize = 4;
    CHECK(k.name == nullptr);
    CHECK(vkgemmGetKernel(0, &k) == VKGEMM_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("features have their Vulkan names") {
    bool address = false;
    for (uint32_t bit = 0; bit < 64; ++bit)
        if (const char* name = vkgemmFeatureName(bit)) address |= std::string(name) == "bufferDeviceAddress";
    CHECK(address);
    CHECK(vkgemmFeatureName(63) == nullptr);
    CHECK(vkgemmFeatureName(64) == nullptr);
    CHECK(vkgemmFeatureName(UINT32_MAX) == nullptr);
}

TEST_CASE("a device and a choice are put into words") {
    size_t size = 0;
    REQUIRE(vkgemmDescribeDevice(context(), nullptr, &size) == VKGEMM_SUCCESS);
    std::string caps(size, '#');
    REQUIRE(vkgemmDescribeDevice(context(), caps.data(), &size) == VKGEMM_SUCCESS);
    CHECK(has_words(caps, "name = ", "shared_bytes = ", "features = "));
    CHECK(vkgemmDescribeDevice(nullptr, nullptr, &size) == VKGEMM_ERROR_INVALID_ARGUMENT);

    const auto explain = [](const VkgemmProblem& p, const VkgemmPlanOptions& o) {
        std::string text(1 << 16, '#');
        size_t capacity = text.size();
        const Said got =
            said([&](VkgemmError* e) { return vkgemmExplain(context(), &p, &o, text.data(), &capacity, e); });
        return got.code == VKGEMM_SUCCESS ? Said{got.code, text.c_str()} : got;
    };
    VkgemmPlanOptions o = options();
    const Said chosen = explain(problem("300x300x300"), o);
    expect(chosen, VKGEMM_SUCCESS, {"kernel", "tile", "WG=", "cost", "work groups"});
    for (uint32_t i = 0; i < vkgemmKernelCount(); ++i) {
        VkgemmKernelInfo k{};
        k.structSize = sizeof k;
        REQUIRE(vkgemmGetKernel(i, &k) == VKGEMM_SUCCESS);
        CHECK(has_words(chosen.text, k.name));
    }
    expect(explain(problem("f64*f64+f32->f64 3x3x3"), o), VKGEMM_SUCCESS, {"no kernel", "f64"});
    expect(explain(problem("0x3x3"), o), VKGEMM_SUCCESS, {"nothing"});
    o.kernel = "tiled_f32_8x8";
    expect(explain(problem("300x300x300"), o), VKGEMM_SUCCESS, {"tiled_f32_8x8"});
    o.kernel = "tilde";
    expect(explain(problem("300x300x300"), o), VKGEMM_ERROR_INVALID_ARGUMENT, {"tilde"});
    VkgemmProblem broken = problem("3x3x3");
    broken.a.ld = 1;
    expect(explain(broken, options()), VKGEMM_ERROR_INVALID_PROBLEM, {"lda"});
}

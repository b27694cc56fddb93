// SPDX-License-Identifier: MIT
// Every function of Vulkan that the sources call is one that counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "failing/counted.h"
#include "support/files.h"

using namespace vkgemm::test;

TEST_CASE("every function of Vulkan that is called can fail here") {
    namespace fs = std::filesystem;
    const auto known = failing::functions();
    const std::regex call(R"(\bvk([A-Z]\w+)\()"), row(R"(X\(((?:Get|Create|Destroy|Enumerate|Cmd|Set)\w+), ")");
    size_t found = 0;
    const auto check = [&](const std::string& text, const std::regex& what) {
        for (std::sregex_iterator at(text.begin(), text.end(), what), end; at != end; ++at) {
            const std::string name = "vk" + (*at)[1].str();
            ++found;
            CHECK_MESSAGE(std::ranges::find(known, name) != known.end(), name,
                          " is not in tests/failing/functions.def");
        }
    };
    for (const char* folder : {"src/host", "src/vk", "blas", "tools/vkgemm/measure"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(VKGEMM_SOURCE_DIR) / folder))
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
                check(file_text(entry.path().string()), call);
    check(file_text(VKGEMM_SOURCE_DIR "/src/vk/functions.h"), row);
    CHECK(found > 100);
}

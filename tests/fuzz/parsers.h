// SPDX-License-Identifier: MIT
// One function for each kind of text or file that the library and the tool read. Any bytes must be either parsed or
// refused with a reason; what is parsed and written again must stay the same, and what follows from it must keep the
// documented limits. If not, the text goes to standard error and the program aborts.
#pragma once
#include <string_view>

namespace vkgemm::test::fuzz {

void problem(std::string_view text);  // as well as the choice and the steps for it, on the devices of tests/devices
void tile(std::string_view text);     // as well as the tile rules of every family
void tuned(std::string_view text);
void device_caps(std::string_view text);
void disabled_kernels(std::string_view text);
void capture(std::string_view text);
void pipeline_keys(std::string_view text);  // a key a line, and whether the devices of tests/devices can compile it
#ifdef VKGEMM_FUZZ_TOOL                     // the tool is built
void suite(std::string_view text);
void shapes(std::string_view text);    // the first line is --type, the second --layout
void bench(std::string_view text);     // a file of --json
void cubin(std::string_view text);     // machine code
void assembly(std::string_view text);  // as that of each compiler, and the bound of its loop
void device_report(std::string_view text);
#endif
#ifdef VKGEMM_FUZZ_BLAS                     // the BLAS library is built
void blas_cache(std::string_view text);     // what is kept between processes; the first line is the key
void blas_rates(std::string_view text);     // the measured rates of a device, as the cache holds them
void blas_settings(std::string_view text);  // a file of VKGEMM_BLAS_CONFIG
#endif

struct Target {
    std::string_view name;  // of its folder in corpus/
    void (*take)(std::string_view text);
};
inline constexpr Target targets[] = {
    {"problem", problem},
    {"tile", tile},
    {"tuned", tuned},
    {"device_caps", device_caps},
    {"disabled_kernels", disabled_kernels},
    {"capture", capture},
    {"pipeline_keys", pipeline_keys},
#ifdef VKGEMM_FUZZ_TOOL
    {"suite", suite},
    {"shapes", shapes},
    {"bench", bench},
    {"cubin", cubin},
    {"assembly", assembly},
    {"device_report", device_report},
#endif
#ifdef VKGEMM_FUZZ_BLAS
    {"blas_cache", blas_cache},
    {"blas_rates", blas_rates},
    {"blas_settings", blas_settings},
#endif
};

}  // namespace vkgemm::test::fuzz

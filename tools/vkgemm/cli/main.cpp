// SPDX-License-Identifier: MIT
#include "tools/vkgemm/cli/program.h"
#include "tools/vkgemm/cli/terminal.h"

int main(int argc, char** argv) {
    vkgemm::tool::hold_streams();
    vkgemm::tool::watch_signals();
    return vkgemm::tool::run_program(argc, argv);
}

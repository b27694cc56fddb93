// SPDX-License-Identifier: MIT
#include "support/environment.h"

int main(int count, char** arguments) {
    doctest::Context context(count, arguments);
    vkgemm::test::take_environment(context);
    return context.run();
}

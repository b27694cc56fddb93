// SPDX-License-Identifier: MIT
// What stands around the code of docs/chains.md, which test_chain runs.
// [includes of the page]
// [code of the page]
int main() { return vkgemmVersion() == VKGEMM_VERSION ? 0 : 1; }

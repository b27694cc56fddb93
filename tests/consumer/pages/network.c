/* SPDX-License-Identifier: MIT
 * What stands around the code of docs/chains.md. */
/* [includes of the page] */
/* [code of the page] */
int main(void) { return vkgemmVersion() == VKGEMM_VERSION ? 0 : 1; }

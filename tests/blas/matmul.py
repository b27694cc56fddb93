# SPDX-License-Identifier: MIT
# NumPy's own products, of the four types of BLAS, beside sums that NumPy computes without BLAS.
# usage: matmul.py [how many times larger]
import sys

import numpy as np

times = int(sys.argv[1]) if len(sys.argv) > 1 else 1
random = np.random.default_rng(1)
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    real = np.issubdtype(dtype, np.floating)
    a, b = (random.standard_normal(shape) + (0 if real else 1j * random.standard_normal(shape))
            for shape in ((150 * times, 200 * times), (200 * times, 90 * times)))
    a, b = a.astype(dtype), b.astype(dtype)
    wanted = np.einsum("ik,kj->ij", a, b, optimize=False)
    epsilon = np.finfo(dtype).eps
    for found in (a @ b, (b.T @ a.T).T):
        assert found.dtype == dtype
        error = np.max(np.abs(found - wanted)) / (np.max(np.abs(a)) * np.max(np.abs(b)))
        assert error <= 200 * times * epsilon, f"{np.dtype(dtype).name}: the error is {error / epsilon} epsilon"
print("equal")

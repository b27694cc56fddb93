# SPDX-License-Identifier: MIT
# NumPy's own products, of the four types of BLAS, beside sums that NumPy computes without BLAS.
import numpy as np

random = np.random.default_rng(1)
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    real = np.issubdtype(dtype, np.floating)
    a, b = (random.standard_normal(shape) + (0 if real else 1j * random.standard_normal(shape))
            for shape in ((150, 200), (200, 90)))
    a, b = a.astype(dtype), b.astype(dtype)
    wanted = np.einsum("ik,kj->ij", a, b, optimize=False)
    epsilon = np.finfo(dtype).eps
    for found in (a @ b, (b.T @ a.T).T):
        assert found.dtype == dtype
        error = np.max(np.abs(found - wanted)) / (np.max(np.abs(a)) * np.max(np.abs(b)))
        assert error <= 200 * epsilon, f"{np.dtype(dtype).name}: the error is {error / epsilon} epsilon"
print("equal")

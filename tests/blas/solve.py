# SPDX-License-Identifier: MIT
"""NumPy's solve, inv and det beside their definitions: LU of LAPACK, which libvkgemm_blas.so may compute."""
import numpy

random = numpy.random.default_rng(1)
n, epsilon = 150, numpy.finfo(float).eps
a = random.standard_normal((n, n)) + 3 * numpy.eye(n)
b = random.standard_normal((n, 40))
exact = a.astype("g")  # long double, which BLAS does not have
tolerance = 50 * n * epsilon * numpy.linalg.cond(a)
numpy.testing.assert_allclose(exact.dot(numpy.linalg.solve(a, b)), b, atol=tolerance)
numpy.testing.assert_allclose(exact.dot(numpy.linalg.inv(a)), numpy.eye(n), atol=tolerance)
sign, log = numpy.linalg.slogdet(a)
assert numpy.isclose(numpy.linalg.slogdet(a.T)[1], log, rtol=1e3 * epsilon)
assert sign == numpy.linalg.slogdet(a.T)[0]
a[:, 70] = 0
assert numpy.linalg.det(a) == 0
try:
    numpy.linalg.solve(a, b)
    raise SystemExit("a singular matrix was solved")
except numpy.linalg.LinAlgError:
    pass
print("right")

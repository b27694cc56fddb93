// SPDX-License-Identifier: MIT
// The steps of the epilogue that depend on the value alone, in f64. GLSL's exp takes no double, so there is one here.
// epilogue.glsl includes this.

// 2^n for n from -1022 to 1023.
double power_of_2(int n) { return packDouble2x32(uvec2(0, uint(n + 1023) << 20)); }

// exp(x), off by at most 2 units in the last place where the result is normal: x = n ln(2) + r with |r| < 0.347, ln(2)
// in two parts of which the first has 32 bits, so that n times it is exact; then the Taylor series of exp(r) to r^13,
// whose rest is below 2^-57. Infinite above the range of f64, 0 below it; NaN stays NaN.
double exp_f64(double x) {
    const double bounded = min(max(x, -1500.0lf), 1500.0lf);
    const int n = int(roundEven(bounded * 1.4426950408889634lf));
    const double r = fma(-double(n), 1.9082149292705877e-10lf, fma(-double(n), 0.693147180369123816490lf, bounded));
    double p = 1.6059043836821613e-10lf;  // 1/13!
    p = fma(p, r, 2.0876756987868099e-09lf);
    p = fma(p, r, 2.5052108385441719e-08lf);
    p = fma(p, r, 2.7557319223985891e-07lf);
    p = fma(p, r, 2.7557319223985893e-06lf);
    p = fma(p, r, 2.4801587301587302e-05lf);
    p = fma(p, r, 1.9841269841269841e-04lf);
    p = fma(p, r, 1.3888888888888889e-03lf);
    p = fma(p, r, 8.3333333333333332e-03lf);
    p = fma(p, r, 4.1666666666666664e-02lf);
    p = fma(p, r, 1.6666666666666666e-01lf);
    p = fma(p, r, 0.5lf);
    p = fma(p, r, 1.0lf);
    p = fma(p, r, 1.0lf);
    const int part = n / 3;  // 2^n is out of range where the result is subnormal or infinite, a third of n never is
    return isnan(x) ? x : p * power_of_2(part) * power_of_2(part) * power_of_2(n - 2 * part);
}

double activated(uint step, double x) {
    double y = x;
    switch (step) {
        case VKGEMM_STEP_RELU: y = isnan(x) ? x : max(x, 0.0lf); break;
        case VKGEMM_STEP_GELU:  // as for f32, with exp: 2 sqrt(2/pi) (x + 0.044715 x^3)
            y = x / (1.0lf + exp_f64(x * (-1.5957691216057308lf - 0.071354816272600251lf * (x * x))));
            break;
        case VKGEMM_STEP_SILU: y = x / (1.0lf + exp_f64(-x)); break;
        case VKGEMM_STEP_LEAKY_RELU: y = x > 0.0lf ? x : double(uintBitsToFloat(SLOPE)) * x; break;
        case VKGEMM_STEP_CLAMP:
            if (!isnan(x)) y = clamp(x, double(CLAMP_LOW), double(CLAMP_HIGH));
    }
    return y;
}

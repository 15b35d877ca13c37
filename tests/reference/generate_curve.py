"""Statistics of curve fits.

Writes next to itself:
  curve.csv               data, fits and their statistics

Every number is worked out in 34 digits (mpmath) from derivatives by hand, and
then asserted to agree with lmfit, SciPy and statsmodels as far as they go:
the numbers are theirs, with more digits.

Run with Python 3.11.7, mpmath 1.3.0, numpy 2.4.6, scipy 1.17.1, lmfit 1.3.4,
statsmodels 0.15.0; about a minute. Nothing is drawn but the data, from seeds.

Below, case by case, is what the file holds. Matrices are row by row; a residual is
data minus model; n observations, p parameters, S the (weighted) residual sum of
squares, s² = S/(n−p), J the model's Jacobian. Where a case has data of its own, they
are in the file too, rounded to a few decimals, and each optimum is the one that is
found from: a, k, c = 5, 0.7, 0.8 (weighted, correlated, prior), 30, 0.5, 1.5
(poisson), 1, 0.6 (poisson_log), 4, 0.9, 1 (robust_curve), 3, 0.5, 0 (bounded),
4, 1.5, 0.6 (global), 2, 0.3, 2.2 (vector).

misra1a, thurber, eckerle4
    Data and models: tests/nist/*.dat, parameters as NIST counts them; no weights.
    parameters, residuals, chi_square (S), reduced_chi_square (s²),
    covariance (s²(JᵀJ)⁻¹), standard_errors, correlation,
    interval_95_lower/_upper and interval_6827_lower/_upper: parameter ± t·error
        with Student's t of n−p at the central probabilities 0.95 and 0.6827,
    r_squared: 1 − S/Σ(y−ȳ)²,
    aic_lmfit: n·ln(S/n) + 2p;  bic_lmfit: n·ln(S/n) + p·ln n;
    aicc: aic_lmfit + 2p(p+1)/(n−p−1),
    loglik: −n/2·(ln(2πS/n) + 1), the Gaussian likelihood at its own best σ,
    aic_r, bic_r: −2·loglik + 2k or + k·ln n with k = p+1 (R: σ is a parameter),
    aicc_r: aic_r + 2k(k+1)/(n−k−1),
    aic_statsmodels, bic_statsmodels: the same with k = p (OLS),
    band_x, band_y: five abscissae and the model there,
    band_confidence, band_prediction: half-widths t·sqrt(gᵀCg) and
        t·sqrt(gᵀCg + s²), t for 95 %, C the covariance, g the model's gradient,
    leverage (h), studentised_internal (r/(s·sqrt(1−h)), also called the
    internally standardised residual), studentised_external (with the s that
    leaves the point out), cooks_distance (rᵢ²h/(p·(1−h)), r studentised
    internally), all of the linearised model,
    profile_95_lower/_upper, profile_6827_lower/_upper: where the smallest S with
        that parameter held is S·(1 + F/(n−p)), F of (1, n−p) at the probability,
    contour_first, contour_second: the first two parameters on the border of their
        joint 95 % region, S·(1 + 2F/(n−p)) with F of (2, n−p), the others being
        free; point k lies from the optimum in the direction
        (e₁cos(kπ/4), e₂sin(kπ/4)), e the standard errors, k = 0…7.

weighted
    Data: x, y, sigma. Model a·exp(−k·x) + c; parameters a, k, c.
    parameters, chi_square, reduced_chi_square (with the weights 1/sigma²),
    standard_errors_absolute, covariance_absolute ((JᵀWJ)⁻¹),
    standard_errors_relative, covariance_relative (times s²),
    probability: of a χ²(n−p) above chi_square,
    aic_lmfit, bic_lmfit, aicc as above with S = chi_square,
    loglik_absolute: −½(S + Σln(2πσᵢ²)); aic_absolute, bic_absolute with k = p,
    loglik: −n/2·(ln(2πS/n) + 1) − Σln σᵢ; aic_r, bic_r with k = p+1 (σᵢ
        is known up to one factor; R's nls with the weights 1/sigma²),
    r_squared_lmfit: 1 − Σr²/Σ(y−ȳ)², no weights in it (lmfit.ModelResult),
    r_squared_weighted: 1 − S/Σw(y−ȳ_w)², ȳ_w the weighted mean (statsmodels WLS),
    leverage, studentised_internal, studentised_external, cooks_distance of the
        residuals over sigma, with s² (so with sigma as relative weights),
    band_x, band_y, band_confidence_relative (t for 95 %, covariance_relative),
    band_confidence_absolute (1.9599…, covariance_absolute).

correlated
    Data: x, y, sigma, correlation (ρ, one number); the covariance of the data is
    V = σᵢσⱼρ^|i−j| = LLᵀ, L lower triangular. Model and quantities as for weighted, but
    for the two r_squared; leverage and its like are of the rows of L⁻¹J and L⁻¹r (of
    other roots of V they are others), and Σln σᵢ is ln det L:
    loglik_absolute: −½(S + ln det(2πV)).

poisson
    Counts y at x; mean a·exp(−b·x) + c; parameters a, b, c. poisson_log: counts y
    with mean exp(b0 + b1·x). Maximum likelihood.
    parameters, covariance and standard_errors (of the expected Fisher information
    Σ∇μ∇μᵀ/μ), standard_errors_scaled (times sqrt(pearson/(n−p))), mean,
    deviance (2Σ y·ln(y/μ) − (y−μ)), pearson (Σ(y−μ)²/μ), loglik (with the
    factorials), aic (−2·loglik + 2p), residuals_pearson, residuals_deviance.

robust_line, robust_plane
    Data: x (robust_line: one column; robust_plane: two, row by row), y; parameters:
    constant first, then the slopes. M-estimates with Huber's ψ (1.345) and Tukey's
    biweight (4.685), found by reweighting from least squares, as statsmodels RLM.
    The scale of _mad_ is median|r|/Φ⁻¹(3/4) of the residuals at the solution, about
    zero: nothing is subtracted before the median (RLM calls mad(center=0)), and
    without a correction for p. The scale of _fixed_ is 0.5.
    Tukey's loss has more than one minimum: it is the one from least squares.
    {huber,tukey}_{mad,fixed}_parameters, _scale, _weights (ψ(z)/z, z = r/scale; mad),
    _standard_errors_h1, _h2, _h3 with, from RLMResults.bcov_scaled,
        m = mean ψ'(z), k = 1 + p/n·var(ψ'(z))/m², var dividing by n,
        q = Σψ(z)²·scale²/(n−p), M = Xᵀdiag(ψ'(z))X
        H1 = k²·q/m²·(XᵀX)⁻¹,  H2 = k·q/m·M⁻¹,  H3 = q/k·M⁻¹XᵀXM⁻¹.

robust_curve
    Data: x, y, f_scale (C). Model a·exp(−k·x) + c; parameters a, k, c.
    {huber,soft_l1,cauchy,arctan}_parameters, _cost: least_squares of SciPy with that
    loss: cost = ½ΣC²ρ((r/C)²), ρ(z) = z for z ≤ 1 and 2√z − 1 beyond (huber),
    2(√(1+z) − 1) (soft_l1), ln(1+z) (cauchy), arctan z (arctan).

bounded
    Data: x, y. Model a·exp(−k·x) + c; parameters a, k, c with c ≥ 0, which is active.
    parameters, chi_square, multiplier (∂(½S)/∂c there, positive),
    unbounded (the parameters without the bound),
    standard_errors (of a and k with c held: S/(n−2)·(JᵀJ)⁻¹ of the two columns,
        as lmfit with c fixed), standard_errors_all (the same with S/(n−3)),
    standard_errors_curve_fit (of a, k, c from all three columns with S/(n−3): what
        curve_fit reports, which does not look at bounds),
    standard_errors_absolute (of a and k, no s²).

residuals_thurber, sequence, short
    Tests of a series: the residuals of thurber in the file's order, 40 numbers, and
    the first ten of these. values (of residuals_thurber: see thurber, residuals),
    runs_count, runs_positive, runs_negative, runs_z, runs_p, runs_z_corrected,
    runs_p_corrected: Wald & Wolfowitz about zero, and runs_median_… about the
        median; a value equal to the cutoff counts as positive;
        E = 2ab/n + 1, V = 2ab(2ab−n)/(n²(n−1)) with a above and b below,
        z = (runs − E)/√V; corrected (n < 50): runs − E − ½ where that difference
        exceeds ½, otherwise + ½ (so also for differences between −½ and ½, as
        statsmodels has it, although SAS says z = 0 there); p two-sided normal,
    skew_z, kurtosis_z, k_squared, k_squared_p: D'Agostino & Pearson (normaltest),
    jarque_bera, jarque_bera_p: n/6·(g₁² + g₂²/4), χ²(2),
    shapiro_w, shapiro_p: Royston's AS R94 with exact normal quantiles (R; SciPy's
        quantiles are off in the tenth digit, and so are its W and p),
    anderson_darling (mean and s with n−1 estimated), anderson_darling_p (statsmodels
        normal_ad: D'Agostino's formula of A²(1 + 0.75/n + 2.25/n²)),
    durbin_watson: Σ(eᵢ−eᵢ₋₁)²/Σe².

polynomials
    Data: x, y. Polynomials of degree 1, 2, 3 by least squares, k = 0, 1, 2.
    parameters_1, _2, _3 (constant first), chi_square (k), df (n−p, k),
    f_12, p_12, f_23, p_23, f_13, p_13: F-test of the smaller model against the
        larger, over the s² of the larger of the two (compare_f_test, R anova of two),
    anova_f, anova_p: 1 against 2 and 2 against 3, both over the s² of degree 3 and
        with its n−4 degrees of freedom (R anova of all three; the F, but not the p of
        anova_lm, which takes n−3 degrees of freedom for the first of them),
    aicc (lmfit's with p), aicc_r (with p+1) and of each the weights
        exp(−½Δ)/Σexp(−½Δ): akaike_weights, akaike_weights_r; evidence_ratio,
        evidence_ratio_r: the best weight over that of the model.

quantiles
    df: 1, 2, 5, 10, 30, 200 (index i); numerator: 1, 2, 5, 30 (index k), degrees of
    freedom; probability: 0.5, 0.6827, 0.9, 0.95, 0.975, 0.995, 0.9999 (index j).
    normal_quantile[j], t_quantile and chi2_quantile[7i+j], f_quantile[7(6k+i)+j], of
    numerator k over df i. x_symmetric, x_positive and x_f: abscissae (index j of m);
    normal_cdf, normal_sf[j], t_cdf, t_sf[mi+j] at x_symmetric, chi2_cdf,
    chi2_sf[mi+j] at x_positive, f_cdf, f_sf[m(6k+i)+j] at x_f. sf is 1 − cdf, with
    all its digits.

global
    Data: x_1, y_1, x_2, y_2. Models a₁·exp(−k·x) and a₂·exp(−k·x); parameters
    a₁, a₂, k; one σ for all. parameters, standard_errors, covariance, chi_square,
    reduced_chi_square.

derived
    Of misra1a: value and standard_error of b1·b2 (index 0) and of ln(b1)/b2
    (index 1), gradient (row by row), covariance of the two: GCGᵀ.

prior
    The data and model of weighted, with k ~ N(prior_mean, prior_sigma²) as one more
    residual; absolute sigma. parameters, standard_errors, covariance
    ((JᵀWJ + eeᵀ/prior_sigma²)⁻¹), chi_square (all of it), chi_square_data,
    chi_square_prior.

vector
    Data: t, position, velocity. Model x = A·exp(−γt)·cos(ωt), v = dx/dt; parameters
    A, γ, ω. parameters, standard_errors, covariance, chi_square, with one s² =
    S/(2N−3) over both responses; weighted_…: the same with sigma (two numbers, of
    position and velocity), standard_errors_absolute and _relative.
"""

import csv
import warnings
from pathlib import Path

import lmfit
import mpmath as mp
import numpy as np
import scipy.optimize
import scipy.stats
import statsmodels.api as sm
from statsmodels.sandbox.stats.runs import runstest_1samp
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.diagnostic import normal_ad
from statsmodels.stats.outliers_influence import OLSInfluence
from statsmodels.stats.stattools import durbin_watson, jarque_bera

mp.mp.dps = 34
HERE = Path(__file__).resolve().parent
ROWS = []
TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def put(case, quantity, values):
    """Into the file."""
    values = list(values) if np.ndim(values) or isinstance(values, (list, tuple, mp.matrix)) else [values]
    assert (case, quantity) not in {row[:2] for row in ROWS}, (case, quantity)
    ROWS.extend((case, quantity, i, float(v)) for i, v in enumerate(values))
    assert all(np.isfinite(row[3]) for row in ROWS[-len(values):]), (case, quantity)


def agree(what, ours, theirs, tolerance=1e-9):
    """Each number to the relative tolerance; what is 1e-12 of the largest is nothing."""
    ours, theirs = (np.array([float(x) for x in np.ravel(v)]) for v in (ours, theirs))
    assert ours.shape == theirs.shape, (what, ours.shape, theirs.shape)
    off = np.max(np.abs(ours - theirs) / np.maximum(np.abs(ours), 1e-12 * np.max(np.abs(ours))))
    assert off <= tolerance, (what, off, ours, theirs)


def exact(values):
    return [mp.mpf(float(v)) for v in values]


def floats(values):
    return np.array([float(v) for v in values])


# --- Models: value and gradient, of mpmath's numbers or NumPy's arrays ---------


def misra1a(x, b, m):
    decay = m.exp(-b[1] * x)
    return b[0] * (1 - decay), [1 - decay, b[0] * x * decay]


def thurber(x, b, m):
    under = 1 + x * (b[4] + x * (b[5] + x * b[6]))
    y = (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) / under
    powers = [1 + 0 * x, x, x * x, x * x * x]
    return y, [v / under for v in powers] + [-y * v / under for v in powers[1:]]


def eckerle4(x, b, m):
    z = (x - b[2]) / b[1]
    bell = m.exp(-z * z / 2) / b[1]
    y = b[0] * bell
    return y, [bell, y * (z * z - 1) / b[1], y * z / b[1]]


def decay(x, b, m):
    e = m.exp(-b[1] * x)
    return b[0] * e + b[2], [e, -b[0] * x * e, 1 + 0 * x]


def shared(x, b, m):
    """x is the pair of the data set and the abscissa."""
    which, x = x
    e = m.exp(-b[2] * x)
    return b[which] * e, [(which == 0) * e, (which == 1) * e, -b[which] * x * e]


def oscillator(x, b, m):
    """x is the pair of the response and the time."""
    which, t = x
    e, c, s = m.exp(-b[1] * t), m.cos(b[2] * t), m.sin(b[2] * t)
    if which == 0:
        return b[0] * e * c, [e * c, -b[0] * t * e * c, -b[0] * t * e * s]
    slope = -b[1] * c - b[2] * s
    return b[0] * e * slope, [
        e * slope,
        b[0] * e * (-t * slope - c),
        b[0] * e * (b[1] * t * s - s - b[2] * t * c),
    ]


def polynomial(x, b, m):
    powers = [x**k for k in range(len(b))]
    return mp.fdot(b, powers), powers


def check_gradient(model, x, b):
    """The derivatives by hand are the model's."""
    b = exact(b)
    for i, slope in enumerate(model(x, b, mp)[1]):
        def along(v, i=i):
            return model(x, b[:i] + [v] + b[i + 1:], mp)[0]
        assert abs(mp.diff(along, b[i]) - slope) <= 1e-14 * max(1, abs(slope)), (model, i)


# --- Least squares -------------------------------------------------------------


def solve(rows, right):
    return list(mp.lu_solve(mp.matrix(rows), mp.matrix(right)))


def normal(jacobian):
    columns = list(zip(*jacobian))
    return [[mp.fdot(u, v) for v in columns] for u in columns]


def inverse(rows):
    """The inverse of a symmetric matrix."""
    p = len(rows)
    scale = [1 / mp.sqrt(rows[i][i]) for i in range(p)]
    inv = mp.inverse(mp.matrix([[rows[i][j] * scale[i] * scale[j] for j in range(p)] for i in range(p)]))
    return [[inv[i, j] * scale[i] * scale[j] for j in range(p)] for i in range(p)]


def flat(rows):
    return [v for row in rows for v in row]


def roots(rows):
    return [mp.sqrt(rows[i][i]) for i in range(len(rows))]


def times(rows, factor):
    return [[v * factor for v in row] for row in rows]


def form(rows, g):
    """gᵀ·rows·g."""
    return mp.fdot(g, [mp.fdot(row, g) for row in rows])


class Fit:
    """Newton's method to the last digit; `whiten` makes the residuals independent."""

    def __init__(self, model, x, y, start, whiten=None, extra=None):
        self.model, self.x, self.y = model, list(x), exact(y)
        self.whiten = whiten or (lambda column: column)
        self.extra = extra or (lambda b: ([], []))
        check_gradient(model, self.x[-1], start)
        self.b = self.minimise(exact(start), {})
        self.r, self.jacobian = self.linearise(self.b)
        self.n, self.p = len(self.r), len(self.b)
        self.s = mp.fdot(self.r, self.r)
        self.inverse = inverse(normal(self.jacobian))
        self.s2 = self.s / (self.n - self.p)

    def linearise(self, b):
        """Residuals (data less model) and the model's Jacobian, whitened."""
        pairs = [self.model(x, b, mp) for x in self.x]
        r = self.whiten([y - f for y, (f, _) in zip(self.y, pairs)])
        columns = [self.whiten(list(column)) for column in zip(*(g for _, g in pairs))]
        more_r, more_rows = self.extra(b)
        return r + more_r, [list(row) for row in zip(*columns)] + more_rows

    def slope(self, r, jacobian, free):
        return [mp.fdot([row[i] for row in jacobian], r) for i in free]

    def curvature(self, b, slope, free):
        """The second derivatives of S/2, by differences of half the digits."""
        columns = []
        for i in free:
            near, h = list(b), abs(b[i]) * mp.mpf(10) ** -15
            near[i] += h
            columns.append([(u - v) / h for u, v in zip(slope, self.slope(*self.linearise(near), free))])
        return [[(u + v) / 2 for u, v in zip(*pair)] for pair in zip(columns, zip(*columns))]

    def minimise(self, b, held):
        """From b, with the parameters in `held` as they are."""
        free = [i for i in range(len(b)) if i not in held]
        if not free:
            return b
        r, jacobian = self.linearise(b)
        s = mp.fdot(r, r)
        for iteration in range(200):
            slope = self.slope(r, jacobian, free)
            hessian = normal([[row[i] for i in free] for row in jacobian])
            step = solve(hessian, slope)
            predicted = mp.fdot(slope, step)
            if iteration >= 8:
                # What Gauss & Newton leave out, where they are slow.
                whole = self.curvature(b, slope, free)
                full = solve(whole, slope)
                if mp.fdot(slope, full) > 0:
                    step, predicted = full, mp.fdot(slope, full)
            # Rounding is what is left.
            if predicted <= mp.mpf(10) ** -56 * s:
                return b
            while True:
                trial = list(b)
                for i, v in zip(free, step):
                    trial[i] += v
                r, jacobian = self.linearise(trial)
                new = mp.fdot(r, r)
                if new <= s or predicted <= mp.mpf(10) ** -28 * s:
                    break
                step = [v / 2 for v in step]
                predicted /= 4
            b, s = trial, new
        raise RuntimeError("no convergence")

    def ray(self, direction, rise):
        """The parameters where the least S with those of `direction` held is S + rise,
        going from the optimum along it (index: step)."""
        guess = list(self.b)
        held = list(direction)
        block = [[self.inverse[i][j] for j in held] for i in held]
        pull = solve(block, [direction[i] for i in held])
        length = mp.sqrt(rise / mp.fdot(pull, [direction[i] for i in held]))
        slopes = [mp.fdot([self.inverse[j][i] for i in held], pull) for j in range(self.p)]
        t, b = length, [v + length * w for v, w in zip(guess, slopes)]
        for _ in range(60):
            for i in held:
                b[i] = self.b[i] + t * direction[i]
            b = self.minimise(b, direction)
            r, jacobian = self.linearise(b)
            s = mp.fdot(r, r) - self.s
            slope = -2 * sum(d * mp.fdot(r, [row[i] for row in jacobian]) for i, d in direction.items())
            step = (mp.sqrt(rise) - mp.sqrt(s)) * 2 * mp.sqrt(s) / slope
            step = max(min(step, t), -t / 2)
            if abs(step) <= mp.mpf(10) ** -22 * t:
                return b
            t += step
        raise RuntimeError("no convergence")


def leverage(fit, inv=None):
    return [form(inv or fit.inverse, row) for row in fit.jacobian]


def influence(case, fit):
    """Leverage and its like, of the linearised model."""
    n, p, h = fit.n, fit.p, leverage(fit)
    inner = [r / mp.sqrt(fit.s2 * (1 - h)) for r, h in zip(fit.r, h)]
    outer = [t * mp.sqrt((n - p - 1) / (n - p - t * t)) for t in inner]
    cook = [t * t * h / (1 - h) / p for t, h in zip(inner, h)]
    scale = np.sqrt(np.diag(np.array(normal(fit.jacobian), float)))
    linear = OLSInfluence(sm.OLS(floats(fit.r), np.array(fit.jacobian, float) / scale).fit())
    agree(case, h, linear.hat_matrix_diag, 1e-9)
    agree(case, inner, linear.resid_studentized_internal, 1e-7)
    agree(case, outer, linear.resid_studentized_external, 1e-7)
    agree(case, cook, linear.cooks_distance[0], 1e-7)
    put(case, "leverage", h)
    put(case, "studentised_internal", inner)
    put(case, "studentised_external", outer)
    put(case, "cooks_distance", cook)


# --- Distributions -------------------------------------------------------------


def normal_sf(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def tail(a, b, x, upper):
    return mp.betainc(a, b, x, 1, regularized=True) if upper else mp.betainc(a, b, 0, x, regularized=True)


def t_sf(x, df):
    """The tail beyond x; below zero by symmetry."""
    df, x = mp.mpf(df), mp.mpf(x)
    half = tail(df / 2, mp.mpf(1) / 2, df / (df + x * x), False) / 2
    return half if x >= 0 else 1 - half


def f_sf(x, d1, d2):
    d1, d2, x = mp.mpf(d1), mp.mpf(d2), mp.mpf(x)
    return tail(d2 / 2, d1 / 2, d2 / (d2 + d1 * x), False)


def f_cdf(x, d1, d2):
    d1, d2, x = mp.mpf(d1), mp.mpf(d2), mp.mpf(x)
    return tail(d1 / 2, d2 / 2, d1 * x / (d2 + d1 * x), False)


def chi2_sf(x, df):
    return mp.gammainc(mp.mpf(df) / 2, mp.mpf(x) / 2, mp.inf, regularized=True)


def chi2_cdf(x, df):
    return mp.gammainc(mp.mpf(df) / 2, 0, mp.mpf(x) / 2, regularized=True)


def invert(sf, density, p, start):
    """The quantile of p by Newton's method from SciPy's."""
    p, x = mp.mpf(p), mp.mpf(float(start))
    for _ in range(20):
        step = (sf(x) - (1 - p)) / density(x)
        x += step
        if abs(step) <= mp.mpf(10) ** -24 * max(abs(x), mp.mpf(10) ** -4):
            agree("quantile", start, x, 1e-10)
            return x
    raise RuntimeError("no convergence")


def normal_quantile(p):
    # From the float64, not the decimal: the same as the library sees.
    if p == 0.5:
        return mp.mpf(0)
    return invert(normal_sf, mp.npdf, p, scipy.stats.norm.ppf(float(p)))


def t_quantile(p, df):
    if p == 0.5:
        return mp.mpf(0)
    v = mp.mpf(df)
    front = mp.gamma((v + 1) / 2) / (mp.sqrt(v * mp.pi) * mp.gamma(v / 2))
    return invert(
        lambda x: t_sf(x, df),
        lambda x: front * (1 + x * x / v) ** (-(v + 1) / 2),
        p, scipy.stats.t.ppf(float(p), df),
    )


def chi2_quantile(p, df):
    k = mp.mpf(df) / 2
    return invert(
        lambda x: chi2_sf(x, df),
        lambda x: (x / 2) ** (k - 1) * mp.exp(-x / 2) / mp.gamma(k) / 2,
        p, scipy.stats.chi2.ppf(float(p), df),
    )


def f_quantile(p, d1, d2):
    a, b = mp.mpf(d1) / 2, mp.mpf(d2) / 2
    return invert(
        lambda x: f_sf(x, d1, d2),
        lambda x: (a / b) ** a * x ** (a - 1) * (1 + a * x / b) ** (-a - b) / mp.beta(a, b),
        p, scipy.stats.f.ppf(float(p), d1, d2),
    )


def central(probability):
    """The quantile's argument for a central probability."""
    return (1 + mp.mpf(probability)) / 2


# Where lmfit's conf_interval runs into another minimum on the way, with S = 15235 at
# 2.6 standard errors, and stops short; ours there is 6355, and lmfit's from our start.
LOST = {("thurber", "95", "lower", 5)}


# --- NIST ------------------------------------------------------------------------


def nist(name):
    lines = (HERE.parent / "nist" / f"{name}.dat").read_text().splitlines()
    y, x = np.array([line.split() for line in lines[60:] if line.strip()], float).T
    certified = []
    for line in lines[40:60]:
        words = line.split()
        if len(words) == 6 and words[1] == "=":
            certified.append([float(words[4]), float(words[5])])
    return x, y, np.array(certified)


def lmfit_minimizer(model, x, y, start):
    parameters = lmfit.Parameters()
    for i, v in enumerate(start):
        parameters.add(f"b{i + 1}", value=float(v))

    def residual(parameters):
        return model(x, [q.value for q in parameters.values()], np)[0] - y

    def slopes(parameters):
        gradient = model(x, [q.value for q in parameters.values()], np)[1]
        return np.array([g for g, q in zip(gradient, parameters.values()) if q.vary]).T

    return lmfit.Minimizer(residual, parameters, Dfun=slopes, **TIGHT)


def refit(minimizer, b, held):
    """Sets out from b, with some of it held."""
    for i, q in enumerate(minimizer.params.values()):
        q.set(value=float(b[i]), vary=i not in held)


def criteria(case, n, p, s):
    """lmfit's, of a fit with the weighted sum of squares s."""
    base = n * mp.log(s / n)
    put(case, "aic_lmfit", base + 2 * p)
    put(case, "bic_lmfit", base + p * mp.log(n))
    put(case, "aicc", base + 2 * p + mp.mpf(2 * p * (p + 1)) / (n - p - 1))
    return base + 2 * p, base + p * mp.log(n)


def collection(name, model, abscissae):
    case = name.lower()
    x, y, certified = nist(name)
    fit = Fit(model, exact(x), y, certified[:, 0])
    n, p = fit.n, fit.p
    covariance = times(fit.inverse, fit.s2)
    errors = roots(covariance)
    agree(case, fit.b, certified[:, 0], 1e-10)
    agree(case, errors, certified[:, 1], 1e-10)

    put(case, "parameters", fit.b)
    put(case, "residuals", fit.r)
    put(case, "chi_square", fit.s)
    put(case, "reduced_chi_square", fit.s2)
    put(case, "covariance", flat(covariance))
    put(case, "standard_errors", errors)
    put(case, "correlation", [covariance[i][j] / errors[i] / errors[j] for i in range(p) for j in range(p)])
    for label, probability in (("95", 0.95), ("6827", 0.6827)):
        t = t_quantile(central(probability), n - p)
        put(case, f"interval_{label}_lower", [b - t * e for b, e in zip(fit.b, errors)])
        put(case, f"interval_{label}_upper", [b + t * e for b, e in zip(fit.b, errors)])
    mean = sum(fit.y) / n
    r_squared = 1 - fit.s / sum((v - mean) ** 2 for v in fit.y)
    put(case, "r_squared", r_squared)
    aic, bic = criteria(case, n, p, fit.s)
    loglik = -mp.mpf(n) / 2 * (mp.log(2 * mp.pi * fit.s / n) + 1)
    k = p + 1
    put(case, "loglik", loglik)
    put(case, "aic_r", -2 * loglik + 2 * k)
    put(case, "bic_r", -2 * loglik + k * mp.log(n))
    put(case, "aicc_r", -2 * loglik + 2 * k + mp.mpf(2 * k * (k + 1)) / (n - k - 1))
    put(case, "aic_statsmodels", -2 * loglik + 2 * p)
    put(case, "bic_statsmodels", -2 * loglik + p * mp.log(n))

    t = t_quantile(central(0.95), n - p)
    bands = [model(v, fit.b, mp) for v in exact(abscissae)]
    variances = [form(covariance, g) for _, g in bands]
    confidence = [t * mp.sqrt(v) for v in variances]
    prediction = [t * mp.sqrt(v + fit.s2) for v in variances]
    put(case, "band_x", abscissae)
    put(case, "band_y", [v for v, _ in bands])
    put(case, "band_confidence", confidence)
    put(case, "band_prediction", prediction)
    influence(case, fit)

    minimizer = lmfit_minimizer(model, x, y, fit.b)
    result = minimizer.leastsq()
    agree(case, fit.b, [q.value for q in result.params.values()], 1e-9)
    agree(case, errors, [q.stderr for q in result.params.values()], 1e-7)
    agree(case, [fit.s, fit.s2, aic, bic], [result.chisqr, result.redchi, result.aic, result.bic])
    agree(case, flat(covariance), result.covar, 1e-6)
    # The linearised model's residuals are the fit's, and so are its criteria.
    linear = sm.OLS(floats(fit.r), np.array(fit.jacobian, float) / floats(roots(normal(fit.jacobian)))).fit()
    agree(case, [loglik, -2 * loglik + 2 * p, -2 * loglik + p * mp.log(n)], [linear.llf, linear.aic, linear.bic])

    names = [f"b{i + 1}" for i in range(p)]
    scope = {"model": model, "np": np}
    exec(f"def f(x, {', '.join(names)}): return model(x, [{', '.join(names)}], np)[0]", scope)
    fitted = lmfit.Model(scope["f"]).fit(y, x=x, fit_kws=TIGHT, **dict(zip(names, map(float, fit.b))))
    agree(case, r_squared, fitted.rsquared)
    agree(case, confidence, fitted.eval_uncertainty(x=np.array(abscissae), sigma=0.95), 1e-3)
    agree(case, prediction, fitted.dely_predicted, 1e-3)

    # lmfit's intervals, with a root finder that goes to the end.
    coarse = lmfit.confidence.root_scalar
    lmfit.confidence.root_scalar = lambda f, **k: coarse(f, **{**k, "rtol": 1e-14})
    theirs = lmfit.conf_interval(minimizer, result, sigmas=[0.6827, 0.95])
    lmfit.confidence.root_scalar = coarse
    for label, probability, lower, upper in (("95", 0.95, 0, -1), ("6827", 0.6827, 1, -2)):
        rise = fit.s * f_quantile(probability, 1, n - p) / (n - p)
        for sign, name, index in ((-1, "lower", lower), (1, "upper", upper)):
            points = [fit.ray({i: sign * errors[i]}, rise) for i in range(p)]
            put(case, f"profile_{label}_{name}", [b[i] for i, b in enumerate(points)])
            for i, b in enumerate(points):
                # lmfit's own minimiser, from here, and then its search.
                refit(minimizer, b, {i})
                again = minimizer.leastsq(params=minimizer.params)
                agree((case, "profile", i), probability, lmfit.confidence.f_compare(result, again), 1e-7)
                ours, found = ((v - fit.b[i]) / errors[i] for v in (b[i], theirs[f"b{i + 1}"][index][1]))
                if (case, label, name, i) in LOST:
                    assert abs(found) < abs(ours) - 0.1
                else:
                    agree((case, label, name, i), ours, found, 1e-6)

    rise = fit.s * 2 * f_quantile(0.95, 2, n - p) / (n - p)
    points = []
    for k in range(8):
        cos, sin = mp.cos(k * mp.pi / 4), mp.sin(k * mp.pi / 4)
        # What is zero but for rounding is zero.
        cos, sin = (v if abs(v) > 1e-20 else mp.mpf(0) for v in (cos, sin))
        b = fit.ray({0: errors[0] * cos, 1: errors[1] * sin}, rise)
        points.append(b)
        if p > 2:
            refit(minimizer, b, {0, 1})
            again = minimizer.leastsq(params=minimizer.params)
            agree((case, "contour"), 0.95, lmfit.confidence.f_compare(result, again), 1e-7)
    put(case, "contour_first", [b[0] for b in points])
    put(case, "contour_second", [b[1] for b in points])
    print(case, mp.nstr(fit.b[0], 12), mp.nstr(errors[0], 12))
    return fit


# --- Known uncertainties of the data -----------------------------------------


def decay_data(seed, n, noise, truth=(5.0, 0.7, 0.8), last=8.0):
    random = np.random.default_rng(seed)
    x = np.round(np.linspace(0.0, last, n) + 0.05 * random.random(n), 3)
    sigma = np.round(noise * (0.5 + random.random(n)), 3)
    z = random.standard_normal(n)
    return x, truth[0] * np.exp(-truth[1] * x) + truth[2], sigma, z


def curve_fit_check(case, fit, x, y, sigma, absolute, relative):
    def f(x, *b):
        return decay(x, b, np)[0]

    def slopes(x, *b):
        return np.array(decay(x, b, np)[1]).T

    for flag, ours in ((True, absolute), (False, relative)):
        b, covariance = scipy.optimize.curve_fit(
            f, x, y, floats(fit.b) * 1.1, sigma, flag, jac=slopes, **TIGHT)
        agree(case, fit.b, b, 1e-8)
        agree(case, flat(ours), covariance, 1e-7)


def known(case, fit, log_det, x, y, sigma):
    """What a fit with known uncertainties (log_det: ln det V) has to say."""
    n, p = fit.n, fit.p
    relative = times(fit.inverse, fit.s2)
    curve_fit_check(case, fit, x, y, sigma, fit.inverse, relative)
    put(case, "parameters", fit.b)
    put(case, "chi_square", fit.s)
    put(case, "reduced_chi_square", fit.s2)
    put(case, "covariance_absolute", flat(fit.inverse))
    put(case, "covariance_relative", flat(relative))
    put(case, "standard_errors_absolute", roots(fit.inverse))
    put(case, "standard_errors_relative", roots(relative))
    put(case, "probability", chi2_sf(fit.s, n - p))
    agree(case, chi2_sf(fit.s, n - p), scipy.stats.chi2.sf(float(fit.s), n - p))
    criteria(case, n, p, fit.s)
    two_pi = mp.log(2 * mp.pi)
    absolute = -(fit.s + log_det + n * two_pi) / 2
    put(case, "loglik_absolute", absolute)
    put(case, "aic_absolute", -2 * absolute + 2 * p)
    put(case, "bic_absolute", -2 * absolute + p * mp.log(n))
    loglik = -mp.mpf(n) / 2 * (two_pi + mp.log(fit.s / n) + 1) - log_det / 2
    put(case, "loglik", loglik)
    put(case, "aic_r", -2 * loglik + 2 * (p + 1))
    put(case, "bic_r", -2 * loglik + (p + 1) * mp.log(n))
    abscissae = [0.0, 1.5, 4.0, 9.5]
    bands = [decay(v, fit.b, mp) for v in exact(abscissae)]
    t, z = t_quantile(central(0.95), n - p), normal_quantile(central(0.95))
    put(case, "band_x", abscissae)
    put(case, "band_y", [v for v, _ in bands])
    put(case, "band_confidence_relative", [t * mp.sqrt(form(relative, g)) for _, g in bands])
    put(case, "band_confidence_absolute", [z * mp.sqrt(form(fit.inverse, g)) for _, g in bands])
    influence(case, fit)
    return absolute, loglik, [t * mp.sqrt(form(relative, g)) for _, g in bands]


def weighted():
    case = "weighted"
    x, clean, sigma, z = decay_data(1, 24, 0.12)
    y = np.round(clean + sigma * z, 4)
    for name, values in (("x", x), ("y", y), ("sigma", sigma)):
        put(case, name, values)
    scale = exact(sigma)

    def whiten(column):
        return [v / s for v, s in zip(column, scale)]

    fit = Fit(decay, exact(x), y, [5.0, 0.7, 0.8], whiten)
    absolute, loglik, band = known(case, fit, 2 * sum(mp.log(s) for s in scale), x, y, sigma)
    predicted = y - floats(fit.r) * sigma
    agree(case, absolute, scipy.stats.norm.logpdf(y, predicted, sigma).sum())

    w = [1 / s**2 for s in scale]
    raw = [r * s for r, s in zip(fit.r, scale)]
    mean, balanced = sum(fit.y) / fit.n, mp.fdot(w, fit.y) / sum(w)
    plain = 1 - mp.fdot(raw, raw) / sum((v - mean) ** 2 for v in fit.y)
    good = 1 - fit.s / sum(u * (v - balanced) ** 2 for u, v in zip(w, fit.y))
    put(case, "r_squared_lmfit", plain)
    put(case, "r_squared_weighted", good)

    result = lmfit.Model(lambda x, a, k, c: decay(x, (a, k, c), np)[0]).fit(
        y, x=x, weights=1 / sigma, a=5.0, k=0.7, c=0.8, fit_kws=TIGHT)
    agree(case, plain, result.rsquared)
    n, p = fit.n, fit.p
    agree(case, [fit.s, n * mp.log(fit.s / n) + 2 * p, n * mp.log(fit.s / n) + p * mp.log(n)],
          [result.chisqr, result.aic, result.bic])
    agree(case, band, result.eval_uncertainty(x=np.array([0.0, 1.5, 4.0, 9.5]), sigma=0.95), 1e-3)
    relative = floats(roots(times(fit.inverse, fit.s2)))
    agree(case, relative, [q.stderr for q in result.params.values()], 1e-5)
    # The linearised model has the constant as a column: WLS says the same.
    slopes = np.array([[float(v) for v in decay(t, fit.b, mp)[1]] for t in fit.x])
    wls = sm.WLS(y - predicted + slopes @ floats(fit.b), slopes, weights=sigma**-2.0).fit()
    agree(case, floats(fit.b), wls.params, 1e-8)
    agree(case, relative, wls.bse, 1e-8)
    agree(case, loglik, wls.llf)
    return x, y, scale, whiten, fit


def correlated():
    case, rho = "correlated", 0.6
    x, clean, sigma, z = decay_data(2, 20, 0.15)
    for i in range(1, len(z)):
        z[i] = rho * z[i - 1] + np.sqrt(1 - rho**2) * z[i]
    y = np.round(clean + sigma * z, 4)
    for name, values in (("x", x), ("y", y), ("sigma", sigma), ("correlation", rho)):
        put(case, name, values)
    s, r = exact(sigma), mp.mpf(rho)
    v = mp.matrix([[s[i] * s[j] * r ** abs(i - j) for j in range(len(s))] for i in range(len(s))])
    lower = mp.cholesky(v)

    def whiten(column):
        out = []
        for i, value in enumerate(column):
            out.append((value - mp.fdot([lower[i, j] for j in range(i)], out)) / lower[i, i])
        return out

    fit = Fit(decay, exact(x), y, [5.0, 0.7, 0.8], whiten)
    dense = np.array(v.tolist(), float)
    log_det = 2 * sum(mp.log(lower[i, i]) for i in range(len(s)))
    absolute, *_ = known(case, fit, log_det, x, y, dense)
    predicted = decay(x, floats(fit.b), np)[0]
    agree(case, absolute, scipy.stats.multivariate_normal.logpdf(y, predicted, dense))


# --- Counts ------------------------------------------------------------------


def counts(case, model, x, y, start):
    """Fisher's scoring."""
    put(case, "x", x)
    put(case, "y", y)
    check_gradient(model, mp.mpf(1.5), start)
    x, y, b = exact(x), exact(y), exact(start)
    for _ in range(500):
        pairs = [model(v, b, mp) for v in x]
        information = normal([[d / mp.sqrt(m) for d in g] for m, g in pairs])
        score = [sum((v - m) / m * g[i] for v, (m, g) in zip(y, pairs)) for i in range(len(b))]
        step = solve(information, score)
        b = [u + v for u, v in zip(b, step)]
        if mp.fdot(step, score) < mp.mpf(10) ** -50:
            break
    else:
        raise RuntimeError("no convergence")
    n, p, means = len(x), len(b), [m for m, _ in pairs]
    covariance = inverse(information)
    parts = [2 * ((v * mp.log(v / m) if v else 0) - (v - m)) for v, m in zip(y, means)]
    pearson = [(v - m) / mp.sqrt(m) for v, m in zip(y, means)]
    chi = mp.fdot(pearson, pearson)
    loglik = sum(v * mp.log(m) - m - mp.loggamma(v + 1) for v, m in zip(y, means))
    put(case, "parameters", b)
    put(case, "covariance", flat(covariance))
    put(case, "standard_errors", roots(covariance))
    put(case, "standard_errors_scaled", [e * mp.sqrt(chi / (n - p)) for e in roots(covariance)])
    put(case, "mean", means)
    put(case, "deviance", sum(parts))
    put(case, "pearson", chi)
    put(case, "loglik", loglik)
    put(case, "aic", -2 * loglik + 2 * p)
    put(case, "residuals_pearson", pearson)
    put(case, "residuals_deviance", [mp.sign(r) * mp.sqrt(d) for r, d in zip(pearson, parts)])
    agree(case, loglik, scipy.stats.poisson.logpmf(floats(y), floats(means)).sum())
    return b, covariance, sum(parts), chi, loglik, pearson


def poisson():
    x = np.round(np.linspace(0.0, 9.0, 25), 3)
    mean = 30 * np.exp(-0.5 * x) + 1.5
    y = np.random.default_rng(3).poisson(mean).astype(float)
    assert 0 in y
    b = counts("poisson", decay, x, y, [30.0, 0.5, 1.5])[0]

    def loss(b):
        m, g = decay(x, b, np)
        return (m - y * np.log(m)).sum(), [((1 - y / m) * d).sum() for d in np.broadcast_arrays(*g)]

    found = scipy.optimize.minimize(loss, [25.0, 0.6, 1.0], jac=True, method="BFGS", options={"gtol": 1e-10})
    agree("poisson", b, found.x, 1e-6)

    def exponential(x, b, m):
        e = m.exp(b[0] + b[1] * x)
        return e, [e, x * e]

    x = np.round(np.linspace(-2.0, 2.0, 18), 3)
    y = np.random.default_rng(5).poisson(np.exp(1.0 + 0.6 * x)).astype(float)
    b, covariance, deviance, pearson, loglik, residuals = counts("poisson_log", exponential, x, y, [1.0, 0.6])
    glm = sm.GLM(y, sm.add_constant(x), family=sm.families.Poisson())
    fit = glm.fit(tol=1e-14, maxiter=200)
    agree("poisson_log", b, fit.params)
    agree("poisson_log", flat(covariance), fit.cov_params(), 1e-8)
    agree("poisson_log", [deviance, pearson, loglik, -2 * loglik + 4],
          [fit.deviance, fit.pearson_chi2, fit.llf, fit.aic])
    agree("poisson_log", residuals, fit.resid_pearson, 1e-8)
    scaled = glm.fit(tol=1e-14, maxiter=200, scale="X2")
    agree("poisson_log", [e * mp.sqrt(pearson / (len(x) - 2)) for e in roots(covariance)], scaled.bse, 1e-8)


# --- Robust fits -------------------------------------------------------------


def huber(z, c=mp.mpf(1.345)):
    """Weight and ψ'."""
    return (mp.mpf(1), mp.mpf(1)) if abs(z) <= c else (c / abs(z), mp.mpf(0))


def tukey(z, c=mp.mpf(4.685)):
    if abs(z) > c:
        return mp.mpf(0), mp.mpf(0)
    u = (z / c) ** 2
    return (1 - u) ** 2, (1 - u) * (1 - 5 * u)


def median(values):
    values, half = sorted(values), len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def robust_linear(case, columns, y):
    put(case, "x", flat(zip(*columns)))
    put(case, "y", y)
    design = np.column_stack([np.ones(len(y)), *columns])
    rows, targets = [exact(row) for row in design], exact(y)
    n, p = design.shape
    gram = inverse(normal(rows))
    for label, norm, weight in (
        ("huber", sm.robust.norms.HuberT(1.345), huber),
        ("tukey", sm.robust.norms.TukeyBiweight(4.685), tukey),
    ):
        for kind in ("mad", "fixed"):
            more = {} if kind == "mad" else {"start_scale": 0.5}
            options = dict(maxiter=5000, tol=1e-13, conv="coefs", update_scale=kind == "mad", **more)
            theirs = sm.RLM(y, design, M=norm).fit(**options)
            b, scale = exact(theirs.params), mp.mpf(float(theirs.scale))
            for _ in range(3000):
                r = [v - mp.fdot(row, b) for v, row in zip(targets, rows)]
                if kind == "mad":
                    scale = median([abs(v) for v in r]) / normal_quantile(0.75)
                w = [weight(v / scale)[0] for v in r]
                new = solve(
                    normal([[mp.sqrt(u) * v for v in row] for u, row in zip(w, rows)]),
                    [sum(u * v * row[i] for u, v, row in zip(w, targets, rows)) for i in range(p)],
                )
                change = max(abs(u - v) for u, v in zip(b, new))
                b = new
                if change < mp.mpf(10) ** -24:
                    break
            else:
                raise RuntimeError("no convergence")
            z = [v / scale for v in r]
            slopes = [weight(v)[1] for v in z]
            m = sum(slopes) / n
            k = 1 + mp.mpf(p) / n * sum((v - m) ** 2 for v in slopes) / n / m**2
            q = sum((weight(v)[0] * v) ** 2 for v in z) * scale**2 / (n - p)
            bent = inverse([[sum(s * row[i] * row[j] for s, row in zip(slopes, rows)) for j in range(p)]
                            for i in range(p)])
            bent_matrix, gram_inverse = mp.matrix(bent), mp.matrix(normal(rows))
            sandwich = (bent_matrix * gram_inverse * bent_matrix).tolist()
            name = f"{label}_{kind}"
            agree(name, b, theirs.params, 1e-9)
            agree(name, scale, theirs.scale, 1e-9)
            agree(name, [weight(v)[0] + 1 for v in z], theirs.weights + 1, 1e-9)
            put(case, f"{name}_parameters", b)
            put(case, f"{name}_scale", scale)
            if kind == "mad":
                put(case, f"{name}_weights", [weight(v)[0] for v in z])
            for cov, rows_of in (("H1", times(gram, k**2 * q / m**2)), ("H2", times(bent, k * q / m)),
                                 ("H3", times(sandwich, q / k))):
                agree((name, cov), roots(rows_of), sm.RLM(y, design, M=norm).fit(cov=cov, **options).bse, 1e-8)
                put(case, f"{name}_standard_errors_{cov.lower()}", roots(rows_of))
            # None sits on a corner of ψ.
            corner = 1.345 if label == "huber" else 4.685
            assert min(abs(abs(v) - corner) for v in z) > 1e-3


def robust():
    random = np.random.default_rng(6)
    x = np.round(np.linspace(0.0, 10.0, 21), 3)
    y = 1.0 + 0.8 * x + 0.4 * random.standard_normal(21)
    y[[3, 11, 18]] += [6.0, -5.0, 9.0]
    robust_linear("robust_line", [x], np.round(y, 3))
    u, v = np.round(random.uniform(-3, 3, (2, 30)), 3)
    y = 2.0 - 1.2 * u + 0.5 * v + 0.5 * random.standard_normal(30)
    y[[2, 9, 17, 25]] += [7.0, -6.0, 4.0, 8.0]
    robust_linear("robust_plane", [u, v], np.round(y, 3))

    case = "robust_curve"
    random = np.random.default_rng(7)
    x = np.round(np.linspace(0.0, 6.0, 22), 3)
    y = 4.0 * np.exp(-0.9 * x) + 1.0 + 0.1 * random.standard_normal(22)
    y[[4, 10, 16]] += [1.5, -1.2, 2.0]
    y, c = np.round(y, 3), 0.2
    for name, values in (("x", x), ("y", y), ("f_scale", c)):
        put(case, name, values)
    xs, ys, scale = exact(x), exact(y), mp.mpf(c)
    losses = {
        "huber": (lambda z: z if z <= 1 else 2 * mp.sqrt(z) - 1, lambda z: 1 if z <= 1 else 1 / mp.sqrt(z)),
        "soft_l1": (lambda z: 2 * (mp.sqrt(1 + z) - 1), lambda z: 1 / mp.sqrt(1 + z)),
        "cauchy": (lambda z: mp.log(1 + z), lambda z: 1 / (1 + z)),
        "arctan": (mp.atan, lambda z: 1 / (1 + z * z)),
    }
    for name, (rho, slope) in losses.items():
        theirs = scipy.optimize.least_squares(
            lambda b: decay(x, b, np)[0] - y, [4.0, 0.9, 1.0], loss=name, f_scale=c,
            jac=lambda b: np.array(np.broadcast_arrays(*decay(x, b, np)[1])).T, **TIGHT)

        def gradient(*b):
            pairs = [decay(v, b, mp) for v in xs]
            pull = [slope(((f - v) / scale) ** 2) * (f - v) for v, (f, _) in zip(ys, pairs)]
            return [mp.fdot(pull, [g[i] for _, g in pairs]) for i in range(3)]

        b = list(mp.findroot(gradient, exact(theirs.x), tol=mp.mpf(10) ** -56))
        cost = sum(scale**2 * rho(((decay(u, b, mp)[0] - v) / scale) ** 2) for u, v in zip(xs, ys)) / 2
        agree((case, name), b, theirs.x, 1e-6)
        agree((case, name), cost, theirs.cost, 1e-10)
        put(case, f"{name}_parameters", b)
        put(case, f"{name}_cost", cost)


# --- Bounds, several curves, priors --------------------------------------------


def bounded():
    case = "bounded"
    x, clean, _, z = decay_data(8, 16, 0.1, (3.0, 0.5, -0.15), 6.0)
    y = np.round(clean + 0.08 * z, 4)
    put(case, "x", x)
    put(case, "y", y)
    whole = Fit(decay, exact(x), y, [3.0, 0.5, -0.15])
    assert whole.b[2] < -0.03
    b = whole.minimise([mp.mpf(3), mp.mpf(0.5), mp.mpf(0)], {2})
    r, jacobian = whole.linearise(b)
    s, n = mp.fdot(r, r), len(r)
    free = inverse(normal([row[:2] for row in jacobian]))
    every = times(inverse(normal(jacobian)), s / (n - 3))
    multiplier = -mp.fdot(r, [row[2] for row in jacobian])
    assert multiplier > 0
    put(case, "unbounded", whole.b)
    put(case, "parameters", b)
    put(case, "chi_square", s)
    put(case, "multiplier", multiplier)
    put(case, "standard_errors", [e * mp.sqrt(s / (n - 2)) for e in roots(free)])
    put(case, "standard_errors_all", [e * mp.sqrt(s / (n - 3)) for e in roots(free)])
    put(case, "standard_errors_curve_fit", roots(every))
    put(case, "standard_errors_absolute", roots(free))

    theirs = scipy.optimize.least_squares(
        lambda b: decay(x, b, np)[0] - y, [2.0, 0.8, 0.3], method="trf", bounds=([-np.inf, -np.inf, 0], np.inf),
        jac=lambda b: np.array(np.broadcast_arrays(*decay(x, b, np)[1])).T, **TIGHT)
    assert theirs.active_mask[2] == -1 and abs(theirs.x[2]) < 1e-8, theirs
    agree(case, b[:2], theirs.x[:2], 1e-6)
    _, covariance = scipy.optimize.curve_fit(
        lambda x, *b: decay(x, b, np)[0], x, y, [2.0, 0.8, 0.3], bounds=([-np.inf, -np.inf, 0], np.inf),
        jac=lambda x, *b: np.array(np.broadcast_arrays(*decay(x, b, np)[1])).T, **TIGHT)
    agree(case, roots(every), np.sqrt(np.diag(covariance)), 1e-5)
    model = lmfit.Model(lambda x, a, k, c: decay(x, (a, k, c), np)[0])
    parameters = model.make_params(a=3.0, k=0.5, c=0.0)
    parameters["c"].vary = False
    result = model.fit(y, parameters, x=x, fit_kws=TIGHT)
    agree(case, [e * mp.sqrt(s / (n - 2)) for e in roots(free)], [result.params[q].stderr for q in "ak"], 1e-5)


def several():
    case = "global"
    random = np.random.default_rng(9)
    x1, x2 = np.round(np.linspace(0.2, 5.0, 13), 3), np.round(np.linspace(0.0, 8.0, 10), 3)
    y1 = np.round(4.0 * np.exp(-0.6 * x1) + 0.05 * random.standard_normal(13), 4)
    y2 = np.round(1.5 * np.exp(-0.6 * x2) + 0.05 * random.standard_normal(10), 4)
    for name, values in (("x_1", x1), ("y_1", y1), ("x_2", x2), ("y_2", y2)):
        put(case, name, values)
    x = [(0, v) for v in exact(x1)] + [(1, v) for v in exact(x2)]
    fit = Fit(shared, x, [*y1, *y2], [4.0, 1.5, 0.6])
    check_gradient(shared, x[0], [4.0, 1.5, 0.6])
    covariance = times(fit.inverse, fit.s2)
    put(case, "parameters", fit.b)
    put(case, "standard_errors", roots(covariance))
    put(case, "covariance", flat(covariance))
    put(case, "chi_square", fit.s)
    put(case, "reduced_chi_square", fit.s2)
    first = np.r_[np.ones(13), np.zeros(10)]
    b, theirs = scipy.optimize.curve_fit(
        lambda x, a1, a2, k: (a1 * first + a2 * (1 - first)) * np.exp(-k * x),
        np.r_[x1, x2], np.r_[y1, y2], [3.0, 1.0, 0.5], **TIGHT)
    agree(case, fit.b, b, 1e-6)
    agree(case, flat(covariance), theirs, 1e-5)


def derived(fit):
    case, (b1, b2) = "derived", fit.b
    covariance = mp.matrix(times(fit.inverse, fit.s2))
    gradient = [[b2, b1], [1 / (b1 * b2), -mp.log(b1) / b2**2]]
    g = mp.matrix(gradient)
    both = (g * covariance * g.T).tolist()
    put(case, "value", [b1 * b2, mp.log(b1) / b2])
    put(case, "standard_error", roots(both))
    put(case, "gradient", flat(gradient))
    put(case, "covariance", flat(both))
    # The same parameter, fitted as one: b1 = v/b2 and b1 = exp(v·b2).
    x, y, _ = nist("Misra1a")
    for i, back in enumerate((lambda v, q: v / q, lambda v, q: np.exp(v * q))):
        value = float([b1 * b2, mp.log(b1) / b2][i])
        b, theirs = scipy.optimize.curve_fit(
            lambda x, v, q: misra1a(x, [back(v * value, q * float(b2)), q * float(b2)], np)[0],
            x, y, [1.0, 1.0], **TIGHT)
        agree((case, i), value, b[0] * value, 1e-6)
        agree((case, i), roots(both)[i], np.sqrt(theirs[0, 0]) * value, 1e-4)


def prior(x, y, scale, whiten):
    case, mean, sigma = "prior", 0.9, 0.03
    put(case, "prior_mean", mean)
    put(case, "prior_sigma", sigma)
    m, s = mp.mpf(mean), mp.mpf(sigma)
    fit = Fit(decay, exact(x), y, [5.0, 0.7, 0.8], whiten,
              lambda b: ([(m - b[1]) / s], [[mp.mpf(0), 1 / s, mp.mpf(0)]]))
    put(case, "parameters", fit.b)
    put(case, "standard_errors", roots(fit.inverse))
    put(case, "covariance", flat(fit.inverse))
    put(case, "chi_square", fit.s)
    put(case, "chi_square_data", mp.fdot(fit.r[:-1], fit.r[:-1]))
    put(case, "chi_square_prior", fit.r[-1] ** 2)
    n, sigmas = len(x), np.r_[floats(scale), sigma]
    b, theirs = scipy.optimize.curve_fit(
        lambda x, *b: np.r_[decay(x[:n], b, np)[0], b[1]], np.r_[x, 0.0], np.r_[y, mean], [4.0, 0.8, 1.0],
        sigmas, True, **TIGHT)
    agree(case, fit.b, b, 1e-6)
    agree(case, flat(fit.inverse), theirs, 1e-5)


def vector():
    case = "vector"
    random = np.random.default_rng(10)
    t = np.round(np.linspace(0.0, 6.0, 15), 3)
    noise = random.standard_normal((2, 15)) * [[0.03], [0.06]]
    clean = [oscillator((k, t), (2.0, 0.3, 2.2), np)[0] for k in (0, 1)]
    values = np.round(clean + noise, 4)
    sigma = [0.03, 0.06]
    for name, column in (("t", t), ("position", values[0]), ("velocity", values[1]), ("sigma", sigma)):
        put(case, name, column)
    x = [(k, v) for v in exact(t) for k in (0, 1)]
    y = values.T.ravel()
    check_gradient(oscillator, x[6], [2.0, 0.3, 2.2])
    fit = Fit(oscillator, x, y, [2.0, 0.3, 2.2])
    covariance = times(fit.inverse, fit.s2)
    put(case, "parameters", fit.b)
    put(case, "standard_errors", roots(covariance))
    put(case, "covariance", flat(covariance))
    put(case, "chi_square", fit.s)
    heavy = Fit(oscillator, x, y, [2.0, 0.3, 2.2],
                lambda column: [v / mp.mpf(sigma[i % 2]) for i, v in enumerate(column)])
    put(case, "weighted_parameters", heavy.b)
    put(case, "weighted_chi_square", heavy.s)
    put(case, "weighted_standard_errors_absolute", roots(heavy.inverse))
    put(case, "weighted_standard_errors_relative", roots(times(heavy.inverse, heavy.s2)))

    def both(t, *b):
        return np.r_[oscillator((0, t), b, np)[0], oscillator((1, t), b, np)[0]]

    b, theirs = scipy.optimize.curve_fit(both, t, values.ravel(), [1.9, 0.25, 2.1], **TIGHT)
    agree(case, fit.b, b, 1e-6)
    agree(case, flat(covariance), theirs, 1e-4)
    b, theirs = scipy.optimize.curve_fit(both, t, values.ravel(), [1.9, 0.25, 2.1], np.repeat(sigma, 15), True, **TIGHT)
    agree(case, heavy.b, b, 1e-6)
    agree(case, flat(heavy.inverse), theirs, 1e-4)


# --- Tests of a series -----------------------------------------------------------


def royston(values):
    """Shapiro & Wilk's W and its probability by algorithm AS R94."""
    def poly(coefficients, x):
        return sum(mp.mpf(c) * x**i for i, c in enumerate(coefficients))

    x = sorted(values)
    n = len(x)
    m = [normal_quantile((mp.mpf(i) - 0.375) / (n + 0.25)) for i in range(1, n // 2 + 1)]
    total, u = 2 * mp.fdot(m, m), 1 / mp.sqrt(n)
    a1 = poly(["0", "0.221157", "-0.147981", "-2.07119", "4.434685", "-2.706056"], u) - m[0] / mp.sqrt(total)
    a2 = poly(["0", "0.042981", "-0.293762", "-1.752461", "5.682633", "-3.582633"], u) - m[1] / mp.sqrt(total)
    factor = mp.sqrt((total - 2 * m[0] ** 2 - 2 * m[1] ** 2) / (1 - 2 * a1**2 - 2 * a2**2))
    a = [a1, a2] + [-v / factor for v in m[2:]]
    mean = sum(x) / n
    spread = sum((v - mean) ** 2 for v in x)
    w = sum(c * (x[n - 1 - i] - x[i]) for i, c in enumerate(a)) ** 2 / spread
    y, log_n = mp.log(1 - w), mp.log(n)
    if n <= 11:
        y = -mp.log(poly(["-2.273", "0.459"], n) - y)
        centre = poly(["0.544", "-0.39978", "0.025054", "-0.0006714"], n)
        width = mp.exp(poly(["1.3822", "-0.77857", "0.062767", "-0.0020322"], n))
    else:
        centre = poly(["-1.5861", "-0.31082", "-0.083751", "0.0038915"], log_n)
        width = mp.exp(poly(["-0.4803", "-0.082676", "0.0030302"], log_n))
    return w, normal_sf((y - centre) / width)


def runs(case, prefix, values, cutoff):
    signs = [v >= cutoff for v in values]
    n, a = len(signs), sum(signs)
    b = n - a
    count = 1 + sum(u != v for u, v in zip(signs, signs[1:]))
    mean = mp.mpf(2 * a * b) / n + 1
    deviation = mp.sqrt(mp.mpf(2 * a * b * (2 * a * b - n)) / (n * n * (n - 1)))
    difference = count - mean
    corrected = difference - 0.5 if difference > 0.5 else difference + 0.5
    z = (difference / deviation, corrected / deviation)
    p = [2 * normal_sf(abs(v)) for v in z]
    for i, flag in enumerate((False, True)):
        agree((case, prefix), [z[i], p[i]], runstest_1samp(floats(values), float(cutoff), flag), 1e-9)
    for name, value in (("count", count), ("positive", a), ("negative", b), ("z", z[0]), ("p", p[0]),
                        ("z_corrected", z[1]), ("p_corrected", p[1])):
        put(case, f"{prefix}_{name}", value)


def series(case, values):
    values = exact(values)
    data = floats(values)
    runs(case, "runs", values, mp.mpf(0))
    runs(case, "runs_median", values, median(values))

    n = mp.mpf(len(values))
    mean = sum(values) / n
    m2, m3, m4 = (sum((v - mean) ** k for v in values) / n for k in (2, 3, 4))
    g1, b2 = m3 / m2 ** mp.mpf(1.5), m4 / m2**2
    y = g1 * mp.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w2 = mp.sqrt(2 * (beta - 1)) - 1
    skew = mp.asinh(y / mp.sqrt(2 / (w2 - 1))) / mp.sqrt(mp.log(w2) / 2)
    e = 3 * (n - 1) / (n + 1)
    var = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    standard = (b2 - e) / mp.sqrt(var)
    root_beta = (6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
                 * mp.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3))))
    a = 6 + 8 / root_beta * (2 / root_beta + mp.sqrt(1 + 4 / root_beta**2))
    ratio = (1 - 2 / a) / (1 + standard * mp.sqrt(2 / (a - 4)))
    kurtosis = (1 - 2 / (9 * a) - mp.cbrt(ratio)) / mp.sqrt(2 / (9 * a))
    k2 = skew**2 + kurtosis**2
    jb = n / 6 * (g1**2 + (b2 - 3) ** 2 / 4)
    w, w_p = royston(values)
    s = mp.sqrt(m2 * n / (n - 1))
    z = sorted((v - mean) / s for v in values)
    a2 = -n - sum((2 * i + 1) * (mp.log(normal_sf(-u)) + mp.log(normal_sf(v)))
                  for i, (u, v) in enumerate(zip(z, z[::-1]))) / n
    c = a2 * (1 + 0.75 / n + 2.25 / n**2)
    powers = [mp.mpf(1), c, c * c]
    if c < 0.2:
        a2_p = 1 - mp.exp(mp.fdot(exact([-13.436, 101.14, -223.73]), powers))
    elif c < 0.34:
        a2_p = 1 - mp.exp(mp.fdot(exact([-8.318, 42.796, -59.938]), powers))
    elif c < 0.6:
        a2_p = mp.exp(mp.fdot(exact([0.9177, -4.279, -1.38]), powers))
    else:
        a2_p = mp.exp(mp.fdot(exact([1.2937, -5.709, 0.0186]), powers))
    dw = sum((v - u) ** 2 for u, v in zip(values, values[1:])) / mp.fdot(values, values)
    for name, value in (
        ("skew_z", skew), ("kurtosis_z", kurtosis), ("k_squared", k2), ("k_squared_p", mp.exp(-k2 / 2)),
        ("jarque_bera", jb), ("jarque_bera_p", mp.exp(-jb / 2)), ("shapiro_w", w), ("shapiro_p", w_p),
        ("anderson_darling", a2), ("anderson_darling_p", a2_p), ("durbin_watson", dw),
    ):
        put(case, name, value)
    agree(case, [k2, mp.exp(-k2 / 2)], scipy.stats.normaltest(data))
    agree(case, [skew, kurtosis], [scipy.stats.skewtest(data)[0], scipy.stats.kurtosistest(data)[0]])
    agree(case, [jb, mp.exp(-jb / 2)], jarque_bera(data)[:2])
    agree(case, [jb, mp.exp(-jb / 2)], scipy.stats.jarque_bera(data))
    agree(case, [w, w_p], scipy.stats.shapiro(data), 1e-6)
    agree(case, [a2, a2_p], normal_ad(data))
    agree(case, a2, scipy.stats.anderson(data).statistic)
    agree(case, dw, durbin_watson(data))
    scipy_w = scipy.stats.shapiro(data).statistic
    print(case, "Shapiro–Wilk, SciPy's W less ours:", float(scipy_w) - float(w))


def sequence():
    """40 numbers, somewhat skew and with a drift of sign."""
    random = np.random.default_rng(11)
    z = random.standard_normal(40)
    for i in range(1, 40):
        z[i] += 0.4 * z[i - 1]
    return np.round(z + 0.15 * z**2, 3)


# --- Models compared -----------------------------------------------------------


def polynomials():
    case = "polynomials"
    random = np.random.default_rng(12)
    x = np.round(np.linspace(-2.0, 3.0, 16), 3)
    y = np.round(1.0 + 0.6 * x - 0.25 * x**2 + 0.3 * random.standard_normal(16), 3)
    put(case, "x", x)
    put(case, "y", y)
    n = len(x)
    fits = [Fit(polynomial, exact(x), y, [1.0] * (d + 1)) for d in (1, 2, 3)]
    theirs = [sm.OLS(y, np.vander(x, d + 1, increasing=True)).fit() for d in (1, 2, 3)]
    for d, (fit, ols) in enumerate(zip(fits, theirs), 1):
        put(case, f"parameters_{d}", fit.b)
        agree(case, fit.b, ols.params)
        agree(case, fit.s, ols.ssr)
    put(case, "chi_square", [fit.s for fit in fits])
    put(case, "df", [n - fit.p for fit in fits])
    for i, j in ((0, 1), (1, 2), (0, 2)):
        q = fits[j].p - fits[i].p
        f = (fits[i].s - fits[j].s) / q / fits[j].s2
        p = f_sf(f, q, n - fits[j].p)
        put(case, f"f_{i + 1}{j + 1}", f)
        put(case, f"p_{i + 1}{j + 1}", p)
        agree(case, [f, p], theirs[j].compare_f_test(theirs[i])[:2])
    f = [(fits[i].s - fits[i + 1].s) / fits[2].s2 for i in (0, 1)]
    p = [f_sf(v, 1, n - 4) for v in f]
    put(case, "anova_f", f)
    put(case, "anova_p", p)
    table = anova_lm(*theirs)
    agree(case, f, table["F"][1:])
    # anova_lm takes the row's degrees of freedom, not those of the s² it divides by.
    agree(case, [f_sf(v, 1, n - fits[i].p) for i, v in zip((1, 2), f)], table["Pr(>F)"][1:])
    for suffix, more in (("", 0), ("_r", 1)):
        aicc = []
        for fit in fits:
            k = fit.p + more
            base = n * mp.log(fit.s / n) + (n * (mp.log(2 * mp.pi) + 1) if more else 0)
            aicc.append(base + 2 * k + mp.mpf(2 * k * (k + 1)) / (n - k - 1))
        weights = [mp.exp((min(aicc) - v) / 2) for v in aicc]
        put(case, f"aicc{suffix}", aicc)
        put(case, f"akaike_weights{suffix}", [v / sum(weights) for v in weights])
        put(case, f"evidence_ratio{suffix}", [1 / v for v in weights])


# --- Quantiles -----------------------------------------------------------------


def quantiles():
    case = "quantiles"
    df, ps = [1, 2, 5, 10, 30, 200], [0.5, 0.6827, 0.9, 0.95, 0.975, 0.995, 0.9999]
    both, positive = [-30.0, -8.0, -2.5, -1.0, -0.1, 0.0, 0.3, 1.7, 4.0, 12.0], [0.001, 0.2, 1.0, 2.5, 8.0, 40.0, 250.0]
    above, ratios = [1, 2, 5, 30], [0.2, 1.0, 8.0]
    put(case, "df", df)
    put(case, "numerator", above)
    put(case, "probability", ps)
    put(case, "x_symmetric", both)
    put(case, "x_positive", positive)
    put(case, "x_f", ratios)
    put(case, "normal_quantile", [normal_quantile(p) for p in ps])
    put(case, "t_quantile", [t_quantile(p, d) for d in df for p in ps])
    put(case, "chi2_quantile", [chi2_quantile(p, d) for d in df for p in ps])
    put(case, "f_quantile", [f_quantile(p, d, e) for d in above for e in df for p in ps])
    both, positive, ratios = exact(both), exact(positive), exact(ratios)
    norm, t, chi2, f = scipy.stats.norm, scipy.stats.t, scipy.stats.chi2, scipy.stats.f
    for name, values, theirs in (
        ("normal_cdf", [normal_sf(-x) for x in both], [norm.cdf(float(x)) for x in both]),
        ("normal_sf", [normal_sf(x) for x in both], [norm.sf(float(x)) for x in both]),
        ("t_cdf", [t_sf(-x, d) for d in df for x in both], [t.cdf(float(x), d) for d in df for x in both]),
        ("t_sf", [t_sf(x, d) for d in df for x in both], [t.sf(float(x), d) for d in df for x in both]),
        ("chi2_cdf", [chi2_cdf(x, d) for d in df for x in positive],
         [chi2.cdf(float(x), d) for d in df for x in positive]),
        ("chi2_sf", [chi2_sf(x, d) for d in df for x in positive],
         [chi2.sf(float(x), d) for d in df for x in positive]),
        ("f_cdf", [f_cdf(x, d, e) for d in above for e in df for x in ratios],
         [f.cdf(float(x), d, e) for d in above for e in df for x in ratios]),
        ("f_sf", [f_sf(x, d, e) for d in above for e in df for x in ratios],
         [f.sf(float(x), d, e) for d in above for e in df for x in ratios]),
    ):
        agree(name, values, theirs, 1e-10)
        put(case, name, values)


def main():
    warnings.simplefilter("ignore")
    quantiles()
    fit = collection("Misra1a", misra1a, [50.0, 200.0, 400.0, 700.0, 1000.0])
    derived(fit)
    collection("Eckerle4", eckerle4, [420.0, 446.0, 451.5, 458.0, 480.0])
    x, y, scale, whiten, _ = weighted()
    prior(x, y, scale, whiten)
    correlated()
    poisson()
    robust()
    bounded()
    several()
    vector()
    polynomials()
    for case, values in (("sequence", sequence()), ("short", sequence()[:10])):
        put(case, "values", values)
        series(case, values)
    fit = collection("Thurber", thurber, [-3.0, -1.4, -0.5, 0.8, 2.2])
    series("residuals_thurber", floats(fit.r))
    with open(HERE / "curve.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("case", "quantity", "index", "value"))
        writer.writerows((*row[:3], repr(row[3])) for row in ROWS)
    print(len(ROWS), "numbers")


if __name__ == "__main__":
    main()

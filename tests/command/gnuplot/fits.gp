# The fits of gnuplot. Prints `fit,parameter,value,standard error`, and for each fit its weighted sum of squares, `wssr`.
set datafile separator ","
set fit quiet logfile "/dev/null" errorvariables
FIT_LIMIT = 1e-14
FIT_MAXITER = 1000

set print "-"
report(fit, name, value, error) = sprintf("%s,%s,%.14g,%.14g", fit, name, value, error)

y0 = 1.0; m = -0.001
fit y0 + m*x "density.csv" skip 1 using 1:2 via y0, m
print report("line", "wssr", FIT_WSSR, 0)
print report("line", "y0", y0, y0_err)
print report("line", "m", m, m_err)

fit y0 + m*x "density.csv" skip 1 using 1:2:3 yerrors via y0, m
print report("weighted", "wssr", FIT_WSSR, 0)
print report("weighted", "y0", y0, y0_err)
print report("weighted", "m", m, m_err)

ml = -0.001; mh = -0.001; rho = 1.02; tc = 46; g = 1; b = 0.01
kink(x) = x < tc ? b*tanh(g*(tc - x)) + ml*(x - tc) + rho : mh*(x - tc) + rho
fit kink(x) "density.csv" skip 1 using 1:2:3 yerrors via ml, mh, rho, tc, g, b
print report("kink", "wssr", FIT_WSSR, 0)
print report("kink", "b", b, b_err)
print report("kink", "g", g, g_err)
print report("kink", "tc", tc, tc_err)
print report("kink", "ml", ml, ml_err)
print report("kink", "rho", rho, rho_err)
print report("kink", "mh", mh, mh_err)

r = 2; x0 = 0.1; v0 = 0.1; z0 = 0.1
fit sqrt(r*r - abs(x - x0)**2.2 - abs(y - v0)**1.8) + z0 "cap.csv" skip 1 using 1:2:3 via r, x0, v0, z0
print report("cap", "wssr", FIT_WSSR, 0)
print report("cap", "r", r, r_err)
print report("cap", "x0", x0, x0_err)
print report("cap", "y0", v0, v0_err)
print report("cap", "z0", z0, z0_err)

c11 = 50; c33 = 60; c44 = 10; c13 = 20; phi = 1
ca(x) = cos((x - phi)*pi/180)
sa(x) = sin((x - phi)*pi/180)
main(x) = c11*ca(x)**2 + c33*sa(x)**2 + c44
mixed(x) = sqrt(((c11 - c44)*ca(x)**2 + (c44 - c33)*sa(x)**2)**2 + (2*(c13 + c44)*ca(x)*sa(x))**2)
fit (y == 1 ? sqrt(5e5*(main(x) + mixed(x))) : sqrt(5e5*(main(x) - mixed(x)))) "sound.csv" skip 1 using 1:2:3 via c11, c33, c44, c13, phi
print report("sound", "wssr", FIT_WSSR, 0)
print report("sound", "c11", c11, c11_err)
print report("sound", "phi", phi, phi_err)
print report("sound", "c33", c33, c33_err)
print report("sound", "c44", c44, c44_err)
print report("sound", "c13", c13, c13_err)

do for [compound in "A B C"] {
    top = 90; ec50 = 1; n = 1
    fit top/(1 + (ec50/x)**n) "plate.csv" skip 1 using (strcol(1) eq compound ? $2 : NaN):3 via top, ec50, n
    print report("dose ".compound, "wssr", FIT_WSSR, 0)
    print report("dose ".compound, "top", top, top_err)
    print report("dose ".compound, "ec50", ec50, ec50_err)
    print report("dose ".compound, "n", n, n_err)
}

array h[5] = [4, 7, 3, 8, 4]
array c[5] = [1.4, 3, 4.4, 6.3, 7.8]
array w[5] = [0.4, 0.4, 0.4, 0.4, 0.4]
offset = 1; tilt = 0.1
h1 = h[1]; h2 = h[2]; h3 = h[3]; h4 = h[4]; h5 = h[5]
c1 = c[1]; c2 = c[2]; c3 = c[3]; c4 = c[4]; c5 = c[5]
w1 = w[1]; w2 = w[2]; w3 = w[3]; w4 = w[4]; w5 = w[5]
peak(x, h, c, w) = h*exp(-((x - c)/w)**2)
spectrum(x) = offset + tilt*x + peak(x, h1, c1, w1) + peak(x, h2, c2, w2) + peak(x, h3, c3, w3) + peak(x, h4, c4, w4) + peak(x, h5, c5, w5)
fit spectrum(x) "spectrum.csv" skip 1 using 1:2 via h1, c1, w1, h2, c2, w2, h3, c3, w3, h4, c4, w4, h5, c5, w5, offset, tilt
print report("spectrum", "wssr", FIT_WSSR, 0)
print report("spectrum", "offset", offset, offset_err)
print report("spectrum", "tilt", tilt, tilt_err)
do for [name in "h1 c1 w1 h2 c2 w2 h3 c3 w3 h4 c4 w4 h5 c5 w5"] {
    print report("spectrum", name, value(name), value(name."_err"))
}

set fit noerrorscaling
a = 1; slope = 1
fit a + slope*x "line.csv" skip 1 using 1:2:3 yerrors via a, slope
print report("calibration", "wssr", FIT_WSSR, 0)
print report("calibration", "a", a, a_err)
print report("calibration", "slope", slope, slope_err)

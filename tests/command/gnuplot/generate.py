"""Data for gnuplot's fits, made after the kinds of data of its own demonstration `fit.dem` (none of them is copied), and for what else
the guide shows. With Python 3 and NumPy:

    python3 generate.py && gnuplot fits.gp > expected.csv
"""

import numpy as np

random = np.random.default_rng(7)


def save(name, heading, *columns):
    with open(name, "w") as file:
        file.write(heading + "\n")
        for row in zip(*columns):
            file.write(",".join(field if isinstance(field, str) else f"{field:.6g}" for field in row) + "\n")


# The density of a liquid crystal about a phase transition, with its standard deviations: a line, and a curve with a kink.
temperature = np.linspace(35.0, 62.0, 55)
kink = np.where(temperature < 46.5, 0.012 * np.tanh(0.31 * (46.5 - temperature)), 0.0)
slope = np.where(temperature < 46.5, -0.00081, -0.00087)
density = 1.0253 + slope * (temperature - 46.5) + kink
deviation = 1e-4 * (1.0 + 0.5 * random.random(temperature.size))
save("density.csv", "temperature,density,sd", temperature, density + deviation * random.normal(size=temperature.size), deviation)

# A cap over a plane: two predictors.
u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)))
height = np.sqrt(4.1 - np.abs(u - 0.12) ** 2.2 - np.abs(v + 0.25) ** 1.8) - 0.7
save("cap.csv", "u,v,height", u, v, height + 0.004 * random.normal(size=u.size))

# The velocities of longitudinal and transverse sound in a crystal, by direction: two branches, which share parameters.
angle = np.tile(np.arange(0.0, 181.0, 7.5), 2)
branch = np.repeat([1.0, 2.0], angle.size // 2)
c11, c33, c44, c13, phi = 47.6, 68.1, 9.3, 21.7, 4.0
cos, sin = np.cos(np.radians(angle - phi)), np.sin(np.radians(angle - phi))
main = c11 * cos**2 + c33 * sin**2 + c44
mixed = np.sqrt(((c11 - c44) * cos**2 + (c44 - c33) * sin**2) ** 2 + (2 * (c13 + c44) * cos * sin) ** 2)
velocity = np.sqrt(0.5e9 / 1000.0 * np.where(branch < 1.5, main + mixed, main - mixed))
save("sound.csv", "angle,branch,velocity", angle, branch, velocity + 12.0 * random.normal(size=angle.size))

# The response to three compounds, which share top and slope.
rows = []
for name, ec50 in [("A", 1.0), ("B", 3.2), ("C", 0.25)]:
    dose = 0.01 * 3.0 ** np.arange(9)
    response = 98.0 / (1 + (ec50 / dose) ** 1.3) + 1.5 * random.normal(size=dose.size)
    rows += [(name, dose, response) for dose, response in zip(dose, response)]
save("plate.csv", "compound,dose,response", *zip(*rows))

# A spectrum of five peaks on a sloping background.
energy = np.linspace(0.0, 10.0, 501)
peaks = [(5.0, 1.5, 0.35), (8.0, 3.1, 0.3), (3.5, 4.2, 0.45), (9.0, 6.4, 0.4), (4.0, 7.6, 0.5)]
spectrum = 1.0 + 0.12 * energy + sum(h * np.exp(-(((energy - c) / w) ** 2)) for h, c, w in peaks)
save("spectrum.csv", "energy,intensity", energy, spectrum + 0.05 * random.normal(size=energy.size))

# A calibration line with standard deviations that are known.
concentration = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0])
deviation = 0.02 + 0.01 * concentration
save("line.csv", "concentration,signal,sd", concentration, 0.31 + 1.27 * concentration + deviation * random.normal(size=10), deviation)

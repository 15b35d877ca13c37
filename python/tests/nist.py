"""The 27 nonlinear regressions of NIST's Statistical Reference Datasets, with models as users of SciPy write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "nist"


def bennett5(x, b1, b2, b3):
    return b1 * (b2 + x) ** (-1 / b3)


def boxbod(x, b1, b2):
    return b1 * (1 - np.exp(-b2 * x))


def chwirut(x, b1, b2, b3):
    return np.exp(-b1 * x) / (b2 + b3 * x)


def danwood(x, b1, b2):
    return b1 * x**b2


def enso(x, b1, b2, b3, b4, b5, b6, b7, b8, b9):
    w = 2 * np.pi * x
    return (
        b1
        + b2 * np.cos(w / 12)
        + b3 * np.sin(w / 12)
        + b5 * np.cos(w / b4)
        + b6 * np.sin(w / b4)
        + b8 * np.cos(w / b7)
        + b9 * np.sin(w / b7)
    )


def eckerle4(x, b1, b2, b3):
    return (b1 / b2) * np.exp(-0.5 * ((x - b3) / b2) ** 2)


def gauss(x, b1, b2, b3, b4, b5, b6, b7, b8):
    return b1 * np.exp(-b2 * x) + b3 * np.exp(-((x - b4) ** 2) / b5**2) + b6 * np.exp(-((x - b7) ** 2) / b8**2)


def hahn1(x, b1, b2, b3, b4, b5, b6, b7):
    return (b1 + b2 * x + b3 * x**2 + b4 * x**3) / (1 + b5 * x + b6 * x**2 + b7 * x**3)


def kirby2(x, b1, b2, b3, b4, b5):
    return (b1 + b2 * x + b3 * x**2) / (1 + b4 * x + b5 * x**2)


def lanczos(x, b1, b2, b3, b4, b5, b6):
    return b1 * np.exp(-b2 * x) + b3 * np.exp(-b4 * x) + b5 * np.exp(-b6 * x)


def mgh09(x, b1, b2, b3, b4):
    return b1 * (x**2 + x * b2) / (x**2 + x * b3 + b4)


def mgh10(x, b1, b2, b3):
    return b1 * np.exp(b2 / (x + b3))


def mgh17(x, b1, b2, b3, b4, b5):
    return b1 + b2 * np.exp(-x * b4) + b3 * np.exp(-x * b5)


def misra1a(x, b1, b2):
    return b1 * (1 - np.exp(-b2 * x))


def misra1b(x, b1, b2):
    return b1 * (1 - (1 + b2 * x / 2) ** (-2))


def misra1c(x, b1, b2):
    return b1 * (1 - (1 + 2 * b2 * x) ** (-0.5))


def misra1d(x, b1, b2):
    return b1 * b2 * x * ((1 + b2 * x) ** (-1))


def nelson(x, b1, b2, b3):
    return b1 - b2 * x[0] * np.exp(-b3 * x[1])


def rat42(x, b1, b2, b3):
    return b1 / (1 + np.exp(b2 - b3 * x))


def rat43(x, b1, b2, b3, b4):
    return b1 / ((1 + np.exp(b2 - b3 * x)) ** (1 / b4))


def roszman1(x, b1, b2, b3, b4):
    return b1 - b2 * x - np.arctan(b3 / (x - b4)) / np.pi


MODELS: dict[str, Callable[..., Any]] = {
    "Bennett5": bennett5, "BoxBOD": boxbod, "Chwirut1": chwirut, "Chwirut2": chwirut, "DanWood": danwood, "ENSO": enso,
    "Eckerle4": eckerle4, "Gauss1": gauss, "Gauss2": gauss, "Gauss3": gauss, "Hahn1": hahn1, "Kirby2": kirby2,
    "Lanczos1": lanczos, "Lanczos2": lanczos, "Lanczos3": lanczos, "MGH09": mgh09, "MGH10": mgh10, "MGH17": mgh17,
    "Misra1a": misra1a, "Misra1b": misra1b, "Misra1c": misra1c, "Misra1d": misra1d, "Nelson": nelson, "Rat42": rat42,
    "Rat43": rat43, "Roszman1": roszman1, "Thurber": hahn1,
}  # fmt: skip


@dataclass
class Dataset:
    """A set: its model, data, starts and certified parameters."""

    name: str
    model: Callable[..., Any]
    x: np.ndarray
    y: np.ndarray
    starts: list[np.ndarray]
    certified: np.ndarray
    errors: np.ndarray

    def digits(self, found: np.ndarray) -> float:
        """Digits of the worst parameter, up to the eleven that are certified."""
        with np.errstate(divide="ignore"):
            worst = np.max(np.abs(found - self.certified) / np.abs(self.certified))
        return float(min(11.0, -np.log10(worst))) if np.isfinite(worst) else 0.0


def load(name: str) -> Dataset:
    lines = (FOLDER / f"{name}.dat").read_text().splitlines()
    ranges = {}
    for line in lines[:10]:
        match = re.search(r"(Starting Values|Certified Values|Data)\s+\(lines\s+(\d+)\s+to\s+(\d+)\)", line)
        if match:
            ranges[match[1]] = int(match[2]) - 1, int(match[3])
    first, last = ranges["Starting Values"]
    table = np.array([[float(word) for word in line.split("=")[1].split()] for line in lines[first:last]])
    first, last = ranges["Data"]
    data = np.array([[float(word) for word in line.split()] for line in lines[first:last] if line.strip()])
    y, x = data[:, 0], data[:, 1:].T
    x = np.ascontiguousarray(x[0] if len(x) == 1 else x)
    if name == "Nelson":
        y = np.log(y)
    return Dataset(name, MODELS[name], x, y, [table[:, 0], table[:, 1]], table[:, 2], table[:, 3])


ALL = [load(name) for name in MODELS]

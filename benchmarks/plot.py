"""Plot growth from ``speed.json``; runs in the peers' environment, which has matplotlib."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(results: Path, folder: Path) -> None:
    """Write ``growth.png``: each quantity against pages, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    growth = json.loads(results.read_text())["growth"]
    pages = [point["pages"] for point in growth["points"]]
    figure, axes = pyplot.subplots(figsize=(7, 5), layout="constrained")
    for name, slope in growth["exponents"].items():
        first = growth["points"][0][name]
        values = [point[name] / first for point in growth["points"]]
        axes.plot(pages, values, marker="o", label=f"{name} (exponent {slope:.2f})")
    linear = [p / pages[0] for p in pages]
    axes.plot(pages, linear, color="0.6", linestyle="--", label="linear")
    axes.set(xscale="log", yscale="log", xlabel="pages", ylabel="times the first point")
    axes.legend(fontsize="small")
    figure.savefig(folder / "growth.png", dpi=120)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""What a run costs beside the import of its libraries: `python -m tests.benchmarks.startup [--times N]`.

The sample, each run in a process of its own: cold (the data folder is new), again from the snapshots at hand, and a
night where nothing is new. CPU seconds are told beside wall seconds, for a busy machine stretches only the latter;
of several runs, the quickest counts.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
RUN = "import sys; from flows.cli import call; sys.exit(call(sys.argv[1:]))"
EVERYTHING = (
    "import polars, duckdb, great_expectations, shapely, pyproj, scipy.spatial, pydantic_settings, cyclopts, rich"
)
LIGHT = "import polars, duckdb, pydantic_settings, cyclopts, rich"
BUILT = ("releases", "current", "history.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory(prefix="emancipa-startup-") as folder:
        data = Path(folder)
        words = ["run", "--sample", "--data", folder]
        jobs = {
            "imports of a build": ([EVERYTHING], ()),
            "imports of a night with nothing new": ([LIGHT], ()),
            "run, cold": ([RUN, *words], None),
            "run, built again from snapshots": ([RUN, *words, "--offline"], BUILT),
            "run, nothing new": ([RUN, *words], ()),
        }
        for name, (code, removed) in jobs.items():
            wall, cpu = min(measured(code, data, removed) for _ in range(times))
            sys.stdout.write(f"{name:36} {wall:6.2f} s wall {cpu:6.2f} s CPU\n")
            sys.stdout.flush()


def measured(code: list[str], data: Path, removed: tuple[str, ...] | None) -> tuple[float, float]:
    """Wall and CPU seconds of Python over some code, after removing a part of the sample's data folder (None: all)."""
    for path in (data / "sample").glob("*") if removed is None else [data / "sample" / name for name in removed]:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("EMANCIPA_", "PREFECT_"))}
    subprocess.run([sys.executable, "-c", *code], cwd=PROJECT, env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


if __name__ == "__main__":
    main()

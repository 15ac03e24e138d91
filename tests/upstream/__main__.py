"""`python -m tests.upstream --port 8765`: the server by hand; it prints the settings that point a run at it."""

import argparse
import contextlib
import sys
import threading
from pathlib import Path

from tests.upstream import FAULTS, Upstream

parser = argparse.ArgumentParser(prog="python -m tests.upstream", description=__doc__)
parser.add_argument("--port", type=int, default=8765)
parser.add_argument(
    "--census", type=Path, help="a district CSV in IBGE's layout: the whole country instead of the sample"
)
parser.add_argument("--crosswalk", type=Path, help="a municipio_tse_ibge.csv to go with it")
parser.add_argument("--tls", action="store_true", help="with a certificate nobody vouches for")
parser.add_argument("--fault", nargs=2, action="append", default=[], metavar=("PATH", "KIND"), help=", ".join(FAULTS))
options = parser.parse_args()
with Upstream(port=options.port, census=options.census, crosswalk=options.crosswalk, tls=options.tls) as upstream:
    for path, kind in options.fault:
        upstream.fault(path, kind)
    for name, value in upstream.environment().items():
        sys.stdout.write(f"export {name}={value}\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()

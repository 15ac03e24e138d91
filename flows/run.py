"""What a run is about, and what came of it: what every step is given, and what is told in the end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from flows.fetch import Client
from flows.rule_files import RuleFile
from flows.settings import Settings
from transforms.catalog import sources
from transforms.sources import Scope, Source
from warehouse import publish, run_ledger
from warehouse.snapshots import Store

Say = Callable[[str], None]
STAGING = "staging"


def quiet(_line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is about. `simulated` names the sources whose answers are (the bundled sample's)."""

    scope: Scope
    rules: Sequence[RuleFile]
    settings: Settings
    client: Client | None  # None: nothing is asked, not even the folder of hand-supplied files
    now: datetime
    offline: bool = False  # build from the snapshots at hand; hand-supplied files are at hand too
    simulated: frozenset[str] = frozenset()
    accept_drift: str = ""
    say: Say = quiet
    home: Path = Path()  # where its releases live, below the data folder: a national run gives each state its own
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "store", Store(self.settings.raw))

    def of_state(self, uf: str, home: Path) -> "Run":
        """The same run for another state: one client, one store."""
        other = replace(self, scope=replace(self.scope, uf=uf), home=home)
        object.__setattr__(other, "store", self.store)
        return other

    @property
    def wanted(self) -> Mapping[str, Source]:
        """The sources this run asks."""
        if self.client is None:
            return {}
        return {name: source for name, source in sources().items() if not self.offline or source.base == "inputs"}

    @property
    def data(self) -> Path:
        """The folder of its lock, releases and history; snapshots and parsed answers are shared by all homes."""
        return self.settings.data / self.home

    @property
    def cache(self) -> Path:
        """Parsed answers."""
        return self.settings.data / STAGING

    @property
    def keep(self) -> publish.Keep:
        """What pruning leaves."""
        return publish.Keep(self.settings.keep_releases, self.settings.keep_days)

    def ended(
        self, outcome: str, exit_code: int = 0, *, at: datetime | None = None, release: str | None, message: str
    ) -> run_ledger.Run:
        """Its line in the ledger of runs (meta.run)."""
        return run_ledger.Run(
            started_at=self.now,
            finished_at=at,
            uf=self.scope.uf,
            as_of=self.scope.as_of,
            outcome=outcome,
            exit_code=exit_code,
            release=release,
            message=" ".join(message.split()),
            version=version("emancipa"),
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: the release readers now see, and whether this run made it."""

    release: str
    folder: Path
    is_new: bool
    stale: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    withdrawn: str = ""  # where the very same was made before, and rolled back from: which, when and why
    failed: Mapping[str, BaseException] = field(default_factory=dict)  # of a national run, the states that did
    stale_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of a national run, by state that did not

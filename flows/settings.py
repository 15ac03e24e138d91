"""Settings: environment variables EMANCIPA_*, a `.env` beside the run, and what the command line overrides.

Each upstream's base can be moved, so that a mirror or a test server stands in; nothing else here changes a figure.
A value that cannot be right stops the run (exit 2) with the variable's name: a typing slip is never a default.
"""

from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from transforms import codes
from transforms.errors import EmancipaError, UsageError
from transforms.sources import Base

PREFIX = "EMANCIPA_"


def _state(value: str) -> str:
    try:
        return codes.state(value).uf
    except EmancipaError as error:
        raise ValueError(error.what) from error


def _address(url: str) -> str:
    """Where flows/notify.py can send to: a slip must be seen before there is something to tell."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    if parts.hostname and (
        parts.scheme in {"http", "https", "slack+http", "slack+https"}
        or (parts.scheme in {"smtp", "smtps"} and "to" in query and "from" in query)
    ):
        return url
    raise ValueError("give https://…, slack+https://…, or smtp://user:password@host:587?from=ADDRESS&to=ADDRESS")


Url = Annotated[str, Field(pattern=r"^https?://[^\s/]+\S*$"), AfterValidator(lambda url: url.rstrip("/"))]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Pause = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """One run's settings. Build them with `settings()`, which explains what is wrong."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    data: Path = Path("warehouse/data")
    inputs: Path | None = None
    uf: Annotated[str, AfterValidator(_state)] | None = None
    contact: Annotated[str, Field(pattern=r"^[\x21-\x7e]+$")] | None = None  # goes into an HTTP header
    notify_url: Annotated[str, AfterValidator(_address)] | None = None
    lake: str | None = None  # see warehouse/lake.py
    lake_data: Path | None = None
    share: Annotated[str, Field(pattern=r"^[a-z0-9+]+://\S*$")] | None = None  # see warehouse/share.py

    ibge_api: Url = "https://servicodados.ibge.gov.br/api"
    ibge_files: Url = "https://ftp.ibge.gov.br"
    tse: Url = "https://cdn.tse.jus.br/estatistica/sead/odsele"
    siconfi: Url = "https://apidatalake.tesouro.gov.br/ords/siconfi/tt"

    # What pruning leaves: the newest releases, and every one younger than so many days; see warehouse/publish.py.
    keep_releases: Annotated[int, Field(ge=2)] = 30
    keep_days: Annotated[int, Field(ge=0)] = 90

    connect_seconds: Seconds = 10
    read_seconds: Seconds = 60  # longest silence in the middle of an answer
    deadline_seconds: Seconds = 1800  # all of one source's questions, waiting included
    tries: Annotated[int, Field(ge=1, le=20)] = 4
    backoff_seconds: Pause = 2
    connections: Annotated[int, Field(ge=1, le=8)] = 2  # to one host; SICONFI gets one
    siconfi_pace: Pause = 1.5  # seconds between two requests: at 1.1 a fifth of them is answered 429

    @cached_property
    def raw(self) -> Path:
        """The folder of the snapshots."""
        return self.data / "raw"

    @cached_property
    def inputs_folder(self) -> Path:
        """The folder of the files supplied by hand."""
        return self.inputs or self.data / "inputs"

    def base(self, base: Base) -> str:
        """Where an upstream lives."""
        return str(getattr(self, base))

    @cached_property
    def user_agent(self) -> str:
        """Honest, in the form that firewalls made for browsers let through."""
        try:
            release = version("emancipa")
        except PackageNotFoundError:  # run from a plain checkout
            release = "dev"
        contact = f"; +{self.contact}" if self.contact else ""
        return f"Mozilla/5.0 (compatible; emancipa/{release}{contact})"


def settings(*, sample: bool = False, **overrides: Any) -> Settings:
    """The settings in force; `overrides` (None is no override) win over the environment. Raises UsageError.

    The sample has a data folder of its own, inside the other.
    """
    try:
        found = Settings(**{name: value for name, value in overrides.items() if value is not None})
        return found.model_copy(update={"data": found.data / "sample"}) if sample else found
    except ValidationError as error:
        wrong = [
            f"{PREFIX}{'_'.join(map(str, fault['loc'])).upper()}={fault['input']!r}: {fault['msg']}"
            for fault in error.errors()
        ]
        raise UsageError(
            "; ".join(wrong), where="settings", action="mend the environment variable or the .env file"
        ) from None

"""What a source asks of its upstream, as addresses that a person can open: no answer is waited for, none is read."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

from flows.settings import Settings
from transforms.errors import EmancipaError
from transforms.sources import Request, Scope, Source


def addresses(source: Source, scope: Scope, settings: Settings) -> list[Mapping[str, str]]:
    """Part and address of each file that can be named before anything answers, in the order they would be asked for.

    Where the name of a file is first read in a folder's list, the folder is what is given. Of two addresses of one
    part, the second stands in for the first.
    """
    return [
        {"part": request.part, "address": address(source, request, settings)} for request in _unanswered(source, scope)
    ]


def address(source: Source, request: Request, settings: Settings) -> str:
    """Where a question is asked; of a hand-supplied file, its path."""
    if source.base == "inputs":
        return str(settings.inputs_folder / request.path.lstrip("/"))
    query = f"?{urlencode(request.params)}" if request.params else ""
    return f"{settings.base(source.base)}{request.path}{query}"


def _unanswered(source: Source, scope: Scope) -> Iterator[Request]:
    """What is asked while nothing is there, until the source gives up."""
    conversation = source.conversation(scope)
    try:
        yield next(conversation)
        while True:
            yield conversation.send(None)
    except (StopIteration, EmancipaError):
        return

"""`LEIA-ME.txt`: what the files of a release are, for whoever opens the folder at the assembly."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from warehouse.build import Tables
from warehouse.export.contiguity import apart
from warehouse.export.portuguese import sentence
from warehouse.release import short_id
from warehouse.snapshots import BRASILIA

FILE = "LEIA-ME.txt"
FILES: Mapping[str, str] = {
    "elegibilidade.xlsx": "a planilha: todas as tabelas abaixo, com os códigos como texto",
    "elegibilidade.csv": "uma linha por área, na ordem da classificação",
    "requisitos.csv": "cada área diante de cada requisito, com a cifra, o limite, a fonte e a data",
    "municipios_de_origem.csv": "o que cada município de origem tem hoje e o que lhe restaria",
    "pendencias.csv": "o que falta saber, e a quem pedir",
    "sem_candidatos.csv": "os municípios sem área a examinar, e por quê",
    "propostas.csv": "em que etapa está cada representação, os prazos e o próximo passo",
    "index.html": "a página do Estado, que abre sem internet",
    "eligibility.csv …": "as mesmas tabelas, com nomes em inglês, para programas",
    "datapackage.json": "a descrição de cada coluna, para programas",
}


def write(folder: Path, manifest: Mapping[str, Any], tables: Tables) -> None:
    """For Windows: BOM and CRLF. `manifest` is the release's (see warehouse.release), `tables` what it holds.

    Call it last: it lists the files that stand in the folder (a release of several states has no page).
    """
    there = {path.name for path in folder.iterdir()}
    text = "\r\n".join(lines(manifest, apart(tables), there)) + "\r\n"
    (folder / FILE).write_bytes(text.encode("utf-8-sig"))


def lines(manifest: Mapping[str, Any], in_pieces: Mapping[str, str], there: Container[str]) -> list[str]:
    """The text, line by line. `in_pieces`: areas whose districts are not contiguous; `there`: names of files."""
    files = {name: words for name, words in FILES.items() if name.split()[0] in there}
    wide = max(map(len, files), default=0)
    states = manifest.get("states", [])
    return [
        f"Triagem de áreas para criação de municípios: {_whose(manifest['uf'], states)}",
        f"Publicação {manifest['id']} ({short_id(manifest)} {'na página, ' * ('index.html' in there)}na planilha e "
        f"nos dossiês), "
        f"dados até {day_of(manifest['as_of'])}",
        *(
            ["", "DADOS SIMULADOS: exemplo que acompanha o programa; nenhuma cifra serve a um processo."]
            * manifest["simulated"]
        ),
        *(["", "ESTADOS", *map(_state, states)] if states else []),
        "",
        "AVISO",
        manifest["legal_notice"],
        *(["", "ATENÇÃO: PARTES NÃO CONTÍGUAS"] if in_pieces else []),
        *(f"  {name} ({area}): nem todos os distritos se ligam por divisa comum" for area, name in in_pieces.items()),
        "",
        "REGRAS APLICADAS",
        *(f"  {rule_set['title']}" for rule_set in manifest["rule_sets"]),
        "",
        "ARQUIVOS",
        *(f"  {name.ljust(wide)}  {words}" for name, words in files.items()),
        "",
        "  Os .csv em português abrem com dois cliques no Excel em português. O Excel pode tirar zeros à esquerda de",
        "  códigos e trocar nomes por datas: para conservar tudo, use o .xlsx ou Dados > De Texto/CSV.",
        "",
        "FONTES E DATAS",
        *_sources(manifest["snapshots"]),
    ]


def _whose(uf: str, states: Sequence[Mapping[str, Any]]) -> str:
    """The state, or those of a national release and how many of those asked for they are."""
    present = [state["uf"] for state in states if state["release"]]
    return f"{', '.join(present)} ({len(present)} de {len(states)} Estados pedidos)" if states else uf


def _state(state: Mapping[str, Any]) -> str:
    """Of a national release: until when a state's data go, and what kept it from being made anew."""
    dated = f"dados até {day_of(state['as_of'])}, publicação {state['release']}" if state["release"] else ""
    if state["is_current"]:
        return f"  {state['uf']}  {dated}"
    why = f"mensagem do programa: {' '.join(state['reason'].split())}"
    told = f"PUBLICAÇÃO ANTERIOR, {dated}; a nova falhou" if dated else "FALTA: nenhum dado deste Estado está aqui"
    return f"  {state['uf']}  {told} ({why})"


def _sources(snapshots: Iterable[Mapping[str, Any]]) -> list[str]:
    newest: dict[str, datetime] = {}
    for snapshot in snapshots:
        fetched = snapshot["fetched_at"]
        moment = datetime.fromisoformat(fetched) if isinstance(fetched, str) else fetched
        newest[snapshot["source"]] = max(newest.get(snapshot["source"], moment), moment)
    return [
        f"  {sentence(name)}; recebido em {moment.astimezone(BRASILIA):%d/%m/%Y}"
        for name, moment in sorted(newest.items())
    ]


def day_of(iso: str) -> str:
    """An ISO date as Brazil writes it: 31/12/2026."""
    return "/".join(reversed(iso.split("-")))

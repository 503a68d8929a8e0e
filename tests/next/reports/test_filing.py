"""Documents in a project: in its own style, under a number of their own, and never over what somebody wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from council.next.errors import StorageError, UsageError
from council.next.record import files
from council.next.record.session import Session
from council.next.reports.filing import EDITED, NEW, SAME, UPDATED, file_document, next_number, split_name
from tests.next.record.sessions import ID
from tests.next.reports import goldens
from tests.next.reports.debates import begin, hold, real

TITLE = "background-jobs-live-in-postgresql-provided-a-load"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return real(tmp_path / "home", "jobs")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_a_document_is_filed_once(session: Session, project: Path) -> None:
    filed = file_document(session, project)
    assert filed.path == project / "docs/decisions" / f"adr-0001-{TITLE}.md"
    assert (filed.became, filed.path.read_text("utf-8")) == (NEW, filed.text)
    assert "# ADR-0001: Background jobs live in PostgreSQL" in filed.text
    assert filed.path.stat().st_mode & 0o777 == 0o644
    assert file_document(session, project).became == SAME
    assert [path.name for path in filed.path.parent.iterdir()] == [filed.path.name]


EDITS = {
    "words": lambda data: data.replace(b"## Decision", b"## Our decision"),
    "line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "a mark": lambda data: b"\xef\xbb\xbf" + data,
    "no hash": lambda data: data.replace(b"written: ", b"was_written: "),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_document_is_never_written_again(edit: str, session: Session, project: Path) -> None:
    path = file_document(session, project).path
    mine = EDITS[edit](path.read_bytes())
    path.write_bytes(mine)
    again = file_document(session, project, "adr", template="# Something else\n")
    assert (again.became, again.path, path.read_bytes()) == (EDITED, path, mine)
    other = file_document(session, project, new=True)
    assert (other.became, other.path.name) == (NEW, f"adr-0002-{TITLE}.md")


def test_a_document_that_nobody_edited_is_brought_up_to_date(session: Session, project: Path) -> None:
    path = file_document(session, project, template="# {{ title }}\n").path
    before = path.read_text("utf-8")
    filed = file_document(session, project)
    assert (filed.became, filed.path) == (UPDATED, path)
    assert path.read_text("utf-8") == filed.text != before


def test_a_dry_run_writes_nothing(session: Session, project: Path) -> None:
    filed = file_document(session, project, dry_run=True)
    assert (filed.became, [*project.iterdir()]) == (NEW, [])
    assert "# ADR-0001: " in filed.text


@pytest.mark.parametrize(
    ("there", "next_one"),
    [
        ([], "adr-0001-"),
        (["0007-x.md", "0009-y.md"], "0010-"),
        (["ADR-0042.md"], "ADR-0043-"),
        (["adr_0099_a.md", "0007-x.md"], "adr_0100_"),
        (["ADR 12.md"], "ADR 13-"),
        (["2026-01-02-x.md", "0x.md", "adrian.md", "adr-12th.md", "README.md"], "adr-0001-"),
        (["adr-99999999999999999999-x.md", "\u0660\u0660\u0667-x.md"], "adr-0001-"),
        (["adr-9999-x.md"], "adr-10000-"),
    ],
)
def test_numbers_go_on_in_the_projects_own_style(
    there: list[str], next_one: str, session: Session, project: Path
) -> None:
    assert next_number([Path(name).stem for name in there]) == next_one
    folder = project / "docs/decisions"
    folder.mkdir(parents=True)
    for name in there:
        (folder / name).write_text("# Ours\n")
    filed = file_document(session, project)
    assert filed.path.name.startswith(next_one)
    digits = split_name(filed.path.stem)[1]
    assert f"# ADR-{digits}: " in filed.text


def test_each_kind_has_its_name(session: Session, project: Path) -> None:
    names = [file_document(session, project, kind).path.name for kind in ("decision", "issue", "madr", "adr")]
    assert names == [
        f"2026-11-18-{TITLE}.md",
        f"2026-11-18-{TITLE}-issue.md",
        f"adr-0001-{TITLE}.md",
        f"adr-0002-{TITLE}.md",
    ]
    again = [file_document(session, project, "decision", new=True).path.name for _ in range(3)]
    assert again == [f"2026-11-18-{TITLE}-{number}.md" for number in (2, 3, 4)]


def test_letters_of_every_script_stay_in_a_name(tmp_path: Path, project: Path) -> None:
    said = {"synthesis": {"title": "会议重命名 für Größe", "answer": "Ja.", "recommended_path": "So."}}
    session = begin(tmp_path / "home", "Quick", ["architect"])
    hold(session, goldens.script(session, said))
    assert file_document(session, project).path.name == "adr-0001-会议重命名-fur-grosse.md"


def test_nothing_is_written_through_a_link_or_out_of_the_project(
    session: Session, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "docs").symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of the project"):
        file_document(session, project)
    for place in ("../outside", "docs/../../outside", str(outside)):
        with pytest.raises(UsageError, match="leads out of the project"):
            file_document(session, project, place=place)
    (project / "docs").unlink()
    folder = project / "docs/decisions"
    folder.mkdir(parents=True)
    victim = outside / "victim.md"
    victim.write_text(f'---\nsession: "{ID}"\ndocument: "adr"\n---\n')
    (folder / f"adr-0001-{TITLE}.md").symlink_to(victim)  # takes its number, and is not followed
    filed = file_document(session, project)
    assert filed.path.name == f"adr-0002-{TITLE}.md"
    assert victim.read_text().count("\n") == 4


def test_a_time_that_is_a_path_is_no_part_of_a_name(tmp_path: Path, project: Path) -> None:
    session = begin(tmp_path / "home", "Quick", ["architect"])
    path = session.folder / "metadata.json"
    path.write_text(path.read_text("utf-8").replace("2026-11-18T12:00:00Z", "../../up/2026"), "utf-8")
    session = Session(session.folder)
    said = {"synthesis": {"title": "Yes", "answer": "Yes.", "recommended_path": "So.", "next_steps": ("One.",)}}
    hold(session, goldens.script(session, said), started="")
    assert file_document(session, project, "issue").path.parent == project / "docs/decisions"


def test_odd_neighbours_stop_nothing(session: Session, project: Path) -> None:
    import os

    folder = project / "docs/decisions"
    folder.mkdir(parents=True)
    (folder / "0003-folder.md").mkdir()
    (folder / "0004-bytes.md").write_bytes(b"---\n\xff\xfe\nsession: x\n---\n")
    os.mkfifo(folder / "0005-pipe.md")
    with (folder / "0006-huge.md").open("wb") as file:
        file.truncate(50_000_000)
    (folder / f".left{files.TEMP}").write_text("by a process that was killed")
    assert file_document(session, project).path.name.startswith("0007-")
    assert not (folder / f".left{files.TEMP}").exists()


def test_two_at_once_get_two_numbers(tmp_path: Path, project: Path) -> None:
    sessions = [real(tmp_path / "home", "jobs", f"s{number}").folder for number in range(4)]
    code = (
        "import sys; from pathlib import Path; from council.next.record.session import Session; "
        "from council.next.reports.filing import file_document; "
        "print(file_document(Session(Path(sys.argv[1])), Path(sys.argv[2])).path.name)"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(folder), str(project)], stdout=subprocess.PIPE)
        for folder in sessions
    ]
    names = {run.communicate()[0].decode().strip() for run in runs}
    assert {name[:8] for name in names} == {f"adr-000{number}" for number in range(1, 5)}


def test_a_folder_that_cannot_be_written_is_named(session: Session, project: Path) -> None:
    (project / "docs").write_text("a file")
    with pytest.raises(StorageError, match="docs/decisions"):
        file_document(session, project)


def test_a_document_links_to_the_one_that_it_follows(tmp_path: Path, project: Path) -> None:
    first = file_document(real(tmp_path / "home", "jobs"), project).path.name
    filed = file_document(real(tmp_path / "home", "logout", "second", after=ID), project)
    assert f"**Follows:** [{first}]({first})" in filed.text
    assert f'follows: "{ID}"' in filed.text

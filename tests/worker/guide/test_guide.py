"""The agent of docs/worker-guide.md, from the page, killed at every moment and compared with one that nobody killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from runhold_client import HttpStore, RunRecord, RunStatus, iter_run_records
from tests.support.server import Server

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "worker-guide.md"
KILLER = Path(__file__).parent / "killer.py"
TRANSCRIPT = "transcript_messages_appended"


def agent_from_the_guide(folder: Path) -> Path:
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    path = folder / "agent.py"
    path.write_text("\n\n".join(blocks))
    return path


def said(record: RunRecord) -> tuple[str, str, str, str]:
    return record.event_key, record.type, record.turn_id, record.payload


def transcript(records: list[RunRecord]) -> list[Any]:
    return [message for record in records if record.type == TRANSCRIPT for message in json.loads(record.payload)]


def test_the_agent_survives_being_killed_between_any_two_steps_and_between_call_and_commit(
    server: Server, unique: str, tmp_path: Path
) -> None:
    with HttpStore(server.url) as store:
        store.create_session(unique)
        agent = agent_from_the_guide(tmp_path)
        subprocess.run([sys.executable, KILLER, agent, server.url, tmp_path, unique], check=True, timeout=120)
        moments = json.loads((tmp_path / "moments.json").read_text())

        def records(name: str) -> list[RunRecord]:
            return [stored.record for stored in iter_run_records(store, f"{unique}/{name}")]

        def effects(name: str) -> Counter[str]:
            return Counter((tmp_path / f"{name}.effects").read_text().split())

        undisturbed = records("undisturbed")
        acknowledged = effects("undisturbed")
        assert set(acknowledged.values()) == {1}
        assert [key for key, *_ in map(said, undisturbed) if key in acknowledged] == list(acknowledged)
        assert len(transcript(undisturbed)) == 6
        doubled = 0
        for moment in moments:
            name = moment["name"]
            assert list(map(said, records(name))) == list(map(said, undisturbed)), moment
            assert transcript(records(name)) == transcript(undisturbed), moment
            assert store.load_run(f"{unique}/{name}").status is RunStatus.COMPLETED
            more = effects(name) - acknowledged
            assert acknowledged - effects(name) == Counter(), moment
            # Only between a step's call and its commit can something happen twice, and then that step alone.
            key = moment["operation"].removeprefix("append_run_record ")
            between = moment["when"] == "before" and key in acknowledged
            assert more == Counter([key] if between else []), moment
            doubled += between
        assert doubled == len(acknowledged) == 6


def test_the_guide_runs_as_it_says(server: Server, unique: str, tmp_path: Path) -> None:
    agent = agent_from_the_guide(tmp_path)
    command = [sys.executable, str(agent), server.url, f"session-{unique}", f"run-{unique}"]
    first = subprocess.run(command, cwd=tmp_path, check=True, timeout=60, capture_output=True, text=True)
    effects = (tmp_path / "effects.log").read_text()
    second = subprocess.run(command, cwd=tmp_path, check=True, timeout=60, capture_output=True, text=True)
    assert first.stdout == second.stdout
    assert first.stdout.splitlines()[-1] == "assistant ['text']"
    assert (tmp_path / "effects.log").read_text() == effects
    assert len(effects.split()) == 6


def test_the_page_names_only_what_the_library_has() -> None:
    import runhold_client
    from runhold_client import completion, memory, recorder
    from runhold_client.memory import sql

    names = re.findall(r"`([A-Z][A-Za-z]+|a?ensure_[a-z_]+)\b", GUIDE.read_text())
    assert len(names) > 5
    for name in names:
        homes = (runhold_client, recorder, completion, memory, sql)
        assert any(hasattr(home, name) for home in homes) or name in ("GET", "Reply"), name


EXCERPTS = re.findall(r"^```python no-test\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", EXCERPTS)
def test_excerpts_of_the_page_are_python(block: str) -> None:
    compile(f"async def excerpt():\n{re.sub('^', '    ', block, flags=re.MULTILINE)}", "excerpt", "exec")

"""What the two wheels hold, and that a service and a client installed from them work."""

from __future__ import annotations

import configparser
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.packaging.conftest import Wheels
from tests.support.checkout import ROOT
from tests.support.environments import clean_environment
from tests.support.server import Server


def names_in(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def scripts_of(wheel: Path) -> dict[str, str]:
    archive = zipfile.ZipFile(wheel)
    found = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
    parser = configparser.ConfigParser()
    for name in found:
        parser.read_file(io.TextIOWrapper(archive.open(name), "utf-8"))
    return dict(parser["console_scripts"]) if parser.has_section("console_scripts") else {}


@pytest.fixture(scope="module")
def installed(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a clean environment with the service and nothing that it does not ask for."""
    return clean_environment(tmp_path_factory.mktemp("service") / "environment", wheels)


@pytest.fixture(scope="module")
def client_installed(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a clean environment with the client alone."""
    return clean_environment(tmp_path_factory.mktemp("client") / "environment", [wheels.client])


def test_each_wheel_installs_exactly_one_import_package(wheels: Wheels) -> None:
    for wheel, package in ((wheels.service, "runhold"), (wheels.client, "runhold_client")):
        tops = {name.split("/")[0] for name in names_in(wheel)}
        assert {top for top in tops if not top.endswith(".dist-info")} == {package}
        assert len(tops) == 2


def test_only_the_service_installs_a_script_and_only_one(wheels: Wheels) -> None:
    assert scripts_of(wheels.service) == {"runhold": "runhold.__main__:main"}
    assert scripts_of(wheels.client) == {}


def test_every_source_file_is_in_its_wheel(wheels: Wheels) -> None:
    for wheel, source, inside in (
        (wheels.service, ROOT / "app" / "runhold", "runhold"),
        (wheels.service, ROOT / "migrations", "runhold/migrations"),
        (wheels.client, ROOT / "client" / "runhold_client", "runhold_client"),
    ):
        files = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
        wanted = {f"{inside}/{path.as_posix()}" for path in files if not re.match(r"(.*/)?(__pycache__|\.)", f"{path}")}
        assert wanted
        assert wanted <= names_in(wheel)


def test_both_wheels_carry_the_licence_and_say_that_they_are_typed(wheels: Wheels) -> None:
    for wheel, package in ((wheels.service, "runhold"), (wheels.client, "runhold_client")):
        names = names_in(wheel)
        assert f"{package}/py.typed" in names
        (licence,) = [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
        assert zipfile.ZipFile(wheel).read(licence) == (ROOT / "LICENSE").read_bytes()


def test_the_installed_service_migrates_checks_and_serves(installed: Path, database_url: str, tmp_path: Path) -> None:
    def runhold(command: str) -> subprocess.CompletedProcess[str]:
        script = [str(installed.with_name("runhold")), command, "--database-url", database_url]
        return subprocess.run(script, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)

    before = runhold("check")
    assert before.returncode == 1, before
    assert "Traceback" not in before.stderr
    migrated = runhold("migrate")
    assert migrated.returncode == 0, migrated
    assert runhold("check").returncode == 0

    server = Server(database_url, {"RUNHOLD_AUTO_MIGRATE": "off"}, python=str(installed), folder=tmp_path)
    try:
        server.start()
        with httpx.Client(base_url=server.url, trust_env=False) as http:
            assert http.post("/v1/sessions", json={"session_id": "s"}).status_code == 200
            assert http.get("/v1/sessions/s").json()["status"] == "active"
            assert http.get("/openapi.json").json()["openapi"].startswith("3.1")
            page = http.get("/docs")
            assert page.status_code == 200
            assets = [part.split('"')[0] for part in page.text.replace("src=", "href=").split('href="')[1:]]
            assert assets
            assert all(http.get(page.url.join(asset)).status_code == 200 for asset in assets)
        assert server.stop() == 0
    finally:
        server.close()


def test_the_installed_client_stands_without_the_service(client_installed: Path, tmp_path: Path) -> None:
    code = "import runhold_client; print(runhold_client.HttpStore, runhold_client.AsyncHttpStore)"
    done = subprocess.run([str(client_installed), "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    service = subprocess.run([str(client_installed), "-I", "-c", "import runhold"], cwd=tmp_path, capture_output=True)
    assert service.returncode == 1


def test_type_checkers_see_the_types_of_both_packages(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(
        "from runhold import open_local_store\n"
        "from runhold_client import HttpStore\n"
        "reveal_type(HttpStore('http://127.0.0.1').load_session_status)\n"
        "reveal_type(open_local_store)\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(installed), "--config-file=", "use.py"]
    done = subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Any" not in done.stdout

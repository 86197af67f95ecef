"""Write ``openapi.yaml`` from the service, and the client's ``_generated/`` from it: ``python -m client.generate``.

Both are checked in and hold each other: a test generates them again and finds nothing changed. The generator,
openapi-python-client, runs in an environment of its own, made from ``generator/requirements.txt`` with hashes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
OPENAPI = ROOT / "openapi.yaml"
GENERATED = ROOT / "client" / "runhold_client" / "_generated"
GENERATOR = ROOT / "client" / "generator"
ENVIRONMENT = ROOT / ".venv" / "generator"

UNUSED = ("client.py", "errors.py")
"""What the generator writes for its own way of sending; the stores have one that repeats requests exactly."""


def main() -> None:
    """Write both anew."""
    OPENAPI.write_text(openapi_yaml(), encoding="utf-8")
    generate(OPENAPI, GENERATED)


def openapi_yaml() -> str:
    """The service's OpenAPI document as YAML, its parts in the order in which the service gives them."""
    from runhold.main import create_app

    return yaml.dump(create_app().openapi(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def generate(openapi: Path, into: Path) -> None:
    """Generate the package from a document. Raises: SystemExit when the generator is missing or complains."""
    programs = generator_environment() / "bin"
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / into.name
        command = [
            str(programs / "python"), "-I", "-m", "openapi_python_client", "generate",
            "--meta", "none", "--fail-on-warning", "--path", str(openapi), "--output-path", str(written),
            "--config", str(GENERATOR / "config.yaml"),
            "--custom-template-path", str(GENERATOR / "templates"),
        ]  # fmt: skip
        done = subprocess.run(
            command,
            # The generator formats what it wrote with the ruff of its own environment.
            env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"the generator failed:\n{done.stdout}{done.stderr}")
        for name in UNUSED:
            (written / name).unlink()
        shutil.rmtree(written / ".ruff_cache", ignore_errors=True)
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(written, into)


def generator_environment() -> Path:
    """The generator's virtual environment, made when it is missing or its lock has changed."""
    lock = GENERATOR / "requirements.txt"
    stamp = ENVIRONMENT / "requirements.txt"
    if not stamp.is_file() or stamp.read_bytes() != lock.read_bytes():
        # Settings that would send packages elsewhere than into this environment.
        disturbing = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER")
        env = {name: value for name, value in os.environ.items() if name not in disturbing}
        subprocess.run([sys.executable, "-I", "-m", "venv", "--clear", str(ENVIRONMENT)], check=True, env=env)
        pip = [str(ENVIRONMENT / "bin" / "python"), "-I", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        install = ["install", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(lock)]
        subprocess.run([*pip, *install], check=True, env=env)
        shutil.copyfile(lock, stamp)
    return ENVIRONMENT


class _Dumper(yaml.SafeDumper):
    """Plain YAML: no anchors, and lists set off from their names."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  the base class's signature
        """Write equal parts out each time: an anchor would say that they belong together."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Set lists off."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


if __name__ == "__main__":
    main()

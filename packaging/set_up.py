"""Sets up a checkout: system libraries, virtual environment, packages, models. Quick when there is nothing to do.

    python3 packaging/set_up.py [--small | --no-models]

It uses nothing but the standard library, and only syntax that old versions of Python understand, so that a wrong
version gets a sentence and not a syntax error. Interrupted, it goes on where it was the next time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "set-up.json"
UNFINISHED = "unfinished"  # in the stamp, in place of the packages: they may be there by halves, pip's own included
LOG = ENVIRONMENT / "set-up.log"
PYTHONS = ((3, 11), (3, 12), (3, 13))
HEARTBEAT_S = 20

# What Qt's window plugin, its fonts and the model libraries load at run time: library, and the Debian package it is in.
LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgomp.so.1": "libgomp1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
# A window server for tests without a display, and what llama-cpp-python is compiled with.
PROGRAMS = {"Xvfb": "xvfb", "c++": "g++"}
FONTS_DIR = Path("/usr/share/fonts")
FONTS_PACKAGE = "fonts-dejavu-core"

MODELS_ARE_THERE = """
import sys
from pincite.engine.install import models_to_install
from pincite.engine.models import ModelState, find_model, read_catalog
from pincite.settings import catalog_file, load_settings
catalog = read_catalog(catalog_file())
folder = load_settings().models_dir
wanted = models_to_install(catalog, small="--small" in sys.argv)
states = {find_model(entry.name, folder, catalog).state for entry in wanted}
sys.exit(0 if states == {ModelState.INSTALLED} else 3)
"""


class SetUpError(Exception):
    """Set-up cannot go on; the text is one sentence that says what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Set up this checkout of Pincite.")
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--small", action="store_true", help="install the small models, for tests")
    models.add_argument("--no-models", action="store_true", help="install no models")
    options = parser.parse_args()
    try:
        go_on_with_a_fitting_python()
        steps = [
            ("system packages (a minute)", missing_system_packages, install_system_packages),
            ("virtual environment (seconds)", lambda: not environment_fits(), make_environment),
            ("packages (5 to 10 minutes, most of it compiling llama.cpp)", packages_are_old, install_packages),
        ]
        if not options.no_models:
            wanted = ["--small"] if options.small else []
            size = "170 MB" if options.small else "1.2 GB"
            steps.append(
                (
                    f"models ({size} to fetch)",
                    lambda: models_are_missing(wanted),
                    lambda: install_models(wanted),
                )
            )
        for number, (name, needed, do) in enumerate(steps, 1):
            if needed():
                say(f"[{number}/{len(steps)}] {name}")
                do()
    except SetUpError as error:
        print(f"Set-up stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Set-up was interrupted; it goes on from here the next time.", file=sys.stderr)
        return 130
    return 0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def go_on_with_a_fitting_python() -> None:
    """Return if this Python will do; else run this script again with one that does."""
    if sys.version_info[:2] in PYTHONS:
        return
    for major, minor in reversed(PYTHONS):
        found = shutil.which(f"python{major}.{minor}")
        if found and subprocess.run([found, "-c", ""], check=False, capture_output=True).returncode == 0:
            os.execv(found, [found, *sys.argv])
    raise SetUpError(
        f"Pincite needs Python 3.11, 3.12 or 3.13 and this is {sys.version.split()[0]}, so install one of them and run "
        "the command again with PYTHON=python3.11 (or its path) after it."
    )


# System packages


def missing_system_packages() -> list[str]:
    """The Debian packages of what is not there. Other systems than Linux bring all that is needed with them."""
    if not sys.platform.startswith("linux"):
        return []
    loader = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    known = subprocess.run([loader, "-p"], check=False, capture_output=True, text=True).stdout if loader else ""
    there = {line.split()[0] for line in known.splitlines() if "=>" in line}
    missing = [package for library, package in LIBRARIES.items() if there and library not in there]
    missing += [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not any(FONTS_DIR.rglob("*.ttf")):
        missing.append(FONTS_PACKAGE)
    if not can_make_environments():
        missing.append(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
    return missing


def can_make_environments() -> bool:
    try:
        import ensurepip  # Debian ships Python without it unless asked
        import venv
    except ImportError:
        return False
    return bool(ensurepip and venv)


def install_system_packages() -> None:
    missing = missing_system_packages()
    names = " ".join(missing)
    apt = shutil.which("apt-get")
    if not apt:
        raise SetUpError(f"install what these packages of Debian hold ({names}) and run the command again.")
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if as_root and (not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"], check=False).returncode):
        raise SetUpError(f"run `sudo apt-get install {names}` and then the command again.")
    say(f"      {names}")
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", apt, "-q", "-y"]
    for arguments in (["update"], ["install", "--no-install-recommends", *missing]):
        done = subprocess.run(
            [*as_root, *quiet, *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode and arguments[0] == "install":
            say(done.stdout[-2000:])
            raise SetUpError(f"`apt-get install {names}` failed; its last words stand above.")


# Virtual environment


def environment_python() -> Path:
    return ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment_identity() -> dict[str, str]:
    """What an environment is bound to: another Python or another place of the checkout needs a new one."""
    version = ".".join(str(part) for part in sys.version_info[:2])
    return {"checkout": str(ROOT), "python": version, "base": os.path.realpath(sys.base_prefix)}


def read_stamp() -> dict[str, str]:
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_stamp(packages: str) -> None:
    STAMP.write_text(json.dumps({**environment_identity(), "packages": packages}), encoding="utf-8")


def environment_fits() -> bool:
    stamp = read_stamp()
    whole = stamp.pop("packages", UNFINISHED) != UNFINISHED
    return whole and stamp == environment_identity() and environment_python().exists()


def make_environment() -> None:
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=False, capture_output=True, text=True)
    if done.returncode:
        say((done.stdout + done.stderr)[-2000:])
        raise SetUpError(f"{sys.executable} cannot make a virtual environment; its last words stand above.")
    write_stamp("")


# Packages


def packages_key() -> str:
    digest = hashlib.sha256()
    for path in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def packages_are_old() -> bool:
    return read_stamp().get("packages") != packages_key()


def install_packages() -> None:
    write_stamp(UNFINISHED)
    pin = next(line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if line.startswith("pip=="))
    pip("install", "--upgrade", pin)
    pip(
        "install",
        "--constraint",
        str(CONSTRAINTS),
        "--build-constraint",
        str(CONSTRAINTS),
        "--editable",
        f"{ROOT}[dev]",
        environment={"CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1)},
    )
    write_stamp(packages_key())


def pip(*arguments: str, environment: dict[str, str] | None = None) -> None:
    """Run pip in the environment, telling how far it is; all it says goes to the log."""
    command = [str(environment_python()), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    process = subprocess.Popen(
        command,
        env={**os.environ, **(environment or {}), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    tail: list[str] = []
    teller = Teller()
    try:
        with LOG.open("a", encoding="utf-8") as log:
            for line in process.stdout or ():
                log.write(line)
                tail = [*tail[-19:], line]
                teller.heard(line)
        status = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        teller.stop()
    if status:
        say("".join(tail).rstrip())
        raise SetUpError(f"pip failed; its last words stand above, and all of them in {LOG}.")


class Teller:
    """Says what pip is doing: a line for each stage, and one from time to time while nothing new happens."""

    def __init__(self) -> None:
        self._stage = "starting"
        self._collected = 0
        self._since = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def heard(self, line: str) -> None:
        word = line.split(" ", 1)[0]
        if word == "Collecting":
            self._collected += 1
            self._enter(f"finding packages ({self._collected})", quietly=self._collected % 25 != 1)
        elif line.lstrip().startswith("Building wheel for llama") and "started" in line:
            self._enter("compiling llama.cpp, about 5 minutes on two cores")
        elif line.startswith("Installing collected packages"):
            self._enter("putting packages in place, a minute or two")

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _enter(self, stage: str, quietly: bool = False) -> None:
        if stage.split("(")[0] != self._stage.split("(")[0]:
            self._since = time.monotonic()
        self._stage = stage
        if not quietly:
            say(f"      {stage}")

    def _beat(self) -> None:
        while not self._over.wait(HEARTBEAT_S):
            seconds = time.monotonic() - self._since
            if seconds >= 1:
                say(f"      {self._stage}: {seconds:.0f} s")


# Models


def models_are_missing(wanted: list[str]) -> bool:
    done = subprocess.run(
        [str(environment_python()), "-P", "-c", MODELS_ARE_THERE, *wanted], check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 3):
        say(done.stderr[-2000:])
        raise SetUpError("the installed models could not be looked at; the reason stands above.")
    return done.returncode == 3


def install_models(wanted: list[str]) -> None:
    command = [str(environment_python()), "-P", "-m", "pincite", "models", "install", *wanted]
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode:
        raise SetUpError("the models could not be installed; the reason stands above.")


if __name__ == "__main__":
    sys.exit(main())

"""Keeps what gateways write that scripts of the tests start, where GATEHOUSE_TEST_OUTPUTS names a folder.

`make test` has `.ci/redaction` search all of it for credentials afterwards.
"""

import os
import pathlib
import shutil
import subprocess
import uuid

FOLDER = os.environ.get("GATEHOUSE_TEST_OUTPUTS")


def sink(kind="script.log"):
    """For `stdout` or `stderr` of a gateway: a file of its own in the folder, or nowhere."""
    return open(_place(kind), "wb") if FOLDER else subprocess.DEVNULL


def keep(file, kind):
    """Keeps a copy of a file that a gateway has written, if there is one."""
    if FOLDER and os.path.exists(file):
        shutil.copyfile(file, _place(kind))


def _place(kind):
    folder = pathlib.Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{uuid.uuid4()}.{kind}"

"""Where a client may be opened: a folder with an awkward name, a linked worktree, a folder without git."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

AWKWARD = "a b'c\"d $HOME `x` ünïcödé 雪 \\n"


@dataclass
class Place:
    """A checkout, with the folder that holds the shared token."""

    name: str
    root: Path
    shared: Path
    home: Path
    branch: str | None

    @property
    def environment(self):
        return {
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    @property
    def state(self):
        return self.root / ".ai/local/state/mcp"

    def inner(self):
        """Returns a folder inside, as a client is often started there."""
        folder = self.root / "src" / "deep er"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def make(base):
    """Makes every place below `base`."""
    home = base / "home"
    home.mkdir()
    awkward = _repository(base / AWKWARD, home)
    plain = _repository(base / "plain", home)
    linked = base / "linked worktree"
    _git(plain, home, "worktree", "add", "-q", "-b", "topic", str(linked))
    bare = base / "no git ü"
    (bare / ".ai").mkdir(parents=True)
    return [
        Place("awkward path", awkward, awkward / ".git/majordomus", home, "main"),
        Place("linked worktree", linked, plain / ".git/majordomus", home, "topic"),
        Place("without git", bare, bare / ".ai/local/state", home, None),
    ], Place("main worktree", plain, plain / ".git/majordomus", home, "main")


def _repository(root, home):
    root.mkdir()
    _git(root, home, "init", "-q", "-b", "main")
    _git(root, home, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def _git(root, home, *words):
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    subprocess.run(["git", *who, *words], cwd=root, env=environment, check=True)

"""Where a client may be opened: a folder with an awkward name, a linked worktree, a folder without git.

And what is known there of its server from outside.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from checks import expect, until

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

    def document(self):
        """Returns what the server published of itself; nothing while there is none."""
        try:
            return json.loads((self.state / "server.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}

    async def ready(self):
        """Waits for a server that serves, and returns its document."""

        def look():
            found = self.document()
            return found if found.get("state") == "ready" and found.get("url") else None

        return await until("a ready server.json", look)

    def nobody(self):
        """Tells whether the process that the document names is gone."""
        pid = self.document().get("pid")
        return pid is None or not Path(f"/proc/{pid}").exists()

    def endpoint(self, document):
        url = document["url"].rstrip("/")
        expect(url.startswith("http://127.0.0.1:"), "the published address is not loopback:", url)
        return url if url.endswith("/mcp") else f"{url}/mcp"

    def token(self):
        file = self.shared / "token"
        expect(file.stat().st_mode & 0o777 == 0o600, "the token is readable by others")
        return file.read_text().strip()


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

"""README's own commands, run where a newcomer runs them; prints the seconds to the first announcement in each place.

The commands are taken out of README, so that it and this suite cannot drift apart. `cargo run --locked --` is the built
executable here: a build takes its own time. Nothing is edited by hand: a client is started as the file says that `init` wrote.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stdio import Process

ROOT = Path(os.environ["ROOT"])
BINARY = os.environ["BINARY"]
LIMIT = 300
FOREIGN = '{\n    "mcpServers": {"files": {"command": "files-server", "args": ["--all"]}}\n}\n'


def readme():
    """Returns the shell lines of README, in their order."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line]


def command(beginning):
    """Returns the one line of README that begins so, as words of the installed executable."""
    lines = [line for line in readme() if line.startswith(beginning)]
    assert len(lines) == 1, f"README has {len(lines)} lines that begin with {beginning!r}"
    words = shlex.split(lines[0])
    if words[:2] == ["cargo", "run"]:
        words = ["majordomus", *words[words.index("--") + 1 :]]
    return words


class Newcomer:
    """Somebody with a client in use, the executable in PATH, and no configuration of ours."""

    def __init__(self, base):
        self.base = base
        tools = base / "bin"
        tools.mkdir()
        (tools / "majordomus").symlink_to(BINARY)
        home = base / "home"
        (home / ".claude").mkdir(parents=True)
        self.environment = {
            "HOME": str(home),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, words, folder):
        done = subprocess.run(words, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def git(self, folder, *words):
        return self.run(["git", "-c", "user.name=n", "-c", "user.email=n@example.invalid", *words], folder)

    def repository(self, name, files):
        root = self.base / name
        root.mkdir()
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        self.git(root, "init", "-q", "-b", "main")
        self.git(root, "add", "-A")
        self.git(root, "commit", "-q", "-m", "first")
        return root


def own_clone(who):
    """The clean clone: README's three commands, the server in a terminal of its own."""
    clone = who.base / "clone"
    who.git(who.base, "clone", "-q", "--no-hardlinks", str(ROOT), str(clone))
    begun = time.monotonic()
    serve = subprocess.Popen(
        command("cargo run --locked -- serve"),
        cwd=clone,
        env=who.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in serve.stderr:
            if "http://127.0.0.1:" in line:
                break
        announce = command("cargo run --locked -- announce")
        who.run(announce, clone)
        took = time.monotonic() - begun
        listed = who.run(command("cargo run --locked -- peers"), clone)
        assert announce[2] in listed, f"{announce[2]!r} is not listed: {listed}"
    finally:
        serve.terminate()
        serve.wait(timeout=60)
    assert who.git(clone, "status", "--porcelain") == "", "something tracked was touched"
    return took


def foreign(who, root, inner="."):
    """Anybody's repository: `init`, a client that is started as its file says, an announcement, and `peers`."""
    file = root / ".mcp.json"
    before = file.read_bytes() if file.exists() else None
    begun = time.monotonic()
    who.run([*command("majordomus init"), "--yes"], root)
    entry = json.loads(file.read_text())["mcpServers"]["majordomus"]
    words = [entry["command"], *entry["args"]]
    client = Process("newcomer", root / inner, who.environment, command=words)
    try:
        client.tool("majordomus_announce", intent="rename the parser", scope=["src/parser/**"])
        took = time.monotonic() - begun
        listed = who.run(["majordomus", "peers"], root)
        assert "newcomer" in listed and "rename the parser" in listed, listed
    finally:
        client.end()
    who.run(["majordomus", "init", "--undo", "--yes"], root)
    after = file.read_bytes() if file.exists() else None
    assert after == before, f"`init --undo` left {after} and not {before}"
    return took


def monorepo(who):
    files = {"packages/one/main.py": "", "packages/two/main.py": ""}
    root = who.repository("monorepo", files)
    tree = who.base / "monorepo tree"
    who.git(root, "worktree", "add", "-q", "-b", "topic", str(tree))
    return foreign(who, tree, "packages/one")


def without_git(who):
    root = who.base / "no git"
    (root / "src").mkdir(parents=True)
    return foreign(who, root)


PLACES = {
    "a clean clone of this repository": own_clone,
    "a repository with its own .mcp.json": lambda who: foreign(who, who.repository("own", {".mcp.json": FOREIGN})),
    "a worktree of a monorepo": monorepo,
    "a folder without git": without_git,
}


def main():
    load = os.getloadavg()[0]
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    print(f"commit {commit.stdout.strip()}, load {load:.1f} on {os.cpu_count()} processors")
    failed = 0
    for name, place in PLACES.items():
        with tempfile.TemporaryDirectory(prefix="newcomer-") as base:
            try:
                took = place(Newcomer(Path(base)))
                assert took < LIMIT, f"{took:.0f} s are more than {LIMIT}"
                print(f"ok - {name}: {took:.2f} s to the first announcement")
            except (AssertionError, KeyError, OSError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"FAILED - {name}: {error}")
    sys.exit(failed > 0)


main()

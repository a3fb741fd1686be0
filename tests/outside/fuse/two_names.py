"""Clients name one folder in several ways, on a file system of another program: they share one server and one memory."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from stdio import BINARY, Process


def peers(process):
    found = process.tool("majordomus_peers")["peers"]
    return sorted(peer["name"] for peer in found if peer["attached"])


def main(mount):
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
        folder = mount / "Repo"
        subprocess.run(["git", "init", "-q", str(folder)], env=environment, check=True)
        assert (mount / "rEPO").samefile(folder), "this file system tells the two names apart"

        first = Process("first", folder, environment)
        second = Process("second", mount / "rEPO", environment)
        first.tool("majordomus_announce", intent="rewrite the parser", scope=["src/**"])
        met = second.tool("majordomus_announce", intent="fix the lexer", scope=["src/lexer.rs"])
        assert "rewrite the parser" in json.dumps(met["collisions"]), met
        assert peers(first) == peers(second) == ["first", "second"], (peers(first), peers(second))
        first.tool("majordomus_remember", title="The limit is 16 MB")
        for name in ("Repo", "rEPO", "REPO"):
            words = [BINARY, "status", "--json"]
            asked = subprocess.run(words, cwd=mount / name, env=environment, capture_output=True, text=True)
            assert asked.returncode == 0 and json.loads(asked.stdout)["state"] == "ready", asked
        print("ok - one server for three names of one folder")

        first.kill()
        assert peers(second) == ["second"], peers(second)
        titles = [note["title"] for note in second.tool("majordomus_notes")["notes"]]
        assert titles == ["The limit is 16 MB"], titles
        third = Process("third", folder, environment)
        assert peers(third) == ["second", "third"], peers(third)
        third.end()
        second.end()
        left = [path.name for path in (folder / ".ai/local/state/mcp").iterdir() if path.suffix == ".json"]
        assert not left, left
        print("ok - after kill -9 of the owner the other goes on, and knows what was written down")


main(pathlib.Path(sys.argv[1]))

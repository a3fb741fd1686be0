"""Clients name one folder in several ways, on a file system of another program: they share one server and one memory."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = os.environ["BINARY"]


class Process:
    """A `majordomus mcp`, spoken to over its pipes."""

    def __init__(self, name, folder, environment):
        self.child = subprocess.Popen(
            [BINARY, "mcp"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.number = 0
        client = {"name": name, "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.child.stdin.flush()

    def ask(self, method, **params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        for line in self.child.stdout:
            message = json.loads(line)
            if message.get("id") == self.number:
                return message["result"]
        raise AssertionError("the process ended")

    def tool(self, name, **arguments):
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def peers(self):
        return sorted(peer["name"] for peer in self.tool("majordomus_peers")["peers"] if peer["attached"])

    def end(self):
        self.child.stdin.close()
        self.child.wait(timeout=60)


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
        assert first.peers() == second.peers() == ["first", "second"], (first.peers(), second.peers())
        first.tool("majordomus_remember", title="The limit is 16 MB")
        for name in ("Repo", "rEPO", "REPO"):
            words = [BINARY, "status", "--json"]
            asked = subprocess.run(words, cwd=mount / name, env=environment, capture_output=True, text=True)
            assert asked.returncode == 0 and json.loads(asked.stdout)["state"] == "ready", asked
        print("ok - one server for three names of one folder")

        first.child.kill()
        first.child.wait()
        assert second.peers() == ["second"], second.peers()
        titles = [note["title"] for note in second.tool("majordomus_notes")["notes"]]
        assert titles == ["The limit is 16 MB"], titles
        third = Process("third", folder, environment)
        assert third.peers() == ["second", "third"], third.peers()
        third.end()
        second.end()
        left = [path.name for path in (folder / ".ai/local/state/mcp").iterdir() if path.suffix == ".json"]
        assert not left, left
        print("ok - after kill -9 of the owner the other goes on, and knows what was written down")


main(pathlib.Path(sys.argv[1]))

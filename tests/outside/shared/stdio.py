"""A client of our own that speaks the protocol's lines over a process's pipes: for suites whose foreign program is no client."""

import json
import os
import subprocess

BINARY = os.environ["BINARY"]


class Process:
    """A `majordomus mcp`."""

    def __init__(self, name, folder, environment, before=(), command=(BINARY, "mcp")):
        self.child = subprocess.Popen(
            [*before, *command],
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

    def kill(self):
        self.child.kill()
        self.child.wait()

    def end(self):
        self.child.stdin.close()
        self.child.wait(timeout=60)

"""A note is on the disk before its call is answered, and `MAJORDOMUS_SYNC=off` starts no git on the network.

The owner runs under strace. Its calls stand in the trace in the order in which they began; a call that another thread's
interrupts is there twice, and has ended only where it is `resumed`.
"""

import os
import pathlib
import re
import subprocess
import tempfile

from stdio import BINARY, Process

URL = "https://git.example.org/team/code.git"
CALLS = "fsync,fdatasync,write,writev,pwrite64,sendto,sendmsg,execve"
TITLE = "traced fact"
# What reaches a remote: a command of git's, or the program that does it for the command.
NETWORK = ("fetch", "push", "pull", "clone", "ls-remote", "send-pack", "fetch-pack", "receive-pack", "upload-pack", "remote-http", "ssh")


class Place:
    """A checkout with a home and a bare remote of its own, whose notes are shared."""

    def __init__(self, base):
        self.base = base
        self.root = base / "checkout"
        home = base / "home"
        home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(base),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.run(base, "git", "init", "-q", "--bare", "code.git")
        self.run(base, "git", "init", "-q", str(self.root))
        for words in (
            ("config", "user.name", "Ann"),
            ("config", "user.email", "ann@example.org"),
            ("config", f"url.{base}/code.git.insteadOf", URL),
            ("remote", "add", "origin", URL),
        ):
            self.run(self.root, "git", *words)
        self.run(self.root, BINARY, "notes", "share", "--yes")

    def run(self, folder, *words):
        subprocess.run(words, cwd=folder, env=self.environment, check=True, capture_output=True)


def traced(place, bridged=False, **variables):
    """The status of one note, and the calls of the owner that had it written."""
    trace = place.base / "trace"
    environment = place.environment | variables
    strace = ("strace", "-f", "-y", "-s", "6000", "-o", str(trace), "-e", f"trace={CALLS}")
    owner = Process("owner", place.root, environment, strace)
    writer = Process("writer", place.root, environment) if bridged else owner
    answer = writer.tool("majordomus_remember", title=TITLE)
    for process in dict.fromkeys((writer, owner)):
        process.end()
    return answer["sync"]["status"], ended(trace.read_text(errors="replace").splitlines())


def ended(lines):
    """Each call as (name, text, where it began, where it ended)."""
    calls, open_calls = [], {}
    for number, line in enumerate(lines):
        thread, _, rest = line.partition(" ")
        rest = rest.lstrip()
        if match := re.match(r"<\.\.\. (\w+) resumed>(.*)", rest):
            if thread in open_calls:
                began, text = open_calls.pop(thread)
                calls.append((match[1], text + match[2], began, number))
        elif match := re.match(r"(\w+)\(", rest):
            if rest.endswith("<unfinished ...>"):
                open_calls[thread] = (number, rest)
            else:
                calls.append((match[1], rest, number, number))
    return calls


def first(calls, names, *parts, after=-1):
    """Where the first of such calls begins and ends."""
    found = [
        (began, end)
        for name, text, began, end in calls
        if name in names and began > after and all(part in text for part in parts)
    ]
    assert found, f"no {names} with {parts} after line {after}"
    return min(found)


def disk_before_answer(name, bridged):
    with tempfile.TemporaryDirectory() as base:
        _, calls = traced(Place(pathlib.Path(base)), bridged)
    _, written = first(calls, ("pwrite64", "write"), "majordomus/writes.db", TITLE)
    _, safe = first(calls, ("fsync", "fdatasync"), "majordomus/writes.db", "= 0", after=written)
    answered, _ = first(calls, ("write", "writev", "sendto", "sendmsg"), "structuredContent", TITLE.replace(" ", "-"))
    assert written < safe < answered, f"written {written}, on the disk {safe}, answered {answered}"
    print(f"ok - {name}: written in line {written} of the trace, on the disk in {safe}, answered in {answered}")


def network(expected, **variables):
    with tempfile.TemporaryDirectory() as base:
        status, calls = traced(Place(pathlib.Path(base)), **variables)
    started = [text.split("[", 1)[1].split("]")[0] for name, text, _, _ in calls if name == "execve" and "= 0" in text]
    words = [re.findall(r'"([^"]*)"', one) for one in started]
    found = [one for one in words if any(word.removeprefix("git-") in NETWORK for word in map(os.path.basename, one))]
    assert status == expected, status
    return found


def main():
    disk_before_answer("the owner's client", bridged=False)
    disk_before_answer("a bridge's client", bridged=True)
    # Without the variable there is something to see, so that seeing nothing means something.
    assert network("published"), "a note was published without a git on the network"
    found = network("handed-to-host", MAJORDOMUS_SYNC="off")
    assert not found, found
    print("ok - MAJORDOMUS_SYNC=off: no git on the network")


main()

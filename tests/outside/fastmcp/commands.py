"""fastmcp's commands `list`, `call` and `discover`: as owner, through a bridge, over HTTP and by configuration.

Run as `commands.py BINARY ROOT`, where ROOT has the configuration and the launcher that are to be found.
"""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import places
import three
from checks import expect

FASTMCP = Path(sys.executable).with_name("fastmcp")
INTENT = "rewrite the parser"


def fastmcp(place, *words):
    """Runs a command in a place, and returns its exit code, its output and its errors."""
    environment = {**place.environment, "PATH": "/usr/local/bin:/usr/bin:/bin", "FASTMCP_CHECK_FOR_UPDATES": "off"}
    ended = subprocess.run(
        [str(FASTMCP), *words], cwd=place.root, env=environment, capture_output=True, text=True, timeout=60
    )
    return ended.returncode, ended.stdout, ended.stderr


def answered(place, *words):
    code, output, errors = fastmcp(place, *words, "--json")
    expect(code == 0, f"fastmcp {words} failed:", code, output, errors)
    return json.loads(output), errors


@contextmanager
def serving(place, binary):
    """A server without a client, which ends with its input."""
    with subprocess.Popen(
        [binary, "serve", "--conformance"],
        cwd=place.root,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.stdin.close()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def listed(place, target):
    """Lists everything at a target, and returns the names and what was said to stderr."""
    found, errors = answered(place, "list", *target, "--resources", "--prompts")
    names = {kind: sorted(one.get("uri") or one["name"] for one in ones) for kind, ones in found.items()}
    expect("majordomus_peers" in names["tools"], "no tools:", names)
    expect(three.PEERS in names["resources"], "no resources:", names)
    expect("test_simple_prompt" in names["prompts"], "no prompts:", names)
    return names, errors


def peers(place, target):
    """Reads who is here by the tool and by the resource."""
    called, _ = answered(place, "call", *target, "--target", "majordomus_peers")
    expect(not called["is_error"], "the call failed:", called)
    read, _ = answered(place, "call", *target, "--target", three.PEERS)
    return called["structured_content"]["peers"], json.loads(read[0]["text"])["peers"]


async def owner_bridge_and_http(place, binary):
    command = ["--command", f"{shlex.quote(binary)} mcp --conformance"]
    as_owner, errors = listed(place, command)
    expect("elected" in errors, "it was no owner:", errors)
    for seen in peers(place, command):
        expect(len(seen) == 1 and seen[0]["attached"], "an owner alone is not alone:", seen)

    with serving(place, binary):
        url = place.endpoint(await place.ready())
        http = [url, "--auth", place.token()]
        expect(listed(place, http)[0] == as_owner, "other names over HTTP")
        what = json.dumps({"intent": INTENT, "scope": ["src/parser/**"]})
        answered(place, "call", *http, "--target", "majordomus_announce", "--input-json", what)
        through_bridge, errors = listed(place, command)
        expect(through_bridge == as_owner, "other names through a bridge")
        expect("elected" not in errors, "a bridge was elected beside an owner:", errors)
        for target in (http, command):
            for seen in peers(place, target):
                expect(INTENT in json.dumps(seen), "the announcement is not seen:", seen)
        code, output, errors = fastmcp(place, "list", url, "--auth", "none", "--json")
        expect(code != 0, "listed without a token:", output, errors)
    await three.nobody_left(place)


async def discovered(place, binary, root):
    """The repository's own configuration is found in a checkout, and what it names starts."""
    for file in (".gemini/settings.json", ".mcp.json", "bin/majordomus-mcp"):
        (place.root / file).parent.mkdir(exist_ok=True)
        shutil.copy(root / file, place.root / file)
    # Where the launcher looks for what cargo built.
    (place.root / "target/release").mkdir(parents=True)
    (place.root / "target/release/majordomus").symlink_to(binary)
    found, _ = answered(place, "discover")
    expect([one["qualified_name"] for one in found] == ["gemini:majordomus"], "discovered something else:", found)
    for target in ("gemini:majordomus", ".mcp.json"):
        tools, _ = answered(place, "list", target)
        names = [tool["name"] for tool in tools["tools"]]
        expect("majordomus_peers" in names, f"{target} has no tools:", names)
        await three.nobody_left(place)


async def main():
    binary, root = sys.argv[1:]
    print("fastmcp's commands", flush=True)
    with tempfile.TemporaryDirectory(prefix="outside") as base:
        (awkward, linked, _), plain = places.make(Path(base).resolve())
        await three.bounded("list and call: owner, bridge, HTTP", owner_bridge_and_http(awkward, binary))
        await three.bounded("discover, and list what was found", discovered(plain, binary, Path(root)))


three.run(main)

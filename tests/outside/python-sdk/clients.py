"""Three clients in one checkout: the owner's, a bridge's, and one over HTTP; then the owner is killed.

Run as `clients.py BINARY`, with either major version of the SDK installed.
"""

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import AsyncExitStack
from pathlib import Path

import anyio

import places
import sdk


def expect(condition, what, *evidence):
    if not condition:
        raise AssertionError(" ".join([what, *(str(thing) for thing in evidence)]))


async def until(what, condition, bound=10.0):
    """Waits for a condition, with a bound."""
    deadline = time.monotonic() + bound
    while True:
        found = await condition()
        if found:
            return found
        expect(time.monotonic() < deadline, f"not within {bound} s: {what}")
        await anyio.sleep(0.01)


def document(place):
    try:
        return json.loads((place.state / "server.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}


async def ready(place):
    async def look():
        found = document(place)
        return found if found.get("state") == "ready" and found.get("url") else None

    return await until("a ready server.json", look)


def endpoint(found):
    url = found["url"].rstrip("/")
    expect(url.startswith("http://127.0.0.1:"), "the published address is not loopback:", url)
    return url if url.endswith("/mcp") else f"{url}/mcp"


async def announce(client, intent, scope, handle=None):
    arguments = {"intent": intent, "scope": scope}
    if handle:
        arguments["peer"] = handle
    return await client.call("majordomus_announce", arguments)


async def peers(client, handle=None):
    return await client.call("majordomus_peers", {"peer": handle} if handle else {})


def named(listed, name):
    # People are shown a client's name with a number or a branch behind it, so the name is only a beginning.
    found = [peer for peer in listed["peers"] if peer["name"].startswith(name)]
    expect(len(found) == 1, f"{name} is not listed once:", listed)
    return found[0]


async def three_clients(place, binary):
    """Owner, bridge and direct HTTP: what each sees of the others, before and after the owner's death."""
    async with AsyncExitStack() as owned, AsyncExitStack() as others:
        owner = await owned.enter_async_context(
            sdk.stdio("alpha", binary, ["mcp"], str(place.root), place.environment)
        )
        tools = await owner.tools()
        first = await ready(place)
        bridge = await others.enter_async_context(
            sdk.stdio("bravo", binary, ["mcp"], str(place.inner()), place.environment)
        )
        token_file = place.shared / "token"
        expect(token_file.stat().st_mode & 0o777 == 0o600, "the token is readable by others")
        token = token_file.read_text().strip()
        direct = await others.enter_async_context(sdk.http("charlie", endpoint(first), token))

        for client in (owner, bridge, direct):
            expect(await client.tools() == tools, f"{client.name} sees other tools")
            expect("majordomus_peers" in tools and "majordomus_announce" in tools, "no tools:", tools)
            # An opening waits 250 ms for an owner; on a busy machine, and for the first client of the SDK's second
            # version, which discovers first, it is answered without one, and says so.
            told = client.instructions
            expect(first["url"].rstrip("/") in told or "alone for now" in told, "no address in:", told)

        expect(not (await announce(owner, "rewrite the parser", ["src/parser/**"]))["collisions"],
               "a collision with nobody")
        met = (await announce(bridge, "fix the lexer", ["src/parser/lexer.rs"]))["collisions"]
        expect("rewrite the parser" in json.dumps(met) and "alpha" in json.dumps(met), "not named:", met)
        answer = await announce(direct, "document it", ["docs", "src/parser/mod.rs"])
        expect("alpha" in json.dumps(answer["collisions"]), "not named over HTTP:", answer)
        # Without a session there is no other way to be the same peer again.
        handle = answer["peer"] if sdk.MODERN else None

        intents = {"alpha": "rewrite the parser", "bravo": "fix the lexer", "charlie": "document it"}
        for client in (owner, bridge, direct):
            listed = await peers(client, handle if client is direct else None)
            expect(listed["complete"], "not complete:", listed)
            for name, intent in intents.items():
                expect(intent in json.dumps(named(listed, name)["announcements"]), f"{name}'s is missing:", listed)
            expect(len(listed["collisions"]) >= 2, "collisions are missing:", listed)
            expect(handle is None or handle not in json.dumps(listed), "a secret handle is shown:", listed)
        branches = [named(listed, name).get("branch") for name in intents]
        expect(set(branches) == {place.branch}, "wrong branches:", branches, place.branch)

        os.kill(first["pid"], signal.SIGKILL)
        killed = time.monotonic()
        listed = await peers(bridge)
        waited = time.monotonic() - killed
        expect("fix the lexer" in json.dumps(listed), "the bridge's announcement is lost:", listed)

        async def gone():
            now = await peers(bridge)
            return not [peer for peer in now["peers"] if peer["name"].startswith("alpha") and peer["attached"]]

        await until("the killed client is gone", gone)
        second = await ready(place)
        expect(second["pid"] != first["pid"] and second["epoch"] > first["epoch"], "no new owner:", second)
        await until_served(direct, handle)
        listed = await peers(direct, handle)
        expect("document it" in json.dumps(named(listed, "charlie")["announcements"]), "lost over HTTP:", listed)
        expect("fix the lexer" in json.dumps(named(listed, "bravo")["announcements"]), "lost:", listed)
        print(f"  the bridge's call after kill -9 of the owner: {waited * 1000:.1f} ms; address kept: "
              f"{first['url'] == second['url']}; revisions {owner.revision}, {direct.revision}")
        # The killed client's transport is ended by its own context, below the others'.
        await others.aclose()
    await nobody_left(place)


async def until_served(direct, handle):
    """A direct client has no bridge: between two owners its connection is refused, and it asks again."""

    async def served():
        try:
            return await peers(direct, handle)
        except sdk.ToolFailed:
            raise
        except Exception:  # each SDK has its own word for a refused connection
            return None

    await until("the next owner serves HTTP at the same address", served)


async def nobody_left(place):
    async def empty():
        pid = document(place).get("pid")
        return pid is None or not Path(f"/proc/{pid}").exists()

    await until("no process without a client", empty)


async def two_worktrees(linked, main, binary):
    """A checkout is a worktree: two of one repository have a server each, and one token."""
    async with (
        sdk.stdio("alpha", binary, ["mcp"], str(linked.root), linked.environment) as one,
        sdk.stdio("bravo", binary, ["mcp"], str(main.root), main.environment) as other,
    ):
        await announce(one, "here", ["a"])
        answer = await announce(other, "there", ["a"])
        expect(not answer["collisions"], "two worktrees have two trees of files:", answer)
        first, second = await ready(linked), await ready(main)
        expect(first["url"] != second["url"], "one address for two checkouts:", first["url"])
        expect(not (linked.root / ".git").is_dir() and not linked.state.parent.joinpath("token").exists(),
               "a token of its own in the linked worktree")
    await nobody_left(linked)
    await nobody_left(main)


async def main():
    binary = sys.argv[1]
    print(f"Python SDK {sdk.VERSION}")
    with tempfile.TemporaryDirectory(prefix="outside") as base:
        checkouts, main_worktree = places.make(Path(base).resolve())
        for place in checkouts:
            with anyio.fail_after(60):
                await three_clients(place, binary)
            print(f"ok - owner, bridge and direct HTTP: {place.name}")
        with anyio.fail_after(60):
            await two_worktrees(checkouts[1], main_worktree, binary)
        print("ok - two worktrees of one repository")


def causes(error):
    """Flattens the groups that task groups wrap around an error."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in causes(inner)]
    return [error]


try:
    anyio.run(main)
except BaseExceptionGroup as group:
    for cause in causes(group):
        traceback.print_exception(cause)
    sys.exit(1)

"""Three clients in one checkout: the owner's, a bridge's, and one over HTTP; then the owner is killed.

Each suite brings a `kit` for its library: `stdio(name, command, arguments, folder, environment)` and
`http(name, url, token)` are asynchronous context managers, `modern` tells the era, and `watches` whether the library can
be told of changes. What the managers give has `name`, `instructions`, `revision`, `tools()`, `read(uri)` and
`call(tool, arguments, progress=None)`, which returns the structured content and raises `ToolFailed` for an error; and,
where the kit watches, `watch(uri)`, an asynchronous context manager that gives a list of what was told.
"""

import json
import os
import signal
import sys
import time
import traceback
from contextlib import AsyncExitStack

import anyio

from checks import ToolFailed, expect, until

PEERS = "majordomus://peers"
# How long a scenario may take.
BOUND = 60


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


async def three_clients(place, binary, kit):
    """Owner, bridge and direct HTTP: what each sees of the others, before and after the owner's death."""
    async with AsyncExitStack() as owned, AsyncExitStack() as others:
        owner = await owned.enter_async_context(
            kit.stdio("alpha", binary, ["mcp"], str(place.root), place.environment)
        )
        tools = await owner.tools()
        first = await place.ready()
        bridge = await others.enter_async_context(
            kit.stdio("bravo", binary, ["mcp"], str(place.inner()), place.environment)
        )
        direct = await others.enter_async_context(kit.http("charlie", place.endpoint(first), place.token()))

        for client in (owner, bridge, direct):
            expect((client.revision == "2026-07-28") == kit.modern, "another era:", client.revision)
            expect(await client.tools() == tools, f"{client.name} sees other tools")
            expect("majordomus_peers" in tools and "majordomus_announce" in tools, "no tools:", tools)
            # An opening waits 250 ms for an owner; on a busy machine, and for a client that discovers first, it is
            # answered without one, and says so.
            told = client.instructions
            expect(first["url"].rstrip("/") in told or "alone for now" in told, "no address in:", told)

        expect(not (await announce(owner, "rewrite the parser", ["src/parser/**"]))["collisions"],
               "a collision with nobody")
        met = (await announce(bridge, "fix the lexer", ["src/parser/lexer.rs"]))["collisions"]
        expect("rewrite the parser" in json.dumps(met) and "alpha" in json.dumps(met), "not named:", met)
        answer = await announce(direct, "document it", ["docs", "src/parser/mod.rs"])
        expect("alpha" in json.dumps(answer["collisions"]), "not named over HTTP:", answer)
        # Without a session there is no other way to be the same peer again.
        handle = answer["peer"] if kit.modern else None

        intents = {"alpha": "rewrite the parser", "bravo": "fix the lexer", "charlie": "document it"}
        for client in (owner, bridge, direct):
            listed = await peers(client, handle if client is direct else None)
            expect(listed["complete"], "not complete:", listed)
            for name, intent in intents.items():
                expect(intent in json.dumps(named(listed, name)["announcements"]), f"{name}'s is missing:", listed)
            expect(len(listed["collisions"]) >= 2, "collisions are missing:", listed)
            expect(handle is None or handle not in json.dumps(listed), "a secret handle is shown:", listed)
            read = await client.read(PEERS)
            expect(all(intent in read for intent in intents.values()), "the resource says something else:", read)
        branches = [named(listed, name).get("branch") for name in intents]
        expect(set(branches) == {place.branch}, "wrong branches:", branches, place.branch)

        news = None
        if kit.watches:
            for client in (owner, direct):
                async with client.watch(PEERS) as told:
                    await announce(bridge, f"fix what {client.name} wrote", ["src/parser/lexer.rs"])
                    await until(f"news for {client.name}", lambda: told)
            await announce(bridge, "fix the lexer", ["src/parser/lexer.rs"])
            news = await others.enter_async_context(bridge.watch(PEERS))
            await announce(owner, "rewrite the lexer", ["src/lexer/**"])
            await until("news for the bridge's client", lambda: news)

        os.kill(first["pid"], signal.SIGKILL)
        killed = time.monotonic()
        listed = await peers(bridge)
        waited = time.monotonic() - killed
        expect("fix the lexer" in json.dumps(listed), "the bridge's announcement is lost:", listed)

        async def gone():
            now = await peers(bridge)
            return not [peer for peer in now["peers"] if peer["name"].startswith("alpha") and peer["attached"]]

        await until("the killed client is gone", gone)
        second = await place.ready()
        expect(second["pid"] != first["pid"] and second["epoch"] > first["epoch"], "no new owner:", second)
        await until_served(direct, handle)
        if news is not None:
            news.clear()
            await announce(direct, "document it", ["docs"], handle)
            await until("news after the change of owner", lambda: news)
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
        except ToolFailed:
            raise
        except Exception:  # each library has its own word for a refused connection
            return None

    await until("the next owner serves HTTP at the same address", served)


async def calls_that_last(place, binary, kit):
    """Progress of a call comes in order and before its answer: to the owner's client, to a bridge's and over HTTP."""
    arguments = ["mcp", "--conformance"]
    async with AsyncExitStack() as open:
        owner = await open.enter_async_context(
            kit.stdio("alpha", binary, arguments, str(place.root), place.environment)
        )
        await owner.tools()
        first = await place.ready()
        bridge = await open.enter_async_context(
            kit.stdio("bravo", binary, arguments, str(place.inner()), place.environment)
        )
        direct = await open.enter_async_context(kit.http("charlie", place.endpoint(first), place.token()))
        for client in (owner, bridge, direct):
            reports = []

            async def report(done, total, message):
                reports.append((done, total))

            answer = await client.call("conformance_slow", {"ms": 300}, report)
            expect(answer["pid"] == first["pid"], "somebody else answered:", answer, first)
            done = [one for one, total in reports if total == 300]
            # A report is cut off by its answer, so the last one need not be heard; the ones before it must be.
            expect(len(done) >= 3 and done == sorted(set(done)), f"{client.name} heard of its call:", reports)
    await nobody_left(place)


async def two_worktrees(linked, main, binary, kit):
    """A checkout is a worktree: two of one repository have a server each, and one token."""
    async with (
        kit.stdio("alpha", binary, ["mcp"], str(linked.root), linked.environment) as one,
        kit.stdio("bravo", binary, ["mcp"], str(main.root), main.environment) as other,
    ):
        await announce(one, "here", ["a"])
        answer = await announce(other, "there", ["a"])
        expect(not answer["collisions"], "two worktrees have two trees of files:", answer)
        first, second = await linked.ready(), await main.ready()
        expect(first["url"] != second["url"], "one address for two checkouts:", first["url"])
        expect(not (linked.root / ".git").is_dir() and not linked.state.parent.joinpath("token").exists(),
               "a token of its own in the linked worktree")
    await nobody_left(linked)
    await nobody_left(main)


async def nobody_left(place):
    await until("no process without a client", place.nobody)


async def bounded(what, scenario):
    """Awaits a scenario within its bound, and says that it held."""
    with anyio.fail_after(BOUND):
        await scenario
    print(f"ok - {what}", flush=True)


def run(main):
    """Runs a suite's `main`; of an error in a task group, each cause is shown and no group."""

    def causes(error):
        if isinstance(error, BaseExceptionGroup):
            return [cause for inner in error.exceptions for cause in causes(inner)]
        return [error]

    try:
        anyio.run(main)
    except BaseExceptionGroup as group:
        for cause in causes(group):
            traceback.print_exception(cause)
        sys.exit(1)

"""The scenarios of three clients, with either major version of the SDK, in either era.

Run as `clients.py BINARY ERA`, where ERA is `legacy` or, with the second version, `auto`.
"""

import sys
import tempfile
from pathlib import Path

import places
import three
from sdk import VERSION, Kit


async def main():
    binary, era = sys.argv[1:]
    kit = Kit(era)
    print(f"Python SDK {VERSION}, {era}", flush=True)
    with tempfile.TemporaryDirectory(prefix="outside") as base:
        checkouts, main_worktree = places.make(Path(base).resolve())
        for place in checkouts:
            await three.bounded(
                f"owner, bridge and direct HTTP: {place.name}", three.three_clients(place, binary, kit)
            )
        await three.bounded("calls that last", three.calls_that_last(checkouts[0], binary, kit))
        await three.bounded(
            "two worktrees of one repository", three.two_worktrees(checkouts[1], main_worktree, binary, kit)
        )


three.run(main)

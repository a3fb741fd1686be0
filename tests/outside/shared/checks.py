"""What the Python suites ask and how they wait."""

import time

import anyio


class ToolFailed(Exception):
    """A tool answered with an error."""


def expect(condition, what, *evidence):
    if not condition:
        raise AssertionError(" ".join([what, *(str(thing) for thing in evidence)]))


async def until(what, condition, bound=10.0):
    """Waits for a condition, with a bound, and returns what it found."""
    deadline = time.monotonic() + bound
    while True:
        found = condition()
        if hasattr(found, "__await__"):
            found = await found
        if found:
            return found
        expect(time.monotonic() < deadline, f"not within {bound} s: {what}")
        await anyio.sleep(0.01)

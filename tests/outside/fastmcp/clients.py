"""The scenarios of three clients, with fastmcp's client in either era.

Run as `clients.py BINARY ERA`, where ERA is `legacy` or `auto`.
"""

import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import fastmcp
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import Implementation

import places
import three
from checks import ToolFailed

PATIENCE = 20


class Connected:
    def __init__(self, name, client):
        self.name = name
        self.client = client
        self.instructions = client.instructions or ""
        self.revision = client.protocol_version

    async def tools(self):
        return sorted(tool.name for tool in await self.client.list_tools())

    async def call(self, tool, arguments, progress=None):
        result = await self.client.call_tool(tool, arguments, progress_handler=progress, raise_on_error=False)
        if result.is_error or result.structured_content is None:
            raise ToolFailed(f"{tool}: {result}")
        return result.structured_content

    async def read(self, uri):
        [content] = await self.client.read_resource(uri)
        return content.text


class Kit:
    """How a client of one era is connected. It offers no subscriptions, in either era."""

    watches = False

    def __init__(self, era):
        self.era = era
        self.modern = era != "legacy"

    def stdio(self, name, command, arguments, folder, environment):
        # Kept alive, the process would outlive its client.
        return self._connect(
            name, StdioTransport(command, arguments, env=environment, cwd=folder, keep_alive=False)
        )

    def http(self, name, url, token):
        return self._connect(name, StreamableHttpTransport(url, auth=token))

    @asynccontextmanager
    async def _connect(self, name, transport):
        information = Implementation(name=name, version="1")
        async with fastmcp.Client(
            transport, mode=self.era, client_info=information, timeout=PATIENCE
        ) as client:
            yield Connected(name, client)


async def main():
    binary, era = sys.argv[1:]
    kit = Kit(era)
    print(f"fastmcp {fastmcp.__version__}, {era}", flush=True)
    with tempfile.TemporaryDirectory(prefix="outside") as base:
        [place, *_], _ = places.make(Path(base).resolve())
        await three.bounded(
            f"owner, bridge and direct HTTP: {place.name}", three.three_clients(place, binary, kit)
        )
        await three.bounded("calls that last", three.calls_that_last(place, binary, kit))


three.run(main)

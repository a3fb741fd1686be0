"""One client interface over both major versions of the Python MCP SDK: the kit that `three` asks for."""

from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio

from checks import ToolFailed

VERSION = version("mcp")
TWO = VERSION.startswith("2.")

if TWO:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp_types import Implementation, ResourceUpdatedNotification
else:
    from datetime import timedelta

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp.types import Implementation, ResourceUpdatedNotification

PATIENCE = 20


class Connected:
    """A client of either version."""

    def __init__(self, name, client, opened, revision, updates):
        self.name = name
        self.client = client
        self.instructions = opened.instructions or ""
        self.revision = revision
        self.updates = updates

    async def tools(self):
        listed = await self.client.list_tools()
        return sorted(tool.name for tool in listed.tools)

    async def call(self, tool, arguments, progress=None):
        result = await self.client.call_tool(tool, arguments, progress_callback=progress)
        failed = result.is_error if TWO else result.isError
        content = result.structured_content if TWO else result.structuredContent
        if failed or content is None:
            raise ToolFailed(f"{tool}: {result}")
        return content

    async def read(self, uri):
        [content] = (await self.client.read_resource(uri)).contents
        return content.text

    @asynccontextmanager
    async def watch(self, uri):
        """Gives a list that grows with each update of a resource."""
        if self.revision < "2026":
            self.updates.clear()
            await self.client.subscribe_resource(uri)
            yield self.updates
            await self.client.unsubscribe_resource(uri)
            return
        told = []

        async def follow(stream):
            async for event in stream:
                told.append(event)

        async with self.client.listen(resource_subscriptions=[uri]) as stream, anyio.create_task_group() as tasks:
            tasks.start_soon(follow, stream)
            yield told
            tasks.cancel_scope.cancel()


class Kit:
    """How a client of one era is connected."""

    watches = True

    def __init__(self, era):
        self.era = era
        self.modern = era != "legacy"

    def stdio(self, name, command, arguments, folder, environment):
        parameters = StdioServerParameters(command=command, args=arguments, cwd=folder, env=environment)
        return self._connect(name, parameters if TWO else stdio_client(parameters))

    @asynccontextmanager
    async def http(self, name, url, token):
        async with create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as client:
            async with self._connect(name, streamable_http_client(url, http_client=client)) as connected:
                yield connected

    @asynccontextmanager
    async def _connect(self, name, transport):
        information = Implementation(name=name, version="1")
        updates = []

        async def heard(message):
            message = message if TWO else getattr(message, "root", None)
            if isinstance(message, ResourceUpdatedNotification):
                updates.append(message)

        if TWO:
            client = Client(
                transport,
                mode=self.era,
                client_info=information,
                message_handler=heard,
                read_timeout_seconds=PATIENCE,
            )
            async with client:
                yield Connected(name, client, client, client.protocol_version, updates)
            return
        async with transport as streams:
            async with ClientSession(
                streams[0],
                streams[1],
                client_info=information,
                message_handler=heard,
                read_timeout_seconds=timedelta(seconds=PATIENCE),
            ) as session:
                opened = await session.initialize()
                yield Connected(name, session, opened, opened.protocolVersion, updates)

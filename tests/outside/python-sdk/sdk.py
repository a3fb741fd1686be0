"""One client interface over both major versions of the Python MCP SDK.

`stdio` and `http` are asynchronous context managers; what they give has `name`, `instructions`, `tools()` and
`call(tool, arguments)`, which returns the structured content and raises `ToolFailed` for an error.
"""

from contextlib import asynccontextmanager
from importlib.metadata import version

VERSION = version("mcp")
MODERN = VERSION.startswith("2.")

if MODERN:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp_types import Implementation
else:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp.types import Implementation

PATIENCE = 20


class ToolFailed(Exception):
    """A tool answered with an error."""


class Connected:
    """A client of either version."""

    def __init__(self, name, client, instructions, revision):
        self.name = name
        self.client = client
        self.instructions = instructions or ""
        self.revision = revision

    async def tools(self):
        listed = await self.client.list_tools()
        return sorted(tool.name for tool in listed.tools)

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments)
        failed = result.is_error if MODERN else result.isError
        content = result.structured_content if MODERN else result.structuredContent
        if failed or content is None:
            raise ToolFailed(f"{tool}: {result}")
        return content


def stdio(name, command, arguments, folder, environment):
    parameters = StdioServerParameters(command=command, args=arguments, cwd=folder, env=environment)
    return _connect(name, parameters if MODERN else stdio_client(parameters))


@asynccontextmanager
async def http(name, url, token):
    async with create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as client:
        async with _connect(name, streamable_http_client(url, http_client=client)) as connected:
            yield connected


@asynccontextmanager
async def _connect(name, transport):
    information = Implementation(name=name, version="1")
    if MODERN:
        client = Client(transport, client_info=information, read_timeout_seconds=PATIENCE)
        async with client:
            yield Connected(name, client, client.instructions, client.protocol_version)
        return
    from datetime import timedelta

    async with transport as streams:
        patience = timedelta(seconds=PATIENCE)
        async with ClientSession(
            streams[0], streams[1], client_info=information, read_timeout_seconds=patience
        ) as session:
            opened = await session.initialize()
            yield Connected(name, session, opened.instructions, opened.protocolVersion)

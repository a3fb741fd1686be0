//! The mcp.

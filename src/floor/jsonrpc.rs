//! JSON-RPC frames: `id` and `method` parsed, everything else passed on byte for byte.

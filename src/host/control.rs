//! What capabilities may ask of the host.

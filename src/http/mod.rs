//! The http.

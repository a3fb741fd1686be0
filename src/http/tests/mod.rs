//! The server as its clients meet it: routes without a socket, and everything about connections with one.

mod bounds;
mod crowds;
mod fixture;
mod guarded;
mod legacy;
mod links;
mod modern;
mod routes;
mod streams;

//! The concrete capabilities, a file a group.
//!
//! Each is one declaration: schemas derived from the types that its handler reads and answers, names, retry class,
//! examples and code. Nothing above this module names one of them (I9). *Services*: what handlers stand on; made by the
//! host, or [`Services::offline`] for commands that only need the declarations.
//!
//! Absent on purpose: tools for what a person asks for (status, capabilities, repository). They are routes and
//! commands; a tool costs every model its description in every session (I10).

mod book;
pub mod conformance;
mod conformance_asking;
mod conformance_content;
mod conformance_signs;
mod declare;
pub mod notes;
pub mod peers;
pub mod repository;
pub mod server;
pub mod services;
pub mod stop;
mod stores;

pub use server::{Mode, ServerStatus, Status};
pub use services::{Provider, Services};
pub use stop::{Ending, ServerControl};

use std::sync::Arc;

use crate::registry::{Registry, RegistryError};

/// Declares everything that `services` carry and freezes it.
///
/// # Errors
/// The first mistake in the declarations, naming both sides.
pub fn registry(services: &Services) -> Result<Arc<Registry>, RegistryError> {
    let book = Arc::new(book::Book::default());
    let mut declared = peers::capabilities(services);
    declared.extend(repository::capabilities(services));
    declared.extend(notes::capabilities(services));
    declared.extend(stores::capabilities(services));
    declared.extend(server::capabilities(services, &book));
    declared.extend(stop::capabilities(services));
    declared.extend(book::capabilities(&book));
    if services.provider == Provider::Conformance {
        declared.extend(conformance::capabilities(services));
        declared.extend(conformance_content::capabilities());
        declared.extend(conformance_signs::capabilities(services));
        declared.extend(conformance_asking::capabilities());
    }
    let registry = Arc::new(Registry::new(declared)?);
    if cfg!(debug_assertions) {
        // Whoever declares something wrong learns of it at the first start.
        registry.verify()?;
    }
    book.fill(&registry);
    Ok(registry)
}

#[cfg(test)]
mod tests;

//! What every command knows: where it runs, what the environment says, and where it prints.

use std::path::PathBuf;

use super::arguments::Arguments;
use super::report::{Failure, failures};
use super::screen::Screen;
use super::settings::Settings;
use crate::floor::paths::{Explicit, Site};

/// What every command knows.
#[derive(Debug)]
pub struct Context {
    /// `--repo`, as typed.
    pub repo: Option<PathBuf>,
    /// The environment.
    pub settings: Settings,
    /// The two streams.
    pub screen: Screen,
}

impl Context {
    /// Puts together what the command line and the environment say.
    #[must_use]
    pub fn new(arguments: &Arguments, settings: Settings, screen: Screen) -> Self {
        Self {
            repo: arguments.repo.clone(),
            settings,
            screen,
        }
    }

    /// Finds the checkout; `None` where there is none.
    ///
    /// # Errors
    /// When `--repo` names no checkout, or the one that is there cannot be read.
    pub fn site(&self) -> Result<Option<Site>, Failure> {
        let (start, explicit) = match &self.repo {
            Some(path) => (path.clone(), Explicit::Yes),
            None => (PathBuf::from("."), Explicit::No),
        };
        Site::discover(&start, explicit).map_err(|error| Failure::from(&error))
    }

    /// Finds the checkout, or fails.
    ///
    /// # Errors
    /// As [`Self::site`], and where there is no checkout.
    pub fn checkout(&self) -> Result<Site, Failure> {
        self.site()?.ok_or_else(|| failures::NO_CHECKOUT.fill(&[]))
    }
}

//! The single way an error reaches a log or a person: the whole chain of causes on one line.

use std::error::Error;
use std::fmt;

/// Displays an error and every `source()` below it, joined by `: `.
///
/// An error's own `Display` never contains its source, so nothing is said twice.
#[derive(Debug)]
pub struct Chain<'a>(pub &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(f, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Chain;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open the lease")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn a_chain_names_every_cause_once() {
        let error = Outer(std::io::Error::other("disk full"));
        assert_eq!(
            Chain(&error).to_string(),
            "cannot open the lease: disk full"
        );
    }
}

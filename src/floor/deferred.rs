//! A value that is made when somebody first looks at it: a start pays for nothing that nobody asks.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// Makes the value.
type Make<T> = Box<dyn FnOnce() -> T + Send>;

/// A value made once, at the first look. Cheap to clone; every clone is the same value.
pub struct Deferred<T>(Arc<LazyLock<T, Make<T>>>);

impl<T> Deferred<T> {
    /// Makes the value with `make`, when it is needed.
    pub fn new(make: impl FnOnce() -> T + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }

    /// Whether both are the same value; looks at neither.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Send + 'static> From<T> for Deferred<T> {
    fn from(value: T) -> Self {
        Self::new(move || value)
    }
}

impl<T> Clone for Deferred<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Deferred<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Deferred;

    #[test]
    fn it_is_made_once_and_only_when_it_is_looked_at() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&made);
        let value = Deferred::new(move || count.fetch_add(1, Ordering::Relaxed) + 41);
        let clone = value.clone();
        assert!(clone.is(&value));
        assert_eq!(made.load(Ordering::Relaxed), 0);
        assert_eq!((*value, *clone, made.load(Ordering::Relaxed)), (41, 41, 1));
    }
}

//! The one place that starts `git`, and the readers of a checkout's `.git` that need no process.

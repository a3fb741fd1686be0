//! Where a checkout keeps its files.

//! Files that are replaced whole: write aside, then rename.

//! What a shadow knows of the other devices of its store.

use std::collections::{BTreeMap, BTreeSet};

use super::Shadow;
use crate::stores::clock::Device;
use crate::stores::error::StoreError;

impl Shadow {
    /// The devices that somebody retired.
    ///
    /// # Errors
    /// What SQLite said, or a list that cannot be read.
    pub fn retired(&self) -> Result<BTreeSet<Device>, StoreError> {
        let text = self.meta("retired")?;
        Ok(text
            .map(|text| serde_json::from_str(&text))
            .transpose()?
            .unwrap_or_default())
    }

    /// The number of the last segment that was read, a device.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn numbers_read(&self) -> Result<BTreeMap<Device, u64>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<Device, u64>> {
            let select =
                "SELECT substr(key, 8), CAST(value AS INTEGER) FROM meta WHERE key GLOB 'number *'";
            let mut statement = self.db.prepare(select)?;
            let found =
                statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
            let read = found.collect::<Result<Vec<_>, _>>()?;
            let read = read
                .iter()
                .filter_map(|(text, number)| Some((Device::parse(text)?, *number)));
            Ok(read.collect())
        };
        read().map_err(StoreError::shadow)
    }
}

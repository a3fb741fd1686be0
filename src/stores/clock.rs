//! Who set a value, and when: stamps of a hybrid logical clock.
//!
//! *Device*: one shadow, by a random id. *Stamp*: rank, milliseconds, a count within them, device; in this order. A device
//! that has seen a stamp gives only larger ones, so what follows from something else beats it however the clocks are set.
//!
//! Pure: the wall clock is an argument.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::floor::hex;

/// The last millisecond of the year 9999, past which no wall clock counts.
pub const LAST_MS: u64 = 253_402_300_799_999;
/// The millisecond past which no stamp is read, and so none given: whoever saw one of the year 9999 still has a day of
/// larger ones.
pub const MOST_MS: u64 = LAST_MS + 24 * 60 * 60 * 1000;

/// One shadow of a store, by a random id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Device(pub [u8; 16]);

impl Device {
    /// Reads 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        hex::decode(text.as_bytes()).map(Self)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Device> for String {
    fn from(device: Device) -> Self {
        device.to_string()
    }
}

impl TryFrom<String> for Device {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("a device is 32 hexadecimal digits")
    }
}

/// What a stamp counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rank {
    /// It was there when it was first looked for: nobody is known to have set it.
    #[serde(rename = "a")]
    Adopted,
    /// Somebody set it on this device.
    #[serde(rename = "e")]
    Edited,
}

/// Who set a value, and when. The order of the fields is the total order of stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// What it counts for.
    #[serde(rename = "k")]
    pub rank: Rank,
    /// Milliseconds since 1970, at most [`MOST_MS`].
    #[serde(rename = "m")]
    pub ms: u64,
    /// Which one within the millisecond.
    #[serde(rename = "n")]
    pub count: u32,
    /// Whose.
    #[serde(rename = "d")]
    pub device: Device,
}

impl Stamp {
    /// The stamp of what was found with a date of its own, in milliseconds; an unknown one is the first of all.
    #[must_use]
    pub fn adopted(ms: Option<u64>, device: Device) -> Self {
        Self {
            rank: Rank::Adopted,
            ms: ms.unwrap_or(0).min(LAST_MS),
            count: 0,
            device,
        }
    }
}

/// The clock of one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Whose.
    pub device: Device,
    /// The last millisecond given or seen.
    pub ms: u64,
    /// The last count given or seen within it.
    pub count: u32,
}

impl Clock {
    /// A clock that has seen nothing.
    #[must_use]
    pub fn new(device: Device) -> Self {
        Self {
            device,
            ms: 0,
            count: 0,
        }
    }

    /// Gives a stamp that is larger than every edit's given or seen before, short of [`MOST_MS`]; `wall_ms` is the time of this machine.
    pub fn tick(&mut self, wall_ms: u64) -> Stamp {
        let wall_ms = wall_ms.min(LAST_MS);
        if wall_ms > self.ms {
            (self.ms, self.count) = (wall_ms, 0);
        } else if let Some(next) = self.count.checked_add(1) {
            self.count = next;
        } else if self.ms < MOST_MS {
            (self.ms, self.count) = (self.ms.saturating_add(1), 0);
        }
        // At the very end, which only somebody else can have set, stamps are equal and values decide: a larger one would
        // be read by nobody.
        Stamp {
            rank: Rank::Edited,
            ms: self.ms,
            count: self.count,
            device: self.device,
        }
    }

    /// Takes notice of a stamp. An adopted one says nothing of anybody's clock.
    pub fn see(&mut self, stamp: &Stamp) {
        if stamp.rank == Rank::Edited {
            (self.ms, self.count) = (self.ms, self.count).max((stamp.ms, stamp.count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Device, LAST_MS, MOST_MS, Rank, Stamp};

    #[test]
    fn a_stamp_that_was_seen_is_beaten_by_the_next_one_however_late_the_clock_is() {
        let mut slow = Clock::new(Device([1; 16]));
        let mut fast = Clock::new(Device([2; 16]));
        let seen = fast.tick(90_000);
        assert!(slow.tick(10) < seen);
        slow.see(&seen);
        assert!(slow.tick(11) > seen);
    }

    #[test]
    fn the_year_9999_freezes_nothing() {
        let mut clock = Clock::new(Device([1; 16]));
        let found = Stamp::adopted(Some(u64::MAX), Device([9; 16]));
        clock.see(&found);
        assert!(clock.tick(5) > found);
        let poisoned = Stamp {
            rank: Rank::Edited,
            ms: LAST_MS,
            count: u32::MAX,
            device: Device([9; 16]),
        };
        clock.see(&poisoned);
        assert!(clock.tick(6) > poisoned);
        let most = Stamp {
            ms: MOST_MS,
            ..poisoned
        };
        clock.see(&most);
        assert!(clock.tick(7).ms <= MOST_MS, "it is still read");
    }

    #[test]
    fn a_device_is_written_as_it_is_read() {
        let device = Device([0xab; 16]);
        assert_eq!(Device::parse(&device.to_string()), Some(device));
        assert_eq!(Device::parse("AB"), None);
    }
}

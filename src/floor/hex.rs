//! Lower-case hexadecimal, both ways.

/// Renders bytes as lower-case hexadecimal, two digits a byte.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| DIGITS[usize::from(nibble)])
        .collect()
}

/// Reads exactly `N` bytes from `2 * N` lower-case hexadecimal digits; anything else is `None`.
#[must_use]
pub fn decode<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn hexadecimal_goes_both_ways_and_nothing_else_is_read() {
        assert_eq!(encode(&[0, 0x0f, 0xa5, 0xff]), "000fa5ff");
        assert_eq!(decode(b"000fa5ff"), Some([0, 0x0f, 0xa5, 0xff]));
        assert_eq!(decode::<4>(b"000fa5f"), None);
        assert_eq!(decode::<2>(b"00FF"), None);
        assert_eq!(decode::<1>(b"+1"), None);
    }
}

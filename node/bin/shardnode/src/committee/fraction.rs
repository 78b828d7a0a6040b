// SPDX-License-Identifier: Apache-2.0
//! A part of a whole, without rounding: a third is a third.

use std::str::FromStr;

/// Digits after the point that are read.
const DECIMALS: u32 = 9;

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    numerator: u32,
    denominator: u32,
}

/// Neither a decimal nor a ratio from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be from 0 to 1 with at most {DECIMALS} decimals, such as 0.30, or a ratio such as 1/3"
)]
pub(super) struct FractionError;

impl Fraction {
    /// This part of `whole`, rounded down.
    #[must_use]
    pub(super) fn of(self, whole: u32) -> u32 {
        let part = u64::from(whole) * u64::from(self.numerator) / u64::from(self.denominator);
        // At most the whole, because the fraction is at most 1.
        u32::try_from(part).unwrap_or(whole)
    }
}

impl FromStr for Fraction {
    type Err = FractionError;

    fn from_str(text: &str) -> Result<Self, FractionError> {
        let (numerator, denominator) = match text.split_once('/') {
            Some((numerator, denominator)) => (digits(numerator)?, digits(denominator)?),
            None => decimal(text)?,
        };
        if denominator == 0 || numerator > denominator {
            return Err(FractionError);
        }
        Ok(Self {
            numerator,
            denominator,
        })
    }
}

fn decimal(text: &str) -> Result<(u32, u32), FractionError> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let places = u32::try_from(decimals.len()).unwrap_or(u32::MAX);
    if places > DECIMALS {
        return Err(FractionError);
    }
    let one = 10u32.pow(places);
    let (whole, decimals) = (digits(whole)?, digits(decimals)?);
    let numerator = whole
        .checked_mul(one)
        .and_then(|whole| whole.checked_add(decimals));
    // What does not fit is more than 1.
    Ok((numerator.ok_or(FractionError)?, one))
}

/// Digits and nothing else: no sign, no space.
fn digits(text: &str) -> Result<u32, FractionError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FractionError);
    }
    text.parse().map_err(|_| FractionError)
}

// SPDX-License-Identifier: Apache-2.0
//! Reading lists: a varint length and the elements.

use commonware_codec::{Buf, Error, RangeCfg, Read};

/// Reads a list whose length is in `range` and whose elements have at least
/// `smallest` bytes each. A length that the rest of the input cannot fill is
/// refused before any memory is taken for it.
pub fn read_list<T: Read>(
    buf: &mut impl Buf,
    range: impl Into<RangeCfg<usize>>,
    cfg: &T::Cfg,
    smallest: usize,
) -> Result<Vec<T>, Error> {
    let length = usize::read_cfg(buf, &range.into())?;
    if buf.remaining() / smallest < length {
        return Err(Error::EndOfBuffer);
    }
    let mut elements = Vec::with_capacity(length);
    for _ in 0..length {
        elements.push(T::read_cfg(buf, cfg)?);
    }
    Ok(elements)
}

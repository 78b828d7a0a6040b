// SPDX-License-Identifier: Apache-2.0
//! The encoded witness: a version and the compressed raw encoding.

use crate::{
    error::DecodeError,
    limits::{Limits, VERSION},
    witness::StateWitness,
};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use std::io::{self, Read as _};

/// The level that compresses fastest.
const LEVEL: i32 = 1;

/// The largest window of a frame that is decompressed, as a power of two.
const WINDOW_LOG: u32 = 20;

/// What a frame starts with. The library also takes the formats that were
/// before it and frames to be skipped; a witness is neither.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Encodes and compresses.
pub fn encode(witness: &StateWitness) -> io::Result<Bytes> {
    let raw = witness.encode();
    let mut bytes = vec![VERSION];
    let mut encoder = zstd::stream::Encoder::new(&mut bytes, LEVEL)?;
    encoder.set_pledged_src_size(Some(raw.len() as u64))?;
    encoder.include_contentsize(true)?;
    io::Write::write_all(&mut encoder, &raw)?;
    encoder.finish()?;
    Ok(bytes.into())
}

/// Decompresses and decodes.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<StateWitness, DecodeError> {
    let (version, frame) = bytes.split_first().ok_or(DecodeError::Empty)?;
    if *version != VERSION {
        return Err(DecodeError::Version { got: *version });
    }
    let raw = decompress(frame, limits.raw_bytes)?;
    Ok(StateWitness::decode_cfg(raw, limits)?)
}

/// The content of `frame`, which must be one frame and nothing more.
fn decompress(frame: &[u8], limit: usize) -> Result<Bytes, DecodeError> {
    if !frame.starts_with(&MAGIC) {
        return Err(DecodeError::Frame);
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(frame)
        .map_err(DecodeError::Compression)?
        .single_frame();
    decoder
        .window_log_max(WINDOW_LOG)
        .map_err(DecodeError::Compression)?;
    let mut raw = Vec::new();
    // One byte more than allowed shows that there are too many.
    (&mut decoder)
        .take(limit as u64 + 1)
        .read_to_end(&mut raw)
        .map_err(DecodeError::Compression)?;
    if raw.len() > limit {
        return Err(DecodeError::TooLarge { limit });
    }
    let rest = decoder.finish().len();
    if rest > 0 {
        return Err(DecodeError::Trailing { bytes: rest });
    }
    Ok(raw.into())
}

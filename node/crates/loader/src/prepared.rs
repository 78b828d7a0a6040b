// SPDX-License-Identifier: Apache-2.0
//! Files of transfers that were signed before.
//!
//! ```text
//! file   = header ‖ transaction (153)s
//! header = "SHYDLOAD" ‖ version (2) ‖ genesis hash (32) ‖ count (8)
//!          ‖ senders (1) ‖ receivers (1) ‖ within shard percent (1) ‖ checksum (32)
//! ```
//!
//! The checksum is blake3 over the header before it and all transactions. The
//! percentage is 255 if the workload has none. A file belongs to one genesis: its
//! signatures hold on no other chain, and its nonces begin with 1.

use bytes::{BufMut, Bytes};
use commonware_codec::{
    Buf, DecodeExt as _, Encode as _, EncodeFixed as _, Error as CodecError, FixedSize, Read,
    ReadExt as _, Write,
};
use shardnode_load::{Receivers, Senders, Workload};
use shardnode_primitives::{Digest, Transaction};
use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

const MAGIC: [u8; 8] = *b"SHYDLOAD";
const VERSION: u16 = 1;
/// A workload without a share that stays within the shard.
const AS_IT_COMES: u8 = u8::MAX;

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The network that its transfers are for.
    pub genesis: Digest,
    /// How many there are.
    pub count: u64,
    /// Who pays whom.
    pub workload: Workload,
    /// Of all that is before it and after it.
    pub checksum: Digest,
}

impl Header {
    const UNSIGNED: usize = MAGIC.len() + 2 + 32 + 8 + 3;

    /// A checksum that all transactions are still to go into.
    fn begin(&self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.encode()[..Self::UNSIGNED]);
        hasher
    }
}

impl Write for Header {
    fn write(&self, buf: &mut impl BufMut) {
        buf.put_slice(&MAGIC);
        VERSION.write(buf);
        self.genesis.write(buf);
        self.count.write(buf);
        let senders: u8 = match self.workload.senders {
            Senders::ZipfMandelbrot => 0,
            Senders::Uniform => 1,
        };
        senders.write(buf);
        let receivers: u8 = match self.workload.receivers {
            Receivers::ZipfMandelbrot => 0,
            Receivers::Uniform => 1,
            Receivers::HotAccount => 2,
            Receivers::OneToOne => 3,
        };
        receivers.write(buf);
        let within = self.workload.within_shard_percent;
        within.unwrap_or(AS_IT_COMES).write(buf);
        self.checksum.write(buf);
    }
}

impl FixedSize for Header {
    const SIZE: usize = Self::UNSIGNED + 32;
}

impl Read for Header {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, CodecError> {
        if <[u8; MAGIC.len()]>::read(buf)? != MAGIC {
            return Err(CodecError::Invalid(
                "prepared",
                "no file of prepared transfers",
            ));
        }
        if u16::read(buf)? != VERSION {
            return Err(CodecError::Invalid("prepared", "of another version"));
        }
        let genesis = Digest::read(buf)?;
        let count = u64::read(buf)?;
        let senders = match u8::read(buf)? {
            0 => Senders::ZipfMandelbrot,
            1 => Senders::Uniform,
            other => return Err(CodecError::InvalidEnum(other)),
        };
        let receivers = match u8::read(buf)? {
            0 => Receivers::ZipfMandelbrot,
            1 => Receivers::Uniform,
            2 => Receivers::HotAccount,
            3 => Receivers::OneToOne,
            other => return Err(CodecError::InvalidEnum(other)),
        };
        let within_shard_percent = match u8::read(buf)? {
            AS_IT_COMES => None,
            percent @ 0..=100 => Some(percent),
            other => return Err(CodecError::InvalidEnum(other)),
        };
        Ok(Self {
            genesis,
            count,
            workload: Workload {
                senders,
                receivers,
                within_shard_percent,
            },
            checksum: Digest::read(buf)?,
        })
    }
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PreparedError {
    /// It cannot be read or written.
    #[error("{file}")]
    Io {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It is something else.
    #[error("{file}: is no file of prepared transfers: {reason}")]
    Header {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It is for another network.
    #[error("{file}: is for the network with genesis hash {found}, this one has {expected}")]
    Genesis {
        /// The file.
        file: PathBuf,
        /// Its network.
        found: Digest,
        /// The network that it was to be used on.
        expected: Digest,
    },
    /// It has more or fewer transfers than its header says.
    #[error("{file}: has {found} bytes, and {count} transfers are {expected}: it is not whole")]
    Length {
        /// The file.
        file: PathBuf,
        /// Its length.
        found: u64,
        /// What its header says.
        count: u64,
        /// What its length has to be.
        expected: u128,
    },
    /// It is not what was written.
    #[error("{file}: is not what its checksum says: it was changed")]
    Checksum {
        /// The file.
        file: PathBuf,
    },
    /// One of its transfers is none.
    #[error("{file}: transfer {number} is unreadable: {reason}")]
    Transfer {
        /// The file.
        file: PathBuf,
        /// Which, from 0 on.
        number: u64,
        /// What is wrong.
        reason: String,
    },
}

fn io_error(file: &Path) -> impl Fn(io::Error) -> PreparedError + '_ {
    |source| PreparedError::Io {
        file: file.into(),
        source,
    }
}

/// Writes a file. It appears under its name when it is whole.
pub struct Writer {
    path: PathBuf,
    partial: PathBuf,
    out: BufWriter<File>,
    header: Header,
    checksum: blake3::Hasher,
    written: u64,
}

impl Writer {
    /// Begins a file for so many transfers.
    pub fn create(
        path: &Path,
        genesis: Digest,
        count: u64,
        workload: Workload,
    ) -> Result<Self, PreparedError> {
        let header = Header {
            genesis,
            count,
            workload,
            checksum: Digest([0; 32]),
        };
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(io_error(&partial))?;
        let mut out = BufWriter::new(file);
        out.write_all(&header.encode())
            .map_err(io_error(&partial))?;
        Ok(Self {
            path: path.into(),
            partial,
            out,
            header,
            checksum: header.begin(),
            written: 0,
        })
    }

    /// How many transfers are still to be written.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.header.count - self.written
    }

    /// Writes transfers, at most [`Self::left`].
    pub fn write(&mut self, transfers: &[Transaction]) -> Result<(), PreparedError> {
        for one in transfers
            .iter()
            .take(usize::try_from(self.left()).unwrap_or(usize::MAX))
        {
            let bytes: [u8; Transaction::SIZE] = one.encode_fixed();
            self.checksum.update(&bytes);
            self.out
                .write_all(&bytes)
                .map_err(io_error(&self.partial))?;
            self.written += 1;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Header, PreparedError> {
        self.header.count = self.written;
        self.header.checksum = Digest(*self.checksum.finalize().as_bytes());
        let failed = io_error(&self.partial);
        self.out.flush().map_err(&failed)?;
        let mut file = self
            .out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(&failed)?;
        file.write_all(&self.header.encode()).map_err(&failed)?;
        file.sync_all().map_err(&failed)?;
        fs::rename(&self.partial, &self.path).map_err(io_error(&self.path))?;
        Ok(self.header)
    }
}

/// Reads a file that was checked.
#[derive(Debug)]
pub struct Prepared<R = BufReader<File>> {
    path: PathBuf,
    header: Header,
    input: R,
    read: u64,
}

impl Prepared {
    /// Opens a file for the network with this genesis hash. All of it is checked
    /// before the first transfer is read.
    pub fn open(path: &Path, genesis: Digest) -> Result<Self, PreparedError> {
        let failed = io_error(path);
        let file = File::open(path).map_err(&failed)?;
        let found = file.metadata().map_err(&failed)?.len();
        Self::read(path, BufReader::new(file), found, genesis)
    }
}

impl<R: io::Read + io::Seek> Prepared<R> {
    /// Checks what has so many bytes, and is called so.
    pub fn read(
        path: &Path,
        mut input: R,
        found: u64,
        genesis: Digest,
    ) -> Result<Self, PreparedError> {
        let failed = io_error(path);
        let mut bytes = Vec::with_capacity(Header::SIZE);
        let head = Header::SIZE as u64;
        input
            .by_ref()
            .take(head)
            .read_to_end(&mut bytes)
            .map_err(&failed)?;
        let header = Header::decode(Bytes::from(bytes)).map_err(|error| PreparedError::Header {
            file: path.into(),
            reason: error.to_string(),
        })?;
        if header.genesis != genesis {
            return Err(PreparedError::Genesis {
                file: path.into(),
                found: header.genesis,
                expected: genesis,
            });
        }
        let expected = u128::from(head) + u128::from(header.count) * Transaction::SIZE as u128;
        if u128::from(found) != expected {
            return Err(PreparedError::Length {
                file: path.into(),
                found,
                count: header.count,
                expected,
            });
        }
        let mut checksum = header.begin();
        checksum.update_reader(&mut input).map_err(&failed)?;
        if header.checksum.0 != *checksum.finalize().as_bytes() {
            return Err(PreparedError::Checksum { file: path.into() });
        }
        input.seek(SeekFrom::Start(head)).map_err(&failed)?;
        Ok(Self {
            path: path.into(),
            header,
            input,
            read: 0,
        })
    }

    /// What the file says of itself.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The next transfers, at most so many; none after the last.
    pub fn next(&mut self, most: u64) -> Result<Vec<Transaction>, PreparedError> {
        let many = most.min(self.header.count - self.read);
        let mut transfers = Vec::new();
        for _ in 0..many {
            let mut bytes = [0; Transaction::SIZE];
            self.input
                .read_exact(&mut bytes)
                .map_err(io_error(&self.path))?;
            let transaction = Transaction::decode(bytes.to_vec());
            transfers.push(transaction.map_err(|error| PreparedError::Transfer {
                file: self.path.clone(),
                number: self.read,
                reason: error.to_string(),
            })?);
            self.read += 1;
        }
        Ok(transfers)
    }
}

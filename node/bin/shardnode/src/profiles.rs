// SPDX-License-Identifier: Apache-2.0
//! The profiles of the running node, one at a time: from one finalised block to
//! another, or for a time.

use axum::body::Bytes;
use commonware_runtime::{Clock as _, Spawner as _, Supervisor as _, tokio::Context};
use commonware_utils::channel::watch;
use shardnode_blocks::ChainView;
use shardnode_config::Config;
use shardnode_profiles::{
    FREQUENCY_HERTZ, MEAN_INTERVAL_BYTES, Profile, ProfileError, Sampling, Subject,
};
use shardnode_rpc::{ProfileExtent, ProfileKind, ProfileOngoing, ProfileStage, ProfileStatus};
use std::{
    error::Error as _,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::oneshot;
use tracing::{info, warn};

/// How long a profile waits for its first block at most, and then for its last.
const LONGEST: Duration = Duration::from_secs(60);
/// How often it is asked whether a profile is full.
const FULLNESS: Duration = Duration::from_secs(1);
/// The folder of the data directory that samples go into which have no place in
/// memory.
const FOLDER: &str = "profile";

type View = watch::Receiver<Arc<ChainView>>;

/// The profiles of a node.
#[derive(Clone)]
pub(crate) struct Profiles {
    subject: Arc<Names>,
    current: Arc<Mutex<Option<Current>>>,
}

/// Whose profiles they are, and where samples go.
struct Names {
    network: String,
    node: String,
    folder: PathBuf,
}

/// A profile that is taken, or was taken.
struct Current {
    status: ProfileStatus,
    content: Option<Bytes>,
    /// Dropped, it ends the profile.
    wanted: Option<oneshot::Sender<()>>,
}

/// Why a profile has no content.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("no block was finalised within {} s", LONGEST.as_secs())]
    NoBlock,
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl Profiles {
    pub(crate) fn new(config: &Config) -> Self {
        let subject = Names {
            network: config.network.clone(),
            node: config.node.clone(),
            folder: config.data_dir.join(FOLDER),
        };
        Self {
            subject: Arc::new(subject),
            current: Arc::default(),
        }
    }

    pub(crate) fn status(&self) -> Option<ProfileStatus> {
        let current = self.current();
        current.as_ref().map(|current| current.status.clone())
    }

    /// Whether a profile is taken now.
    pub(crate) fn is_taken(&self) -> bool {
        self.current().as_ref().is_some_and(Current::is_ongoing)
    }

    pub(crate) fn content(&self) -> Option<Bytes> {
        self.current().as_ref()?.content.clone()
    }

    /// Begins a profile, on a thread of its own.
    pub(crate) fn begin(
        &self,
        context: &Context,
        view: View,
        kind: ProfileKind,
        extent: ProfileExtent,
    ) -> Result<(), ProfileOngoing> {
        let mut current = self.current();
        if current.as_ref().is_some_and(Current::is_ongoing) {
            return Err(ProfileOngoing);
        }
        let (wanted, unwanted) = oneshot::channel();
        *current = Some(Current {
            status: ProfileStatus {
                stage: ProfileStage::Waiting,
                kind,
                extent,
                frequency_hertz: (kind == ProfileKind::Cpu).then_some(FREQUENCY_HERTZ),
                interval_bytes: (kind == ProfileKind::Allocations).then_some(MEAN_INTERVAL_BYTES),
                first_height: None,
                last_height: None,
                samples: None,
                reason: None,
            },
            content: None,
            wanted: Some(wanted),
        });
        let profiles = self.clone();
        let task = context.child("profile").dedicated();
        drop(task.spawn(move |context| async move {
            profiles.take(&context, view, kind, extent, unwanted).await;
        }));
        Ok(())
    }

    /// Ends the profile that is taken, or forgets the one that was taken.
    pub(crate) fn end(&self) {
        let mut current = self.current();
        match &mut *current {
            // It is there until it has ended.
            Some(ongoing) if ongoing.is_ongoing() => ongoing.wanted = None,
            _ => *current = None,
        }
    }

    async fn take(
        self,
        context: &Context,
        view: View,
        kind: ProfileKind,
        extent: ProfileExtent,
        mut unwanted: oneshot::Receiver<()>,
    ) {
        let taken = tokio::select! {
            taken = self.sample(context, view, kind, extent) => Some(taken),
            _ = &mut unwanted => None,
        };
        // Somebody may have ended it while functions were looked up.
        let wanted = unwanted.try_recv() == Err(oneshot::error::TryRecvError::Empty);
        let Some(taken) = taken.filter(|_| wanted) else {
            info!("{} was ended", name(kind));
            *self.current() = None;
            return;
        };
        self.update(|current| match taken {
            Ok(Profile { samples, bytes }) => {
                info!(samples, "took {}", name(kind));
                current.status.stage = ProfileStage::Ready;
                current.status.samples = Some(samples);
                current.content = Some(bytes.into());
            }
            Err(failure) => {
                let reason = words(&failure);
                warn!(reason, "could not take {}", name(kind));
                current.status.stage = ProfileStage::Failed;
                current.status.reason = Some(reason);
            }
        });
    }

    async fn sample(
        &self,
        context: &Context,
        mut view: View,
        kind: ProfileKind,
        extent: ProfileExtent,
    ) -> Result<Profile, Failure> {
        if matches!(extent, ProfileExtent::Blocks(_)) {
            let next = height(&view) + 1;
            tokio::select! {
                () = reached(&mut view, next) => {}
                () = context.sleep(LONGEST) => return Err(Failure::NoBlock),
            }
        }
        let sampling = match kind {
            ProfileKind::Cpu => Sampling::of_time(&self.subject.folder)?,
            ProfileKind::Allocations => Sampling::of_allocations()?,
        };
        let first_height = height(&view);
        info!(first_height, "taking {}", name(kind));
        self.update(|current| {
            current.status.stage = ProfileStage::Sampling;
            current.status.first_height = Some(first_height);
        });
        let early = tokio::select! {
            () = passed(context, &mut view, first_height, extent) => None,
            () = context.sleep(LONGEST) => Some("the last block was not finalised in time"),
            () = full(context, &sampling) => Some(fullness(kind)),
        };
        let last_height = height(&view);
        self.update(|current| {
            current.status.stage = ProfileStage::Finishing;
            current.status.last_height = Some(last_height);
            current.status.reason = early.map(Into::into);
        });
        let subject = Subject {
            network: &self.subject.network,
            node: &self.subject.node,
            first_height,
            last_height,
        };
        Ok(sampling.finish(&subject)?)
    }

    fn update(&self, change: impl FnOnce(&mut Current)) {
        if let Some(current) = &mut *self.current() {
            change(current);
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn is_ongoing(&self) -> bool {
        match self.status.stage {
            ProfileStage::Waiting | ProfileStage::Sampling | ProfileStage::Finishing => true,
            ProfileStage::Ready | ProfileStage::Failed => false,
        }
    }
}

/// What a profile is called in the log.
fn name(kind: ProfileKind) -> &'static str {
    match kind {
        ProfileKind::Cpu => "a CPU profile",
        ProfileKind::Allocations => "an allocation profile",
    }
}

/// What is full of a profile that is full.
fn fullness(kind: ProfileKind) -> &'static str {
    match kind {
        ProfileKind::Cpu => "it has as many different stacks as it may",
        ProfileKind::Allocations => "it has as many samples as it may",
    }
}

fn height(view: &View) -> u64 {
    view.borrow().height()
}

/// Waits for a finalised block.
async fn reached(view: &mut View, height: u64) {
    if view.wait_for(|view| view.height() >= height).await.is_err() {
        // The node is ending, and what waits with it.
        std::future::pending::<()>().await;
    }
}

/// Waits until all has happened that a profile is of.
async fn passed(context: &Context, view: &mut View, first: u64, extent: ProfileExtent) {
    match extent {
        ProfileExtent::Blocks(blocks) => reached(view, first + u64::from(blocks.get())).await,
        ProfileExtent::Seconds(seconds) => {
            context
                .sleep(Duration::from_secs(seconds.get().into()))
                .await;
        }
    }
}

/// Waits until a profile may have no more.
async fn full(context: &Context, sampling: &Sampling) {
    while !sampling.is_full() {
        context.sleep(FULLNESS).await;
    }
}

/// A failure and its causes in one line.
fn words(failure: &Failure) -> String {
    let mut words = failure.to_string();
    let mut source = failure.source();
    while let Some(cause) = source {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        source = cause.source();
    }
    words
}

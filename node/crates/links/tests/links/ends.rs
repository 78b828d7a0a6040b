// SPDX-License-Identifier: Apache-2.0
//! The end of a connection: what was sent arrives, then the end, and errors are
//! those of the inner network.

use super::*;
use commonware_runtime::Error;
use futures::{FutureExt as _, future::select};
use std::pin::pin;

#[test]
fn what_was_sent_arrives_and_then_the_end() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        let start = context.current();
        connection.near.0.send(vec![1; 1_000]).await.unwrap();
        context.sleep(ms(10)).await;
        drop(connection.near);
        let arrived = connection.far.1.recv(1_000).await.unwrap();
        assert_eq!(arrived.len(), 1_000);
        assert_takes(since(&context, start), ms(40), LITTLE);
        let end = connection.far.1.recv(1).await;
        assert!(matches!(end, Err(Error::RecvFailed)), "{end:?}");
        assert!(since(&context, start) >= ms(50));
    });
}

#[test]
fn the_end_comes_after_what_was_sent_before() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        let start = context.current();
        connection.far.0.send(vec![1; 1_000]).await.unwrap();
        drop(connection.far);
        let arrived = connection.near.1.recv(1_000).await.unwrap();
        assert_eq!(arrived.len(), 1_000);
        let end = connection.near.1.recv(1).await;
        assert!(matches!(end, Err(Error::RecvFailed)), "{end:?}");
        assert_takes(since(&context, start), ms(40), LITTLE);
        let closed = connection.near.1.recv(1).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    });
}

#[test]
fn whoever_sends_to_nobody_is_told_when_it_is_known() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        drop(connection.far);
        // Nobody knows yet.
        connection.near.0.send(vec![1; 10]).await.unwrap();
        context.sleep(ms(41)).await;
        let failed = connection.near.0.send(vec![1; 10]).await;
        assert!(matches!(failed, Err(Error::SendFailed)), "{failed:?}");
        let closed = connection.near.0.send(vec![1; 10]).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    });
}

#[test]
fn a_sender_that_waits_for_room_is_told_as_well() {
    run(|context| async move {
        let conditions = megabits(delay(40), 1);
        let mut connection = connect(&context, conditions).await;
        let sending = connection.near.0.send(vec![1; 1_000_000]);
        let far = connection.far;
        let closing = async {
            context.sleep(Duration::from_secs(1)).await;
            drop(far);
        };
        let (failed, ()) = futures::future::join(sending, closing).await;
        assert!(matches!(failed, Err(Error::SendFailed)), "{failed:?}");
    });
}

#[test]
fn nobody_waits_longer_than_there_is_patience() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        let start = context.current();
        let late = connection.near.1.recv(1).await;
        assert!(matches!(late, Err(Error::Timeout)), "{late:?}");
        assert_takes(since(&context, start), PATIENCE, LITTLE);
        let closed = connection.near.1.recv(1).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
        // Nobody receives, and the link is full some time.
        let start = context.current();
        let late = connection.near.0.send(vec![1; 40 << 20]).await;
        assert!(matches!(late, Err(Error::Timeout)), "{late:?}");
        assert_takes(since(&context, start), PATIENCE, LITTLE);
        let closed = connection.near.0.send(vec![1]).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    });
}

#[test]
fn what_was_abandoned_is_closed() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        assert!(connection.near.1.recv(10).now_or_never().is_none());
        let closed = connection.near.1.recv(1).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
        let conditions = megabits(delay(40), 1);
        let here = Here::new(&context, conditions);
        let mut near = here.linked.dial(address()).await.unwrap();
        let sending = near.0.send(vec![1; 100_000]);
        select(pin!(sending), pin!(context.sleep(ms(5)))).await;
        let closed = near.0.send(vec![1]).await;
        assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
    });
}

#[test]
fn a_dropped_receiver_is_noticed_by_who_sends() {
    run(|context| async move {
        let mut connection = connect(&context, delay(40)).await;
        drop(connection.near.1);
        context.sleep(ms(1)).await;
        let failed = connection.far.0.send(vec![1; 10]).await;
        assert!(matches!(failed, Err(Error::SendFailed)), "{failed:?}");
    });
}

#[test]
fn a_connection_outlives_whoever_dialled_it() {
    run(|context| async move {
        let here = Here::new(&context, delay(40));
        let mut listener = context.bind(address()).await.unwrap();
        let dialling = here.linked.child("dialler");
        let dialled = dialling
            .spawn(|linked| async move { linked.dial(address()).await.unwrap() })
            .await;
        let mut near = dialled.unwrap();
        let (_, mut sink, mut stream) = listener.accept().await.unwrap();
        near.0.send(vec![1; 10]).await.unwrap();
        assert_eq!(stream.recv(10).await.unwrap().len(), 10);
        sink.send(vec![1; 10]).await.unwrap();
        assert_eq!(near.1.recv(10).await.unwrap().len(), 10);
    });
}

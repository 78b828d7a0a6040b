// SPDX-License-Identifier: Apache-2.0
//! Peers that are dialled by name.

use super::*;
use commonware_runtime::Resolver as _;

#[test]
fn a_name_is_behind_its_link() {
    run(|context| async move {
        let metrics = Metrics::new(&mut Registry::default());
        let mut table = Table::default();
        let link = Link::new("south", delay(40), &metrics);
        table.insert_name("node.example", 1_000, Line::new(Some(link)));
        let linked = Linked::new(context.child("here"), table, PATIENCE);
        context.resolver_register("node.example", Some(vec![address().ip()]));
        let _listener = context.bind(address()).await.unwrap();

        let start = context.current();
        drop(linked.dial(address()).await.unwrap());
        assert!(since(&context, start) < LITTLE);
        let resolved = linked.child("child").resolve("node.example").await;
        assert_eq!(resolved.unwrap(), [address().ip()]);
        drop(linked.dial(address()).await.unwrap());
        assert_takes(since(&context, start), ms(80), LITTLE);
    });
}

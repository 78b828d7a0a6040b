// SPDX-License-Identifier: Apache-2.0
//! A network whose nodes all start at once.

use super::harness::run;
use commonware_runtime::Clock as _;
use std::time::Duration;

/// The vote of one of four for the first block comes late to two of them, and the block
/// is notarised without it: half of the network could take that one for absent when it is
/// to lead, and the other half not. Where leaders wait a second for chunks, such a view
/// lasts four.
#[test]
fn nobody_is_taken_for_absent_before_it_could_be_heard_of() {
    for late in 0..4 {
        run(80 + late, 2, 2, move |mut network| async move {
            let late = usize::try_from(late).unwrap();
            let to = [(late + 1) % 4, (late + 2) % 4];
            network.delay(late, &to, Duration::from_millis(300)).await;
            let begun = network.context.current();
            network.start_all().await;
            network.wait_for_height(4).await;
            let took = network.context.current().duration_since(begun).unwrap();
            assert!(
                took < Duration::from_secs(3),
                "with {late} late, it took {took:?}"
            );
        });
    }
}

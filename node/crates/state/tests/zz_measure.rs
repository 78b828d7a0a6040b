use shardnode_primitives::*;
use shardnode_state::*;
use std::collections::BTreeMap;
use std::time::Instant;
#[test]
fn measure() {
    let h = |i: u32| AccountId(*blake3::hash(&i.to_be_bytes()).as_bytes());
    let t = Instant::now();
    let mut tree = StateTree::genesis((0..14286).map(|i| {
        (
            h(i),
            Account {
                balance: 1,
                nonce: 0,
            },
        )
    }))
    .unwrap();
    println!("genesis {:?}", t.elapsed());
    for n in [100u32, 1000, 8463] {
        let mut best = u128::MAX;
        for r in 0..30u64 {
            let ch: BTreeMap<_, _> = (0..n)
                .map(|i| {
                    (
                        h((i * 7919 + r as u32) % 14286),
                        Account {
                            balance: r,
                            nonce: r,
                        },
                    )
                })
                .collect();
            let t = Instant::now();
            tree.apply(&ch).unwrap();
            best = best.min(t.elapsed().as_nanos() / ch.len() as u128);
        }
        println!("{n}: {best} ns per touched leaf");
    }
    let ch: BTreeMap<_, _> = (20000..21000)
        .map(|i| {
            (
                h(i),
                Account {
                    balance: 1,
                    nonce: 1,
                },
            )
        })
        .collect();
    let t = Instant::now();
    tree.apply(&ch).unwrap();
    println!("create 1000: {} ns each", t.elapsed().as_nanos() / 1000);
    let leaves = tree.leaves().to_vec();
    let t = Instant::now();
    StateTree::from_leaves(leaves).unwrap();
    println!("from_leaves {:?}", t.elapsed());
    let t = Instant::now();
    for i in 0..10000 {
        std::hint::black_box(tree.get(&h(i)));
    }
    println!("get {:?}", t.elapsed() / 10000);
}

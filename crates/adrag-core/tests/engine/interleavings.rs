//! Whatever fails, and whenever the person stops: every run is gapless and ends exactly once.

use crate::bench::{Bench, down, request};
use adrag_contract::EngineId;
use adrag_core::ports::{PortError, SearchFault};
use adrag_core::testing::chat::FakeReply;
use adrag_core::testing::clock::assert_well_formed;
use proptest::prelude::*;

/// One thing that happens to a run.
#[derive(Clone, Debug)]
enum Trouble {
    Vectors,
    Keywords,
    Graph,
    Embedder,
    Support,
    Web,
    Stop(u16),
}

fn trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        Just(Trouble::Vectors),
        Just(Trouble::Keywords),
        Just(Trouble::Graph),
        Just(Trouble::Embedder),
        Just(Trouble::Support),
        Just(Trouble::Web),
        (0u16..400).prop_map(Trouble::Stop),
    ]
}

fn reply() -> impl Strategy<Value = FakeReply> {
    (0u8..8).prop_map(|kind| match kind {
            0 => FakeReply::Text(String::new()),
            1 => FakeReply::Text("It takes SK-131-A [1] and [9].".to_owned()),
            2 => FakeReply::Text("The documents do not say.".to_owned()),
            3 => FakeReply::Json(serde_json::json!({"retrieve": "false", "use_web": "yes", "grounded": false, "missing": ["kit"], "issues": ["x"]})),
            4 => FakeReply::Fails(PortError::transient(adrag_contract::ErrorCode::RateLimited, "slow down")),
            5 => FakeReply::BreaksOff(
                vec!["It takes".to_owned()],
                PortError::transient(adrag_contract::ErrorCode::BadReply, "cut"),
            ),
            6 => FakeReply::Json(serde_json::json!({"grounded": true})),
            _ => FakeReply::Text("{\"retrieve\": 1, \"sub_questions\": \"x\"".to_owned()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_interleaving_ends_in_exactly_one_terminal_event(
        troubles in prop::collection::vec(trouble(), 0..4),
        replies in prop::collection::vec(reply(), 0..7),
        quotes in any::<bool>(),
        web in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::with_replies(replies).await;
            bench.add(&[("/docs/pump.txt", "The bilge pump HX-40 uses seal kit SK-131-A.")]).await;
            let mut settings = bench.engine.settings().await;
            settings.web.enabled = web;
            bench.engine.save_settings(settings).await.unwrap();
            bench.web.put("https://example.org/", "Pumps", "The HX-40 is a pump.", "");
            let mut stop = None;
            for trouble in &troubles {
                match trouble {
                    Trouble::Vectors => bench.vectors.faults.fail_next(down("the vector index")),
                    Trouble::Keywords => bench.keywords.faults.fail_next(down("the keyword index")),
                    Trouble::Graph => bench.graph.fail_next(down("the graph")),
                    Trouble::Embedder => bench.embedder.fail(down("the embedder")),
                    Trouble::Support => bench.support.fail(down("the judge")),
                    Trouble::Web => bench.web.fail("fake", SearchFault::Blocked),
                    Trouble::Stop(after) => stop = Some(*after),
                }
            }
            let engine = if quotes { EngineId::Quotes } else { EngineId::Openai };
            let question = request("Which seal kit does the bilge pump HX-40 use, please?", engine);
            let run = bench.engine.ask(question).await.unwrap();
            if let Some(after) = stop {
                for _ in 0..after {
                    tokio::task::yield_now().await;
                }
                bench.engine.cancel(&run);
            }
            bench.engine.wait(&run).await.unwrap();
            let events = bench.engine.run_snapshot(&run).await.unwrap();
            assert_well_formed(&events);
            assert!(events.last().unwrap().event.is_terminal());
        });
    }
}

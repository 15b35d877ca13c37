//! Ranks that are threads. They say to each other what processes do in `tests/mpi`, and go through random exchanges.

use std::panic::{AssertUnwindSafe, catch_unwind};

use marquardt::Real;
use marquardt::distributed::{Communicator, CommunicatorError, RankError, on_threads};
use proptest::prelude::*;

use crate::common;
use crate::scenarios;

/// Something that all ranks do, and its name.
pub type Scenario = (&'static str, fn(&Communicator));

#[test]
fn threads_say_what_processes_do() {
    for (name, scenario) in scenarios::SCENARIOS {
        for size in 1..4 {
            let passes = catch_unwind(AssertUnwindSafe(|| on_threads(size, |ranks| scenario(&ranks)))).is_ok();
            assert!(passes, "{name}, {size} ranks");
        }
    }
}

#[test]
fn a_rank_alone_is_a_rank_like_others() {
    for ranks in [Communicator::single(), Communicator::threads(1).remove(0), Communicator::world().unwrap()] {
        assert!((ranks.rank(), ranks.size(), ranks.is_root()) == (0, 1, true), "{ranks:?}");
        scenarios::SCENARIOS.iter().for_each(|(_, scenario)| scenario(&ranks));
    }
    assert!(Communicator::threads(0).is_empty());
}

#[test]
fn a_rank_that_has_gone_is_an_error_for_the_others() {
    let errors = on_threads(4, |ranks| {
        ranks.all_sum(&mut [1.0]).unwrap();
        if ranks.rank() == 2 {
            return None;
        }
        let clone = ranks.clone();
        drop(ranks);
        // A clone is the same rank: it has not gone, but rank 2 has, for all that follows.
        let sum = clone.all_sum(&mut [1.0]).unwrap_err();
        assert_eq!(clone.all_gather(&[1.0]).unwrap_err(), sum);
        assert_eq!(clone.broadcast(&mut [1.0]).unwrap_err(), sum);
        assert_eq!(clone.first_to_differ(&[1.0]).unwrap_err(), sum);
        assert_eq!(clone.agree::<_, String>(Ok(())).unwrap_err(), RankError::from(sum.clone()));
        Some(sum)
    });
    let gone: Vec<_> = errors.into_iter().flatten().collect();
    assert_eq!(gone, vec![CommunicatorError::Disconnected { rank: 2 }; 3]);
    assert_eq!(RankError::from(gone[0].clone()).to_string(), "rank 2: rank 2 has gone");
}

#[test]
fn a_rank_that_panics_has_gone() {
    let errors = on_threads(3, |ranks| {
        let work = || {
            assert!(ranks.rank() != 1, "rank 1 panics, as it should");
            ranks.all_sum(&mut [1.0])
        };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        drop(ranks);
        outcome
    });
    assert!(errors[1].is_err());
    assert_eq!(errors[0].as_ref().unwrap(), &Err(CommunicatorError::Disconnected { rank: 1 }));
    assert_eq!(errors[2].as_ref().unwrap(), &Err(CommunicatorError::Disconnected { rank: 1 }));
}

#[test]
fn sums_that_a_rank_has_failed_to_come_by_are_errors_everywhere() {
    let outcomes = on_threads(3, |ranks| {
        let own = if ranks.rank() == 0 { Ok(()) } else { Err(format!("no data on rank {}", ranks.rank())) };
        let failed = [0, 1, 100].map(|count| ranks.try_all_sum(&mut vec![1.0; count], own.clone()).unwrap_err());
        // Numbers that are none, but no error.
        let mut numbers = [1.0, if ranks.rank() == 1 { f64::NAN } else { 0.0 }];
        ranks.try_all_sum(&mut numbers, Ok::<(), String>(())).unwrap();
        assert!(numbers[0] == 3.0 && numbers[1].is_nan());
        failed
    });
    let expected = RankError { rank: 1, message: "no data on rank 1".to_owned() };
    assert!(outcomes.iter().flatten().all(|error| *error == expected));
}

/// Sums of these on all ranks, one row for each.
fn sums<T: Real>(rows: &[Vec<T>]) -> Vec<Vec<T>> {
    on_threads(rows.len(), |ranks| {
        let mut numbers = rows[ranks.rank()].clone();
        ranks.all_sum(&mut numbers).unwrap();
        numbers
    })
}

/// As many rows as there are ranks, of equal length.
fn rows() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (1..5_usize, 0..40_usize)
        .prop_flat_map(|(ranks, count)| prop::collection::vec(prop::collection::vec(-1e6..1e6, count), ranks))
}

proptest! {
    #![proptest_config(common::config())]

    #[test]
    fn sums_are_right_and_the_same_bits_on_all_ranks(rows in rows()) {
        let sums_found = sums(&rows);
        prop_assert!(sums_found.iter().all(|sums| *sums == sums_found[0]));
        for (i, sum) in sums_found[0].iter().enumerate() {
            let size: f64 = rows.iter().map(|row| row[i].abs()).sum();
            prop_assert!((sum - rows.iter().map(|row| row[i]).sum::<f64>()).abs() <= 1e-15 * size);
        }
        let single: Vec<Vec<f32>> = rows.iter().map(|row| row.iter().map(|&x| x as f32).collect()).collect();
        let single = sums(&single);
        for (sum, expected) in single[0].iter().zip(&sums_found[0]) {
            prop_assert!((f64::from(*sum) - expected).abs() <= 4e6 * f64::from(f32::EPSILON));
        }
        prop_assert!(single.iter().all(|sums| *sums == single[0]));
    }

    #[test]
    fn all_hear_what_each_says(rows in prop::collection::vec(prop::collection::vec(any::<f32>(), 0..50), 1..5)) {
        let bits = |rows: &[Vec<f32>]| rows.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
        let expected: Vec<Vec<u32>> = bits(&rows);
        for heard in on_threads(rows.len(), |ranks| ranks.all_gather(&rows[ranks.rank()]).unwrap()) {
            prop_assert_eq!(&bits(&heard), &expected);
        }
    }

    #[test]
    fn all_agree_on_the_first_error(errors in prop::collection::vec(prop::option::of(".{0,9}"), 1..5)) {
        let first = errors.iter().enumerate().find_map(|(rank, error)| Some((rank, error.clone()?)));
        let expected = first.map(|(rank, message)| RankError { rank, message });
        let outcomes = on_threads(errors.len(), |ranks| {
            ranks.agree(errors[ranks.rank()].clone().map_or(Ok(ranks.rank()), Err))
        });
        for (rank, outcome) in outcomes.into_iter().enumerate() {
            prop_assert_eq!(outcome, expected.clone().map_or(Ok(rank), Err));
        }
    }

    #[test]
    fn shards_are_even_and_leave_nothing_out(rows in 0..10_000_usize, size in 1..20_usize) {
        let shards: Vec<_> = Communicator::threads(size).iter().map(|ranks| ranks.shard(rows)).collect();
        prop_assert!(shards.iter().flat_map(Clone::clone).eq(0..rows));
        prop_assert!(shards.iter().all(|shard| shard.len() == rows / size || shard.len() == rows / size + 1));
    }

    #[test]
    fn the_rank_that_differs_is_named(numbers in prop::collection::vec(any::<f64>(), 1..30), at in any::<prop::sample::Index>(),
                                      size in 2..5_usize, bit in 0..64_u32) {
        let found = on_threads(size, |ranks| {
            let mut own = numbers.clone();
            if ranks.rank() == size - 1 {
                let number = at.get(&own).to_bits() ^ (1 << bit);
                own[at.index(numbers.len())] = f64::from_bits(number);
            }
            ranks.first_to_differ(&own).unwrap()
        });
        prop_assert!(found.iter().all(|&rank| rank == Some(size - 1)));
    }
}

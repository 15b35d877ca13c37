//! What ranks say to each other. Each of these is run by all ranks at once, be they threads or processes.

use std::thread;

use marquardt::Real;
use marquardt::distributed::{Communicator, CommunicatorError, RankError};

use crate::Scenario;

pub const SCENARIOS: &[Scenario] = &[
    ("sums are right, and the same bits on all ranks", sums),
    ("sums of single precision", sums_of_single_precision),
    ("what is not a number is so on all ranks, and leaves the others alone", not_a_number),
    ("gathered numbers are as many as each rank has", ragged_gathers),
    ("all go on only if none has an error", agreement),
    ("rank 0's numbers become those of all", broadcasts),
    ("a rank whose bits differ is found", differences),
    ("shards are even, and leave nothing out", shards),
    ("ranks at different places of the program are told so, and can go on", out_of_step),
    ("a thousand exchanges keep their order", order),
    ("any thread of a rank may speak for it", other_threads),
];

/// Numbers of a rank, as every rank can compute them: of any size and sign.
pub fn numbers(rank: usize, count: usize) -> impl Iterator<Item = f64> {
    (0..count as u64).map(move |i| {
        let mut bits =
            (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (rank as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
        bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (((bits >> 32) as f64 / f64::from(1u32 << 31)) - 1.0) * [1.0, 1e3, 1e-6][(i % 3) as usize]
    })
}

fn sums_of<T: Real>(ranks: &Communicator) {
    // About what goes without a second message, parts of even and uneven length, and several pieces.
    for count in [0, 1, 13, 14, 15, 28, 29, 64, 65, 1000, 60_001] {
        let mut sums: Vec<T> = numbers(ranks.rank(), count).map(T::from_f64).collect();
        ranks.all_sum(&mut sums).unwrap();
        assert_eq!(ranks.first_to_differ(&sums), Ok(None), "{count} numbers");
        let mut expected = vec![(0.0, 0.0); count];
        for rank in 0..ranks.size() {
            for ((sum, size), number) in expected.iter_mut().zip(numbers(rank, count)) {
                let number = T::from_f64(number).to_f64();
                *sum += number;
                *size += number.abs();
            }
        }
        for (i, (sum, (expected, size))) in sums.iter().zip(expected).enumerate() {
            let error = (sum.to_f64() - expected).abs();
            assert!(error <= ranks.size() as f64 * T::EPSILON.to_f64() * size, "number {i} of {count}: {error:e}");
        }
    }
}

fn sums(ranks: &Communicator) {
    sums_of::<f64>(ranks);
}

fn sums_of_single_precision(ranks: &Communicator) {
    sums_of::<f32>(ranks);
}

fn not_a_number(ranks: &Communicator) {
    for count in [3, 1000] {
        let mut sums = vec![1.0; count];
        if ranks.rank() == ranks.size() - 1 {
            sums[0] = f64::NAN;
            sums[1] = f64::INFINITY;
        }
        ranks.all_sum(&mut sums).unwrap();
        assert!(sums[0].is_nan());
        assert_eq!(sums[1], f64::INFINITY);
        assert!(sums[2..].iter().all(|&sum| sum == ranks.size() as f64));
        assert_eq!(ranks.first_to_differ(&sums), Ok(None));
    }
}

fn ragged_gathers(ranks: &Communicator) {
    let counts: [fn(usize) -> usize; 5] =
        [|_| 0, |rank| rank, |rank| 5 * rank * rank, |rank| if rank == 0 { 600_000 } else { 0 }, |rank| 40 - rank % 2];
    for count in counts {
        let own: Vec<f64> = numbers(ranks.rank(), count(ranks.rank())).collect();
        let all = ranks.all_gather(&own).unwrap();
        assert_eq!(all.len(), ranks.size());
        for (rank, said) in all.iter().enumerate() {
            assert!(said.iter().copied().eq(numbers(rank, count(rank))), "rank {rank}'s {} numbers", count(rank));
        }
    }
    let all = ranks.all_gather(&[ranks.rank() as f32 + 0.5]).unwrap();
    assert!(all.iter().enumerate().all(|(rank, said)| *said == [rank as f32 + 0.5]));
}

fn agreement(ranks: &Communicator) {
    assert_eq!(ranks.agree::<_, String>(Ok(ranks.rank())), Ok(ranks.rank()));
    let (middle, last) = (ranks.size() / 2, ranks.size() - 1);
    for length in [0, 1, 20, 111, 112, 113, 5000] {
        let message = |rank: usize| format!("é{rank}").repeat(length);
        let outcome = if ranks.rank() == middle || ranks.rank() == last { Err(message(ranks.rank())) } else { Ok(()) };
        assert_eq!(ranks.agree(outcome), Err(RankError { rank: middle, message: message(middle) }));
    }
    assert_eq!(ranks.agree::<_, RankError>(Ok(7)), Ok(7));
}

fn broadcasts(ranks: &Communicator) {
    for count in [0, 3, 1000] {
        let mut own: Vec<f64> = numbers(ranks.rank(), count).collect();
        ranks.broadcast(&mut own).unwrap();
        assert!(own.into_iter().eq(numbers(0, count)));
    }
    let last = ranks.size() - 1;
    if last > 0 {
        let mut own = vec![ranks.rank() as f64; if ranks.rank() == last { 4 } else { 5 }];
        assert_eq!(ranks.broadcast(&mut own), Err(CommunicatorError::CollectiveMismatch { rank: 0, other: last }));
        assert!(own.iter().all(|&number| number == ranks.rank() as f64), "nothing is touched");
    }
}

fn differences(ranks: &Communicator) {
    let mut own: Vec<f64> = numbers(0, 100).chain([f64::NAN, -0.0]).collect();
    assert_eq!(ranks.first_to_differ(&own), Ok(None));
    let last = ranks.size() - 1;
    let expected = (last > 0).then_some(last);
    if ranks.rank() == last {
        own[101] = 0.0;
    }
    assert_eq!(ranks.first_to_differ(&own), Ok(expected));
    own[101] = -0.0;
    let own = if ranks.rank() == last { &own[..101] } else { &own };
    assert_eq!(ranks.first_to_differ(own), Ok(expected));
}

fn shards(ranks: &Communicator) {
    for rows in [0, 1, 2, 3, 7, 100, 100_001] {
        let shard = ranks.shard(rows);
        let all = ranks.all_gather(&[shard.start as f64, shard.end as f64]).unwrap();
        let mut end = 0;
        for shard in all {
            let [start, next] = [shard[0] as usize, shard[1] as usize];
            assert_eq!(start, end);
            assert!((rows / ranks.size()..=rows.div_ceil(ranks.size())).contains(&(next - start)));
            end = next;
        }
        assert_eq!(end, rows);
    }
}

fn out_of_step(ranks: &Communicator) {
    let last = ranks.size() - 1;
    if last == 0 {
        return;
    }
    let is_last = ranks.rank() == last;
    let told = Err(CommunicatorError::CollectiveMismatch { rank: 0, other: last });
    for count in [1, 1000] {
        let mut own = vec![1.0; count];
        let outcome = if is_last { ranks.all_gather(&own).map(drop) } else { ranks.all_sum(&mut own) };
        assert_eq!(outcome, told);
        assert_eq!(own, vec![1.0; count], "nothing is touched");
        let outcome = ranks.all_sum(&mut own[..if is_last { count } else { count - 1 }]);
        assert_eq!(outcome, told);
        let outcome = if is_last { ranks.all_sum(&mut vec![1.0_f32; 2 * count]) } else { ranks.all_sum(&mut own) };
        assert_eq!(outcome, told);
        ranks.all_sum(&mut own).unwrap();
        assert_eq!(own, vec![ranks.size() as f64; count]);
    }
}

fn order(ranks: &Communicator) {
    for round in 0..1000_usize {
        if round % 3 == 0 {
            let mut sum = [round as f64, 1.0];
            ranks.all_sum(&mut sum).unwrap();
            assert_eq!(sum, [(round * ranks.size()) as f64, ranks.size() as f64]);
        } else {
            let all = ranks.all_gather(&[(round + ranks.rank()) as f64]).unwrap();
            assert!(all.iter().enumerate().all(|(rank, said)| *said == [(round + rank) as f64]));
        }
    }
}

fn other_threads(ranks: &Communicator) {
    for round in 0..20_i32 {
        let sum = || {
            let mut sum = [f64::from(round); 40];
            ranks.all_sum(&mut sum).map(|()| sum[39])
        };
        let sum = thread::scope(|scope| scope.spawn(sum).join().unwrap());
        assert_eq!(sum, Ok(f64::from(round) * ranks.size() as f64));
    }
}

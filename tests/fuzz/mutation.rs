//! New inputs from old ones.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

/// Inputs of this length at most.
const LONGEST: usize = 4096;

/// An input: bytes at random, or one of the corpus with some changes.
pub fn input(random: &mut ChaCha8Rng, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    if corpus.is_empty() || below(random, 4) == 0 {
        let mut bytes = vec![0; below(random, 256)];
        random.fill_bytes(&mut bytes);
        return bytes;
    }
    let mut bytes = corpus[below(random, corpus.len())].clone();
    for _ in 0..1 + below(random, 6) {
        mutate(random, &mut bytes, corpus, words);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn mutate(random: &mut ChaCha8Rng, bytes: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let place = below(random, bytes.len() + 1);
    let end = place + below(random, (bytes.len() - place).min(16) + 1);
    match below(random, 8) {
        0 => bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1 << below(random, 8)),
        1 => bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte = random.next_u32() as u8),
        2 => drop(bytes.drain(place..end)),
        3 => bytes.insert(place, random.next_u32() as u8),
        4 => {
            let part = bytes[place..end].to_vec();
            let times = 1 + below(random, 8);
            bytes.splice(place..place, part.repeat(times));
        }
        5 => {
            let other = &corpus[below(random, corpus.len())];
            let start = below(random, other.len() + 1);
            bytes.splice(place.., other[start..].iter().copied());
        }
        _ if words.is_empty() => bytes.truncate(place),
        _ => {
            let word = words[below(random, words.len())];
            bytes.splice(place..end, word.bytes());
        }
    }
}

fn below(random: &mut ChaCha8Rng, count: usize) -> usize {
    (random.next_u64() % count as u64) as usize
}

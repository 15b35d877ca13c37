//! One sort for all orders by a whole number: sorts take long to compile, and every closure for a key asks for one of its own.

/// Sorts places by their keys; those of one key stay in their order.
pub(crate) fn sort_by_key(places: &mut [usize], key: impl Fn(usize) -> usize) {
    let mut keyed: Vec<_> = places.iter().map(|&place| (key(place), place)).collect();
    sort_keyed(&mut keyed);
    places.iter_mut().zip(keyed).for_each(|(to, (_, place))| *to = place);
}

fn sort_keyed(keyed: &mut [(usize, usize)]) {
    keyed.sort_by_key(|&(key, _)| key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_one_key_stay_in_their_order() {
        let mut places = [7, 3, 4, 1, 0, 9];
        sort_by_key(&mut places, |place| place % 3);
        assert_eq!(places, [3, 0, 9, 7, 4, 1]);
    }
}

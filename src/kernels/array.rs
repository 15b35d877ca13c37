//! Arrays, made entry by entry.

/// `std::array::from_fn` for types that are `Copy`: a plain loop, which is compiled in a fraction of the time. Kernels are compiled for
/// each width of each register set, where this counts. Calls `entry(0)` even for `N = 0`.
#[inline(always)]
pub(crate) fn array_of<T: Copy, const N: usize>(mut entry: impl FnMut(usize) -> T) -> [T; N] {
    let mut entries = [entry(0); N];
    let mut i = 1;
    while i < N {
        entries[i] = entry(i);
        i += 1;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_order_and_made_once() {
        let mut made = Vec::new();
        let squares: [usize; 4] = array_of(|i| {
            made.push(i);
            i * i
        });
        assert_eq!((squares, made), ([0, 1, 4, 9], vec![0, 1, 2, 3]));
    }
}

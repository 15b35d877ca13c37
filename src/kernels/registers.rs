//! The vector registers that the processor has, and those that are used.

use std::env;
use std::sync::OnceLock;

/// Environment variable that names the [`Registers`] to use.
const VARIABLE: &str = "MARQUARDT_REGISTERS";

/// Sets of vector registers, each wider than the one before.
///
/// The widest set that the processor has is used. The environment variable `MARQUARDT_REGISTERS`, with the value `portable`,
/// `avx2` or `avx512`, lowers that: a set that the processor lacks is replaced by the widest that it has. The variable is read
/// once in a process.
///
/// Code in lanes uses [`Portable`](Self::Portable) where debug assertions are on, unless the variable is set: a frame of code
/// that is not optimised holds every intermediate result, and a wide register of each is too much for the stack of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Registers {
    /// Registers that every processor of the kind has.
    Portable,
    /// AVX2 with fused multiplication and addition.
    Avx2,
    /// AVX-512 F and DQ.
    Avx512,
}

/// The sets in use.
struct Choice {
    /// Registers for loops over arrays.
    arrays: Registers,
    /// Registers for code in lanes.
    lanes: Registers,
}

impl Registers {
    const ALL: [Registers; 3] = [Registers::Portable, Registers::Avx2, Registers::Avx512];

    /// Returns true if the processor has these registers.
    #[inline]
    pub(crate) fn are_available(self) -> bool {
        match self {
            Registers::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Registers::Avx2 => std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Registers::Avx512 => {
                Registers::Avx2.are_available()
                    && std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512dq")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The sets that the processor has.
    pub(crate) fn available() -> impl Iterator<Item = Registers> {
        Self::ALL.into_iter().filter(|registers| registers.are_available())
    }

    /// Returns the registers of loops over arrays, which the processor has.
    #[inline]
    pub(crate) fn of_arrays() -> Registers {
        #[cfg(test)]
        if let Some(registers) = tests::FORCED.get() {
            return registers;
        }
        choice().arrays
    }

    /// Returns the registers of code in lanes, which the processor has.
    #[inline]
    pub(crate) fn of_lanes() -> Registers {
        #[cfg(test)]
        if let Some(registers) = tests::FORCED.get() {
            return registers;
        }
        choice().lanes
    }

    /// Returns true if loops over arrays use the widest registers that the processor has, as faer does in any case.
    #[cfg(feature = "faer")]
    pub(crate) fn are_the_widest() -> bool {
        Self::available().last() == Some(Self::of_arrays())
    }

    /// The value of the environment variable that stands for them.
    fn name(self) -> &'static str {
        match self {
            Registers::Portable => "portable",
            Registers::Avx2 => "avx2",
            Registers::Avx512 => "avx512",
        }
    }

    /// Returns the registers that the environment variable names; none where it is not set, or has another value.
    fn asked_for() -> Option<Registers> {
        let name = env::var(VARIABLE).ok()?;
        Self::ALL.into_iter().find(|registers| registers.name() == name)
    }
}

#[inline]
fn choice() -> &'static Choice {
    static CHOICE: OnceLock<Choice> = OnceLock::new();
    CHOICE.get_or_init(|| {
        let asked_for = Registers::asked_for();
        let widest_up_to = |limit| Registers::available().filter(|&registers| registers <= limit).last();
        let up_to = |limit| widest_up_to(limit).unwrap_or(Registers::Portable);
        let of_lanes = if cfg!(debug_assertions) { Registers::Portable } else { Registers::Avx512 };
        Choice { arrays: up_to(asked_for.unwrap_or(Registers::Avx512)), lanes: up_to(asked_for.unwrap_or(of_lanes)) }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// The set that this thread uses, whatever the environment says.
        pub(super) static FORCED: Cell<Option<Registers>> = const { Cell::new(None) };
    }

    /// Runs a test in each set of registers that the processor has, on this thread alone.
    pub(crate) fn in_all(test: impl Fn()) {
        // Other threads would not know the set. Later calls on this thread find its pool of one thread.
        #[cfg(feature = "rayon")]
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().map(std::mem::forget);
        let before = FORCED.get();
        for registers in Registers::available() {
            println!("in registers: {}", registers.name());
            FORCED.set(Some(registers));
            test();
        }
        FORCED.set(before);
    }

    #[test]
    fn what_the_environment_asks_for_is_used() {
        let Ok(name) = env::var(VARIABLE) else {
            assert_eq!(Some(Registers::of_arrays()), Registers::available().last());
            return;
        };
        let registers = Registers::asked_for().unwrap_or_else(|| panic!("{VARIABLE}={name} names no registers"));
        assert!(registers.are_available(), "{VARIABLE}={name}, but this processor lacks them");
        assert_eq!(Registers::of_arrays(), registers);
        assert_eq!(Registers::of_lanes(), registers);
    }

    #[test]
    fn a_test_runs_in_all_registers() {
        let used = std::cell::RefCell::new(Vec::new());
        in_all(|| used.borrow_mut().push([Registers::of_arrays(), Registers::of_lanes()]));
        assert_eq!(used.into_inner(), Registers::available().map(|set| [set; 2]).collect::<Vec<_>>());
        assert_eq!(Registers::available().next(), Some(Registers::Portable));
    }
}

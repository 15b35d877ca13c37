//! Two wide registers as one, written once for all sets of instructions.

/// Functions that run kernels and routines in registers of one kind, compiled for their instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($registers:ident, $features:literal) => {
        /// Runs a kernel in them, where they are [available](crate::kernels::registers::Registers::are_available).
        #[inline]
        pub(super) fn run<T: crate::real::Real, R: Register<T>, K: super::LaneKernel<T>>(kernel: K) -> K::Output {
            #[target_feature(enable = $features)]
            fn compiled<T: crate::real::Real, R: Register<T>, K: super::LaneKernel<T>>(kernel: K) -> K::Output {
                kernel.run::<R>()
            }
            assert!(crate::kernels::registers::Registers::$registers.are_available());
            // SAFETY: the processor has the instructions.
            unsafe { compiled::<T, R, K>(kernel) }
        }

        /// Runs a routine in them; only where the processor has them are there any to call it for.
        #[target_feature(enable = $features)]
        #[inline(never)]
        fn call<F: Routine>(routine: F) -> F::Output {
            routine.run()
        }
    };
}

/// Operations that take more than one instruction, or a constant.
macro_rules! instructions {
    ($($name:ident($($argument:ident: $raw:ty),*) -> $result:ty = $operation:expr;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name($($argument: $raw),*) -> $result {
                unsafe { $operation }
            }
        )*
    };
}

macro_rules! pair {
    (
        $(#[$doc:meta])* $name:ident of $float:ident in $raw:ident, $lanes:literal, fused: $fused:literal;
        $splat:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $and:ident $and_not:ident $or:ident
        $xor:ident $compare:ident $at_least:ident $max:ident $min:ident $blend:ident $to_bits:ident $from_bits:ident $left:ident $right:ident
        $splat_bits:ident: $integer:ident, shifts of $shift:ident
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name([$raw; 2]);

        // SAFETY, for all of it: kernels run over these only where the processor has the instructions, and nothing else makes
        // such registers; in memory they are arrays of floats.
        impl Register<$float> for $name {
            const LANES: usize = $lanes;
            const FUSED: bool = $fused;

            #[inline(always)]
            fn call<F: Routine>(routine: F) -> F::Output {
                unsafe { call(routine) }
            }
            #[inline(always)]
            fn splat(value: $float) -> Self {
                unsafe { $name([$splat(value); 2]) }
            }
            #[inline(always)]
            fn as_slice(&self) -> &[$float] {
                unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), $lanes) }
            }
            #[inline(always)]
            fn as_mut_slice(&mut self) -> &mut [$float] {
                unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), $lanes) }
            }
            pair! { @each $name:
                add(self, other) |a, b| $add(a, b);
                sub(self, other) |a, b| $sub(a, b);
                mul(self, other) |a, b| $mul(a, b);
                div(self, other) |a, b| $div(a, b);
                mul_add(self, other, third) |a, b, c| $fma(a, b, c);
                neg(self) |a| $xor($splat(-0.0), a);
                abs(self) |a| $and_not($splat(-0.0), a);
                sqrt(self) |a| $sqrt(a);
                select_less(self, other, then, otherwise) |a, b, c, d| $blend(d, c, $compare(a, b));
                // The instruction gives its second operand if there is a NaN.
                max(self, other) |a, b| $max(b, a);
                min(self, other) |a, b| $min(b, a);
                copy_sign(self, sign) |a, b| $or($and_not($splat(-0.0), a), $and($splat(-0.0), b));
                power_of_two(self) |a| $from_bits($left::<{ $float::MANTISSA_DIGITS as $shift - 1 }>($to_bits(a)));
                significand(self) |a| $or($splat(1.0), $and($from_bits($splat_bits((1 << ($float::MANTISSA_DIGITS - 1)) - 1)), a));
            }
            #[inline(always)]
            fn is_at_least(self, other: Self) -> bool {
                let ($name([a, b]), $name([c, d])) = (self, other);
                unsafe { $at_least(a, c) && $at_least(b, d) }
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                const SHIFT: $shift = $float::MANTISSA_DIGITS as $shift - 1;
                // Beside the bits of 2^(digits − 1), an integer is itself.
                const UNIT: $float = (1_u64 << SHIFT) as $float;
                let $name([a, b]) = self.abs();
                unsafe {
                    let a = $or($splat(UNIT), $from_bits($right::<SHIFT>($to_bits(a))));
                    let b = $or($splat(UNIT), $from_bits($right::<SHIFT>($to_bits(b))));
                    $name([a, b]).sub(Self::splat(UNIT + ($float::MAX_EXP - 1) as $float))
                }
            }
        }
    };
    // Functions by what they do with each of the two registers.
    (@each $name:ident: $($function:ident($self:ident $(, $other:ident)*) |$a:ident $(, $b:ident)*| $result:expr;)*) => {
        $(
            #[inline(always)]
            fn $function($self $(, $other: Self)*) -> Self {
                unsafe {
                    let ($a, $($b,)*) = ($self.0[0], $($other.0[0],)*);
                    let first = $result;
                    let ($a, $($b,)*) = ($self.0[1], $($other.0[1],)*);
                    $name([first, $result])
                }
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use compiled_for;
pub(super) use {instructions, pair};

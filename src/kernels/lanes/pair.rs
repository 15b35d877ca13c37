//! Two wide registers as one, written once for all sets of instructions.

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
            pair!(@operators $name: add $add, sub $sub, mul $mul, div $div);
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                unsafe { $name([$fma(self.0[0], a.0[0], b.0[0]), $fma(self.0[1], a.0[1], b.0[1])]) }
            }
            #[inline(always)]
            fn neg(self) -> Self {
                let $name([a, b]) = self;
                unsafe { $name([$xor($splat(-0.0), a), $xor($splat(-0.0), b)]) }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                let $name([a, b]) = self;
                unsafe { $name([$and_not($splat(-0.0), a), $and_not($splat(-0.0), b)]) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                let $name([a, b]) = self;
                unsafe { $name([$sqrt(a), $sqrt(b)]) }
            }
            #[inline(always)]
            fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
                let ($name([a, b]), $name([c, d])) = (self, other);
                unsafe {
                    let less = [$compare(a, c), $compare(b, d)];
                    $name([$blend(otherwise.0[0], then.0[0], less[0]), $blend(otherwise.0[1], then.0[1], less[1])])
                }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // The instruction gives its second operand if there is a NaN.
                let ($name([a, b]), $name([c, d])) = (self, other);
                unsafe { $name([$max(c, a), $max(d, b)]) }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                let ($name([a, b]), $name([c, d])) = (self, other);
                unsafe { $name([$min(c, a), $min(d, b)]) }
            }
            #[inline(always)]
            fn is_at_least(self, other: Self) -> bool {
                let ($name([a, b]), $name([c, d])) = (self, other);
                unsafe { $at_least(a, c) && $at_least(b, d) }
            }
            #[inline(always)]
            fn copy_sign(self, sign: Self) -> Self {
                let signs = unsafe { $name([$and($splat(-0.0), sign.0[0]), $and($splat(-0.0), sign.0[1])]) };
                let $name([a, b]) = self.abs();
                unsafe { $name([$or(a, signs.0[0]), $or(b, signs.0[1])]) }
            }
            #[inline(always)]
            fn power_of_two(self) -> Self {
                const SHIFT: $shift = $float::MANTISSA_DIGITS as $shift - 1;
                let $name([a, b]) = self;
                unsafe { $name([$from_bits($left::<SHIFT>($to_bits(a))), $from_bits($left::<SHIFT>($to_bits(b)))]) }
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
            #[inline(always)]
            fn significand(self) -> Self {
                const FRACTION: $integer = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                let $name([a, b]) = self;
                unsafe {
                    let fraction = $from_bits($splat_bits(FRACTION));
                    let one = $splat(1.0);
                    $name([$or(one, $and(fraction, a)), $or(one, $and(fraction, b))])
                }
            }
        }
    };
    (@operators $name:ident: $($function:ident $instruction:ident),*) => {
        $(
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                let ($name([a, b]), $name([c, d])) = (self, other);
                unsafe { $name([$instruction(a, c), $instruction(b, d)]) }
            }
        )*
    };
}

pub(super) use {instructions, pair};

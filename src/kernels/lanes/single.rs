//! Single wide registers, written once for all sets of instructions.

macro_rules! register {
    (
        $(#[$doc:meta])* $name:ident of $float:ident in $raw:ident, $lanes:literal, fused: $fused:literal;
        $splat:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident $and:ident $and_not:ident $or:ident
        $xor:ident $compare:ident $at_least:ident $max:ident $min:ident $blend:ident $to_bits:ident $from_bits:ident $left:ident $right:ident
        $splat_bits:ident: $integer:ident, shifts of $shift:ident
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name($raw);

        // SAFETY, for all of it: kernels run over these only where the processor has the instructions, and nothing else makes
        // such registers; in memory they are arrays of floats.
        impl Register<$float> for $name {
            type Part = Self;
            const LANES: usize = $lanes;
            const FUSED: bool = $fused;

            #[inline(always)]
            fn call<F: Routine>(routine: F) -> F::Output {
                unsafe { call(routine) }
            }
            #[inline(always)]
            fn parts(&self) -> &[Self] {
                std::slice::from_ref(self)
            }
            #[inline(always)]
            fn parts_mut(&mut self) -> &mut [Self] {
                std::slice::from_mut(self)
            }
            #[inline(always)]
            fn splat(value: $float) -> Self {
                unsafe { $name($splat(value)) }
            }
            #[inline(always)]
            fn as_slice(&self) -> &[$float] {
                unsafe { std::slice::from_raw_parts((&raw const self.0).cast(), $lanes) }
            }
            #[inline(always)]
            fn as_mut_slice(&mut self) -> &mut [$float] {
                unsafe { std::slice::from_raw_parts_mut((&raw mut self.0).cast(), $lanes) }
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                unsafe { $name($sub(self.0, other.0)) }
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                unsafe { $name($mul(self.0, other.0)) }
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                unsafe { $name($div(self.0, other.0)) }
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                unsafe { $name($fma(self.0, a.0, b.0)) }
            }
            #[inline(always)]
            fn neg(self) -> Self {
                unsafe { $name($xor($splat(-0.0), self.0)) }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                unsafe { $name($and_not($splat(-0.0), self.0)) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                unsafe { $name($sqrt(self.0)) }
            }
            #[inline(always)]
            fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
                unsafe { $name($blend(otherwise.0, then.0, $compare(self.0, other.0))) }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // The instruction gives its second operand if there is a NaN.
                unsafe { $name($max(other.0, self.0)) }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                unsafe { $name($min(other.0, self.0)) }
            }
            #[inline(always)]
            fn is_at_least(self, other: Self) -> bool {
                unsafe { $at_least(self.0, other.0) }
            }
            #[inline(always)]
            fn copy_sign(self, sign: Self) -> Self {
                unsafe { $name($or(self.abs().0, $and($splat(-0.0), sign.0))) }
            }
            #[inline(always)]
            fn power_of_two(self) -> Self {
                const SHIFT: $shift = $float::MANTISSA_DIGITS as $shift - 1;
                unsafe { $name($from_bits($left::<SHIFT>($to_bits(self.0)))) }
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                const SHIFT: $shift = $float::MANTISSA_DIGITS as $shift - 1;
                // Beside the bits of 2^(digits − 1), an integer is itself.
                const UNIT: $float = (1_u64 << SHIFT) as $float;
                let bits = unsafe { $from_bits($right::<SHIFT>($to_bits(self.abs().0))) };
                let beside = unsafe { $name($or($splat(UNIT), bits)) };
                beside.sub(Self::splat(UNIT + ($float::MAX_EXP - 1) as $float))
            }
            #[inline(always)]
            fn significand(self) -> Self {
                const FRACTION: $integer = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                unsafe { $name($or($splat(1.0), $and($from_bits($splat_bits(FRACTION)), self.0))) }
            }
        }
    };
}

pub(super) use register;

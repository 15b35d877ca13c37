//! Types that are made of others of the same trait.

/// Defines methods that pass on to what `$each!(self, method(arguments))` calls. Each is listed by `ref` or `mut`, for how it takes `self`,
/// and its signature.
macro_rules! pass_on {
    ($each:ident $($kind:ident $method:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        $($crate::pass_on::pass_on!(@$kind $each $method($($argument: $type),*) -> $output);)*
    };
    (@ref $each:ident $method:ident($($argument:ident: $type:ty),*) -> $output:ty) => {
        #[inline(always)]
        fn $method(&self $(, $argument: $type)*) -> $output {
            $each!(self, $method($($argument),*))
        }
    };
    (@mut $each:ident $method:ident($($argument:ident: $type:ty),*) -> $output:ty) => {
        #[inline(always)]
        fn $method(&mut self $(, $argument: $type)*) -> $output {
            $each!(self, $method($($argument),*))
        }
    };
}

/// Calls a method of what a pointer points to.
macro_rules! behind_pointer {
    ($this:expr, $($call:tt)+) => {
        (**$this).$($call)+
    };
}

pub(crate) use {behind_pointer, pass_on};

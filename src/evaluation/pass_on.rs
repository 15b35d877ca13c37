//! Evaluations around others.

/// Passes what an evaluation around another does not change on to the one in this field.
macro_rules! pass_on {
    ($inner:ident) => {
        pass_on! { $inner
            mut blocks() -> Result<&mut dyn BlockJacobian<T>, EvaluationError>;
            mut products() -> Result<&mut dyn JacobianProducts<T>, EvaluationError>;
            mut count_linearization() -> ();
            mut take_back() -> ();
            mut learn(gain_ratio: T) -> ();
            ref counts() -> Counts;
            ref manifold() -> Option<&dyn Manifold<T>>;
            ref column_name(index: usize) -> String;
        }
    };
    ($inner:ident $($kind:ident $method:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        $(pass_on!(@$kind $inner $method($($argument: $type),*) -> $output);)*
    };
    (@ref $inner:ident $method:ident($($argument:ident: $type:ty),*) -> $output:ty) => {
        #[inline]
        fn $method(&self $(, $argument: $type)*) -> $output {
            self.$inner.$method($($argument),*)
        }
    };
    (@mut $inner:ident $method:ident($($argument:ident: $type:ty),*) -> $output:ty) => {
        #[inline]
        fn $method(&mut self $(, $argument: $type)*) -> $output {
            self.$inner.$method($($argument),*)
        }
    };
}

pub(super) use pass_on;

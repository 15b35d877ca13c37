//! Evaluations around others.

/// Passes what an evaluation around another does not change on to the one that `$each!` finds in `self`.
macro_rules! pass_on_evaluation {
    ($each:ident) => {
        $crate::pass_on::pass_on! { $each
            mut blocks() -> $crate::problem::Evaluated<&mut dyn BlockJacobian<T>>;
            mut products() -> $crate::problem::Evaluated<&mut dyn JacobianProducts<T>>;
            mut count_linearization() -> ();
            mut take_back() -> ();
            mut learn(gain_ratio: T) -> ();
            ref counts() -> Counts;
            ref manifold() -> Option<&dyn Manifold<T>>;
            ref column_name(index: usize) -> String;
        }
    };
}

pub(super) use pass_on_evaluation;

//! Models that are made of others.

/// Passes methods of a linear model on to the one that `$each!` finds in `self`: those that move to a point (`linearize`), those that ask
/// about the point (`solve`), and `learn`.
macro_rules! pass_on_model {
    (linearize $each:ident) => {
        $crate::pass_on::pass_on! { $each
            mut linearize(evaluation: &mut dyn Evaluation<T>, x: &[T]) -> $crate::problem::Evaluated<Costs<T>>;
            mut take_back(evaluation: &mut dyn Evaluation<T>, x: &[T]) -> $crate::problem::Evaluated;
        }
    };
    (solve $each:ident) => {
        $crate::pass_on::pass_on! { $each
            ref form() -> LinearForm;
            ref gradient() -> &[T];
            ref column_norms(norms: &mut [T]) -> Option<T>;
            mut solve(damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved>;
            mut correct(damped: &mut Damped<'_, T>, along: &Along<'_, T>, correction: &mut [T]) -> Result<T, Unsolved>;
            mut complete(damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved>;
            ref slope(step: &[T]) -> T;
            ref quadratic_form(v: &[T]) -> T;
            ref gram_times(v: &[T], product: &mut [T]) -> ();
            mut inverse_form(damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved>;
            mut gradient_norm(evaluation: &mut dyn Evaluation<T>, d: &[T]) -> $crate::problem::Evaluated<T>;
        }
    };
    (learn $each:ident) => {
        $crate::pass_on::pass_on! { $each mut learn(lesson: Lesson<'_, T>) -> Option<Recovery>; }
    };
}

pub(super) use pass_on_model;

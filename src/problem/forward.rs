//! Methods that an adaptor leaves to the problem inside.

/// Forwards these methods of [`LeastSquares`](crate::LeastSquares)`<T>`, or of the [capabilities](crate::problem::Capabilities), to `inner`.
macro_rules! forward {
    ($this:ident => $inner:expr; $($method:ident)*) => {
        $($crate::problem::forward::forward!(@$method $this $inner);)*
    };
    (@ref $this:ident $inner:expr, $method:ident($($argument:ident: $type:ty),*) -> $output:ty) => {
        #[inline]
        fn $method(&$this $(, $argument: $type)*) -> $output {
            $inner.$method($($argument),*)
        }
    };
    (@mut $this:ident $inner:expr, $method:ident($($argument:ident: $type:ty),*) -> $output:ty) => {
        #[inline]
        fn $method(&mut $this $(, $argument: $type)*) -> $output {
            $inner.$method($($argument),*)
        }
    };
    (@parameter_count $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@ref $this $inner, parameter_count() -> usize);
    };
    (@residual_count $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@ref $this $inner, residual_count() -> usize);
    };
    (@row_group $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@ref $this $inner, row_group() -> usize);
    };
    (@residuals $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, residuals(x: &[T], first: usize, r: &mut [T])
            -> Result<(), $crate::EvaluationError>);
    };
    (@linearize $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, linearize(x: &[T], first: usize, r: &mut [T], jacobian: &mut [T])
            -> Result<(), $crate::EvaluationError>);
    };
    (@domain $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@ref $this $inner, domain() -> $crate::problem::ParameterDomain<'_, T>);
    };
    (@capabilities $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, capabilities() -> &mut dyn $crate::problem::Capabilities<T>);
    };
    (@parameter_name $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@ref $this $inner, parameter_name(index: usize) -> String);
    };
    (@concurrent $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, concurrent(x: &[T]) -> Option<&dyn $crate::problem::ConcurrentRows<T>>);
    };
    (@communicator $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, communicator() -> Option<&$crate::distributed::Communicator>);
    };
    (@derivatives_are_cheap $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, derivatives_are_cheap() -> Option<bool>);
    };
    (@derivatives_are_rough $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, derivatives_are_rough() -> bool);
    };
    (@keep_evaluations $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, keep_evaluations(keeps: bool) -> ());
    };
    (@cost_of $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner, cost_of(first: usize, r: &[T]) -> Option<T>);
    };
    (@linearize_columns $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner,
            linearize_columns(x: &[T], first: usize, r: &mut [T], columns: &[std::ops::Range<usize>], jacobian: &mut [T])
            -> Result<bool, $crate::EvaluationError>);
    };
    (@second_directional_derivative $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner,
            second_directional_derivative(x: &[T], v: &[T], first: usize, second: &mut [T]) -> Result<bool, $crate::EvaluationError>);
    };
    (@second_derivative_product $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner,
            second_derivative_product(x: &[T], v: &[T], first: usize, second: &mut [T], product: &mut [T])
            -> Result<bool, $crate::EvaluationError>);
    };
    (@transposed_product $this:ident $inner:expr) => {
        $crate::problem::forward::forward!(@mut $this $inner,
            transposed_product(x: &[T], first: usize, u: &[T], product: &mut [T]) -> Result<bool, $crate::EvaluationError>);
    };
}

pub(crate) use forward;

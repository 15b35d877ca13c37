//! Methods that an adaptor leaves to the problem inside.

/// Forwards these methods of an implementation of [`LeastSquares`](crate::LeastSquares)`<T>` to the problem inside.
macro_rules! forward {
    ($this:ident => $inner:expr; $($method:ident)*) => {
        $($crate::problem::forward::forward!(@$method $this $inner);)*
    };
    (@parameter_count $this:ident $inner:expr) => {
        #[inline]
        fn parameter_count(&$this) -> usize {
            $inner.parameter_count()
        }
    };
    (@residual_count $this:ident $inner:expr) => {
        #[inline]
        fn residual_count(&$this) -> usize {
            $inner.residual_count()
        }
    };
    (@row_group $this:ident $inner:expr) => {
        #[inline]
        fn row_group(&$this) -> usize {
            $inner.row_group()
        }
    };
    (@evaluation $this:ident $inner:expr) => {
        #[inline]
        fn residuals(&mut $this, x: &[T], first: usize, r: &mut [T]) -> Result<(), $crate::EvaluationError> {
            $inner.residuals(x, first, r)
        }

        #[inline]
        fn linearize(
            &mut $this,
            x: &[T],
            first: usize,
            r: &mut [T],
            jacobian: &mut [T],
        ) -> Result<(), $crate::EvaluationError> {
            $inner.linearize(x, first, r, jacobian)
        }

        fn linearize_columns(
            &mut $this,
            x: &[T],
            first: usize,
            r: &mut [T],
            columns: &[std::ops::Range<usize>],
            jacobian: &mut [T],
        ) -> Result<bool, $crate::EvaluationError> {
            $inner.linearize_columns(x, first, r, columns, jacobian)
        }

        #[inline]
        fn cost_of(&mut $this, first: usize, r: &[T]) -> T {
            $inner.cost_of(first, r)
        }
    };
    (@second_derivatives $this:ident $inner:expr) => {
        fn second_directional_derivative(
            &mut $this,
            x: &[T],
            v: &[T],
            first: usize,
            second: &mut [T],
        ) -> Result<bool, $crate::EvaluationError> {
            $inner.second_directional_derivative(x, v, first, second)
        }

        fn second_derivative_product(
            &mut $this,
            x: &[T],
            v: &[T],
            first: usize,
            second: &mut [T],
            product: &mut [T],
        ) -> Result<bool, $crate::EvaluationError> {
            $inner.second_derivative_product(x, v, first, second, product)
        }

        fn transposed_product(
            &mut $this,
            x: &[T],
            first: usize,
            u: &[T],
            product: &mut [T],
        ) -> Result<bool, $crate::EvaluationError> {
            $inner.transposed_product(x, first, u, product)
        }
    };
    (@derivatives_are_cheap $this:ident $inner:expr) => {
        #[inline]
        fn derivatives_are_cheap(&$this) -> bool {
            $inner.derivatives_are_cheap()
        }
    };
    (@manifold $this:ident $inner:expr) => {
        #[inline]
        fn manifold(&$this) -> Option<&dyn $crate::manifold::Manifold<T>> {
            $inner.manifold()
        }
    };
    (@bounds $this:ident $inner:expr) => {
        fn bounds(&$this) -> Option<&$crate::Bounds<T>> {
            $inner.bounds()
        }
    };
    (@products $this:ident $inner:expr) => {
        fn products(&mut $this) -> Option<&mut dyn $crate::problem::JacobianProducts<T>> {
            $inner.products()
        }
    };
    (@blocks $this:ident $inner:expr) => {
        fn blocks(&mut $this) -> Option<&mut dyn $crate::problem::BlockJacobian<T>> {
            $inner.blocks()
        }
    };
    (@concurrent $this:ident $inner:expr) => {
        fn concurrent(&mut $this, x: &[T]) -> Option<&dyn $crate::problem::ConcurrentRows<T>> {
            $inner.concurrent(x)
        }
    };
    (@communicator $this:ident $inner:expr) => {
        #[inline]
        fn communicator(&$this) -> Option<&$crate::distributed::Communicator> {
            $inner.communicator()
        }
    };
    (@parameter_name $this:ident $inner:expr) => {
        fn parameter_name(&$this, index: usize) -> String {
            $inner.parameter_name(index)
        }

        fn column_name(&$this, index: usize) -> String {
            $inner.column_name(index)
        }
    };
}

pub(crate) use forward;

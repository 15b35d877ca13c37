//! Conventions of Keras and PyTorch.

/// Convention of an optimizer's formulas, where Keras and PyTorch differ.
///
/// | | Keras | PyTorch |
/// |---|---|---|
/// | Adam | `√v + ε`, both uncorrected | `√(v / (1 − β₂ᵗ)) + ε` |
/// | RMSprop, Adagrad | `√(v + ε)` | `√v + ε` |
/// | momentum of SGD and RMSprop | of steps: `m ← βm − ηg`, `w ← w + m` | of gradients: `m ← βm + g`, `w ← w − ηm` |
/// | clipping by norm | `c / ‖g‖` | `c / (‖g‖ + 10⁻⁶)` |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Convention {
    /// The formulas of Keras 3.
    #[default]
    Keras,
    /// The formulas of `torch.optim`.
    PyTorch,
}

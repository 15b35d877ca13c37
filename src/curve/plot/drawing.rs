//! A picture as a list of shapes, which any format can render.

/// A place, in pixels from the upper left corner.
pub(super) type Place = (f64, f64);

/// A colour, from opaque (1) to transparent (0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paint {
    pub(super) color: [u8; 3],
    pub(super) opacity: f64,
}

impl Paint {
    pub(super) const fn solid(color: [u8; 3]) -> Paint {
        Paint { color, opacity: 1.0 }
    }

    pub(super) const fn with_opacity(self, opacity: f64) -> Paint {
        Paint { opacity, ..self }
    }
}

/// Where a text lies as seen from its place, along its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Start,
    Middle,
    End,
}

/// A text on a line; its place is on the base line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) at: Place,
    pub(super) size: f64,
    pub(super) align: Align,
    /// From bottom to top.
    pub(super) is_vertical: bool,
    pub(super) paint: Paint,
}

/// One shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Disk { center: Place, radius: f64, paint: Paint },
    Ring { center: Place, radius: f64, width: f64, paint: Paint },
    Line { points: Vec<Place>, width: f64, paint: Paint },
    Polygon { corners: Vec<Place>, paint: Paint },
    Rectangle { corner: Place, size: (f64, f64), paint: Paint },
    Text(Text),
}

/// A picture on white.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    pub(super) width: u32,
    pub(super) height: u32,
    /// What it is called by programs that read pictures aloud.
    pub(super) title: String,
    pub(super) shapes: Vec<Shape>,
}

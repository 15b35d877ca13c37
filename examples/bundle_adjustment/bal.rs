//! Files of "Bundle Adjustment in the Large" (Agarwal, Snavely, Seitz & Szeliski 2010).

use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::SplitWhitespace;

use thiserror::Error;

/// Numbers of a camera: rotation vector, translation, focal length in pixels, two coefficients of radial distortion.
pub type Camera = [f64; 9];

/// Coordinates of a point.
pub type Point = [f64; 3];

/// Cameras, points, and where the points are seen in the images.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    pub cameras: Vec<Camera>,
    pub points: Vec<Point>,
    pub observations: Vec<Observation>,
}

/// A point in an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    pub camera: usize,
    pub point: usize,
    /// Place in pixels, from the centre of the image to the right and up.
    pub pixel: [f64; 2],
}

/// Error in a file, with its line.
#[derive(Debug, Error)]
pub enum FileError {
    #[error("{}: {error}", file.display())]
    Io { file: PathBuf, error: std::io::Error },
    #[error("{}, line {line}: {error}", file.display())]
    Line { file: PathBuf, line: usize, error: LineError },
}

/// Error in a line.
#[derive(Debug, Error, PartialEq)]
pub enum LineError {
    #[error("the file ends before {name}")]
    End { name: String },
    #[error("{name} is {text:?}, which is not a count")]
    NotACount { name: String, text: String },
    #[error("{name} is {text:?}, which is not a finite number")]
    NotFinite { name: String, text: String },
    #[error("{name} is {index}, but there are only {count}")]
    OutOfRange { name: String, index: usize, count: usize },
    #[error("{text:?} follows the last point")]
    Trailing { text: String },
    #[error("there is no observation")]
    NoObservation,
}

impl Scene {
    /// Reads a file.
    pub fn load(file: &Path) -> Result<Self, FileError> {
        let bytes = fs::read(file).map_err(|error| FileError::Io { file: file.to_owned(), error })?;
        // Bytes that are no text are no numbers, and are named as such.
        Self::parse(&String::from_utf8_lossy(&bytes), file)
    }

    /// Reads the text of a file, which is named in errors.
    pub fn parse(text: &str, file: &Path) -> Result<Self, FileError> {
        let mut words = Words::new(text);
        Self::read(&mut words).map_err(|error| FileError::Line { file: file.to_owned(), line: words.line, error })
    }

    fn read(words: &mut Words<'_>) -> Result<Self, LineError> {
        let cameras = words.count(&"the number of cameras")?;
        let points = words.count(&"the number of points")?;
        let observations = words.count(&"the number of observations")?;
        if observations == 0 {
            return Err(LineError::NoObservation);
        }
        let mut scene = Scene::default();
        for k in 0..observations {
            scene.observations.push(Observation {
                camera: words.index(&format_args!("the camera of observation {k}"), cameras)?,
                point: words.index(&format_args!("the point of observation {k}"), points)?,
                pixel: words.numbers(&format_args!("observation {k}"))?,
            });
        }
        for k in 0..cameras {
            scene.cameras.push(words.numbers(&format_args!("camera {k}"))?);
        }
        for k in 0..points {
            scene.points.push(words.numbers(&format_args!("point {k}"))?);
        }
        match words.next() {
            None => Ok(scene),
            Some(text) => Err(LineError::Trailing { text: text.to_owned() }),
        }
    }

    /// Writes a file, whose numbers are read back to the last bit.
    pub fn save(&self, file: &Path) -> Result<(), FileError> {
        fs::write(file, self.to_string()).map_err(|error| FileError::Io { file: file.to_owned(), error })
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scene { cameras, points, observations } = self;
        writeln!(f, "{} {} {}", cameras.len(), points.len(), observations.len())?;
        for Observation { camera, point, pixel } in observations {
            writeln!(f, "{camera} {point} {:e} {:e}", pixel[0], pixel[1])?;
        }
        let mut numbers = cameras.as_flattened().iter().chain(points.as_flattened());
        numbers.try_for_each(|number| writeln!(f, "{number:e}"))
    }
}

/// Words of a text, with the number of the line.
struct Words<'a> {
    lines: std::str::Lines<'a>,
    words: SplitWhitespace<'a>,
    /// Line of the last word, from 1.
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        Words { lines: text.lines(), words: "".split_whitespace(), line: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            self.words = self.lines.next()?.split_whitespace();
            self.line += 1;
        }
    }

    fn expect(&mut self, name: &dyn fmt::Display) -> Result<&'a str, LineError> {
        self.next().ok_or_else(|| LineError::End { name: name.to_string() })
    }

    fn count(&mut self, name: &dyn fmt::Display) -> Result<usize, LineError> {
        let text = self.expect(name)?;
        text.parse().map_err(|_| LineError::NotACount { name: name.to_string(), text: text.to_owned() })
    }

    fn index(&mut self, name: &dyn fmt::Display, count: usize) -> Result<usize, LineError> {
        let index = self.count(name)?;
        if index < count { Ok(index) } else { Err(LineError::OutOfRange { name: name.to_string(), index, count }) }
    }

    fn numbers<const N: usize>(&mut self, owner: &dyn fmt::Display) -> Result<[f64; N], LineError> {
        let mut numbers = [0.0; N];
        for (k, number) in numbers.iter_mut().enumerate() {
            let name = || {
                let mut name = String::new();
                // Strings can be written to.
                let _ = write!(name, "number {k} of {owner}");
                name
            };
            let text = self.next().ok_or_else(|| LineError::End { name: name() })?;
            *number = match text.parse::<f64>() {
                Ok(number) if number.is_finite() => number,
                _ => return Err(LineError::NotFinite { name: name(), text: text.to_owned() }),
            };
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "1 2 2\n0 0 -3.5 1e2\n0 1 4 -5\n0.1\n-0.2\n0.3\n1\n2\n-3\n500\n1e-7\n0\n1\n2\n3\n4\n5\n6\n";

    fn parse(text: &str) -> Result<Scene, String> {
        Scene::parse(text, Path::new("scene.txt")).map_err(|error| error.to_string())
    }

    #[test]
    fn scenes_are_read_and_written() {
        let scene = parse(TEXT).unwrap();
        assert_eq!(scene.cameras, [[0.1, -0.2, 0.3, 1.0, 2.0, -3.0, 500.0, 1e-7, 0.0]]);
        assert_eq!(scene.points, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!(scene.observations[0], Observation { camera: 0, point: 0, pixel: [-3.5, 100.0] });
        let uneven = Scene { points: vec![[1.0 / 3.0, 1e-300, -1e300], [f64::MIN_POSITIVE, 0.1, 0.2]], ..scene };
        assert_eq!(parse(&uneven.to_string()).unwrap(), uneven);
        // One line for each camera and point is read, too.
        assert_eq!(parse("1 1 1 0 0 1 2\n1 2 3 4 5 6 7 8 9\n\n1 2 3").unwrap().points, [[1.0, 2.0, 3.0]]);
    }

    #[test]
    fn errors_name_file_line_and_number() {
        let replaced = |from: &str, to: &str| parse(&TEXT.replacen(from, to, 1)).unwrap_err();
        assert_eq!(parse("").unwrap_err(), "scene.txt, line 0: the file ends before the number of cameras");
        assert_eq!(
            replaced("1 2 2", "1 2 -2"),
            "scene.txt, line 1: the number of observations is \"-2\", which is not a count"
        );
        assert_eq!(replaced("1 2 2", "1 2 0"), "scene.txt, line 1: there is no observation");
        assert_eq!(
            replaced("0 1 4", "7 1 4"),
            "scene.txt, line 3: the camera of observation 1 is 7, but there are only 1"
        );
        assert_eq!(
            replaced("0 1 4", "0 2 4"),
            "scene.txt, line 3: the point of observation 1 is 2, but there are only 2"
        );
        assert_eq!(
            replaced("-3.5", "NaN"),
            "scene.txt, line 2: number 0 of observation 0 is \"NaN\", which is not a finite number"
        );
        assert_eq!(
            replaced("500", "inf"),
            "scene.txt, line 10: number 6 of camera 0 is \"inf\", which is not a finite number"
        );
        assert_eq!(replaced("\n6\n", "\n"), "scene.txt, line 17: the file ends before number 2 of point 1");
        assert_eq!(replaced("\n6\n", "\n6 x\n"), "scene.txt, line 18: \"x\" follows the last point");
        // Counts that no file has take no memory.
        let huge = parse("99999999999 99999999999 99999999999\n0 0 1 1\n").unwrap_err();
        assert_eq!(huge, "scene.txt, line 2: the file ends before the camera of observation 1");
        let missing = Scene::load(Path::new("no/such/scene.txt")).unwrap_err().to_string();
        assert!(missing.starts_with("no/such/scene.txt: "), "{missing}");
    }
}

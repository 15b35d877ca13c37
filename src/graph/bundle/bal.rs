//! Files of "Bundle Adjustment in the Large".

use std::fs;
use std::path::Path;

use super::words::Words;
use super::{Bundle, BundleFileError, BundleLineError, BundlePoint, Camera, Image, Observation};
use crate::graph::CameraModel;

impl Bundle {
    /// Reads a file of BAL, or a directory with `cameras.txt`, `images.txt` and `points3D.txt` of COLMAP.
    ///
    /// # Errors
    ///
    /// [`BundleFileError`], which names the line.
    pub fn read(path: impl AsRef<Path>) -> Result<Bundle, BundleFileError> {
        let path = path.as_ref();
        if path.is_dir() { Bundle::read_colmap(path) } else { Bundle::parse_bal(&text_of(path)?) }
    }

    /// Reads the text of a file of BAL: the numbers of cameras, points and observations; for each observation the indices of its
    /// camera and its point, and the pixel; nine numbers of each camera; three of each point. Lines may be broken anywhere.
    ///
    /// # Errors
    ///
    /// [`BundleFileError::Line`].
    pub fn parse_bal(text: &str) -> Result<Bundle, BundleFileError> {
        let mut words = Words::new(text);
        read(&mut words).map_err(|error| BundleFileError::Line { file: "", line: words.line, error })
    }

    /// The bundle as the text of a file of BAL, from which the same numbers are read. Features without a point are left out.
    ///
    /// # Errors
    ///
    /// [`BundleFileError::NotBal`] for cameras of other models, and for those that images share.
    pub fn to_bal(&self) -> Result<String, BundleFileError> {
        let mut is_used = vec![false; self.cameras.len()];
        for image in &self.images {
            let is_shared = std::mem::replace(&mut is_used[image.camera], true);
            if is_shared || self.cameras[image.camera].model != CameraModel::Snavely {
                return Err(BundleFileError::NotBal { image: image.id });
            }
        }
        let seen = || self.observations.iter().filter_map(|seen| Some((seen.image, seen.point?, seen.pixel)));
        let mut text = format!("{} {} {}\n", self.images.len(), self.points.len(), seen().count());
        seen().for_each(|(image, point, [x, y])| text += &format!("{image} {point} {x:e} {y:e}\n"));
        let mut write = |numbers: &[f64]| numbers.iter().for_each(|number| text += &format!("{number:e}\n"));
        for image in &self.images {
            write(&image.rotation);
            write(&image.translation);
            write(&self.cameras[image.camera].parameters);
        }
        self.points.iter().for_each(|point| write(&point.position));
        Ok(text)
    }

    /// Writes a file of BAL.
    ///
    /// # Errors
    ///
    /// As [`to_bal`](Self::to_bal), and [`BundleFileError::Io`].
    pub fn save_bal(&self, file: impl AsRef<Path>) -> Result<(), BundleFileError> {
        write_text(file.as_ref(), &self.to_bal()?)
    }
}

fn read(words: &mut Words<'_>) -> Result<Bundle, BundleLineError> {
    let cameras = words.count("the number of cameras")?;
    let points = words.count("the number of points")?;
    let observations = words.count("the number of observations")?;
    if observations == 0 {
        return Err(BundleLineError::NoObservation);
    }
    let mut bundle = Bundle::default();
    for k in 0..observations {
        bundle.observations.push(Observation {
            image: words.index(format_args!("the camera of observation {k}"), cameras)?,
            point: Some(words.index(format_args!("the point of observation {k}"), points)?),
            pixel: words.numbers(format_args!("observation {k}"))?,
        });
    }
    for k in 0..cameras {
        let [r1, r2, r3, t1, t2, t3, parameters @ ..] = words.numbers::<9>(format_args!("camera {k}"))?;
        let (id, model) = (k as u64, CameraModel::Snavely);
        bundle.cameras.push(Camera { id, model, parameters: parameters.to_vec(), size: [0, 0] });
        let (rotation, translation) = ([r1, r2, r3], [t1, t2, t3]);
        bundle.images.push(Image { id, name: String::new(), camera: k, rotation, translation });
    }
    for k in 0..points {
        let position = words.numbers(format_args!("point {k}"))?;
        bundle.points.push(BundlePoint { id: k as u64, position, color: [0; 3] });
    }
    words.end(format_args!("point {}", points.saturating_sub(1)))?;
    Ok(bundle)
}

/// Text of a file. Bytes that are no text are no numbers, and are named as such.
pub(super) fn text_of(file: &Path) -> Result<String, BundleFileError> {
    let bytes = fs::read(file).map_err(|error| BundleFileError::Io { file: file.to_owned(), error })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn write_text(file: &Path, text: &str) -> Result<(), BundleFileError> {
    fs::write(file, text).map_err(|error| BundleFileError::Io { file: file.to_owned(), error })
}

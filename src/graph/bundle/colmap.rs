//! Directories of COLMAP in text form: `cameras.txt`, `images.txt` and `points3D.txt`.

use std::collections::HashMap;
use std::path::Path;

use super::bal::{text_of, write_text};
use super::words::Words;
use super::{Bundle, BundleFileError, BundleLineError, BundlePoint, Camera, Image, Observation};
use crate::graph::CameraModel;
use crate::manifold::Rotation3;

/// Names of the files: cameras, images, points.
const FILES: [&str; 3] = ["cameras.txt", "images.txt", "points3D.txt"];

impl Bundle {
    /// Reads a directory of COLMAP in text form.
    ///
    /// # Errors
    ///
    /// [`BundleFileError`], which names the file and the line.
    pub fn read_colmap(directory: impl AsRef<Path>) -> Result<Bundle, BundleFileError> {
        let [cameras, images, points] = FILES.map(|file| text_of(&directory.as_ref().join(file)));
        Bundle::parse_colmap(&cameras?, &images?, &points?)
    }

    /// Reads the texts of `cameras.txt`, `images.txt` and `points3D.txt`. Errors of points that COLMAP wrote are not kept.
    ///
    /// # Errors
    ///
    /// [`BundleFileError::Line`].
    pub fn parse_colmap(cameras: &str, images: &str, points: &str) -> Result<Bundle, BundleFileError> {
        let mut reader = Reader::default();
        let (mut owners, mut features) = (Vec::new(), Vec::new());
        each_line(FILES[0], cameras, |words, _| reader.read_camera(words))?;
        // The features of an image are in the line after it, which may be empty.
        let mut lines = (1..).zip(images.lines());
        while let Some((line, text)) = lines.next() {
            if is_comment(text) {
                continue;
            }
            let at = |line| move |error| BundleFileError::Line { file: FILES[1], line, error };
            reader.read_image(&mut Words::of_line(text, line)).map_err(at(line))?;
            let (line, text) = lines.next().unwrap_or((line, ""));
            let read = reader.read_features(&mut Words::of_line(text, line), &mut owners);
            features.push((line, read.map_err(at(line))?));
        }
        let mut tracks = Vec::new();
        each_line(FILES[2], points, |words, line| {
            tracks.push((line, reader.read_point(words)?));
            Ok(())
        })?;
        reader.join(&owners, &features)?;
        reader.check(&tracks, &features)?;
        Ok(reader.bundle)
    }

    /// The bundle as the texts of `cameras.txt`, `images.txt` and `points3D.txt`. The model [`Snavely`](CameraModel::Snavely), which COLMAP does
    /// not know, becomes `RADIAL` with axes that COLMAP has.
    pub fn to_colmap(&self) -> [String; 3] {
        let [mut cameras, mut images, mut points] = [
            "# CAMERA_ID MODEL WIDTH HEIGHT PARAMS[]\n".to_owned(),
            "# IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME, then X Y POINT3D_ID of each feature\n".to_owned(),
            "# POINT3D_ID X Y Z R G B ERROR, then IMAGE_ID POINT2D_IDX of each feature\n".to_owned(),
        ];
        for Camera { id, model, parameters, size: [width, height] } in &self.cameras {
            let (model, parameters) = match model {
                CameraModel::Snavely => {
                    (CameraModel::Radial, vec![parameters[0], 0.0, 0.0, parameters[1], parameters[2]])
                }
                _ => (*model, parameters.clone()),
            };
            cameras += &format!("{id} {} {width} {height}", model.name());
            parameters.iter().for_each(|parameter| cameras += &format!(" {parameter:?}"));
            cameras.push('\n');
        }
        // Track, sum of the errors and number of observations of each point; features of each image, and their number.
        let mut tracks = vec![(String::new(), 0.0, 0.0); self.points.len()];
        let mut features = vec![(String::new(), 0); self.images.len()];
        for seen in &self.observations {
            let (image, (line, count)) = (&self.images[seen.image], &mut features[seen.image]);
            let flip = if self.is_flipped(image) { -1.0 } else { 1.0 };
            let mut point_id = "-1".to_owned();
            if let Some(point) = seen.point {
                point_id = self.points[point].id.to_string();
                let (track, sum, number) = &mut tracks[point];
                *track += &format!(" {} {count}", image.id);
                *sum += self.error_of(seen).map_or(0.0, |[u, v]| f64::hypot(u, v));
                *number += 1.0;
            }
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{:?} {:?} {point_id}", seen.pixel[0], flip * seen.pixel[1]);
            *count += 1;
        }
        for (image, (features, _)) in self.images.iter().zip(features) {
            let (mut rotation, mut translation) = (Rotation3::exp(image.rotation), image.translation);
            if self.is_flipped(image) {
                // Half a turn about the x-axis.
                rotation = Rotation3 { i: 1.0, j: 0.0, k: 0.0, w: 0.0 }.compose(rotation);
                translation = [translation[0], -translation[1], -translation[2]];
            }
            let ([x, y, z], Rotation3 { i, j, k, w }) = (translation, rotation);
            let name = if image.name.is_empty() { format!("{}.jpg", image.id) } else { image.name.clone() };
            let (id, camera) = (image.id, self.cameras[image.camera].id);
            images += &format!("{id} {w:?} {i:?} {j:?} {k:?} {x:?} {y:?} {z:?} {camera} {name}\n{features}\n");
        }
        for (BundlePoint { id, position: [x, y, z], color: [r, g, b] }, (track, sum, number)) in
            self.points.iter().zip(tracks)
        {
            let error = if number > 0.0 { sum / number } else { 0.0 };
            points += &format!("{id} {x:?} {y:?} {z:?} {r} {g} {b} {error:?}{track}\n");
        }
        [cameras, images, points]
    }

    /// Writes a directory of COLMAP in text form, which is made if there is none.
    ///
    /// # Errors
    ///
    /// [`BundleFileError::Io`].
    pub fn save_colmap(&self, directory: impl AsRef<Path>) -> Result<(), BundleFileError> {
        let directory = directory.as_ref();
        let made = std::fs::create_dir_all(directory);
        made.map_err(|error| BundleFileError::Io { file: directory.to_owned(), error })?;
        FILES.iter().zip(self.to_colmap()).try_for_each(|(file, text)| write_text(&directory.join(file), &text))
    }

    /// Returns true if the camera of an image looks along `−z`.
    fn is_flipped(&self, image: &Image) -> bool {
        self.cameras[image.camera].model == CameraModel::Snavely
    }
}

/// Bundle read so far, with the index and the line of each number.
#[derive(Default)]
struct Reader {
    bundle: Bundle,
    cameras: HashMap<u64, (usize, usize)>,
    images: HashMap<u64, (usize, usize)>,
    points: HashMap<u64, (usize, usize)>,
}

/// Track of a point: number of the image and index of the feature.
type Track = Vec<(u64, usize)>;

impl Reader {
    fn read_camera(&mut self, words: &mut Words<'_>) -> Result<(), BundleLineError> {
        let id = words.id("the number of the camera")?;
        let name = words.word(format_args!("the model of camera {id}"))?;
        let known = || CameraModel::ALL.into_iter().filter(|&model| model != CameraModel::Snavely);
        let model = known().find(|model| model.name() == name).ok_or_else(|| BundleLineError::Model {
            name: name.to_owned(),
            known: known().map(CameraModel::name).collect::<Vec<_>>().join(", "),
        })?;
        let size =
            [words.id(format_args!("the width of camera {id}"))?, words.id(format_args!("the height of camera {id}"))?];
        let numbers = 1..=model.parameter_count();
        let parameters = numbers.map(|k| words.number(format_args!("parameter {k} of camera {id}, {name}")));
        let parameters = parameters.collect::<Result<_, _>>()?;
        words.end(format_args!("parameter {} of camera {id}", model.parameter_count()))?;
        insert("camera", &mut self.cameras, id, self.bundle.cameras.len(), words.line)?;
        self.bundle.cameras.push(Camera { id, model, parameters, size });
        Ok(())
    }

    fn read_image(&mut self, words: &mut Words<'_>) -> Result<(), BundleLineError> {
        let id = words.id("the number of the image")?;
        let [w, i, j, k, x, y, z] = words.numbers::<7>(format_args!("image {id}"))?;
        let camera = words.id(format_args!("the camera of image {id}"))?;
        let mut name = words.word(format_args!("the name of image {id}"))?.to_owned();
        while let Some(word) = words.next() {
            name = name + " " + word;
        }
        let norm = [w, i, j, k].iter().map(|x| x * x).sum::<f64>().sqrt();
        if !norm.is_normal() {
            return Err(BundleLineError::Quaternion { image: id, norm: norm.to_string() });
        }
        let owner = || format!("image {id}");
        let unknown = || BundleLineError::Unknown { owner: owner(), name: "camera", id: camera, file: FILES[0] };
        let (camera, _) = *self.cameras.get(&camera).ok_or_else(unknown)?;
        insert("image", &mut self.images, id, self.bundle.images.len(), words.line)?;
        let rotation = Rotation3 { i, j, k, w }.normalize().log();
        self.bundle.images.push(Image { id, name, camera, rotation, translation: [x, y, z] });
        Ok(())
    }

    /// Reads the features of the last image; returns the index of the first observation.
    fn read_features(
        &mut self,
        words: &mut Words<'_>,
        owners: &mut Vec<Option<u64>>,
    ) -> Result<usize, BundleLineError> {
        let first = self.bundle.observations.len();
        let image = self.bundle.images.len() - 1;
        let id = self.bundle.images[image].id;
        while let Some(word) = words.next() {
            let feature = owners.len() - first;
            let owner = format_args!("feature {feature} of image {id}");
            let x = Words::of_line(word, words.line).number(format_args!("x of {owner}"))?;
            let y = words.number(format_args!("y of {owner}"))?;
            let none = |text: &str| (text == "-1").then_some(None).or_else(|| text.parse().ok().map(Some));
            owners.push(words.parse(format_args!("the point of {owner}"), "the number of a point or -1", none)?);
            self.bundle.observations.push(Observation { image, point: None, pixel: [x, y] });
        }
        Ok(first)
    }

    fn read_point(&mut self, words: &mut Words<'_>) -> Result<Track, BundleLineError> {
        let id = words.id("the number of the point")?;
        let position = words.numbers(format_args!("point {id}"))?;
        let mut color = [0; 3];
        for (value, name) in color.iter_mut().zip(["red", "green", "blue"]) {
            let name = format_args!("{name} of point {id}");
            *value = words.parse(name, "an integer from 0 to 255", |text| text.parse().ok())?;
        }
        words.number(format_args!("the error of point {id}"))?;
        let mut track = Vec::new();
        while let Some(word) = words.next() {
            let name = format_args!("image {} in the track of point {id}", track.len() + 1);
            let image = Words::of_line(word, words.line).id(name)?;
            track.push((image, words.count(format_args!("the feature in image {image} of the track of point {id}"))?));
        }
        insert("point", &mut self.points, id, self.bundle.points.len(), words.line)?;
        self.bundle.points.push(BundlePoint { id, position, color });
        Ok(track)
    }

    /// Gives observations their points.
    fn join(&mut self, owners: &[Option<u64>], features: &[(usize, usize)]) -> Result<(), BundleFileError> {
        for (k, (observation, owner)) in self.bundle.observations.iter_mut().zip(owners).enumerate() {
            let Some(id) = *owner else { continue };
            let (line, first) = features[observation.image];
            let unknown = || {
                let owner = format!("feature {} of image {}", k - first, self.bundle.images[observation.image].id);
                let error = BundleLineError::Unknown { owner, name: "point", id, file: FILES[2] };
                BundleFileError::Line { file: FILES[1], line, error }
            };
            observation.point = Some(self.points.get(&id).ok_or_else(unknown)?.0);
        }
        if owners.iter().any(Option::is_some) {
            return Ok(());
        }
        let line = features.last().map_or(0, |&(line, _)| line);
        Err(BundleFileError::Line { file: FILES[1], line, error: BundleLineError::NoObservation })
    }

    /// Checks that tracks agree with the features of images.
    fn check(&self, tracks: &[(usize, Track)], features: &[(usize, usize)]) -> Result<(), BundleFileError> {
        for (point, (line, track)) in tracks.iter().enumerate() {
            let id = self.bundle.points[point].id;
            let at_line = |error| BundleFileError::Line { file: FILES[2], line: *line, error };
            for &(image, feature) in track {
                let owner = || format!("the track of point {id}");
                let unknown = || BundleLineError::Unknown { owner: owner(), name: "image", id: image, file: FILES[1] };
                let (index, _) = *self.images.get(&image).ok_or_else(unknown).map_err(at_line)?;
                let place = features[index].1.checked_add(feature);
                let seen = place.and_then(|place| self.bundle.observations.get(place));
                if seen.is_none_or(|seen| seen.image != index || seen.point != Some(point)) {
                    return Err(at_line(BundleLineError::Track { point: id, image, feature }));
                }
            }
        }
        Ok(())
    }
}

/// Reads each line that is neither empty nor a comment.
fn each_line(
    file: &'static str,
    text: &str,
    mut read: impl FnMut(&mut Words<'_>, usize) -> Result<(), BundleLineError>,
) -> Result<(), BundleFileError> {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !is_comment(text));
    for (line, text) in lines {
        let outcome = read(&mut Words::of_line(text, line), line);
        outcome.map_err(|error| BundleFileError::Line { file, line, error })?;
    }
    Ok(())
}

fn is_comment(text: &str) -> bool {
    text.trim_start().is_empty() || text.trim_start().starts_with('#')
}

fn insert(
    name: &'static str,
    places: &mut HashMap<u64, (usize, usize)>,
    id: u64,
    index: usize,
    line: usize,
) -> Result<(), BundleLineError> {
    match places.insert(id, (index, line)) {
        Some((_, first)) => Err(BundleLineError::Duplicate { name, id, first }),
        None => Ok(()),
    }
}

//! Files that are replaced as a whole or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Temporary files are named `.marquardt-<16 hexadecimal digits>.tmp`.
const PREFIX: &str = ".marquardt-";
const SUFFIX: &str = ".tmp";
const DIGITS: usize = 16;

/// Symbolic links that are followed in a row; Linux follows as many.
const MAX_LINKS: usize = 40;

/// Replaces the content of a file by `parts`, one after the other. A reader, or the next start after a crash, finds the old
/// content or the new one.
///
/// The parts are written into a temporary file in the same folder. It is synchronised with the disk, takes the permissions
/// of the old file and then its place, and the folder is synchronised as well. A symbolic link stays, and the file that it
/// points to is replaced. A device or a pipe is written in place. Temporary files of processes that were killed are
/// removed.
pub(crate) fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    parts.iter().try_for_each(|part| replacement.write(part))?;
    replacement.commit()
}

/// New content of a file, which takes the place of the old one as [`write`] says.
pub(crate) enum Replacement {
    /// A file in the same folder, to be renamed.
    InFolder(Temporary, Target),
    /// A device or a pipe.
    InPlace(File),
}

impl Replacement {
    /// Begins with empty content.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let Some(target) = Target::find(path)? else {
            return Ok(Replacement::InPlace(OpenOptions::new().write(true).open(path)?));
        };
        remove_abandoned(&target.folder);
        let temporary = Temporary::create(&target.folder)?;
        if let Some(permissions) = &target.permissions {
            temporary.file.set_permissions(permissions.clone())?;
        }
        Ok(Replacement::InFolder(temporary, target))
    }

    /// Adds a part.
    pub(crate) fn write(&mut self, part: &[u8]) -> io::Result<()> {
        match self {
            Replacement::InFolder(temporary, _) => temporary.file.write_all(part),
            Replacement::InPlace(device) => device.write_all(part),
        }
    }

    /// Takes the place of the old content.
    pub(crate) fn commit(self) -> io::Result<()> {
        let Replacement::InFolder(temporary, target) = self else { return Ok(()) };
        temporary.file.sync_all()?;
        fs::rename(&temporary.path, &target.path)?;
        sync_folder(&target.folder)
    }
}

/// Checks that [`write`] can begin: the folder exists and takes new files, and the file is not write-protected.
#[cfg(any(test, feature = "checkpoint", feature = "safetensors"))]
pub(crate) fn check(path: &Path) -> io::Result<()> {
    let Some(target) = Target::find(path)? else { return Ok(()) };
    remove_abandoned(&target.folder);
    Temporary::create(&target.folder).map(drop)
}

/// A regular file, or the place for one.
pub(crate) struct Target {
    path: PathBuf,
    folder: PathBuf,
    /// Permissions of the file, if there is one.
    permissions: Option<Permissions>,
}

impl Target {
    /// Returns the target of a path; none for a device or a pipe.
    fn find(path: &Path) -> io::Result<Option<Target>> {
        let permissions = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => return Ok(None),
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is write-protected"));
            }
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let path = follow(path)?;
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path does not end with a file name"));
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        Ok(Some(Target { path, folder, permissions }))
    }
}

/// Follows symbolic links, also to a file that does not exist.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..=MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            // No link, or nothing at all.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A temporary file, locked as long as it is in use. Removed when dropped, unless it was renamed.
pub(crate) struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    fn create(folder: &Path) -> io::Result<Self> {
        loop {
            let number = RandomState::new().hash_one(PREFIX);
            let path = folder.join(format!("{PREFIX}{number:0width$x}{SUFFIX}", width = DIGITS));
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            // Not every file system has locks; without one, no other process takes the file for abandoned either.
            let _ = file.try_lock();
            // Until it was locked, another process may have taken it for abandoned.
            if fs::symlink_metadata(&path).is_ok() {
                return Ok(Temporary { path, file });
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Not there after it was renamed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the temporary files that no process has locked. As they do no harm, neither does a failure.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().filter(|entry| is_temporary(&entry.file_name().to_string_lossy())).map(|e| e.path()) {
        let file = OpenOptions::new().write(true).open(&path);
        if file.is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    number.is_some_and(|number| number.len() == DIGITS && number.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Makes a new name in a folder outlast a power failure, where the system lets a folder be synchronised.
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if !matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder of its own, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("marquardt-atomic-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir(&folder).unwrap();
            Folder(folder)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_parts_follow_each_other_and_nothing_else_is_left() {
        let folder = Folder::new("parts");
        let path = folder.0.join("file");
        write(&path, &[b"old and long"]).unwrap();
        write(&path, &[b"a", b"", b"bc"]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        check(&path).unwrap();
        assert_eq!(folder.names(), ["file"]);
    }

    #[test]
    fn only_abandoned_files_are_removed() {
        let folder = Folder::new("abandoned");
        let in_use = Temporary::create(&folder.0).unwrap();
        fs::write(folder.0.join(".marquardt-0123456789abcdef.tmp"), "left by a process that was killed").unwrap();
        for name in [".marquardt-0123456789abcde.tmp", ".marquardt-notes.tmp", "marquardt-0123456789abcdef.tmp"] {
            fs::write(folder.0.join(name), "a user's").unwrap();
        }
        write(&folder.0.join("file"), &[b"x"]).unwrap();
        assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
        assert!(in_use.path.exists() && !folder.0.join(".marquardt-0123456789abcdef.tmp").exists());
    }

    #[test]
    fn impossible_paths_are_refused_beforehand() {
        let folder = Folder::new("impossible");
        let protected = folder.0.join("protected");
        fs::write(&protected, "kept").unwrap();
        let mut permissions = fs::metadata(&protected).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&protected, permissions).unwrap();
        let cases = [
            (folder.0.join("no/such/folder/file"), io::ErrorKind::NotFound),
            (folder.0.clone(), io::ErrorKind::IsADirectory),
            (protected.join("file"), io::ErrorKind::NotADirectory),
            (protected.clone(), io::ErrorKind::PermissionDenied),
            (PathBuf::new(), io::ErrorKind::InvalidInput),
        ];
        for (path, kind) in cases {
            assert_eq!(check(&path).unwrap_err().kind(), kind, "{}", path.display());
            assert_eq!(write(&path, &[b"x"]).unwrap_err().kind(), kind, "{}", path.display());
        }
        assert_eq!(fs::read(&protected).unwrap(), b"kept");
        assert_eq!(folder.names(), ["protected"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_file_keeps_its_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = Folder::new("links");
        fs::create_dir(folder.0.join("far")).unwrap();
        let file = folder.0.join("far/file");
        symlink("far/second", folder.0.join("first")).unwrap();
        symlink("file", folder.0.join("far/second")).unwrap();
        // First the links point to nothing, then to a file.
        write(&folder.0.join("first"), &[b"new"]).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        write(&folder.0.join("first"), &[b"newer"]).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"newer");
        assert!(file.symlink_metadata().unwrap().is_file());
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        for link in ["first", "far/second"] {
            assert!(folder.0.join(link).is_symlink(), "{link}");
        }
        assert_eq!(folder.names(), ["far", "first"]);

        symlink("loop", folder.0.join("loop")).unwrap();
        assert!(write(&folder.0.join("loop"), &[b"x"]).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_in_place() {
        check(Path::new("/dev/full")).unwrap();
        let error = write(Path::new("/dev/full"), &[b"x"]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        write(Path::new("/dev/null"), &[b"x"]).unwrap();
        for device in ["/dev/full", "/dev/null"] {
            assert!(!fs::metadata(device).unwrap().is_file());
        }
    }
}

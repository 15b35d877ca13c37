//! Files that outlast killed processes, full disks and other writers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use marquardt::Variables;
use marquardt::optim::Adam;
use marquardt::train::{Checkpoint, Trainer};
use marquardt::variables::SafetensorsError;
use ndarray::Array1;

use super::problems::{Data, network};

/// The folder that a child process works in.
const FOLDER: &str = "MARQUARDT_TEST_FOLDER";

/// Nothing here takes this long, however busy the machine is.
const LONG: Duration = Duration::from_secs(120);

/// An empty folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("marquardt-files-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.join("file")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The sizes of all other files beside `file`.
fn sizes_of_others(folder: &Path) -> Vec<u64> {
    let entries = fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != "file");
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).collect()
}

/// This binary, about to run one of the tests of this file that are ignored.
fn child(test: &str, folder: &Path) -> Command {
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", &format!("{module}::{test}")]).env(FOLDER, folder);
    command
}

/// In a child process, the path that it writes.
fn path_of_child() -> PathBuf {
    Path::new(&std::env::var_os(FOLDER).expect("only to be started by other tests")).join("file")
}

#[track_caller]
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "waited in vain");
        thread::sleep(Duration::from_micros(200));
    }
}

/// A process that is killed at the end, whatever happens.
struct Killed(Child);

impl Killed {
    fn start(test: &str, folder: &Folder) -> Self {
        Killed(child(test, &folder.0).stdout(Stdio::null()).spawn().unwrap())
    }

    fn kill(&mut self) -> ExitStatus {
        let _ = self.0.kill();
        self.0.wait().unwrap()
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// As many times the same number.
fn constant(count: usize, value: f64) -> Variables<f64> {
    let mut variables = Variables::new();
    variables.add("a", Array1::from_elem(count, value).view()).unwrap();
    variables
}

const MANY: usize = 1 << 19;

#[ignore = "started by the test below"]
#[test]
fn child_saves_for_ever() {
    let (path, mut variables) = (path_of_child(), constant(MANY, 0.0));
    loop {
        variables.save_safetensors(&path).unwrap();
        variables.values_mut().iter_mut().for_each(|value| *value += 1.0);
    }
}

#[test]
fn a_file_is_whole_after_its_writer_was_killed() {
    let folder = Folder::new("killed");
    let mut interrupted = 0;
    for round in 0..6 {
        let mut writer = Killed::start("child_saves_for_ever", &folder);
        wait_until(|| folder.path().exists() && sizes_of_others(&folder.0).iter().any(|&size| size > 0));
        thread::sleep(Duration::from_millis(round));
        assert!(!writer.kill().success());
        interrupted += usize::from(!sizes_of_others(&folder.0).is_empty());
        let saved = Variables::<f64>::open_safetensors(folder.path()).unwrap();
        assert_eq!(saved.values().len(), MANY);
        assert!(saved.values().iter().all(|&value| value == saved.values()[0]));
    }
    assert!(interrupted > 0, "no writer was killed while it wrote");
    constant(1, 7.0).save_safetensors(folder.path()).unwrap();
    assert_eq!(sizes_of_others(&folder.0), [0; 0]);
    assert_eq!(Variables::<f64>::open_safetensors(folder.path()).unwrap(), constant(1, 7.0));
}

/// Trains up to an epoch, from the backup if there is one.
fn train(path: &Path, epochs: usize) {
    let data = Data::new(20);
    let (mut network, mut variables) = network(0.1);
    let mut optimizer = Adam::new(0.01);
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(epochs).backup(1, path);
    if path.exists() {
        trainer = trainer.restore(Checkpoint::load(path).unwrap());
    }
    trainer.fit(&data.inputs(), &data.targets()).unwrap();
}

#[ignore = "started by the test below"]
#[test]
fn child_trains_for_ever() {
    train(&path_of_child(), usize::MAX);
}

#[test]
fn a_training_goes_on_each_time_it_was_killed() {
    let folder = Folder::new("training");
    let mut epoch = 0;
    for _ in 0..4 {
        let mut training = Killed::start("child_trains_for_ever", &folder);
        let before = epoch;
        wait_until(|| {
            if folder.path().exists() {
                // Also read while it is written.
                epoch = Checkpoint::<f64>::load(folder.path()).unwrap().epoch();
            }
            epoch > before + 2
        });
        training.kill();
        let saved = Checkpoint::<f64>::load(folder.path()).unwrap();
        assert!(saved.epoch() >= epoch);
        epoch = saved.epoch();
    }
    train(&folder.path(), epoch + 3);
    assert_eq!(Checkpoint::<f64>::load(folder.path()).unwrap().epoch(), epoch + 3);
    assert_eq!(sizes_of_others(&folder.0), [0; 0]);
}

/// In a folder that has no room for it, a larger file does not take the place of a smaller one.
fn is_refused_for_lack_of_room(folder: &Path) {
    let path = folder.join("file");
    let error = constant(MANY, 1.0).save_safetensors(&path).unwrap_err();
    assert!(matches!(error, SafetensorsError::File { path: ref named, .. } if *named == path), "{error}");
    println!("{error}");
    assert_eq!(Variables::<f64>::open_safetensors(&path).unwrap(), constant(1, 7.0));
    assert_eq!(sizes_of_others(folder), [0; 0]);
}

#[ignore = "started by the test below"]
#[test]
fn child_may_not_write_much() {
    is_refused_for_lack_of_room(path_of_child().parent().unwrap());
}

/// Files are limited to at most 16 kB, and a longer one is an error instead of a signal.
#[cfg(unix)]
#[test]
fn a_write_that_fails_half_way_leaves_the_file_as_it_was() {
    let folder = Folder::new("limited");
    constant(1, 7.0).save_safetensors(folder.path()).unwrap();
    let limited = child("child_may_not_write_much", &folder.0);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]).arg(limited.get_program());
    let output = shell.args(limited.get_args()).env(FOLDER, &folder.0).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // It has been there.
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[ignore = "needs a disk of less than 4 MB, mounted where MARQUARDT_TEST_FOLDER says"]
#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    constant(1, 7.0).save_safetensors(path_of_child()).unwrap();
    is_refused_for_lack_of_room(path_of_child().parent().unwrap());
}

#[test]
fn several_writers_and_readers_of_one_file() {
    let folder = Folder::new("writers");
    let path = &folder.path();
    constant(1, 1.0).save_safetensors(path).unwrap();
    thread::scope(|scope| {
        let write = |count: usize| {
            let variables = constant(count, count as f64);
            (0..40).for_each(|_| variables.save_safetensors(path).unwrap());
        };
        let writers = [2000, 30_000].map(|count| scope.spawn(move || write(count)));
        while !writers.iter().all(|writer| writer.is_finished()) {
            let read = Variables::<f64>::open_safetensors(path).unwrap();
            let count = read.values().len();
            assert!(matches!(count, 1 | 2000 | 30_000), "{count}");
            assert_eq!(read, constant(count, count as f64));
        }
    });
    assert_eq!(sizes_of_others(&folder.0), [0; 0]);
}

#[test]
fn two_trainings_may_share_a_backup() {
    let folder = Folder::new("shared");
    let path = &folder.path();
    let fit = || {
        let data = Data::new(20);
        let (mut network, mut variables) = network(0.0);
        let mut optimizer = Adam::new(0.01);
        let trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(30);
        trainer.backup(1, path).fit(&data.inputs(), &data.targets()).unwrap();
    };
    thread::scope(|scope| [scope.spawn(fit), scope.spawn(fit)].map(|training| training.join().unwrap()));
    assert_eq!(Checkpoint::<f64>::load(path).unwrap().epoch(), 30);
    assert_eq!(sizes_of_others(&folder.0), [0; 0]);
}

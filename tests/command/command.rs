//! Runs of the command in a folder of their own.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run printed, and its exit code.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub errors: String,
}

impl Run {
    /// Asserts that all fits converged, and returns what was printed.
    pub fn solved(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// Asserts that the input was refused without output, and returns the message.
    pub fn refused(self) -> String {
        assert!(self.code == 2 && self.out.is_empty(), "{self:?}");
        let message = self.errors.strip_prefix("error: ").unwrap_or_else(|| panic!("{:?}", self.errors));
        message.trim_end().to_owned()
    }

    /// The output as JSON.
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.solved()).unwrap()
    }
}

/// A folder for the files of a test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("marquardt-command-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A folder with one file, `data.csv`.
    pub fn with(data: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        folder.write("data.csv", data);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command itself, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marquardt"));
        command.args(arguments).current_dir(&self.0);
        command
    }

    /// Runs the command in this folder.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, b"")
    }

    /// The same, with something on the standard input.
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The command may end before it has read all.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), errors: text(output.stderr) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the command where there are no files.
pub fn run(arguments: &[&str]) -> Run {
    Folder::new().run(arguments)
}

/// A decay `3 exp(−0.5 t) + 1` with small deviations, as CSV.
pub fn decay() -> String {
    let row = |i: usize| {
        let t = 0.25 * i as f64;
        format!("{t},{}\n", 3.0 * (-0.5 * t).exp() + 1.0 + 0.01 * (5.0 * t).sin())
    };
    "t,y\n".to_owned() + &(0..40).map(row).collect::<String>()
}

/// Asserts that two numbers agree to a relative tolerance.
#[track_caller]
pub fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} instead of {expected}");
}

/// The value of a parameter in a report as JSON.
#[track_caller]
pub fn value(report: &serde_json::Value, name: &str) -> f64 {
    field(report, name, "value")
}

/// A number of a parameter in a report as JSON.
#[track_caller]
pub fn field(report: &serde_json::Value, name: &str, field: &str) -> f64 {
    let parameters = report["parameters"].as_array().unwrap();
    let parameter = parameters.iter().find(|parameter| parameter["name"] == name);
    parameter.unwrap_or_else(|| panic!("{name} in {report}"))[field].as_f64().unwrap()
}

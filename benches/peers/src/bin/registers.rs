//! Dense kernels in every set of vector registers that the processor has, beside faer's, in Gflop/s.
//!
//! ```text
//! cargo run --release --bin registers
//! cargo run --release --bin registers -- 'Cholesky, 64'
//! ```
//!
//! One process measures one set, as the variable `MARQUARDT_REGISTERS` is read once. Each number is the best of [`PASSES`]
//! processes of [`ROUNDS`] rounds, and that of faer the best of both orientations of a matrix. `peak` is the speed of independent fused
//! multiplications and additions in the widest registers. A set that is slower than a narrower one by more than [`NOISE`] is
//! marked with `!`, and then the process fails.

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par, Spec};
use marquardt::Real;

/// Measures one set and prints the numbers.
const ONE_SET: &str = "--one-set";

const PASSES: usize = 4;
const ROUNDS: usize = 5;

/// Shortest time of a round.
const ROUND: Duration = Duration::from_millis(1);

const PEAKS: [&str; 2] = ["peak, f32", "peak, f64"];

/// Share by which a wider set may seem slower.
const NOISE: f64 = 0.1;

/// Columns of `JᵀJ`.
const COLUMNS: [usize; 17] = [2, 3, 4, 5, 7, 8, 12, 16, 20, 32, 61, 64, 100, 128, 160, 200, 400];

/// Numbers in the rows of which `JᵀJ` is summed.
const ROWS_TIMES_COLUMNS: usize = 1 << 16;

/// Rows of a batch, inputs and outputs of a layer.
const LAYERS: [[usize; 3]; 10] = [
    [1000, 20, 20],
    [1000, 40, 40],
    [200, 10, 40],
    [64, 64, 10],
    [64, 784, 64],
    [1000, 100, 100],
    [500, 200, 300],
    [64, 64, 64],
    [200, 200, 200],
    [1000, 1000, 1000],
];

/// Rows and columns of `J` in `JJᵀ`.
const DUALS: [[usize; 2]; 6] = [[10, 20], [64, 64], [64, 784], [200, 784], [640, 784], [1000, 1000]];

/// Columns of rows that a triangle absorbs.
const REFLECTED: [usize; 4] = [16, 32, 60, 128];

/// Sizes of systems.
const SYSTEMS: [usize; 16] = [2, 4, 8, 12, 16, 24, 32, 48, 64, 100, 128, 256, 500, 640, 1000, 2000];

fn main() -> ExitCode {
    if env::args().any(|argument| argument == ONE_SET) {
        print_one_set();
        return ExitCode::SUCCESS;
    }
    let mut sets: Vec<(&str, Vec<Line>)> = sets().into_iter().map(|name| (name, measure(name))).collect();
    for _ in 1..PASSES {
        for (name, best) in &mut sets {
            for (best, line) in best.iter_mut().zip(measure(name)) {
                best.speed = best.speed.max(line.speed);
                best.by_faer = best.by_faer.max(line.by_faer);
            }
        }
    }
    print!("{:<28}", "Gflop/s");
    sets.iter().for_each(|(name, _)| print!("{name:>10} "));
    println!("{:>10} {:>12} {:>10}", "faer", "best/faer", "best/peak");
    let peaks = [0, 1].map(|place| sets[sets.len() - 1].1[place].speed);
    println!("{:<28}{:.1} in f32, {:.1} in f64", "peak", peaks[0], peaks[1]);
    let mut is_sound = true;
    for place in PEAKS.len()..sets[0].1.len() {
        let line = &sets[0].1[place];
        print!("{:<28}", line.name);
        let (mut best, mut faer): (f64, f64) = (0.0, 0.0);
        for (_, lines) in &sets {
            let Line { speed, by_faer, .. } = lines[place];
            let is_slower = speed < best * (1.0 - NOISE);
            is_sound &= !is_slower;
            print!("{speed:>10.1}{}", if is_slower { '!' } else { ' ' });
            (best, faer) = (best.max(speed), faer.max(by_faer));
        }
        let peak = peaks[usize::from(line.name.ends_with("f64"))];
        let ratio = if faer > 0.0 { format!("{:.2}", best / faer) } else { String::new() };
        println!("{faer:>10.1} {ratio:>12} {:>10.2}", best / peak);
    }
    if is_sound {
        return ExitCode::SUCCESS;
    }
    println!("! slower than a narrower set of registers");
    ExitCode::FAILURE
}

/// Names of the sets that the processor has, from the narrowest on.
fn sets() -> Vec<&'static str> {
    let mut sets = vec!["portable"];
    #[cfg(target_arch = "x86_64")]
    {
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        sets.extend(has_avx2.then_some("avx2"));
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        sets.extend((has_avx2 && has_avx512).then_some("avx512"));
    }
    sets
}

/// Speeds of one kernel.
struct Line {
    name: String,
    speed: f64,
    by_faer: f64,
}

/// Speeds in one set, measured by a process of its own.
fn measure(set: &str) -> Vec<Line> {
    let program = env::current_exe().expect("the program has a path");
    let output = Command::new(program)
        .arg(ONE_SET)
        .args(filter())
        .env("MARQUARDT_REGISTERS", set)
        .stderr(Stdio::inherit())
        .output()
        .expect("it starts again");
    assert!(output.status.success(), "{set}: {}", output.status);
    let text = String::from_utf8(output.stdout).expect("names and numbers");
    let line = |line: &str| {
        let [name, speed, by_faer] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let number = |text: &str| text.parse().expect("a number");
        Line { name: name.to_owned(), speed: number(speed), by_faer: number(by_faer) }
    };
    text.lines().map(line).collect()
}

fn print_one_set() {
    for (name, speed) in [(PEAKS[0], peak::<f32>()), (PEAKS[1], peak::<f64>())] {
        println!("{name}\t{speed}\t0");
    }
    print_kernels::<f32>("f32");
    print_kernels::<f64>("f64");
}

/// Prints the speeds of a kernel that is asked for.
fn print_line(name: &str, measure: impl FnOnce() -> (f64, f64)) {
    if filter().is_none_or(|part| name.contains(&part)) {
        let (speed, by_faer) = measure();
        println!("{name}\t{speed}\t{by_faer}");
    }
}

/// Part of the names of the kernels that are asked for.
fn filter() -> Option<String> {
    env::args().skip(1).find(|argument| !argument.starts_with('-'))
}

/// Gflop/s of a call.
fn speed(flops: f64, mut call: impl FnMut()) -> f64 {
    call();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let (mut calls, begun) = (0, Instant::now());
        while begun.elapsed() < ROUND {
            call();
            calls += 1;
        }
        best = best.min(begun.elapsed() / calls);
    }
    flops / best.as_secs_f64() * 1e-9
}

fn print_kernels<T: Real + faer::traits::ComplexField>(precision: &str) {
    for n in COLUMNS {
        print_line(&format!("JᵀJ, {n} columns, {precision}"), || products::<T>(n));
    }
    for [batch, inputs, outputs] in LAYERS {
        let name = format!("XWᵀ, {batch} × {inputs} × {outputs}, {precision}");
        print_line(&name, || layer::<T>([batch, inputs, outputs]));
    }
    for [m, n] in DUALS {
        print_line(&format!("JJᵀ, {m} × {n}, {precision}"), || row_gram::<T>(m, n));
    }
    for n in REFLECTED {
        print_line(&format!("QR, {n} columns, {precision}"), || (reflections::<T>(n), 0.0));
    }
    for n in SYSTEMS {
        print_line(&format!("Cholesky, {n}, {precision}"), || cholesky::<T>(n));
    }
}

fn numbers<T: Real>(count: usize) -> Vec<T> {
    (0..count).map(|k| T::from_f64((k as f64 * 0.37).sin())).collect()
}

/// `JᵀJ` and `Jᵀr`, of which faer sums the former alone.
fn products<T: Real + faer::traits::ComplexField>(n: usize) -> (f64, f64) {
    let m = ROWS_TIMES_COLUMNS / n;
    let (rows, r) = (numbers::<T>(m * n), numbers::<T>(m));
    let (mut gram, mut gradient) = (vec![T::ZERO; n * n], vec![T::ZERO; n]);
    let of_gram = (m * n * (n + 1)) as f64;
    let ours = speed(of_gram + (2 * m * n) as f64, || T::add_products(&mut gram, &mut gradient, black_box(&rows), &r));
    let by_faer = speed(of_gram, || {
        let rows = MatRef::from_row_major_slice(black_box(&rows), m, n);
        let gram = MatMut::from_row_major_slice_mut(&mut gram, n, n);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(gram, lower, Accum::Add, rows.transpose(), full, rows, full, T::ONE, Par::Seq);
    });
    (ours, by_faer)
}

/// The outputs of a layer, `XWᵀ`.
fn layer<T: Real + faer::traits::ComplexField>([batch, inputs, outputs]: [usize; 3]) -> (f64, f64) {
    let (x, weight) = (numbers::<T>(batch * inputs), numbers::<T>(outputs * inputs));
    let mut y = vec![T::ZERO; batch * outputs];
    let flops = (2 * batch * inputs * outputs) as f64;
    let ours = speed(flops, || T::multiply_transposed(&mut y, false, black_box(&x), &weight, inputs, outputs));
    let by_faer = speed(flops, || {
        let x = MatRef::from_row_major_slice(black_box(&x), batch, inputs);
        let weight = MatRef::from_row_major_slice(&weight, outputs, inputs);
        let y = MatMut::from_row_major_slice_mut(&mut y, batch, outputs);
        matmul(y, Accum::Replace, x, weight.transpose(), T::ONE, Par::Seq);
    });
    (ours, by_faer)
}

/// The lower triangle of `JJᵀ`.
fn row_gram<T: Real + faer::traits::ComplexField>(m: usize, n: usize) -> (f64, f64) {
    let rows = numbers::<T>(m * n);
    let mut gram = vec![T::ZERO; m * m];
    let flops = (m * (m + 1) * n) as f64;
    let ours = speed(flops, || T::row_gram(&mut gram, black_box(&rows), n));
    let by_faer = speed(flops, || {
        let rows = MatRef::from_row_major_slice(black_box(&rows), m, n);
        let gram = MatMut::from_row_major_slice_mut(&mut gram, m, m);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(gram, lower, Accum::Replace, rows, full, rows.transpose(), full, T::ONE, Par::Seq);
    });
    (ours, by_faer)
}

/// Rows that the triangle of a QR factorisation absorbs, copied before.
fn reflections<T: Real>(n: usize) -> f64 {
    const ROWS: usize = 256;
    let (rows, r) = (numbers::<T>(ROWS * n), numbers::<T>(ROWS));
    let (mut jacobian, mut residuals) = (rows.clone(), r.clone());
    let (mut triangle, mut rotated) = (vec![T::ZERO; n * n], vec![T::ZERO; n]);
    speed((2 * ROWS * n * n) as f64, || {
        jacobian.copy_from_slice(&rows);
        residuals.copy_from_slice(&r);
        triangle.fill(T::ZERO);
        T::reflect_rows(&mut triangle, &mut rotated, black_box(&mut jacobian), &mut residuals);
    })
}

/// Of a positive definite matrix, copied before each factorisation.
fn cholesky<T: Real + faer::traits::ComplexField>(n: usize) -> (f64, f64) {
    let mut matrix = numbers::<T>(n * n);
    for i in 0..n {
        for j in 0..i {
            matrix[j * n + i] = matrix[i * n + j];
        }
        matrix[i * n + i] = T::from_f64(n as f64);
    }
    let flops = (n * n * n) as f64 / 3.0;
    let (mut a, mut pivots) = (matrix.clone(), vec![T::ZERO; n]);
    let mut scratch = Default::default();
    let ours = speed(flops, || {
        a.copy_from_slice(&matrix);
        assert!(T::cholesky(black_box(&mut a), &mut pivots, &mut scratch));
    });
    let params = Spec::default();
    let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<T>(n, Par::Seq, params));
    let mut by_llt = |by_rows: bool| {
        speed(flops, || {
            a.copy_from_slice(&matrix);
            let a = MatMut::from_column_major_slice_mut(black_box(&mut a), n, n);
            let a = if by_rows { a.transpose_mut() } else { a };
            let stack = MemStack::new(&mut memory);
            llt::factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, params).expect("it is definite");
        })
    };
    let (by_columns, by_rows) = (by_llt(false), by_llt(true));
    (ours, by_columns.max(by_rows))
}

/// Independent chains of fused multiplications and additions.
#[inline(always)]
fn chains<T: Real, const LANES: usize, const CHAINS: usize, const FUSED: bool>(steps: usize) -> T {
    let factor: [T; LANES] = black_box([T::from_f64(0.999); LANES]);
    let mut sums: [[T; LANES]; CHAINS] = black_box([[T::ONE; LANES]; CHAINS]);
    for _ in 0..steps {
        for sum in &mut sums {
            for (sum, factor) in sum.iter_mut().zip(factor) {
                *sum = if FUSED { sum.mul_add(factor, factor) } else { *sum * factor + factor };
            }
        }
    }
    black_box(sums)[0][0]
}

/// Gflop/s of [`chains`] in the registers that the environment names.
fn peak<T: Real>() -> f64 {
    const STEPS: usize = 10_000;
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn in_avx2<T: Real, const LANES: usize>(steps: usize) -> T {
            chains::<T, LANES, 10, true>(steps)
        }
        #[target_feature(enable = "avx2,fma,avx512f,avx512dq")]
        fn in_avx512<T: Real, const LANES: usize>(steps: usize) -> T {
            chains::<T, LANES, 10, true>(steps)
        }
        let set = env::var("MARQUARDT_REGISTERS").expect("the process was started with it");
        let flops = |bytes: usize| (2 * 10 * STEPS * bytes / size_of::<T>()) as f64;
        let is_single = size_of::<T>() == 4;
        // SAFETY: the process is started for sets that the processor has.
        match (set.as_str(), is_single) {
            ("avx2", true) => return speed(flops(32), || _ = black_box(unsafe { in_avx2::<T, 8>(STEPS) })),
            ("avx2", false) => return speed(flops(32), || _ = black_box(unsafe { in_avx2::<T, 4>(STEPS) })),
            ("avx512", true) => return speed(flops(64), || _ = black_box(unsafe { in_avx512::<T, 16>(STEPS) })),
            ("avx512", false) => return speed(flops(64), || _ = black_box(unsafe { in_avx512::<T, 8>(STEPS) })),
            _ => {}
        }
    }
    speed((2 * 8 * STEPS * 16 / size_of::<T>()) as f64, || {
        black_box(if size_of::<T>() == 4 { chains::<T, 4, 8, false>(STEPS) } else { chains::<T, 2, 8, false>(STEPS) });
    })
}

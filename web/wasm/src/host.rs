//! Functions of JavaScript that the module calls.

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    fn host_progress(done: f64, total: f64, cost: f64) -> u32;
    fn host_evaluate(x: *const f64, rows: usize, b: *const f64, parameters: usize, y: *mut f64) -> u32;
    fn host_panic(text: *const u8, length: usize);
}

/// Says how far the work is; the total is NaN where it is not known. Returns true if it is to end.
pub fn progress(done: usize, total: f64, cost: f64) -> bool {
    // SAFETY: numbers alone are passed.
    unsafe { host_progress(done as f64, total, cost) != 0 }
}

/// Responses of a user's function; false if it threw.
pub fn evaluate(x: &[f64], b: &[f64], y: &mut [f64]) -> bool {
    // SAFETY: addresses and lengths are those of slices, which the other side reads, and writes in `y` alone, before it returns.
    unsafe { host_evaluate(x.as_ptr(), y.len(), b.as_ptr(), b.len(), y.as_mut_ptr()) == 0 }
}

/// Passes on the message of a panic, after which the instance is not used any more.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        // SAFETY: address and length are those of a text, which the other side reads before it returns.
        unsafe { host_panic(text.as_ptr(), text.len()) }
    }));
}

//! The interface to JavaScript: slots that it fills, requests, and answers that it reads.

use std::cell::RefCell;

use crate::requests;

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory { slots: Vec::new(), answer: String::new(), results: Vec::new() }) };
}

struct Memory {
    /// Room for texts and arrays of requests, in words of eight bytes, with the lengths in bytes.
    slots: Vec<(Vec<f64>, usize)>,
    answer: String,
    results: Vec<Vec<f64>>,
}

/// Arrays and bytes of a request, and those of its answer.
pub struct Exchange {
    slots: Vec<(Vec<f64>, usize)>,
    pub results: Vec<Vec<f64>>,
}

impl Exchange {
    /// The numbers of a slot; none if it is empty.
    pub fn numbers(&self, slot: usize) -> &[f64] {
        self.slots.get(slot).map_or(&[], |(words, bytes)| &words[..bytes / 8])
    }

    /// The bytes of a slot.
    pub fn bytes(&self, slot: usize) -> &[u8] {
        self.slots.get(slot).map_or(&[], |(words, bytes)| as_bytes(words, *bytes))
    }
}

fn as_bytes(words: &[f64], length: usize) -> &[u8] {
    assert!(length <= 8 * words.len(), "a slot has room for its bytes");
    // SAFETY: `length` bytes lie within `words`, and each pattern of bits is a byte.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), length) }
}

/// Makes room for some bytes of the next request in a slot, and returns the address. Slot 0 is that of the request.
#[unsafe(no_mangle)]
pub extern "C" fn slot(number: usize, bytes: usize) -> *mut f64 {
    MEMORY.with_borrow_mut(|memory| {
        if memory.slots.len() <= number {
            memory.slots.resize_with(number + 1, Default::default);
        }
        let (words, length) = &mut memory.slots[number];
        words.resize(bytes.div_ceil(8), 0.0);
        *length = bytes;
        words.as_mut_ptr()
    })
}

/// Does what the request asks for; returns 0, or 1 if the answer is an error. Slots are empty afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> u32 {
    let slots = MEMORY.with_borrow_mut(|memory| std::mem::take(&mut memory.slots));
    let mut exchange = Exchange { slots, results: Vec::new() };
    let (answer, is_error) = requests::answer(&mut exchange);
    MEMORY.with_borrow_mut(|memory| (memory.answer, memory.results) = (answer, exchange.results));
    u32::from(is_error)
}

/// Address of the answer, a text.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    MEMORY.with_borrow(|memory| memory.answer.as_ptr())
}

/// Bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    MEMORY.with_borrow(|memory| memory.answer.len())
}

/// Address of an array of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn result(number: usize) -> *const f64 {
    MEMORY.with_borrow(|memory| memory.results.get(number).map_or(std::ptr::null(), |array| array.as_ptr()))
}

/// Numbers in an array of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn result_length(number: usize) -> usize {
    MEMORY.with_borrow(|memory| memory.results.get(number).map_or(0, Vec::len))
}

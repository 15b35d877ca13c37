# Short commands: `just` lists them.

[private]
default:
    @just --list

# Formats all code.
format:
    cargo fmt --all

# Checks what a change has to pass.
gate:
    .ci/run

# Checks what takes an hour, and a book, pictures and packages before a release.
thorough:
    .ci/thorough

# Runs the tests that the README names; `just test curves` those of one binary.
test *binary:
    cargo test --features full {{ if binary == "" { "" } else { "--test " + binary } }}

# Prints times by divan; `just bench fits` those of one bench.
bench *name:
    cargo bench {{ if name == "" { "" } else { "--bench " + name } }}

# Counts instructions of a handful of workloads, as ratios to a stored baseline.
instructions *arguments:
    benches/instructions {{ arguments }}

# Draws the pictures of the gallery again.
pictures:
    .ci/gallery --draw

# Builds the book in target/book.
book:
    .ci/book

# Checks what would be published, and prints the notes of the release.
release:
    .ci/release

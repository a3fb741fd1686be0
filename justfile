# Each recipe is the one command that does the work; none of them is needed to do it.

# List the recipes
default:
    @"{{just_executable()}}" --list

# Serve one MCP client on stdin and stdout, as a client's configuration does
mcp *args:
    bin/majordomus-mcp {{args}}

# Run this checkout's server without a client
serve *args:
    cargo run --locked -- serve {{args}}

# Print what would be served, and touch nothing
inspect *args:
    cargo run --locked -- mcp --inspect {{args}}

# List everything the server can do
capabilities *args:
    cargo run --locked -- capabilities {{args}}

# Explain one capability
describe id *args:
    cargo run --locked -- describe {{id}} {{args}}

# Check the registry and every projection of it
validate *args:
    cargo run --locked -- validate {{args}}

# Write everything that is generated
generate *args:
    cargo run --locked -- generate {{args}}

# Name what is generated and stale
generate-check:
    cargo run --locked -- generate --check

# Draw what the demo prints, for README
picture file="docs/images/demo.svg":
    cargo build --locked
    cargo run --locked --example picture -- target/debug/majordomus demo > {{quote(file)}}

# Put `majordomus` where cargo puts programs, for `init` in other repositories
install *args:
    cargo install --locked --path . {{args}}

# Measure, against floors taken in the same run
bench *args:
    cargo bench --locked --bench shared -- {{args}}

# List invariants, capabilities and flags, and the tests of each
coverage:
    cargo test --locked --test it -- coverage --nocapture

# Run every test that needs no network
test *args:
    cargo test --locked {{args}}

# Format and lint, as the gate does
lint:
    cargo fmt --check && cargo clippy --locked --all-targets -- -D warnings

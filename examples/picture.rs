//! Draws what a command prints on a terminal, as an SVG on standard output.
//!
//! `cargo run --example picture -- target/debug/majordomus demo > docs/images/demo.svg`
//!
//! The command runs on a real terminal, so it prints what a person sees; of its escape sequences, those for bold, dim and
//! colours are drawn, and every other one is an error, since a picture that leaves something out would lie.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};

/// Size of a character cell and of the margin, in pixels.
const CELL: (usize, usize) = (8, 19);
const MARGIN: usize = 16;
/// Columns of the terminal.
const COLUMNS: u16 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (program, arguments) = words
        .split_first()
        .ok_or("name the command whose output is drawn")?;
    let size = Winsize {
        ws_row: 50,
        ws_col: COLUMNS,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = openpty(Some(&size), None)?;
    let screen = File::from(terminal.slave);
    #[expect(clippy::disallowed_methods, reason = "any command may be drawn")]
    let mut child = Command::new(program)
        .args(arguments)
        .env("TERM", "xterm-256color")
        .stdin(Stdio::null())
        .stdout(Stdio::from(screen))
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut shown = Vec::new();
    // A terminal whose last writer is gone answers with an error in place of an end.
    drop(File::from(terminal.master).read_to_end(&mut shown));
    if !child.wait()?.success() {
        return Err("the command failed, and is not drawn".into());
    }
    let name = Path::new(program).file_name().unwrap_or_default();
    let typed = format!("$ {} {}", name.to_string_lossy(), arguments.join(" "));
    let shown = String::from_utf8(shown)?.replace('\r', "");
    let lines: Vec<&str> = std::iter::once(typed.as_str())
        .chain(shown.lines())
        .collect();
    io::stdout().write_all(draw(&lines)?.as_bytes())?;
    Ok(())
}

/// Draws lines, each as one element.
fn draw(lines: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut widest = 0;
    let mut body = String::new();
    for (number, line) in lines.iter().enumerate() {
        let (spans, columns) = spans(line)?;
        widest = widest.max(columns);
        let y = MARGIN + CELL.1 * (number + 1) - 5;
        writeln!(body, r#"<text x="{MARGIN}" y="{y}">{spans}</text>"#)?;
    }
    let (width, height) = (
        widest * CELL.0 + 2 * MARGIN,
        lines.len() * CELL.1 + 2 * MARGIN,
    );
    Ok(format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">
<style>svg {{ fill: #d7dae0 }} .bold {{ font-weight: bold; fill: #ffffff }} .dim {{ fill: #8b929e }} .red {{ fill: #ef7d7d }} .green {{ fill: #8fc97a }} .yellow {{ fill: #e0bd62 }}</style>
<rect width="{width}" height="{height}" rx="8" fill="#1b1e24"/>
{body}</svg>
"##
    ))
}

/// Turns one line into spans, and counts its columns. Each span says how wide it is, so that every font keeps the columns.
fn spans(line: &str) -> Result<(String, usize), Box<dyn Error>> {
    let (mut text, mut columns, mut class) = (String::new(), 0, "");
    for piece in line.split('\u{1b}') {
        let mut words = piece;
        if let Some(sequence) = piece.strip_prefix('[') {
            let (code, rest) = sequence
                .split_once('m')
                .ok_or("a sequence that is no colour")?;
            class = match code {
                "0" | "" => "",
                "1" => "bold",
                "2" => "dim",
                "31" => "red",
                "32" => "green",
                "33" => "yellow",
                other => return Err(format!("a colour that is not drawn: {other}").into()),
            };
            words = rest;
        }
        // Blanks at an edge are left out: viewers disagree about how wide they are.
        let all = words.chars().count();
        let blank = all - words.trim_start().chars().count();
        let (words, begin) = (words.trim(), columns + blank);
        columns += all;
        let count = words.chars().count();
        if count == 0 {
            continue;
        }
        let (x, wide) = (MARGIN + begin * CELL.0, count * CELL.0);
        let words = words
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        write!(
            text,
            r#"<tspan x="{x}" textLength="{wide}" class="{class}">{words}</tspan>"#
        )?;
    }
    Ok((text, columns))
}

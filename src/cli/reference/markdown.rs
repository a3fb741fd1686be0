//! The little Markdown that the reference needs.

use std::fmt::Write as _;

/// The line under a page's title.
const NOTICE: &str = "Generated from the source by `majordomus generate`; do not edit.";

/// Begins a page.
#[must_use]
pub fn page(title: &str, introduction: &str) -> String {
    format!("# {title}\n\n{NOTICE}\n\n{introduction}\n\n")
}

/// Renders a table; a `|` or a newline inside a cell cannot break it.
#[must_use]
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let mut text = String::from("|");
        for cell in cells {
            // Writing to a String cannot fail.
            let _ = write!(text, " {} |", cell.replace('|', "\\|").replace('\n', " "));
        }
        text.push('\n');
        text
    };
    let mut text = line(&mut heading.iter().map(|cell| (*cell).to_owned()));
    text.push_str(&line(&mut heading.iter().map(|_| "---".to_owned())));
    for row in rows {
        text.push_str(&line(&mut row.iter().cloned()));
    }
    text.push('\n');
    text
}

/// Sets words as code, or a dash where there are none.
#[must_use]
pub fn code(words: Option<&str>) -> String {
    words.map_or_else(|| "–".to_owned(), |words| format!("`{words}`"))
}

/// Sets a block of code.
#[must_use]
pub fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn a_cell_cannot_break_its_table() {
        let rows = [vec!["a|b".to_owned(), "c\nd".to_owned()]];
        assert_eq!(
            table(&["x", "y"], &rows),
            "| x | y |\n| --- | --- |\n| a\\|b | c d |\n\n"
        );
    }
}

//! The entry in a TOML file. A table can stand at the end of any file, so a new one is added as text; only what is there
//! already goes through a document.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, TableLike};

use super::Unmergeable;

/// Reads a whole file.
pub(super) fn read(text: &str) -> Result<Value, Unmergeable> {
    Ok(value_of(document(text)?.as_item()))
}

fn document(text: &str) -> Result<DocumentMut, Unmergeable> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| Unmergeable::Syntax(error.message().to_owned()))
}

/// Puts the entry in.
pub(super) fn put(
    text: &str,
    [container, name]: [&str; 2],
    entry: &Value,
) -> Result<String, Unmergeable> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines = format!("[{container}.{name}]{end}");
    for (key, value) in entry.as_object().into_iter().flatten() {
        // Writing to a String cannot fail.
        let _ = write!(lines, "{key} = {}{end}", input(value));
    }
    if let Some(block) = block(text, [container, name]) {
        return Ok(format!(
            "{}{lines}{}",
            &text[..block.start],
            &text[block.end..]
        ));
    }
    let mut whole = document(text)?;
    let servers = match whole.get_mut(container) {
        None => None,
        Some(item) => Some(
            item.as_table_like_mut()
                .ok_or_else(|| Unmergeable::Shape(container.to_owned()))?,
        ),
    };
    // A header that is spelled in another way.
    if servers
        .as_ref()
        .is_some_and(|servers| servers.contains_key(name) && !is_inline(*servers))
    {
        return Err(Unmergeable::Entangled);
    }
    if let Some(servers) = servers.filter(|servers| is_inline(*servers)) {
        let members = entry.as_object().into_iter().flatten();
        let table: InlineTable = members.map(|(key, value)| (key, input(value))).collect();
        servers.insert(name, Item::Value(table.into()));
        return Ok(whole.to_string());
    }
    let mut changed = text.to_owned();
    if !changed.is_empty() {
        if !changed.ends_with('\n') {
            changed.push_str(end);
        }
        changed.push_str(end);
    }
    changed.push_str(&lines);
    Ok(changed)
}

/// Takes the entry out.
pub(super) fn take(text: &str, [container, name]: [&str; 2]) -> Result<String, Unmergeable> {
    if let Some(block) = block(text, [container, name]) {
        // The empty line that stands before it came with it.
        let before = &text[..block.start];
        let shorter = before.strip_suffix('\n').unwrap_or(before);
        let shorter = shorter.strip_suffix('\r').unwrap_or(shorter);
        let before = if shorter.ends_with('\n') {
            shorter
        } else {
            before
        };
        return Ok(format!("{before}{}", &text[block.end..]));
    }
    let mut whole = document(text)?;
    let servers = whole.get_mut(container).and_then(Item::as_table_like_mut);
    if let Some(servers) = servers {
        servers.remove(name);
        if servers.is_empty() {
            whole.remove(container);
        }
    }
    Ok(whole.to_string())
}

/// Sets a variable in the table `[container.name.env]` of an entry that has a header of its own.
pub(super) fn set(
    text: &str,
    [container, name, env]: [&str; 3],
    key: &str,
    value: &str,
) -> Result<String, Unmergeable> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let line = format!("{key} = {}{end}", input(&value.into()));
    let whole = document(text)?;
    let entry = whole.get(container).and_then(|servers| servers.get(name));
    let known = entry.and_then(|entry| entry.get(env));
    if known.is_some_and(|known| known.get(key).is_some()) {
        return replace(whole, text, [container, name, env], key, value);
    }
    let header = format!("[{container}.{name}.{env}]");
    if let Some(range) = header_line(text, &header) {
        let gap = if text[..range.end].ends_with('\n') {
            ""
        } else {
            end
        };
        return Ok(format!(
            "{}{gap}{line}{}",
            &text[..range.end],
            &text[range.end..]
        ));
    }
    match block(text, [container, name]) {
        Some(block) if known.is_none() => {
            let before = &text[..block.end];
            let gap = if before.ends_with('\n') { "" } else { end };
            Ok(format!(
                "{before}{gap}{header}{end}{line}{}",
                &text[block.end..]
            ))
        }
        _ => replace(whole, text, [container, name, env], key, value),
    }
}

/// Takes the variable out again, and its table if that holds nothing else.
pub(super) fn unset(
    text: &str,
    [container, name, env]: [&str; 3],
    key: &str,
) -> Result<String, Unmergeable> {
    let mut whole = document(text)?;
    let table = whole
        .get_mut(container)
        .and_then(|servers| servers.get_mut(name))
        .and_then(Item::as_table_like_mut);
    let Some(table) = table else {
        return Ok(text.to_owned());
    };
    let is_all = table
        .get(env)
        .and_then(Item::as_table_like)
        .map(TableLike::len)
        == Some(1);
    if let Some(header) = header_line(text, &format!("[{container}.{name}.{env}]")) {
        let rest = &text[header.end..];
        let mut at = header.end;
        for line in rest.split_inclusive('\n') {
            let words = line.trim_start();
            if words.starts_with('[') {
                break;
            }
            let end = at + line.len();
            if words
                .strip_prefix(key)
                .is_some_and(|rest| rest.trim_start().starts_with('='))
            {
                // A comment between them is somebody's, and keeps the header.
                let goes = is_all && at == header.end;
                let start = if goes { header.start } else { at };
                return Ok(format!("{}{}", &text[..start], &text[end..]));
            }
            at = end;
        }
    }
    if text.contains("\r\n") {
        return Err(Unmergeable::Entangled);
    }
    if is_all {
        table.remove(env);
    } else if let Some(variables) = table.get_mut(env).and_then(Item::as_table_like_mut) {
        variables.remove(key);
    }
    Ok(whole.to_string())
}

/// Sets the variable through the document, where no line can be added.
fn replace(
    mut whole: DocumentMut,
    text: &str,
    [container, name, env]: [&str; 3],
    key: &str,
    value: &str,
) -> Result<String, Unmergeable> {
    let entry = whole
        .get_mut(container)
        .and_then(|servers| servers.get_mut(name))
        .and_then(Item::as_table_like_mut);
    // A document that is written out has other ends of lines.
    let Some(entry) = entry.filter(|_| !text.contains("\r\n")) else {
        return Err(Unmergeable::Entangled);
    };
    let variables = entry
        .entry(env)
        .or_insert_with(|| Item::Value(InlineTable::new().into()));
    let variables = variables
        .as_table_like_mut()
        .ok_or_else(|| Unmergeable::Shape(env.to_owned()))?;
    variables.insert(key, Item::Value(value.into()));
    Ok(whole.to_string())
}

/// The line of a header.
fn header_line(text: &str, header: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(header) {
            return Some(at..at + line.len());
        }
        at += line.len();
    }
    None
}

/// The lines of the entry and of the tables below it, where it has a header of its own; comments behind belong to others.
fn block(text: &str, [container, name]: [&str; 2]) -> Option<Range<usize>> {
    let header = format!("[{container}.{name}]");
    let below = format!("[{container}.{name}.");
    let mut range: Option<Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let (begin, end) = (at, at + line.len());
        at = end;
        match &mut range {
            None if words.starts_with(&header) => range = Some(begin..end),
            None => {}
            Some(_) if words.starts_with('[') && !words.starts_with(&below) => break,
            Some(range) if !words.is_empty() && !words.starts_with('#') => range.end = end,
            Some(_) => {}
        }
    }
    range
}

/// Whether a table is written in one line or with dots, where no header can add to it.
fn is_inline(table: &dyn TableLike) -> bool {
    table.is_dotted() || table.get_values().len() == table.len() && !table.is_empty()
}

fn input(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Array(items) => items.iter().map(input).collect(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// Turns TOML into JSON for a comparison; what JSON has no word for becomes its text.
fn value_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table_of(table)).collect(),
        Item::Table(table) => table_of(table),
        Item::Value(toml_edit::Value::InlineTable(table)) => table_of(table),
        Item::Value(toml_edit::Value::Array(items)) => items
            .iter()
            .map(|value| value_of(&Item::Value(value.clone())))
            .collect(),
        Item::Value(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Item::Value(toml_edit::Value::Boolean(value)) => (*value.value()).into(),
        Item::Value(toml_edit::Value::Integer(value)) => (*value.value()).into(),
        Item::Value(other) => other.to_string().trim().into(),
    }
}

fn table_of(table: &dyn TableLike) -> Value {
    let members = table
        .iter()
        .map(|(name, item)| (name.to_owned(), value_of(item)));
    Value::Object(members.collect())
}

//! The entry in a JSON file, which may have comments and trailing commas where a client takes them.

use std::ops::Range;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::Unmergeable;

/// Reads a whole file; an empty one is `null`.
pub(super) fn read(text: &str) -> Result<Value, Unmergeable> {
    Ok(parse(text)?.map_or(Value::Null, Value::from))
}

/// Puts the entry in.
pub(super) fn put(text: &str, path: [&str; 2], entry: &Value) -> Result<String, Unmergeable> {
    let [container, name] = path;
    let whole = parse(text)?;
    let Some(top) = object(whole.as_ref(), Unmergeable::Whole)? else {
        let mut text = text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            // It may be a comment.
            text.push('\n');
        }
        text.push_str(&pretty(
            &serde_json::json!({ container: { name: entry } }),
            "  ",
        ));
        text.push('\n');
        return Ok(text);
    };
    let page = Page::new(text, top);
    let Some(servers) = object(
        top.get(container).map(|member| &member.value),
        shape(container),
    )?
    else {
        return Ok(page.insert(top, container, &serde_json::json!({ name: entry })));
    };
    match last(servers, name) {
        Some(at) => Ok(page.replace(servers, at, entry)),
        None => Ok(page.insert(servers, name, entry)),
    }
}

/// Takes the entry out.
pub(super) fn take(text: &str, [container, name]: [&str; 2]) -> Result<String, Unmergeable> {
    let whole = parse(text)?;
    let Some(top) = object(whole.as_ref(), Unmergeable::Whole)? else {
        return Ok(text.to_owned());
    };
    let page = Page::new(text, top);
    let (Some(outer), Some(servers)) = (
        last(top, container),
        object(
            top.get(container).map(|member| &member.value),
            shape(container),
        )?,
    ) else {
        return Ok(text.to_owned());
    };
    match last(servers, name) {
        Some(_) if servers.properties.len() == 1 && !page.has_comment(inside(servers)) => {
            Ok(page.remove(top, outer))
        }
        Some(at) => Ok(page.remove(servers, at)),
        None => Ok(text.to_owned()),
    }
}

fn parse(text: &str) -> Result<Option<ast::Value<'_>>, Unmergeable> {
    if text.starts_with('\u{feff}') {
        // Nobody sees it in an editor, and not every client takes it.
        let reason = "it begins with a byte order mark";
        return Err(Unmergeable::Syntax(reason.to_owned()));
    }
    // Comments and trailing commas are what some clients take; what no client takes is an error.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    parse_to_ast(text, &CollectOptions::default(), &options)
        .map(|parsed| parsed.value)
        .map_err(|error| Unmergeable::Syntax(error.to_string()))
}

fn object<'a, 'b>(
    value: Option<&'b ast::Value<'a>>,
    otherwise: Unmergeable,
) -> Result<Option<&'b Object<'a>>, Unmergeable> {
    match value {
        None => Ok(None),
        Some(ast::Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(otherwise),
    }
}

fn shape(container: &str) -> Unmergeable {
    Unmergeable::Shape(container.to_owned())
}

/// Of members with one name the last counts, for every reader.
fn last(object: &Object<'_>, name: &str) -> Option<usize> {
    object
        .properties
        .iter()
        .rposition(|member| member.name.as_str() == name)
}

/// What stands between the braces.
fn inside(object: &Object<'_>) -> Range<usize> {
    object.range.start + 1..object.range.end - 1
}

/// A text, and how its writer lays it out.
struct Page<'a> {
    text: &'a str,
    unit: &'a str,
    newline: &'static str,
}

impl<'a> Page<'a> {
    fn new(text: &'a str, top: &Object<'_>) -> Self {
        let page = Self {
            text,
            unit: "  ",
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        };
        let first = top.properties.first();
        let unit = first.and_then(|member| page.indent(member.start()));
        Self {
            unit: unit.filter(|unit| !unit.is_empty()).unwrap_or(page.unit),
            ..page
        }
    }

    /// The white space before `at`, if nothing else stands before it in its line.
    fn indent(&self, at: usize) -> Option<&'a str> {
        let line = &self.text[self.text[..at].rfind('\n')? + 1..at];
        line.trim().is_empty().then_some(line)
    }

    /// The white space at the beginning of the line of `at`.
    fn margin(&self, at: usize) -> &'a str {
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |end| end + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn has_comment(&self, range: Range<usize>) -> bool {
        // Only asked of what stands between members, where a slash begins a comment.
        let mut text = &self.text[range];
        while let Some(quote) = text.find('"') {
            if text[..quote].contains('/') {
                return true;
            }
            let rest = &text[quote + 1..];
            let mut escaped = false;
            let end = rest.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            text = end.map_or("", |end| &rest[end + 1..]);
        }
        text.contains('/')
    }

    /// Renders a member's value as it stands in a line with this margin.
    fn render(&self, value: &Value, margin: &str) -> String {
        pretty(value, self.unit).replace('\n', &format!("{}{margin}", self.newline))
    }

    fn replace(&self, object: &Object<'_>, at: usize, value: &Value) -> String {
        let member = &object.properties[at];
        let rendered = match self.indent(member.start()) {
            Some(margin) => self.render(value, margin),
            None => value.to_string(),
        };
        let range = member.value.range();
        format!(
            "{}{rendered}{}",
            &self.text[..range.start],
            &self.text[range.end..]
        )
    }

    /// Adds a member behind the others.
    fn insert(&self, object: &Object<'_>, name: &str, value: &Value) -> String {
        let Some(member) = object.properties.last() else {
            return self.insert_first(object, name, value);
        };
        let name = Value::from(name);
        let after = self.behind(member.end());
        let comma = if after.comma.is_some() { "" } else { "," };
        let trailing = if after.comma.is_some() { "," } else { "" };
        let (end, line_end) = (member.end(), after.line_end);
        let before = format!("{}{comma}{}", &self.text[..end], &self.text[end..line_end]);
        let rest = &self.text[line_end..];
        if let Some(margin) = self.indent(member.start()) {
            let value = self.render(value, margin);
            let newline = self.newline;
            return format!("{before}{newline}{margin}{name}: {value}{trailing}{rest}");
        }
        let gap = &self.text[object.range.start + 1..object.properties[0].start()];
        let gap = if gap.trim().is_empty() { gap } else { "" };
        format!("{before}{gap}{name}:{value}{trailing}{rest}")
    }

    fn insert_first(&self, object: &Object<'_>, name: &str, value: &Value) -> String {
        let name = Value::from(name);
        let inside = inside(object);
        if !self.text.contains('\n') {
            let (before, rest) = self.text.split_at(inside.start);
            return format!("{before}{name}:{value}{rest}");
        }
        let margin = self.margin(object.range.start);
        let within = format!("{margin}{}", self.unit);
        let value = self.render(value, &within);
        // Behind a comment, if one is there.
        let at = inside.start + self.text[inside.clone()].trim_end().len();
        let (before, rest) = self.text.split_at(at);
        let close = if self.text[at..inside.end].contains('\n') {
            String::new()
        } else {
            format!("{}{margin}", self.newline)
        };
        format!(
            "{before}{}{within}{name}: {value}{close}{rest}",
            self.newline
        )
    }

    /// Removes a member, and one comma.
    fn remove(&self, object: &Object<'_>, at: usize) -> String {
        let members = &object.properties;
        let ours = &members[at];
        let cut = |range: Range<usize>| {
            format!("{}{}", &self.text[..range.start], &self.text[range.end..])
        };
        if members.len() == 1 && !self.has_comment(inside(object)) {
            return cut(inside(object));
        }
        let after = self.behind(ours.end());
        if at == 0 {
            // The next one takes its place.
            let end = match (members.get(1), after.comma) {
                (Some(next), _) if !self.has_comment(ours.end()..next.start()) => next.start(),
                (_, Some(comma)) => comma + 1,
                (_, None) => ours.end(),
            };
            return cut(ours.start()..end);
        }
        let end = members[at - 1].end();
        if !self.has_comment(end..ours.start()) {
            return cut(end..ours.end());
        }
        // A comment stands between: the comma before it goes, and the lines of ours.
        let gap = &self.text[end..ours.start()];
        let begin = end + gap.trim_end().len();
        match (self.behind(end).comma, after.comma) {
            (Some(comma), None) => format!(
                "{}{}{}",
                &self.text[..comma],
                &self.text[comma + 1..begin.max(comma + 1)],
                &self.text[ours.end()..]
            ),
            (_, Some(comma)) => cut(begin..comma + 1),
            (None, None) => cut(begin..ours.end()),
        }
    }

    /// Looks at what follows a member that ends at `end`: its comma, and the end of what is said about it in its line.
    fn behind(&self, end: usize) -> Behind {
        let mut behind = Behind {
            comma: None,
            line_end: end,
        };
        let mut at = end;
        let mut in_line = true;
        loop {
            let rest = &self.text[at..];
            let length = if rest.starts_with("//") {
                rest.find(['\r', '\n']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |close| close + 2)
            } else {
                match rest.chars().next() {
                    Some(',') if behind.comma.is_none() => {
                        behind.comma = Some(at);
                        1
                    }
                    Some(white) if white.is_whitespace() => {
                        in_line &= white != '\n';
                        at += white.len_utf8();
                        continue;
                    }
                    _ => return behind,
                }
            };
            at += length;
            if in_line || behind.comma == Some(at - 1) {
                behind.line_end = at;
            }
        }
    }
}

/// What follows a member.
struct Behind {
    comma: Option<usize>,
    line_end: usize,
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(unit.as_bytes()));
    // A value in memory can always be written to memory.
    let _written = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

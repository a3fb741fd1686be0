//! A JSON text as its writer laid it out: where a member goes in, and how it comes out again.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::Ranged;
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// What stands between the braces.
pub(super) fn inside(range: &impl Ranged) -> Range<usize> {
    range.start() + 1..range.end() - 1
}

/// Where an object or a list stands, and each of its members.
pub(super) struct Group {
    whole: Range<usize>,
    members: Vec<Range<usize>>,
}

impl From<&Object<'_>> for Group {
    fn from(object: &Object<'_>) -> Self {
        let members = object.properties.iter();
        Self {
            whole: object.start()..object.end(),
            members: members.map(|each| each.start()..each.end()).collect(),
        }
    }
}

impl From<&Array<'_>> for Group {
    fn from(items: &Array<'_>) -> Self {
        let members = items.elements.iter();
        Self {
            whole: items.start()..items.end(),
            members: members.map(|each| each.start()..each.end()).collect(),
        }
    }
}

impl Group {
    fn inside(&self) -> Range<usize> {
        self.whole.start + 1..self.whole.end - 1
    }
}

/// A text, and how its writer lays it out.
pub(super) struct Page<'a> {
    text: &'a str,
    unit: &'a str,
    newline: &'static str,
}

impl<'a> Page<'a> {
    pub(super) fn new(text: &'a str, top: &Object<'_>) -> Self {
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

    pub(super) fn has_comment(&self, range: Range<usize>) -> bool {
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

    pub(super) fn replace(&self, object: &Object<'_>, at: usize, value: &Value) -> String {
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
    pub(super) fn insert(&self, group: &Group, name: Option<&str>, value: &Value) -> String {
        let (Some(first), Some(member)) = (group.members.first(), group.members.last()) else {
            return self.insert_first(group, name, value);
        };
        let after = self.behind(member.end);
        let comma = if after.comma.is_some() { "" } else { "," };
        let trailing = if after.comma.is_some() { "," } else { "" };
        let (end, line_end) = (member.end, after.line_end);
        let before = format!("{}{comma}{}", &self.text[..end], &self.text[end..line_end]);
        let rest = &self.text[line_end..];
        if let Some(margin) = self.indent(member.start) {
            let lead = lead(name, ": ");
            let value = self.render(value, margin);
            let newline = self.newline;
            return format!("{before}{newline}{margin}{lead}{value}{trailing}{rest}");
        }
        let lead = lead(name, ":");
        let gap = &self.text[group.whole.start + 1..first.start];
        let gap = if gap.trim().is_empty() { gap } else { "" };
        format!("{before}{gap}{lead}{value}{trailing}{rest}")
    }

    fn insert_first(&self, group: &Group, name: Option<&str>, value: &Value) -> String {
        let inside = group.inside();
        if !self.text.contains('\n') {
            let (before, rest) = self.text.split_at(inside.start);
            return format!("{before}{}{value}{rest}", lead(name, ":"));
        }
        let margin = self.margin(group.whole.start);
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
            "{before}{}{within}{}{value}{close}{rest}",
            self.newline,
            lead(name, ": ")
        )
    }

    /// Removes a member, and one comma.
    pub(super) fn remove(&self, group: &Group, at: usize) -> String {
        let members = &group.members;
        let ours = &members[at];
        let cut = |range: Range<usize>| {
            format!("{}{}", &self.text[..range.start], &self.text[range.end..])
        };
        if members.len() == 1 && !self.has_comment(group.inside()) {
            return cut(group.inside());
        }
        let after = self.behind(ours.end);
        if at == 0 {
            // The next one takes its place.
            let end = match (members.get(1), after.comma) {
                (Some(next), _) if !self.has_comment(ours.end..next.start) => next.start,
                (_, Some(comma)) => comma + 1,
                (_, None) => ours.end,
            };
            return cut(ours.start..end);
        }
        let end = members[at - 1].end;
        if !self.has_comment(end..ours.start) {
            return cut(end..ours.end);
        }
        // A comment stands between: the comma before it goes, and the lines of ours.
        let gap = &self.text[end..ours.start];
        let begin = end + gap.trim_end().len();
        match (self.behind(end).comma, after.comma) {
            (Some(comma), None) => format!(
                "{}{}{}",
                &self.text[..comma],
                &self.text[comma + 1..begin.max(comma + 1)],
                &self.text[ours.end..]
            ),
            (_, Some(comma)) => cut(begin..comma + 1),
            (None, None) => cut(begin..ours.end),
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

/// What stands before a value: a member's name, or nothing.
fn lead(name: Option<&str>, colon: &str) -> String {
    name.map_or_else(String::new, |name| format!("{}{colon}", Value::from(name)))
}

/// What follows a member.
struct Behind {
    comma: Option<usize>,
    line_end: usize,
}

pub(super) fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(unit.as_bytes()));
    // A value in memory can always be written to memory.
    let _written = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

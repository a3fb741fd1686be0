//! The entry in a JSON file, which may have comments and trailing commas where a client takes them.

use jsonc_parser::ast::{self, Array, Object};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::Unmergeable;
use super::page::{Page, inside, pretty};

/// Reads a whole file; an empty one is `null`.
pub(super) fn read(text: &str) -> Result<Value, Unmergeable> {
    Ok(parse(text)?.map_or(Value::Null, Value::from))
}

/// Puts a value in at the end of this path; what holds it is made where it is not there.
pub(super) fn put(text: &str, path: &[&str], value: &Value) -> Result<String, Unmergeable> {
    let whole = parse(text)?;
    let Some(top) = object(whole.as_ref(), || Unmergeable::Whole)? else {
        let mut text = text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            // It may be a comment.
            text.push('\n');
        }
        text.push_str(&pretty(&nested(path, value), "  "));
        text.push('\n');
        return Ok(text);
    };
    let page = Page::new(text, top);
    let mut holder = top;
    for (depth, name) in path.iter().enumerate() {
        let below = &path[depth + 1..];
        match last(holder, name) {
            None => return Ok(page.insert(&holder.into(), Some(name), &nested(below, value))),
            Some(at) if below.is_empty() => return Ok(page.replace(holder, at, value)),
            Some(at) => holder = inner(holder, at, name)?,
        }
    }
    Ok(text.to_owned())
}

/// Takes out what stands at the end of this path, and each of its holders from `first` on that held nothing else; `first`
/// counts along the path.
pub(super) fn take(text: &str, path: &[&str], first: usize) -> Result<String, Unmergeable> {
    let whole = parse(text)?;
    let Some(top) = object(whole.as_ref(), || Unmergeable::Whole)? else {
        return Ok(text.to_owned());
    };
    let page = Page::new(text, top);
    let (mut holder, mut cut) = (top, None);
    for (depth, name) in path.iter().enumerate() {
        let Some(at) = last(holder, name) else {
            return Ok(text.to_owned());
        };
        let is_all = holder.properties.len() == 1 && !page.has_comment(inside(holder));
        if cut.is_none() || !is_all || depth <= first {
            cut = Some((holder, at));
        }
        if depth + 1 < path.len() {
            holder = inner(holder, at, name)?;
        }
    }
    Ok(cut.map_or_else(
        || text.to_owned(),
        |(holder, at)| page.remove(&holder.into(), at),
    ))
}

/// Puts an item behind the others of a list in an object at the top; both are made where they are not there.
pub(super) fn append(
    text: &str,
    [container, name]: [&str; 2],
    item: &Value,
) -> Result<String, Unmergeable> {
    let whole = parse(text)?;
    let top = object(whole.as_ref(), || Unmergeable::Whole)?;
    let found = match top {
        Some(top) => list(top, [container, name])?,
        None => None,
    };
    match (top, found) {
        (Some(top), Some(items)) if !items.elements.is_empty() => {
            Ok(Page::new(text, top).insert(&items.into(), None, item))
        }
        _ => put(text, &[container, name], &Value::Array(vec![item.clone()])),
    }
}

/// Takes every item out of a list that is this one, and the list and its holder if they held nothing else.
pub(super) fn pull(
    text: &str,
    [container, name]: [&str; 2],
    item: &Value,
) -> Result<String, Unmergeable> {
    let mut text = text.to_owned();
    loop {
        let whole = parse(&text)?;
        let Some(top) = object(whole.as_ref(), || Unmergeable::Whole)? else {
            return Ok(text);
        };
        let Some(items) = list(top, [container, name])? else {
            return Ok(text);
        };
        let ours = |element: &ast::Value<'_>| Value::from(element.clone()) == *item;
        let Some(at) = items.elements.iter().position(ours) else {
            return Ok(text);
        };
        let page = Page::new(&text, top);
        if items.elements.len() == 1 && !page.has_comment(inside(items)) {
            return take(&text, &[container, name], 0);
        }
        text = page.remove(&items.into(), at);
    }
}

/// Finds a list in an object at the top.
fn list<'a, 'b>(
    top: &'b Object<'a>,
    [container, name]: [&str; 2],
) -> Result<Option<&'b Array<'a>>, Unmergeable> {
    let Some(at) = last(top, container) else {
        return Ok(None);
    };
    let holder = inner(top, at, container)?;
    let Some(at) = last(holder, name) else {
        return Ok(None);
    };
    match &holder.properties[at].value {
        ast::Value::Array(items) => Ok(Some(items)),
        _ => Err(Unmergeable::NoList(format!("{container}.{name}"))),
    }
}

/// A value below the objects that this path names.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(
        value.clone(),
        |value, name| serde_json::json!({ *name: value }),
    )
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
    otherwise: impl Fn() -> Unmergeable,
) -> Result<Option<&'b Object<'a>>, Unmergeable> {
    match value {
        None => Ok(None),
        Some(ast::Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(otherwise()),
    }
}

/// The member at `at`, which has to be an object.
fn inner<'a, 'b>(
    object: &'b Object<'a>,
    at: usize,
    name: &str,
) -> Result<&'b Object<'a>, Unmergeable> {
    // Of two holders with one name, not every reader takes the same.
    let namesakes = object
        .properties
        .iter()
        .filter(|member| member.name.as_str() == name);
    if namesakes.count() > 1 {
        return Err(Unmergeable::Entangled);
    }
    match &object.properties[at].value {
        ast::Value::Object(inner) => Ok(inner),
        _ => Err(Unmergeable::Shape(name.to_owned())),
    }
}

/// Of members with one name the last counts, for every reader.
fn last(object: &Object<'_>, name: &str) -> Option<usize> {
    object
        .properties
        .iter()
        .rposition(|member| member.name.as_str() == name)
}

//! The referee: every frame that a server sends is held against the published schema of its revision.
//!
//! *Conversation*: what one client has asked, and at which revision. An answer is judged by the result that belongs to
//! its request's method, anything else by its own method. A *breach* is a frame that its schema refuses; whoever
//! receives frames panics with it.
//!
//! One thing the schemas get wrong: an error for a message whose id could not be read. JSON-RPC 2.0, which every revision
//! builds on, demands `id: null` there, and so do the conformance suite and clients; the schemas know no such id. So
//! `null` is taken for an id in such an error, and an id that is not there at all is refused.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::frames::{LEGACY, MODERN};

/// Each revision and its schema, oldest first.
static SCHEMAS: LazyLock<[(&str, Value); 5]> = LazyLock::new(|| {
    [
        ("2024-11-05", include_str!("../schemas/2024-11-05.json")),
        ("2025-03-26", include_str!("../schemas/2025-03-26.json")),
        ("2025-06-18", include_str!("../schemas/2025-06-18.json")),
        ("2025-11-25", include_str!("../schemas/2025-11-25.json")),
        ("2026-07-28", include_str!("../schemas/2026-07-28.json")),
    ]
    .map(|(revision, text)| {
        (
            revision,
            serde_json::from_str(text).expect("a schema is JSON"),
        )
    })
});

/// Validators by revision and what they judge, each made when it is first needed.
static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

type Validators = HashMap<(&'static str, String), Arc<Validator>>;

/// Longer lines are not read for what they ask: nobody means them to be answered.
const LONGEST: usize = 20 * 1024 * 1024;

/// What one client has asked.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// What was asked under an id; a client may use one twice.
    asked: HashMap<String, Vec<Asked>>,
    /// What `initialize` negotiated.
    negotiated: Option<&'static str>,
    /// Modern requests were sent.
    modern: bool,
    /// The beginning of a line.
    begun: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    method: String,
    modern: bool,
}

/// What of a client's message matters here. What it holds otherwise may be anything, and not even be readable.
#[derive(Deserialize)]
struct Sent<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Conversation {
    /// Notes what a client writes to its server, however it is cut into pieces.
    pub(crate) fn writes(&mut self, mut bytes: &[u8]) {
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            self.begin(&bytes[..at]);
            let line = std::mem::take(&mut self.begun);
            self.sends(&line);
            bytes = &bytes[at + 1..];
        }
        self.begin(bytes);
    }

    fn begin(&mut self, bytes: &[u8]) {
        if self.begun.len() + bytes.len() <= LONGEST {
            self.begun.extend_from_slice(bytes);
        }
    }

    /// Notes one message, or a batch of them.
    pub(crate) fn sends(&mut self, message: &[u8]) {
        if let Ok(batch) = serde_json::from_slice::<Vec<&RawValue>>(message) {
            for message in batch {
                self.sends(message.get().as_bytes());
            }
        }
        let Ok(sent) = serde_json::from_slice::<Sent<'_>>(message) else {
            return;
        };
        let Some(id) = sent.id else {
            return;
        };
        let params: Value = sent.params.and_then(read).unwrap_or_default();
        let modern = revision_in(&params["_meta"]).is_some();
        self.modern |= modern;
        let method = sent.method.and_then(read).unwrap_or_default();
        let all = self.asked.entry(id.to_string()).or_default();
        let asked = Asked { method, modern };
        if !all.contains(&asked) {
            all.push(asked);
        }
    }

    /// Judges a frame that the server sent.
    pub(crate) fn receives(&mut self, frame: &Value) -> Result<(), String> {
        if let Value::Array(answers) = frame {
            if answers.is_empty() || self.legacy() != "2025-03-26" {
                return Err(format!("no batch belongs here: {}", shown(frame)));
            }
            return answers.iter().try_for_each(|answer| self.receives(answer));
        }
        let breaches = if frame.get("method").is_some() {
            self.message(frame)
        } else if frame.get("result").is_some() {
            self.answer(frame)
        } else {
            self.error(frame)
        };
        breaches.map_err(|why| format!("{why}\nin the frame {}", shown(frame)))
    }

    fn legacy(&self) -> &'static str {
        self.negotiated.unwrap_or(LEGACY)
    }

    fn answer(&mut self, frame: &Value) -> Result<(), String> {
        let asked = self.asked.get(&frame["id"].to_string()).cloned();
        let asked = asked.ok_or("an answer to nothing that was asked")?;
        let at = |asked: &Asked| match frame["result"]["protocolVersion"].as_str() {
            Some(revision) if asked.method == "initialize" => known(revision),
            _ if asked.modern => MODERN,
            _ => self.legacy(),
        };
        let judged = any(asked
            .iter()
            .map(|asked| result(at(asked), &asked.method, frame)));
        if judged.is_ok()
            && let Some(first) = asked.iter().find(|asked| asked.method == "initialize")
        {
            self.negotiated = Some(at(first));
        }
        judged
    }

    fn error(&self, frame: &Value) -> Result<(), String> {
        let asked = self.asked.get(&frame["id"].to_string());
        if let (Some(id), None) = (frame.get("id").filter(|id| !id.is_null()), asked) {
            return Err(format!("an error for {id}, which nobody asked"));
        }
        let mut revisions = BTreeSet::new();
        for asked in asked.into_iter().flatten() {
            revisions.insert(if asked.modern { MODERN } else { self.legacy() });
        }
        if asked.is_none() {
            revisions.insert(self.legacy());
            if self.modern {
                revisions.insert(MODERN);
            }
        }
        any(revisions.into_iter().map(|revision| {
            let mut frame = frame.clone();
            match frame.get("id") {
                None => return Err("an error without an id, which may be null".to_owned()),
                Some(Value::Null) => frame["id"] = json!(0),
                Some(_) => {}
            }
            let special = match frame["error"]["code"].as_i64() {
                Some(-32020) => "HeaderMismatchError",
                Some(-32021) => "MissingRequiredClientCapabilityError",
                Some(-32022) => "UnsupportedProtocolVersionError",
                _ => "",
            };
            let names = [special, "JSONRPCErrorResponse", "JSONRPCError"];
            let name = names
                .into_iter()
                .find(|name| definitions(revision).contains_key(*name));
            let name = name.ok_or("no definition of an error")?;
            judge(revision, name, || reference(name), &frame)
        }))
    }

    /// A notification or a request of the server.
    fn message(&self, frame: &Value) -> Result<(), String> {
        let tagged = frame.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
        let mut revisions = Vec::new();
        if tagged.is_none() && (self.negotiated.is_some() || !self.modern) {
            revisions.push(self.legacy());
        }
        if self.modern {
            revisions.push(MODERN);
        }
        let (all, base) = match frame.get("id") {
            Some(_) => ("ServerRequest", "JSONRPCRequest"),
            None => ("ServerNotification", "JSONRPCNotification"),
        };
        let method = frame["method"].as_str().unwrap_or_default();
        any(revisions.into_iter().map(|revision| {
            let own = by_method(revision, method)
                .filter(|own| members(revision, all).iter().any(|one| one == own))
                .ok_or_else(|| format!("{method} is no {all} of {revision}"))?;
            let schema = || json!({ "allOf": [reference(base), reference(own)] });
            judge(revision, own, schema, frame)
        }))
    }
}

fn read<T: for<'a> Deserialize<'a>>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// The revision that a message's own `_meta` names.
fn revision_in(meta: &Value) -> Option<&str> {
    meta.get("io.modelcontextprotocol/protocolVersion")?
        .as_str()
}

/// Succeeds if one of the judgements does; of failures, the last.
fn any(judgements: impl Iterator<Item = Result<(), String>>) -> Result<(), String> {
    let mut last = Err("no revision fits".to_owned());
    for judgement in judgements {
        last = judgement;
        if last.is_ok() {
            break;
        }
    }
    last
}

/// Judges the answer to `method`.
fn result(revision: &'static str, method: &str, frame: &Value) -> Result<(), String> {
    let request = by_method(revision, method)
        .ok_or_else(|| format!("{method}, which {revision} does not have, was not refused"))?;
    let defined = definitions(revision);
    let own = request.replace("Request", "Result");
    let name = match frame["result"]["resultType"].as_str() {
        Some("input_required") => "InputRequiredResult",
        _ if defined.contains_key(&own) => &own,
        _ => "EmptyResult",
    };
    let bases = ["JSONRPCResultResponse", "JSONRPCResponse"];
    let base = bases.into_iter().find(|base| defined.contains_key(*base));
    let base = base.ok_or("no definition of a response")?;
    let result = json!({ "properties": { "result": reference(name) } });
    let schema = || json!({ "allOf": [reference(base), result] });
    judge(revision, name, schema, frame)
}

/// Validates `frame` by the schema called `name`.
fn judge(
    revision: &'static str,
    name: &str,
    schema: impl FnOnce() -> Value,
    frame: &Value,
) -> Result<(), String> {
    let validator = {
        let mut all = VALIDATORS.lock().unwrap();
        let one = all.entry((revision, name.to_owned()));
        Arc::clone(one.or_insert_with(|| Arc::new(compile(revision, schema()))))
    };
    let mut errors = validator.iter_errors(frame).peekable();
    if errors.peek().is_none() {
        return Ok(());
    }
    let errors =
        errors.map(|error| format!("  at {:?}: {}", error.instance_path(), error.masked()));
    let errors: Vec<String> = errors.collect();
    Err(format!("{revision} {name}:\n{}", errors.join("\n")))
}

/// Compiles a schema together with the definitions that it reaches, and no others: a revision has 150 of them.
fn compile(revision: &'static str, mut schema: Value) -> Validator {
    let (all, mut reached) = (definitions(revision), Map::new());
    let mut wanted = references(&schema);
    while let Some(name) = wanted.pop() {
        if !reached.contains_key(&name) {
            let definition = all.get(&name).expect("a reference resolves");
            wanted.extend(references(definition));
            reached.insert(name, definition.clone());
        }
    }
    schema["$schema"] = document(revision)["$schema"].clone();
    schema["$defs"] = Value::Object(reached.clone());
    // Drafts before 2019 call them so, and references name them by where they are.
    schema["definitions"] = Value::Object(reached);
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .expect("the published schemas compile")
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str);
            let own = own
                .and_then(|own| own.rsplit('/').next())
                .map(str::to_owned);
            own.into_iter()
                .chain(members.values().flat_map(references))
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn known(revision: &str) -> &'static str {
    let all = SCHEMAS.iter().map(|(known, _)| *known);
    all.into_iter()
        .find(|known| *known == revision)
        .expect("a revision that is spoken")
}

fn document(revision: &str) -> &'static Value {
    let found = SCHEMAS.iter().find(|(known, _)| *known == revision);
    &found.expect("a revision that is spoken").1
}

fn definitions(revision: &str) -> &'static Map<String, Value> {
    let document = document(revision);
    let all = document
        .get("$defs")
        .or_else(|| document.get("definitions"));
    all.and_then(Value::as_object)
        .expect("a schema has definitions")
}

/// The definition whose `method` is this one.
fn by_method(revision: &str, method: &str) -> Option<&'static str> {
    definitions(revision)
        .iter()
        .find(|(_, own)| {
            own.pointer("/properties/method/const")
                .is_some_and(|own| own == method)
        })
        .map(|(name, _)| name.as_str())
}

/// What a union is of.
fn members(revision: &str, union: &str) -> Vec<String> {
    definitions(revision)
        .get(union)
        .map(references)
        .unwrap_or_default()
}

/// A frame, short enough to read.
fn shown(frame: &Value) -> String {
    let text = frame.to_string();
    match text.char_indices().nth(4000) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text,
    }
}

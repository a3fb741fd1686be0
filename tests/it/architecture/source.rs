//! Rust text, read well enough: code without comments and literals, string literals, and `crate::` paths.

/// A Rust file, taken apart.
pub(super) struct Source {
    /// The text with comments and the insides of literals blanked; lines stay where they were.
    pub(super) code: String,
    /// The insides of its string literals.
    pub(super) strings: Vec<String>,
}

impl Source {
    pub(super) fn parse(text: &str) -> Self {
        let mut reader = Reader {
            chars: text.chars().collect(),
            at: 0,
            code: String::with_capacity(text.len()),
            strings: Vec::new(),
        };
        reader.read();
        Self {
            code: reader.code,
            strings: reader.strings,
        }
    }

    /// The same without what only tests compile: everything from `#[cfg(test)]` before a module on, since tests stand
    /// last in a file.
    pub(super) fn shipped(text: &str) -> Self {
        let end = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(crate) mod "]
            .iter()
            .filter_map(|mark| text.find(mark))
            .min();
        Self::parse(&text[..end.unwrap_or(text.len())])
    }

    /// The top-level modules it names through `crate::`, in order, with repetitions.
    pub(super) fn crate_paths(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (at, _) in self.code.match_indices("crate::") {
            let before = self.code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let after = self.code[at + "crate::".len()..].trim_start();
            match after.strip_prefix('{') {
                Some(group) => names.extend(group_heads(group)),
                None => names.extend(head(after)),
            }
        }
        names
    }

    /// Whether it names `path` as a whole path or as the beginning of one.
    pub(super) fn names(&self, path: &str) -> bool {
        self.code.match_indices(path).any(|(at, _)| {
            let joins = |c: char| c.is_alphanumeric() || c == '_';
            let begins = !self.code[..at].ends_with(|c| joins(c) || c == ':');
            let ends = !path.ends_with(joins) || !self.code[at + path.len()..].starts_with(joins);
            begins && ends
        })
    }
}

/// The first identifier of each branch of `a::b, c::{d, e}, f}…`.
fn group_heads(group: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let mut depth = 0;
    let mut branch = String::new();
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                heads.extend(head(branch.trim()));
                branch.clear();
                continue;
            }
            _ => {}
        }
        branch.push(c);
    }
    heads.extend(head(branch.trim()));
    heads
}

fn head(path: &str) -> Option<String> {
    let name: String = path
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    code: String,
    strings: Vec<String>,
}

impl Reader {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    /// Skips one character, keeping line breaks.
    fn blank(&mut self) {
        self.code
            .push(if self.peek(0) == '\n' { '\n' } else { ' ' });
        self.at += 1;
    }

    fn keep(&mut self) {
        self.code.push(self.peek(0));
        self.at += 1;
    }

    fn read(&mut self) {
        while self.at < self.chars.len() {
            let in_word = self
                .code
                .chars()
                .next_back()
                .is_some_and(|c| c.is_alphanumeric() || c == '_');
            match (self.peek(0), self.peek(1)) {
                ('/', '/') => {
                    while self.at < self.chars.len() && self.peek(0) != '\n' {
                        self.blank();
                    }
                }
                ('/', '*') => self.block_comment(),
                ('r', '"' | '#') if !in_word => self.raw_string(),
                ('b', 'r') if !in_word && matches!(self.peek(2), '"' | '#') => {
                    self.keep();
                    self.raw_string();
                }
                ('"', _) => self.string(),
                ('\'', '\\') => {
                    self.blank();
                    self.blank();
                    self.blank();
                    while self.at < self.chars.len() && self.peek(0) != '\'' {
                        self.blank();
                    }
                    self.blank();
                }
                ('\'', _) if self.peek(2) == '\'' => (0..3).for_each(|_| self.blank()),
                _ => self.keep(),
            }
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.blank();
                    continue;
                }
            }
            self.blank();
            self.blank();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.keep();
        let mut inside = String::new();
        while self.at < self.chars.len() && self.peek(0) != '"' {
            if self.peek(0) == '\\' {
                inside.push(self.peek(0));
                self.blank();
            }
            inside.push(self.peek(0));
            self.blank();
        }
        self.strings.push(inside);
        self.keep();
    }

    fn raw_string(&mut self) {
        let hashes = self.chars[self.at + 1..]
            .iter()
            .take_while(|c| **c == '#')
            .count();
        if self.peek(1 + hashes) != '"' {
            // A raw identifier.
            self.keep();
            return;
        }
        (0..hashes + 2).for_each(|_| self.blank());
        let mut inside = String::new();
        while self.at < self.chars.len() {
            if self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#') {
                break;
            }
            inside.push(self.peek(0));
            self.blank();
        }
        (0..=hashes).for_each(|_| self.blank());
        self.strings.push(inside);
    }
}

#[test]
fn comments_and_literals_are_not_code() {
    let source = Source::parse(
        "// crate::a\n/* crate::b /* crate::c */ crate::d */ use crate::e;\n\
         let s = \"crate::f \\\" crate::g\"; let r = r#\"crate::h\"#; let c = '\"'; let l: &'static str = \"i\";\n\
         let q = '\\''; crate::j();",
    );
    assert_eq!(source.crate_paths(), ["e", "j"]);
    assert_eq!(source.strings, ["crate::f \\\" crate::g", "crate::h", "i"]);
}

#[test]
fn every_form_of_a_crate_path_is_found() {
    let source = Source::parse(
        "use crate::a::b;\nuse crate::{c, d::{e, f}, g::h as i};\npub(in crate::j) fn k(_: crate::l::M) {}\n\
         my_crate::n(); use crate::{\n    o,\n    p::*,\n};",
    );
    assert_eq!(
        source.crate_paths(),
        ["a", "c", "d", "g", "j", "l", "o", "p"]
    );
}

#[test]
fn names_are_whole_words() {
    let source = Source::parse("use std::fs; my::std::fs2; std::fs_else");
    assert!(source.names("std::fs"));
    assert!(!source.names("std::f"));
    assert!(!source.names("fs"));
}

#[test]
fn what_only_tests_compile_is_not_shipped() {
    let source = Source::shipped("crate::a();\n#[cfg(test)]\nmod tests { crate::b(); }");
    assert_eq!(source.crate_paths(), ["a"]);
}

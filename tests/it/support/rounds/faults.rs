//! Notes are written while the remote, the disk and the processes fail as drawn: after each write its answer is held against
//! what the remote holds at that moment, and in the end everything that was answered is on the remote once.
//!
//! `published` is said only where the remote has the note. Where it has the note and `published` is not said, the way back
//! was cut, or the process that heard it was killed: those are counted, and no other fault excuses one.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::command::hermetic;
use super::super::host::{Host, Manner};
use super::super::random::Random;
use super::super::remote::{REF, Remote, clone_by, share};
use super::super::wait::pause;
use super::super::{BOUND, Client, Repository, checks, wait_for, wait_some};
use super::notes::{counts, sync};

/// What goes wrong with one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// The remote's own hook refuses.
    Reject,
    /// The remote takes so many milliseconds longer.
    Slow(usize),
    /// The remote says nothing, until the call has waited as long as it may.
    Hang,
    /// The remote says nothing, the owner is killed over it, and the remote goes on afterwards.
    HangAndKill,
    /// The host, or what stands before it.
    Host(Manner),
    /// No file of the owner's, and of the gits that it starts, may grow past so many bytes.
    Full(usize),
    /// No object can be written or read: nothing is committed.
    NoObjects,
    /// The repository of the notes is removed.
    Lost,
    /// The owner is killed after so many thousandths of the time that a write takes.
    Kill(usize),
}

impl Fault {
    const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Reject => "reject",
            Self::Slow(_) => "slow",
            Self::Hang => "hang",
            Self::HangAndKill => "hang and kill",
            Self::Host(Manner::CutAfter(_) | Manner::CutBefore) => "cut",
            Self::Host(_) => "refuse",
            Self::Full(_) => "full disk",
            Self::NoObjects => "no objects",
            Self::Lost => "lost",
            Self::Kill(_) => "kill",
        }
    }

    /// Whether the remote may have taken a note of which nobody heard.
    const fn mutes(self) -> bool {
        matches!(
            self,
            Self::HangAndKill | Self::Kill(_) | Self::Host(Manner::CutAfter(_))
        )
    }
}

/// How long a remote that hangs is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as a call waits at most, now and then: 20 seconds each time.
    Full,
    /// Not at all: it hangs until its caller is killed.
    None,
}

/// One clone and those who work in it: whoever owns, and at least one who does not.
struct Clone {
    repository: Repository,
    clients: Vec<Client>,
}

/// A remote behind a host, and two clones.
pub(crate) struct Faults {
    // The host goes before the folder that it serves.
    host: Host,
    remote: Remote,
    clones: Vec<Clone>,
    random: Random,
    patience: Patience,
    typical: Duration,
    /// What was answered, and therefore is there.
    titles: Vec<String>,
    /// What was refused, and therefore is nowhere.
    refused: Vec<String>,
    told: Vec<String>,
    unheard: usize,
}

impl Faults {
    pub(crate) fn open(seed: u64, patience: Patience) -> Self {
        let remote = Remote::new();
        let host = Host::new(remote.base());
        let clones = (0..2).map(|_| Clone::open(&host.url("code.git"))).collect();
        let mut faults = Self {
            host,
            remote,
            clones,
            random: Random::new(seed),
            patience,
            typical: Duration::ZERO,
            titles: Vec::new(),
            refused: Vec::new(),
            told: Vec::new(),
            unheard: 0,
        };
        for number in 0..2 {
            let begun = Instant::now();
            let title = format!("undisturbed{number}");
            let writer = &faults.clones[number].clients[0];
            let answer = writer.tool("majordomus_remember", &json!({ "title": title }));
            faults.typical = faults.typical.max(begun.elapsed());
            assert_eq!(answer["sync"]["status"], "published", "{answer}");
            faults.titles.push(title);
        }
        faults
    }

    /// Writes one note under one fault, and compares what is said with what is.
    #[track_caller]
    pub(crate) fn round(&mut self, number: usize) -> String {
        let fault = self.draw();
        let which = self.random.below(self.clones.len());
        let title = format!("fact{number}");
        self.begin(fault);
        let (owner, writer) = self.clones[which].parties();
        match fault {
            Fault::Full(bytes) => limit(owner, &bytes.to_string()),
            Fault::NoObjects => self.clones[which].block_objects(),
            Fault::Lost => fs::remove_dir_all(self.clones[which].library()).unwrap(),
            _ => {}
        }
        let id = writer.begin_call(
            "majordomus_remember",
            &json!({ "title": title, "body": "because" }),
        );
        match fault {
            Fault::Kill(thousandths) => {
                pause(self.typical * u32::try_from(thousandths).expect("small") / 1000);
                owner.kill();
            }
            Fault::HangAndKill => {
                wait_for("the hook", BOUND, || self.base("reached").exists());
                owner.kill();
                self.release();
            }
            _ => {}
        }
        let answer = writer.answer(&id);
        // The remote as it is when this is answered: only then may it go on.
        let there = self.is_there(&title);
        let status = compare(fault, &title, &answer, there);
        let is_unheard = there && status != "published";
        self.end(fault, owner);
        if fault == Fault::NoObjects {
            self.clones[which].free_objects();
        }
        if checks::failed(&answer) {
            self.refused.push(title);
        } else {
            let found = writer.tool("majordomus_recall", &json!({ "query": title }));
            assert_eq!(
                named(&found, &title),
                1,
                "{fault:?}: answered and not found: {found}"
            );
            self.titles.push(title);
        }
        assert_eq!(writer.inbox().count(&id), 1, "answers to one call");
        self.unheard += usize::from(is_unheard);
        self.clones[which].refill();
        let told = format!("{}: {status}", fault.word());
        self.told.push(told.clone());
        told
    }

    /// With the faults over, one `majordomus sync` in each clone: everything that was answered is on the remote once.
    #[track_caller]
    pub(crate) fn close(self) -> String {
        for clone in &self.clones {
            sync(&clone.repository).unwrap();
        }
        let mut expected: Vec<String> = self
            .titles
            .iter()
            .map(|title| format!("memory: {title}"))
            .collect();
        expected.sort();
        let mut subjects = self.remote.subjects();
        subjects.sort();
        assert_eq!(subjects, expected, "commits on the remote");
        self.remote.git(&["fsck", "--strict"]);
        for clone in &self.clones {
            sync(&clone.repository).unwrap();
            let client = &clone.clients[0];
            let none = client.tool("majordomus_notes", &json!({ "pending": true }));
            assert_eq!(none["unpublished"], 0, "{none}");
            for title in &self.titles {
                let found = client.tool("majordomus_recall", &json!({ "query": title }));
                assert_eq!(named(&found, title), 1, "{title}: {found}");
            }
            for title in &self.refused {
                let found = client.tool("majordomus_recall", &json!({ "query": title }));
                assert_eq!(named(&found, title), 0, "{title}: {found}");
            }
        }
        format!(
            "{}; on the remote unheard: {}",
            counts(self.told.iter().map(String::as_str)),
            self.unheard
        )
    }

    fn draw(&mut self) -> Fault {
        match self.random.below(12) {
            0 => Fault::Nothing,
            1 => Fault::Reject,
            2 => Fault::Slow(200 + self.random.below(1800)),
            3 if self.patience == Patience::Full && self.random.below(2) == 0 => Fault::Hang,
            3 => Fault::HangAndKill,
            4 => Fault::Host(Manner::CutBefore),
            5 => Fault::Host(Manner::CutAfter(self.random.below(100))),
            6 => {
                let all = ["401 Unauthorized", "403 Forbidden", "502 Bad Gateway"];
                Fault::Host(Manner::Refuse(all[self.random.below(all.len())]))
            }
            7 => Fault::Full(0),
            8 => Fault::Full(self.random.below(256 * 1024)),
            9 => Fault::Lost,
            10 => Fault::NoObjects,
            _ => Fault::Kill(self.random.below(1300)),
        }
    }

    fn begin(&self, fault: Fault) {
        match fault {
            Fault::Reject => self.remote.hook("#!/bin/sh\nexit 1\n"),
            Fault::Slow(ms) => {
                let seconds = Duration::from_millis(ms as u64).as_secs_f64();
                self.remote.hook(&format!("#!/bin/sh\nsleep {seconds}\n"));
            }
            Fault::Hang | Fault::HangAndKill => {
                let (reached, hold) = (self.base("reached"), self.base("hold"));
                fs::write(&hold, "").unwrap();
                self.remote.hook(&format!(
                    "#!/bin/sh\n: >'{}'\nwhile [ -e '{}' ]; do sleep 0.02; done\n",
                    reached.display(),
                    hold.display()
                ));
            }
            Fault::Host(manner) => self.host.set(manner),
            _ => {}
        }
    }

    fn end(&self, fault: Fault, owner: &Client) {
        if let Fault::Full(_) = fault {
            limit(owner, "unlimited");
        }
        self.host.set(Manner::Serve);
        self.release();
        drop(fs::remove_file(self.base("reached")));
        drop(fs::remove_file(
            self.remote.path().join("hooks/pre-receive"),
        ));
    }

    fn release(&self) {
        drop(fs::remove_file(self.base("hold")));
    }

    /// Whether the remote's ref has the note now.
    fn is_there(&self, title: &str) -> bool {
        let subject = format!("memory: {title}");
        !self.remote.git(&["for-each-ref", REF]).is_empty()
            && self.remote.subjects().contains(&subject)
    }

    fn base(&self, name: &str) -> PathBuf {
        self.remote.base().join(name)
    }
}

impl Clone {
    fn open(address: &str) -> Self {
        let repository = clone_by(address);
        share(&repository);
        let mut clone = Self {
            repository,
            clients: Vec::new(),
        };
        clone.refill();
        clone
    }

    /// Who owns, and one who does not.
    #[track_caller]
    fn parties(&self) -> (&Client, &Client) {
        let owner = wait_some("an owner among the clients", BOUND, || {
            let pid = self.repository.owner_pid();
            self.clients.iter().find(|one| Some(one.pid()) == pid)
        });
        let writer = self.clients.iter().find(|one| one.pid() != owner.pid());
        (owner, writer.expect("there are two"))
    }

    /// Puts somebody in the place of whoever was killed. Its disk can be filled: a write then fails and kills nobody.
    fn refill(&mut self) {
        self.clients.retain(|client| client.ended().is_none());
        while self.clients.len() < 2 {
            let wrapper = ["sh", "-c", r#"trap "" XFSZ; exec "$@""#, "sh"];
            let client = self
                .repository
                .launch()
                .name("client")
                .wrapped(wrapper.map(Into::into).to_vec())
                .start();
            client.attach();
            self.clients.push(client);
        }
        self.repository.ready();
    }

    /// Puts a file in the place of the objects; root, too, can then write none.
    fn block_objects(&self) {
        let (objects, aside) = (self.library().join("objects"), self.library().join("aside"));
        fs::rename(&objects, aside).unwrap();
        fs::write(objects, "").unwrap();
    }

    fn free_objects(&self) {
        let (objects, aside) = (self.library().join("objects"), self.library().join("aside"));
        fs::remove_file(&objects).unwrap();
        fs::rename(aside, objects).unwrap();
    }

    fn library(&self) -> PathBuf {
        self.repository.root().join(".git/majordomus/memory.git")
    }
}

/// Holds an answer against what the remote held when it came, and returns its word.
#[track_caller]
fn compare(fault: Fault, title: &str, answer: &Value, there: bool) -> String {
    if checks::failed(answer) {
        // Nothing of it is there, which only a disk that takes nothing is a reason for.
        assert!(matches!(fault, Fault::Full(_)), "{fault:?}: {answer}");
        assert!(!there, "refused, and on the remote: {answer}");
        return "refused".to_owned();
    }
    let sync = &answer["result"]["structuredContent"]["sync"];
    let status = sync["status"].as_str().expect("a word").to_owned();
    let is_published = sync["published"] == true;
    assert_eq!(is_published, status == "published", "{answer}");
    if is_published {
        assert!(there, "{title} is said to be published: {fault:?} {answer}");
    } else if there {
        assert!(fault.mutes(), "the team has {title}: {fault:?} {answer}");
    }
    if matches!(fault, Fault::Nothing | Fault::Slow(_) | Fault::Lost) {
        assert!(is_published, "{fault:?}: {answer}");
    }
    status
}

/// Sets how long a file of a process may be, in bytes.
#[track_caller]
fn limit(client: &Client, bytes: &str) {
    let place = std::env::temp_dir();
    let limited = hermetic("prlimit", &place, &place)
        .args(["--pid", &client.pid().to_string()])
        .arg(format!("--fsize={bytes}:"))
        .status();
    assert!(
        limited.is_ok_and(|status| status.success()),
        "prlimit(1) is needed"
    );
}

fn named(found: &Value, title: &str) -> usize {
    let notes = found["notes"].as_array().expect("a list");
    notes.iter().filter(|note| note["title"] == *title).count()
}

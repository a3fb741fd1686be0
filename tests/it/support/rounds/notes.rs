//! kill -9 of the owner in the middle of `majordomus_remember`: its client gets one answer, and the note is there once, on
//! this machine and on the remote.
//!
//! The kill falls at a moment that is drawn: any time from before the call to after its answer, or a step of the write that
//! is waited for, so that each of them is met also on a machine where it is over in a moment.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::random::Random;
use super::super::remote::{REF, Remote};
use super::super::wait::pause;
use super::super::{BOUND, Client, Repository, checks, wait_some};

/// When the owner is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// The call is written to a bridge whose owner is as good as dead.
    Before,
    /// So long after the call.
    After(Duration),
    /// The note is in a file of ours.
    Kept,
    /// It is a commit.
    Committed,
    /// The remote reads it, and has not taken it yet.
    Arriving,
    /// The remote has taken it, and has not said so yet.
    Taken,
}

/// A team with one checkout, kept from round to round.
pub(crate) struct Room {
    remote: Remote,
    repository: Repository,
    random: Random,
    /// How long a write takes that nobody disturbs.
    typical: Duration,
    titles: Vec<String>,
}

/// What one round gave.
#[derive(Debug)]
pub(crate) struct Round {
    /// How far the note had come when the owner was dead.
    pub(crate) reached: &'static str,
    /// What the answer said of the remote.
    pub(crate) status: String,
    /// Whether the dying push left its lock in the remote, where only the remote's owner can remove it.
    pub(crate) remote_locked: bool,
}

impl Room {
    /// Opens a checkout whose notes are shared.
    pub(crate) fn open(seed: u64) -> Self {
        let remote = Remote::new();
        let repository = remote.sharing();
        let mut room = Self {
            remote,
            repository,
            random: Random::new(seed),
            typical: Duration::ZERO,
            titles: Vec::new(),
        };
        let client = room.repository.attached("first");
        for number in 0..3 {
            let title = format!("undisturbed{number}");
            let begun = Instant::now();
            let answer = client.tool("majordomus_remember", &json!({ "title": title }));
            room.typical = room.typical.max(begun.elapsed());
            assert_eq!(answer["sync"]["status"], "published", "{answer}");
            room.titles.push(title);
        }
        leave(&client);
        room
    }

    /// Writes one note, kills the owner over it, and looks at everything that holds notes.
    #[track_caller]
    pub(crate) fn round(&mut self, number: usize) -> Round {
        let title = format!("fact{number}");
        let moment = self.draw();
        let owner = self.repository.attached("owner");
        let writer = self.repository.attached("writer");
        let heir = (self.random.below(2) == 0).then(|| self.repository.attached("heir"));
        let at_owner = Some(owner.pid());
        assert_eq!(self.repository.owner_pid(), at_owner, "who came first owns");

        let before = (self.tip_here(), self.tip_there());
        let begin = || {
            let arguments = json!({ "title": title, "body": "because" });
            writer.begin_call("majordomus_remember", &arguments)
        };
        let id = match moment {
            Moment::Before => {
                owner.signal(nix::sys::signal::Signal::SIGKILL);
                begin()
            }
            Moment::After(time) => {
                let id = begin();
                pause(time);
                id
            }
            Moment::Kept => begun_until(begin, || self.is_kept(&title)),
            Moment::Committed => begun_until(begin, || self.tip_here() != before.0),
            Moment::Arriving | Moment::Taken => {
                begun_until(begin, || self.base("reached").exists())
            }
        };
        owner.signal(nix::sys::signal::Signal::SIGKILL);
        let reached = if writer.inbox().count(&id) > 0 {
            "answered"
        } else if self.tip_there() != before.1 {
            "on the remote"
        } else if self.tip_here() != before.0 {
            "committed"
        } else if self.is_kept(&title) {
            "kept"
        } else {
            "not begun"
        };
        owner.exit();
        self.without_hooks();

        let answer = writer.answer(&id);
        checks::succeeded(&answer);
        let sync = &answer["result"]["structuredContent"]["sync"];
        assert_eq!(sync["published"], sync["status"] == "published", "{answer}");
        if sync["published"] == true {
            assert_eq!(count(&self.remote.subjects(), &title), 1, "{answer}");
        }
        self.titles.push(title);
        let remote_locked = self.publish_the_rest();
        self.check(&writer);
        writer.close();
        writer.exit();
        // Only after the last byte of its output is it clear that no second answer came.
        writer.inbox().close(BOUND);
        assert_eq!(writer.inbox().count(&id), 1, "answers to the call");
        if let Some(heir) = heir {
            leave(&heir);
        }
        Round {
            reached,
            status: sync["status"].as_str().unwrap_or("none").to_owned(),
            remote_locked,
        }
    }

    /// Draws a moment, and puts the hook there that shows it. Every second kill falls anywhere.
    fn draw(&mut self) -> Moment {
        let moment = match self.random.below(10) {
            0 => Moment::Before,
            1 => Moment::Kept,
            2 => Moment::Committed,
            3 => Moment::Arriving,
            4 => Moment::Taken,
            _ => {
                let share = u32::try_from(self.random.below(1300)).expect("small");
                Moment::After(self.typical * share / 1000)
            }
        };
        let (reached, hold) = (self.base("reached"), self.base("hold"));
        let waits = format!(
            "#!/bin/sh\n: >'{}'\nwhile [ -e '{}' ]; do sleep 0.01; done\n",
            reached.display(),
            hold.display()
        );
        match moment {
            Moment::Arriving => {
                fs::write(&hold, "").unwrap();
                self.remote.hook(&waits);
            }
            Moment::Taken => {
                fs::write(&hold, "").unwrap();
                self.remote.hook_named("post-receive", &waits);
            }
            // Some remotes are slow, so that more of the time is the network's.
            Moment::After(_) if self.random.below(3) == 0 => {
                self.remote.hook("#!/bin/sh\nsleep 0.05\n");
            }
            _ => {}
        }
        moment
    }

    fn without_hooks(&self) {
        for name in ["hold", "reached"] {
            drop(fs::remove_file(self.base(name)));
        }
        for name in ["pre-receive", "post-receive"] {
            drop(fs::remove_file(self.remote.path().join("hooks").join(name)));
        }
    }

    /// Sends what is not on the remote, as a person does; whether a lock of the killed push stood in the way there.
    #[track_caller]
    fn publish_the_rest(&self) -> bool {
        let Err(said) = sync(&self.repository) else {
            return false;
        };
        // Here the remote's part of a push dies with ours, as it does on no other machine.
        let lock = self.remote.path().join(format!("{REF}.lock"));
        assert!(lock.exists(), "{said}");
        fs::remove_file(lock).unwrap();
        sync(&self.repository).unwrap();
        true
    }

    /// Every note is a commit here and there, once, and is found once, as one that the team has.
    #[track_caller]
    fn check(&self, client: &Client) {
        let mut expected: Vec<String> = self
            .titles
            .iter()
            .map(|title| format!("memory: {title}"))
            .collect();
        expected.sort();
        let here = self.git(&["log", "--format=%s", REF]);
        let here: Vec<String> = here.lines().map(str::to_owned).collect();
        for (place, mut subjects) in [("here", here), ("on the remote", self.remote.subjects())] {
            subjects.sort();
            assert_eq!(subjects, expected, "commits {place}");
        }
        let title = self.titles.last().expect("one was written");
        let found = client.tool("majordomus_recall", &json!({ "query": title }));
        let notes = found["notes"].as_array().expect("a list");
        let same: Vec<&Value> = notes
            .iter()
            .filter(|note| note["title"] == **title)
            .collect();
        assert_eq!(same.len(), 1, "{found}");
        assert_eq!(same[0]["shared"], true, "{found}");
        assert_eq!(found["unpublished"], 0, "{found}");
    }

    /// Holds both repositories to be sound, and what they hold to be the same.
    #[track_caller]
    pub(crate) fn close(self) {
        self.remote.git(&["fsck", "--strict"]);
        self.git(&["fsck", "--strict"]);
        assert_eq!(self.tip_here(), self.tip_there());
    }

    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        let library = self.library();
        let mut all = vec!["--git-dir", library.to_str().expect("readable")];
        all.extend(arguments);
        self.repository.git(&all)
    }

    fn library(&self) -> PathBuf {
        self.repository.root().join(".git/majordomus/memory.git")
    }

    fn tip_here(&self) -> Option<String> {
        fs::read_to_string(self.library().join(REF)).ok()
    }

    fn tip_there(&self) -> Option<String> {
        fs::read_to_string(self.remote.path().join(REF)).ok()
    }

    /// Whether the file of what was written holds the title, or the log beside it that is written first.
    fn is_kept(&self, title: &str) -> bool {
        let subject = format!("memory: {title}");
        let finder = memchr::memmem::Finder::new(subject.as_bytes());
        let folder = self.repository.root().join(".git/majordomus");
        ["writes.db", "writes.db-wal"].iter().any(|name| {
            fs::read(folder.join(name)).is_ok_and(|bytes| finder.find(&bytes).is_some())
        })
    }

    fn base(&self, name: &str) -> PathBuf {
        self.remote.base().join(name)
    }
}

/// What some rounds came to.
pub(crate) fn summary(rounds: &[Round]) -> String {
    let locked = rounds.iter().filter(|round| round.remote_locked).count();
    format!(
        "at the kill: {}; answered: {}; locks left in the remote: {locked}",
        counts(rounds.iter().map(|round| round.reached)),
        counts(rounds.iter().map(|round| round.status.as_str())),
    )
}

/// How often each word came.
pub(super) fn counts<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut all = BTreeMap::<&str, usize>::new();
    for word in words {
        *all.entry(word).or_default() += 1;
    }
    let each = all.iter().map(|(word, count)| format!("{word} {count}"));
    each.collect::<Vec<_>>().join(", ")
}

/// Sends the call and looks, without a pause, until it has come to where the kill shall fall.
#[track_caller]
fn begun_until(begin: impl Fn() -> Value, reached: impl Fn() -> bool) -> Value {
    let id = begin();
    let begun = Instant::now();
    while !reached() {
        assert!(begun.elapsed() < BOUND, "the write never came so far");
        thread::yield_now();
    }
    id
}

/// Runs `majordomus sync` as a person does, who types it again where the next server is only starting; otherwise what it
/// said where it failed.
#[track_caller]
pub(super) fn sync(repository: &Repository) -> Result<(), String> {
    wait_some("a server that has started", BOUND, || {
        let synced = repository.cli(&["sync"]);
        let said = String::from_utf8_lossy(&synced.stderr).into_owned();
        if synced.status.success() {
            return Some(Ok(()));
        }
        (!said.contains("server is starting")).then_some(Err(said))
    })
}

fn count(subjects: &[String], title: &str) -> usize {
    let subject = format!("memory: {title}");
    subjects.iter().filter(|one| **one == subject).count()
}

/// Lets a client go, and its server end.
pub(super) fn leave(client: &Client) {
    client.close();
    client.exit();
}

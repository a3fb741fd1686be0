//! What hangs, what is killed, what is left.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::http::{Manner, Server};
use super::{Deadline, LONG, Place, Reach, RemoteError, TRACKING, apart};

/// Waits for a condition, with a bound.
#[track_caller]
fn wait_for(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < LONG, "{what} never came");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// Writes a hook of the remote.
fn hook(place: &Place, text: &str) {
    let path = place.at("team.git/hooks/pre-receive");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The process that wrote its id into a file, once it has.
fn pid(path: &Path) -> Option<Pid> {
    let text = fs::read_to_string(path).ok()?;
    text.trim().parse().ok().map(Pid::from_raw)
}

fn is_gone(pid: Pid) -> bool {
    kill(pid, None).is_err()
}

#[test]
fn a_hook_that_sleeps_ends_with_the_call() {
    let place = Place::new();
    let one = place.clone("one");
    let tip = one.write(1);
    hook(&place, "echo $$ >sleeper; exec sleep 600");
    let sleeper = place.at("team.git/sleeper");
    let until = Deadline::after(LONG);
    thread::scope(|scope| {
        scope.spawn(|| {
            wait_for("the hook", || pid(&sleeper).is_some());
            until.call_off();
        });
        assert_eq!(
            one.remote.push(tip, None, &until),
            Err(RemoteError::TimedOut)
        );
    });
    let sleeper = pid(&sleeper).unwrap();
    wait_for("its end", || is_gone(sleeper));
    hook(&place, "exit 0");
    assert_eq!(one.push(tip, None), Ok(()), "the next one is not held up");
}

#[test]
fn a_remote_that_says_nothing_is_left_after_a_silence() {
    let place = Place::new();
    let mut one = place.clone("one");
    let server = Server::new(place.0.path(), Manner::Hang);
    one.point_to(&server.url("team.git"));
    one.remote.silence = Duration::from_millis(300);
    assert_eq!(one.fetch(), Err(RemoteError::TimedOut));
    let until = Deadline::after(Duration::from_millis(300));
    one.remote.silence = LONG;
    assert_eq!(
        one.remote.fetch(Reach::New, &until),
        Err(RemoteError::TimedOut)
    );
    assert!(!server.heads().is_empty(), "it was asked");
}

#[test]
fn who_holds_a_pipe_of_a_git_that_has_ended_holds_up_nobody() {
    let place = Place::new();
    let mut one = place.clone("one");
    let ssh = place.at("ssh");
    let sleeper = place.at("sleeper");
    // It leaves the process group with standard error in its hands, then serves the remote.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -G ] && exit 1\nsetsid sh -c 'echo $$ >{}; exec sleep 600' &\n\
         for last; do :; done\neval \"$last\"\n",
        sleeper.display()
    );
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = ssh.to_str().unwrap();
    place.git(&["-C", "checkout", "config", "core.sshCommand", path]);
    one.point_to(&format!(
        "ssh://host.invalid{}",
        place.at("team.git").display()
    ));
    let tip = one.write(1);
    assert_eq!(one.push(tip, None), Ok(()));
    assert_eq!(place.remote_tip(), tip.to_string());
    wait_for("the sleeper", || pid(&sleeper).is_some());
    let sleeper = pid(&sleeper).unwrap();
    assert!(!is_gone(sleeper), "it was there all the time");
    kill(sleeper, nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn after_kill_9_in_mid_fetch_nothing_runs_and_the_next_fetch_works() {
    let place = Place::new();
    let (one, mut other) = (place.clone("one"), place.clone("other"));
    let tip = one.write(1);
    one.push(tip, None).unwrap();
    let server = Server::new(place.0.path(), Manner::Stall);
    let folder = other.remote.folder.clone();
    let mut child = apart::fetch(&place, &["env"], &folder, &server.url("team.git"))
        .spawn()
        .unwrap();
    let asked = || {
        server
            .heads()
            .iter()
            .filter(|head| head.starts_with("POST"))
            .count()
            > 1
    };
    wait_for("half a pack", asked);
    assert!(apart::alive(&place).len() > 2, "git and its helper run");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("their end", || apart::alive(&place).is_empty());
    // What a kill between a lock and its rename leaves, and half a pack.
    let lock = folder.join(format!("{TRACKING}.lock"));
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    let half = folder.join("objects/pack/tmp_pack_abcdef");
    fs::write(&half, "PACK").unwrap();
    other.point_to(&place.url());
    assert_eq!(other.fetch(), Ok(Some(tip)));
    assert!(!lock.exists() && !half.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_git_that_outlives_its_starter_keeps_others_out_until_it_is_gone() {
    let place = Place::new();
    let one = place.clone("one");
    let server = Server::new(place.0.path(), Manner::Hang);
    let mut child = apart::fetch(
        &place,
        &["env"],
        &one.remote.folder,
        &server.url("team.git"),
    )
    .spawn()
    .unwrap();
    wait_for("its question", || !server.heads().is_empty());
    let short = Deadline::after(Duration::from_millis(200));
    assert_eq!(one.remote.fetch(Reach::New, &short), Err(RemoteError::Lock));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(one.fetch(), Ok(None));
    let gits = apart::alive(&place)
        .iter()
        .filter(|name| name.starts_with("git"))
        .count();
    assert_eq!(gits, 0, "who has the lock is alone");
    wait_for("the end of all", || apart::alive(&place).is_empty());
}

#[test]
fn a_lock_of_another_ref_is_swept_only_when_it_can_be_nobodys() {
    let place = Place::new();
    let one = place.clone("one");
    let folder = &one.remote.folder;
    let (new, old) = (
        folder.join("refs/heads/new.lock"),
        folder.join("refs/heads/old.lock"),
    );
    for path in [&new, &old] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let file = fs::File::options().write(true).open(&old).unwrap();
    file.set_modified(long_ago).unwrap();
    assert_eq!(one.fetch(), Ok(None));
    assert!(new.exists() && !old.exists());
}

#[test]
fn two_never_use_the_network_at_once() {
    let place = Place::new();
    let one = place.clone("one");
    let tip = one.write(1);
    hook(
        &place,
        "mkdir busy 2>/dev/null || echo >>overlaps; sleep 0.05; rmdir busy",
    );
    thread::scope(|scope| {
        for number in 0..6 {
            let mut remote = one.remote.clone();
            remote.reference = format!("refs/majordomus/memory-{number}");
            scope.spawn(move || {
                let until = Deadline::after(LONG);
                assert_eq!(remote.push(tip, None, &until), Ok(()));
            });
        }
    });
    assert!(!place.at("team.git/overlaps").exists());
}

#[test]
fn a_refusal_is_told_in_the_remotes_words_without_its_escapes() {
    let place = Place::new();
    let one = place.clone("one");
    let tip = one.write(1);
    hook(
        &place,
        r"printf 'no \033[31mnotes\033[0m here\033]0;title\007\nask \342\200\256Ann\n' >&2; yes long | head -c 300000 >&2; exit 1",
    );
    let Err(RemoteError::Rejected(words)) = one.push(tip, None) else {
        panic!("it was to be refused");
    };
    assert!(words.starts_with("pre-receive hook declined: "), "{words}");
    assert!(words.contains("long"), "{words}");
    assert!(words.chars().count() <= 600, "{words}");
    hook(
        &place,
        r"printf 'no \033[31mnotes\033[0m here\033]0;title\007\nask \342\200\256Ann\n' >&2; exit 1",
    );
    let Err(RemoteError::Rejected(words)) = one.push(tip, None) else {
        panic!("it was to be refused");
    };
    assert_eq!(
        words,
        "pre-receive hook declined: no [31mnotes[0m here]0;title / ask Ann"
    );
    assert_eq!(place.remote_tip(), "");
}

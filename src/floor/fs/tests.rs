use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::thread;

use nix::sys::stat::Mode;

use super::{Created, FileError, Kind, create_once, make_directory, read_plain, replace, sweep};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_replaced_file_is_private_whole_and_leaves_nothing_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.json");
    replace(&path, b"one").unwrap();
    let written = replace(&path, b"two").unwrap();
    let (bytes, found) = read_plain(&path, 3).unwrap();
    assert_eq!(bytes, b"two");
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert_eq!(found.modified().unwrap(), written.modified().unwrap());
    assert_eq!(names(folder.path()), ["server.json"]);
}

#[test]
fn a_symlink_is_replaced_not_followed_and_a_directory_is_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
    fs::write(&victim, "untouched").unwrap();
    symlink(&victim, &link).unwrap();
    replace(&link, b"new").unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"untouched");
    assert_eq!(read_plain(&link, 9).unwrap().0, b"new");

    let directory = folder.path().join("directory");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("inside"), "kept").unwrap();
    replace(&directory, b"new").unwrap();
    assert_eq!(read_plain(&directory, 9).unwrap().0, b"new");
    let found = names(folder.path());
    let aside = found
        .iter()
        .find(|name| name.starts_with("directory.found-"))
        .unwrap();
    assert_eq!(
        fs::read(folder.path().join(aside).join("inside")).unwrap(),
        b"kept"
    );
}

#[test]
fn only_a_plain_file_within_the_limit_is_read_and_nothing_waits() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(matches!(read_plain(&at("none"), 9), Err(FileError::Absent)));
    assert!(matches!(
        read_plain(&at("none/below"), 9),
        Err(FileError::Absent)
    ));

    fs::write(at("long"), "0123456789").unwrap();
    assert!(matches!(
        read_plain(&at("long"), 9),
        Err(FileError::TooLong { limit: 9 })
    ));
    assert_eq!(read_plain(&at("long"), 10).unwrap().0.len(), 10);

    symlink(at("long"), at("symlink")).unwrap();
    nix::unistd::mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for (name, kind) in [
        ("symlink", Kind::Symlink),
        ("fifo", Kind::Special),
        ("socket", Kind::Special),
        (".", Kind::Directory),
    ] {
        match read_plain(&at(name), 10) {
            Err(FileError::NotAFile(found)) => assert_eq!(found, kind, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn of_racing_creators_one_wins_and_all_read_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let results: Vec<_> = thread::scope(|scope| {
        let creators: Vec<_> = (0..8)
            .map(|number| {
                let path = &path;
                scope.spawn(move || {
                    let created = create_once(path, &[b'a' + number; 64]).unwrap();
                    (created, read_plain(path, 64).unwrap().0)
                })
            })
            .collect();
        creators.into_iter().map(|c| c.join().unwrap()).collect()
    });
    let winners = results.iter().filter(|(c, _)| *c == Created::Now).count();
    assert_eq!(winners, 1);
    assert!(results.iter().all(|(_, bytes)| *bytes == results[0].1));
    assert_eq!(results[0].1.len(), 64);
    assert_eq!(names(folder.path()), ["token"]);
}

#[test]
fn what_a_killed_writer_left_aside_is_swept_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for name in [".server.json.new-00", "server.json", ".server.lock.new-00"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    sweep(&folder.path().join("server.json"));
    assert_eq!(names(folder.path()), [".server.lock.new-00", "server.json"]);
}

#[test]
fn a_folder_is_made_with_its_mode_and_one_that_is_there_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    make_directory(&path, 0o700).unwrap();
    make_directory(&path, 0o755).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(make_directory(&folder.path().join("file"), 0o700).is_err());
}

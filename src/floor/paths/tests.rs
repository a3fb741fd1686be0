use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{Explicit, Site, SiteError};
use crate::floor::git;

fn repository(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let status = git::command(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .args(["init", "--quiet", "--initial-branch=main"])
        .status()
        .unwrap();
    assert!(status.success());
}

fn site(start: &Path) -> Site {
    Site::discover(start, Explicit::No).unwrap().unwrap()
}

#[test]
fn any_folder_of_a_checkout_leads_to_one_site() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("it's \"ž\" top");
    repository(&top);
    fs::create_dir_all(top.join("deep/.ai")).unwrap();
    let link = folder.path().join("link");
    symlink(&top, &link).unwrap();
    let (one, two, three) = (site(&top), site(&top.join("deep")), site(&link));
    assert_eq!(one.root(), top.canonicalize().unwrap());
    assert_eq!(one.name(), "it's \"ž\" top");
    assert_eq!(one.branch().as_deref(), Some("main"));
    for other in [&two, &three] {
        assert_eq!(one.root(), other.root());
        assert_eq!(one.root_id(), other.root_id());
        assert_eq!(one.scope(), other.scope());
    }
    assert_eq!(one.root_id().len(), 32);
    assert_eq!(one.scope().len(), 16);
}

#[test]
fn a_copied_checkout_is_another_one() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir_all(folder.path().join(name).join(".ai")).unwrap();
    }
    let (one, two) = (
        site(&folder.path().join("one")),
        site(&folder.path().join("two")),
    );
    assert_ne!(one.root_id(), two.root_id());
    let moved = folder.path().join("moved");
    fs::rename(folder.path().join("one"), &moved).unwrap();
    assert_ne!(site(&moved).root_id(), one.root_id());
}

#[test]
fn without_git_the_nearest_ai_folder_is_the_root_and_without_both_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    assert!(Site::discover(&deep, Explicit::No).unwrap().is_none());
    let named = Site::discover(&deep, Explicit::Yes).unwrap().unwrap();
    assert_eq!(named.root(), deep.canonicalize().unwrap());
    assert_eq!(fs::read_dir(&deep).unwrap().count(), 0);

    fs::create_dir(folder.path().join("a/.ai")).unwrap();
    for explicit in [Explicit::No, Explicit::Yes] {
        let found = Site::discover(&deep, explicit).unwrap().unwrap();
        assert_eq!(
            found.root(),
            folder.path().join("a").canonicalize().unwrap()
        );
        assert_eq!(found.shared_dir(), found.root().join(".ai/local/state"));
        assert_eq!(found.branch(), None);
    }
}

#[test]
fn a_start_that_is_not_there_is_an_error_only_when_a_person_named_it() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert!(Site::discover(&missing, Explicit::No).unwrap().is_none());
    let error = Site::discover(&missing, Explicit::Yes).unwrap_err();
    assert!(matches!(error, SiteError::Start { .. }), "{error}");
}

#[test]
fn preparing_makes_private_folders_that_git_ignores() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let site = site(folder.path());
    site.prepare().unwrap();
    site.prepare().unwrap();
    for path in [site.state_dir(), site.shared_dir()] {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", path.display());
    }
    assert_eq!(site.shared_dir(), site.root().join(".git/majordomus"));
    let status = git::command(folder.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["status", "--porcelain", "--ignored=no"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "");
}

#[test]
fn a_state_folder_that_leads_out_of_the_checkout_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (top, outside) = (folder.path().join("top"), folder.path().join("outside"));
    fs::create_dir_all(top.join(".ai/elsewhere")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let site = site(&top);
    symlink(&outside, top.join(".ai/local")).unwrap();
    let error = site.prepare().unwrap_err();
    assert_eq!(
        error.to_string(),
        ".ai/local is a symbolic link out of the checkout"
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    fs::remove_file(top.join(".ai/local")).unwrap();
    symlink("elsewhere", top.join(".ai/local")).unwrap();
    site.prepare().unwrap();
}

#[test]
fn a_common_dir_that_cannot_hold_our_folder_is_done_without() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    fs::write(folder.path().join(".git/majordomus"), "in the way").unwrap();
    let site = site(folder.path());
    assert_eq!(site.shared_dir(), site.root().join(".ai/local/state"));

    fs::remove_file(folder.path().join(".git/majordomus")).unwrap();
    let late = self::site(folder.path());
    assert_eq!(late.shared_dir(), late.root().join(".git/majordomus"));
    fs::write(folder.path().join(".git/majordomus"), "in the way").unwrap();
    late.prepare().unwrap();
    assert_eq!(late.shared_dir(), late.root().join(".ai/local/state"));
}

#[test]
fn a_token_that_exists_is_found_wherever_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let site = site(folder.path());
    site.prepare().unwrap();
    let (common, fallback) = (
        site.root().join(".git/majordomus/token"),
        site.root().join(".ai/local/state/token"),
    );
    assert_eq!(site.token(), common);
    fs::write(&fallback, "").unwrap();
    assert_eq!(site.token(), fallback);
    fs::write(&common, "").unwrap();
    assert_eq!(site.token(), common);
    assert_eq!(site.shown(&common), ".git/majordomus/token");
    assert_eq!(site.shown(&fallback), ".ai/local/state/token");
    assert_eq!(site.shown(Path::new("/etc")), "a path outside the checkout");
}

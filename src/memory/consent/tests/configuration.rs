//! What the user's git configuration leads to.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Place, REPO};
use crate::memory::consent::{DEFAULT_REFERENCE, Distrust};

#[test]
fn a_tracked_file_that_the_users_configuration_includes_is_not_the_users() {
    let place = Place::agreed();
    place.git(&["config", "include.path", "../.gitconfig"]);
    let tracked = place.root().join(".gitconfig");
    // A remote of its own.
    fs::write(&tracked, "[remote \"evil\"]\nurl = https://evil.org/a/b\n").unwrap();
    place.given();
    place.says("[memory]\nremote = \"evil.org/a/b\"\n");
    place.trusts("evil.org/a/b", DEFAULT_REFERENCE);
    assert_eq!(place.distrust(), Distrust::NoRemote);
    // The user's remote, led elsewhere.
    place.says("[memory]\nremote = \"github.com/org/repo\"\n");
    place.trusts(REPO, DEFAULT_REFERENCE);
    place.given();
    for key in ["insteadOf", "pushInsteadOf"] {
        let text = format!("[url \"https://evil.org/\"]\n{key} = https://github.com/\n");
        fs::write(&tracked, text).unwrap();
        assert_eq!(place.distrust(), Distrust::Led, "{key}");
    }
    // The same through the user's global configuration.
    place.git(&["config", "--unset", "include.path"]);
    place.given();
    let path = tracked.display().to_string();
    place.git(&["config", "--global", "include.path", &path]);
    assert_eq!(place.distrust(), Distrust::Led);
}

#[test]
fn the_addresses_are_those_that_the_users_git_goes_to() {
    let place = Place::of("gh:org/repo");
    place.says("[memory]\nremote = \"github.com/org/repo\"\n");
    place.trusts(REPO, DEFAULT_REFERENCE);
    assert_eq!(place.distrust(), Distrust::NoRemote);
    place.git(&[
        "config",
        "--global",
        "url.https://github.com/.insteadOf",
        "gh:",
    ]);
    let https = "https://github.com/org/repo";
    assert_eq!(place.given()[..2], [https, https]);
    place.git(&[
        "config",
        "--global",
        "url.git@github.com:.pushInsteadOf",
        "gh:",
    ]);
    let pushed = "git@github.com:org/repo";
    assert_eq!(
        place.given(),
        [https, pushed, "origin", DEFAULT_REFERENCE, "https:ssh"]
    );
    // Git takes the longest prefix.
    place.git(&[
        "config",
        "--global",
        "url.https://github.com/org/.insteadOf",
        "gh:org/",
    ]);
    place.git(&[
        "config",
        "--global",
        "url.https://evil.org/.insteadOf",
        "gh",
    ]);
    place.git(&[
        "config",
        "--global",
        "url.https://second.org/.insteadOf",
        "gh:org/",
    ]);
    assert_eq!(place.given()[0], https);
    assert_eq!(place.asked(&["ls-remote", "--get-url", "origin"]), https);
    let asked = place.asked(&["remote", "get-url", "--push", "origin"]);
    assert_eq!(place.given()[1], asked);
    // A push address of another repository is somebody's fork, and not the team's.
    place.git(&[
        "config",
        "remote.origin.pushurl",
        "https://github.com/fork/repo",
    ]);
    assert_eq!(place.given()[1], pushed);
    let own = "ssh://me@github.com/org/repo";
    place.git(&["config", "remote.origin.pushurl", own]);
    assert_eq!(place.given()[1], own);
}

#[test]
fn a_disk_is_reached_only_where_the_users_own_configuration_leads_there() {
    let place = Place::agreed();
    let disk = place.0.path().join("disk");
    fs::create_dir_all(disk.join("repo.git")).unwrap();
    let lead = |to: &str| {
        place.git(&[
            "config",
            "--global",
            &format!("url.{to}.insteadOf"),
            "https://github.com/org/",
        ]);
    };
    let unlead = || fs::remove_file(place.0.path().join("home/.gitconfig")).unwrap();
    for scheme in ["", "file://"] {
        let to = format!("{scheme}{}/", disk.display());
        lead(&to);
        let url = format!("{to}repo.git");
        assert_eq!(
            place.given(),
            [&url, &url, "origin", DEFAULT_REFERENCE, "file"]
        );
        unlead();
    }
    // A repository that came with the checkout has hooks that somebody else wrote.
    let inside = place.root().join("vendor");
    fs::create_dir_all(inside.join("repo.git")).unwrap();
    symlink(&inside, place.0.path().join("link")).unwrap();
    let outside = place.0.path().display().to_string();
    for to in [
        format!("{}/", inside.display()),
        format!("file://{}/", inside.display()),
        format!("{outside}/disk/../checkout/vendor/"),
        format!("{outside}/link/"),
        "./vendor/".to_owned(),
        "file://host/".to_owned(),
        "ext::sh -c ".to_owned(),
        "git://github.com/".to_owned(),
        "http://github.com/".to_owned(),
        "--upload-pack=evil;".to_owned(),
    ] {
        lead(&to);
        assert_eq!(place.distrust(), Distrust::Led, "{to}");
        unlead();
    }
    lead("http://127.0.0.1:8080/");
    assert_eq!(place.given()[4], "http");
}

#[test]
fn credentials_of_the_users_own_remote_are_not_shown() {
    let place = Place::of("https://me:s3cret@github.com/org/repo.git");
    place.says("[memory]\nremote = \"github.com/org/repo\"\n");
    place.trusts(REPO, DEFAULT_REFERENCE);
    let consent = place.consent();
    let shown = format!("{consent:?} {consent:#?} {consent}");
    assert!(
        shown.contains("origin") && !shown.contains("s3cret"),
        "{shown}"
    );
    assert!(place.given()[0].contains("s3cret"));
}

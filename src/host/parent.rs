//! The end of the process that started this one: a client that is gone although its pipe is not (I11).
//!
//! Some clients die without closing the pipe, because a sibling of theirs holds its other end; servers that waited for
//! the end of the pipe alone were found by the thousand.

use nix::unistd::{Pid, getppid};

/// The parent at the start of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parent(Pid);

impl Parent {
    /// Remembers who started this process.
    pub(super) fn now() -> Self {
        Self(getppid())
    }

    /// Waits until the parent is gone; for ever where it was gone, or init, from the start. Cancel safe.
    pub(super) async fn gone(self) {
        if self.0.as_raw() > 1 {
            self.wait().await;
        } else {
            std::future::pending::<()>().await;
        }
    }

    /// A thread of its own sleeps in the kernel until the parent's handle says that it ended.
    #[cfg(target_os = "linux")]
    async fn wait(self) {
        use std::os::fd::AsFd as _;
        use std::thread;

        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        use tokio::sync::oneshot;

        let raw = Pid::from_raw(self.0.as_raw());
        let handle = raw.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        if getppid() != self.0 {
            return;
        }
        let (tell, told) = oneshot::channel();
        let sleep = move || {
            let Some(handle) = handle else { return };
            let mut end = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
            while let Err(nix::errno::Errno::EINTR) = poll(&mut end, PollTimeout::NONE) {}
            let _nobody = tell.send(());
        };
        let spawned = thread::Builder::new()
            .name("parent".to_owned())
            .spawn(sleep);
        // Without a handle or a thread the end of the pipe has to do.
        if spawned.is_err() || told.await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Elsewhere there is no handle to wait for, and asking costs one system call that touches no disk.
    #[cfg(not(target_os = "linux"))]
    async fn wait(self) {
        while getppid() == self.0 {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        }
    }
}

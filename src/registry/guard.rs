//! Runs a handler so that its panic is an answer and not the end of anything else.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use super::call::{Answer, Call};
use super::capability::{Capability, Handler};
use super::refusal;

/// Runs `call` and answers; a panic becomes [`refusal::PANICKED`] and a line in the log.
///
/// Cancel safety: dropping the future drops the handler's future.
pub(super) async fn run(capability: &Capability, call: Call) -> Answer {
    // A handler shares only what is behind locks or channels of its own; a broken invariant there shows as an error of
    // its own and not as memory that is unsafe.
    let outcome = match &capability.handler {
        Handler::Inline(f) => catch_unwind(AssertUnwindSafe(|| f(&call))),
        Handler::Task(f) => match catch_unwind(AssertUnwindSafe(|| f(call))) {
            Err(panic) => Err(panic),
            Ok(mut future) => {
                poll_fn(|context| {
                    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
                        Ok(Poll::Pending) => Poll::Pending,
                        Ok(Poll::Ready(answer)) => Poll::Ready(Ok(answer)),
                        Err(panic) => Poll::Ready(Err(panic)),
                    }
                })
                .await
            }
        },
    };
    outcome.unwrap_or_else(|panic| {
        tracing::error!(
            capability = capability.id,
            panic = reason(panic.as_ref()),
            "a capability panicked"
        );
        Err(refusal::PANICKED.fill(&[&capability.id]))
    })
}

fn reason(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

//! One client of rmcp, in either era.

use std::path::Path;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest,
    ContentBlock, Implementation, JsonObject, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, ReadResourceRequestParams, ResourceContents, ResourceUpdatedNotificationParam,
    ServerResult, SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, PeerRequestOptions,
    RequestHandle, RunningService, Subscription,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::place::Place;
use crate::{Outcome, expect};

/// How long one answer or one piece of news may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// How a client opens: by the handshake of a legacy revision, by discovery, or by trying discovery first.
#[derive(Debug, Clone)]
pub enum Era {
    Legacy(ProtocolVersion),
    Modern,
    Auto,
}

impl Era {
    pub fn is_modern(&self) -> bool {
        !matches!(self, Self::Legacy(_))
    }

    fn revision(&self) -> ProtocolVersion {
        match self {
            Self::Legacy(revision) => revision.clone(),
            Self::Modern | Self::Auto => ProtocolVersion::V_2026_07_28,
        }
    }

    fn lifecycle(&self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Legacy(_) => ClientLifecycleMode::Initialize,
            Self::Modern => ClientLifecycleMode::Discover { preferred_versions },
            Self::Auto => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: None,
            },
        }
    }
}

/// What a client hears beside answers.
struct Ears {
    config: ClientConfig,
    updates: UnboundedSender<String>,
    progress: UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // Nobody listens when the client is about to be dropped.
        let _ = self.updates.send(params.uri);
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.progress.send(params);
    }
}

pub struct Client {
    pub name: &'static str,
    running: RunningService<RoleClient, Ears>,
    updates: UnboundedReceiver<String>,
    progress: UnboundedReceiver<ProgressNotificationParam>,
    modern: bool,
}

impl Client {
    /// Opens over the pipes of a process of its own, started in `folder`.
    pub async fn stdio(
        name: &'static str,
        era: &Era,
        place: &Place,
        folder: &Path,
    ) -> Outcome<Self> {
        let (ears, ends) = ears(name, era);
        // Without being told here, it lets the process inherit our stderr, whatever the command says.
        let (transport, _) = TokioChildProcess::builder(place.server(folder))
            .stderr(place.log()?)
            .spawn()?;
        let running = ears
            .serve_with_lifecycle(transport, era.lifecycle())
            .await?;
        Self::open(name, era, running, ends)
    }

    /// Opens over HTTP, with the checkout's token.
    pub async fn http(name: &'static str, era: &Era, place: &Place, url: &str) -> Outcome<Self> {
        let (ears, ends) = ears(name, era);
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{url}/mcp"))
            .auth_header(place.token()?);
        let transport = StreamableHttpClientTransport::from_config(config);
        let running = ears
            .serve_with_lifecycle(transport, era.lifecycle())
            .await?;
        Self::open(name, era, running, ends)
    }

    fn open(
        name: &'static str,
        era: &Era,
        running: RunningService<RoleClient, Ears>,
        (updates, progress): Ends,
    ) -> Outcome<Self> {
        let server = running.peer_info().ok_or("no information of the server")?;
        expect(
            server.protocol_version == era.revision(),
            "another revision",
            &server.protocol_version,
        )?;
        // An opening waits 250 ms for an owner; on a busy machine it is answered without one, and says so.
        let told = server.instructions.clone().unwrap_or_default();
        let addressed = told.contains("http://127.0.0.1:") || told.contains("alone for now");
        expect(addressed, "no address in the instructions", &told)?;
        Ok(Self {
            name,
            running,
            updates,
            progress,
            modern: era.is_modern(),
        })
    }

    pub async fn tools(&self) -> Outcome<Vec<String>> {
        let tools = within(self.running.list_all_tools()).await?;
        let mut names: Vec<String> = tools.into_iter().map(|tool| tool.name.into()).collect();
        names.sort();
        Ok(names)
    }

    pub async fn resources(&self) -> Outcome<Vec<String>> {
        let resources = within(self.running.list_all_resources()).await?;
        Ok(resources.into_iter().map(|one| one.uri.clone()).collect())
    }

    pub async fn read(&self, uri: &str) -> Outcome<Value> {
        let read = within(
            self.running
                .read_resource(ReadResourceRequestParams::new(uri)),
        )
        .await?;
        match &read.contents[..] {
            [ResourceContents::TextResourceContents { text, .. }] => {
                Ok(serde_json::from_str(text)?)
            }
            other => Err(format!("not one text: {other:?}").into()),
        }
    }

    pub async fn call(&self, tool: &'static str, arguments: Value) -> Outcome<Value> {
        content(
            tool,
            within(self.running.call_tool(params(tool, arguments)?)).await?,
        )
    }

    /// Begins a call that lasts.
    pub async fn begin(&self, tool: &'static str, arguments: Value) -> Outcome<Begun> {
        let request =
            ClientRequest::CallToolRequest(CallToolRequest::new(params(tool, arguments)?));
        let options = PeerRequestOptions::no_options();
        let handle = within(self.running.send_cancellable_request(request, options)).await?;
        let token = handle.progress_token.clone();
        Ok(Begun {
            tool,
            token,
            handle,
        })
    }

    /// Waits for the next report of a call; nothing if there is none within `patience`.
    pub async fn report(&mut self, of: &ProgressToken, patience: Duration) -> Option<f64> {
        timeout(patience, async {
            loop {
                let report = self.progress.recv().await?;
                if report.progress_token == *of {
                    return Some(report.progress);
                }
            }
        })
        .await
        .ok()
        .flatten()
    }

    #[expect(deprecated, reason = "the legacy revisions know no other way")]
    pub async fn watch(&mut self, uri: &'static str) -> Outcome<Watch> {
        if self.modern {
            let filter = SubscriptionFilter::builder()
                .resource_subscription(uri)
                .build();
            return Ok(Watch::Modern(within(self.running.listen(filter)).await?));
        }
        within(self.running.subscribe(SubscribeRequestParams::new(uri))).await?;
        while self.updates.try_recv().is_ok() {}
        Ok(Watch::Legacy)
    }

    /// Waits for news of what is watched.
    pub async fn news(&mut self, watch: &mut Watch) -> Outcome<()> {
        let told = match watch {
            Watch::Legacy => timeout(PATIENCE, self.updates.recv())
                .await
                .map(|uri| uri.is_some()),
            Watch::Modern(stream) => match timeout(PATIENCE, stream.next()).await {
                Ok(news) => Ok(news?.is_some()),
                Err(late) => Err(late),
            },
        };
        match told {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("{}'s stream has ended", self.name).into()),
            Err(_) => Err(format!("no news for {}", self.name).into()),
        }
    }

    /// Drops the news that came already.
    pub async fn forget(&mut self, watch: &mut Watch) -> Outcome<()> {
        while self.updates.try_recv().is_ok() {}
        if let Watch::Modern(stream) = watch {
            while let Ok(news) = timeout(Duration::from_millis(50), stream.next()).await {
                expect(news?.is_some(), "the stream has ended", &stream.end())?;
            }
        }
        Ok(())
    }

    pub async fn leave(self) -> Outcome<()> {
        within(async { self.running.cancel().await }).await?;
        Ok(())
    }
}

/// How changes of a resource are told.
pub enum Watch {
    Legacy,
    Modern(Subscription),
}

/// A call without its answer yet.
pub struct Begun {
    tool: &'static str,
    pub token: ProgressToken,
    handle: RequestHandle<RoleClient>,
}

impl Begun {
    pub async fn end(self) -> Outcome<Value> {
        match within(self.handle.await_response()).await? {
            ServerResult::CallToolResult(result) => content(self.tool, result),
            other => Err(format!("{}: {other:?}", self.tool).into()),
        }
    }

    pub async fn cancel(self) -> Outcome<()> {
        within(self.handle.cancel(Some("no longer wanted".into()))).await
    }
}

type Ends = (
    UnboundedReceiver<String>,
    UnboundedReceiver<ProgressNotificationParam>,
);

fn ears(name: &'static str, era: &Era) -> (Ears, Ends) {
    let (updates, told) = unbounded_channel();
    let (progress, reports) = unbounded_channel();
    let mut config = ClientConfig::default();
    config.client_info = Implementation::new(name, "1");
    config.protocol_version = era.revision();
    let ears = Ears {
        config,
        updates,
        progress,
    };
    (ears, (told, reports))
}

fn params(tool: &'static str, arguments: Value) -> Outcome<CallToolRequestParams> {
    let arguments: JsonObject = serde_json::from_value(arguments)?;
    Ok(CallToolRequestParams::new(tool).with_arguments(arguments))
}

/// What a tool answered: structured, or for the revisions that know no such thing, as text.
fn content(tool: &str, result: CallToolResult) -> Outcome<Value> {
    expect(result.is_error != Some(true), tool, &result.content)?;
    match (result.structured_content, &result.content[..]) {
        (Some(content), _) => Ok(content),
        (None, [ContentBlock::Text(text)]) => Ok(serde_json::from_str(&text.text)?),
        (None, other) => Err(format!("{tool}: {other:?}").into()),
    }
}

async fn within<T, E>(asked: impl Future<Output = Result<T, E>>) -> Outcome<T>
where
    E: Into<crate::Failure>,
{
    timeout(PATIENCE, asked)
        .await
        .map_err(|_| format!("no answer within {PATIENCE:?}"))?
        .map_err(Into::into)
}

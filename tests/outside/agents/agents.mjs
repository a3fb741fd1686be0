// Six agents: how each is told which model to ask, how a person lets it start a repository's servers, how it is run
// once without a person, and what the server sees of it.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

const PROMPT = "Who else is here?";

/**
 * `peer` is the name under which others see it. `inside`: it reads the repository's configuration from any folder.
 * `ends`: what its servers hear first when its own work is done, a signal or the end of their input.
 * `prepare(home, root, url)` writes what a person would have: the model's address where no variable names it, and the
 * trust in the folder. `health`: the words of the command that starts its servers and tells how they are.
 */
export const AGENTS = {
  claude: {
    peer: "claude-code",
    ends: "SIGINT",
    inside: true,
    prepare(home, root) {
      write(join(home, ".claude.json"), {
        hasCompletedOnboarding: true,
        projects: { [root]: { hasTrustDialogAccepted: true, enabledMcpjsonServers: ["majordomus"] } },
      });
    },
    environment: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Else a model must search for the tools of a server before it is shown them.
      ENABLE_TOOL_SEARCH: "false",
    }),
    run: ["-p", PROMPT, "--allowedTools", "mcp__majordomus"],
    health: ["mcp", "list"],
  },
  codex: {
    peer: "codex-mcp-client",
    ends: "SIGTERM",
    inside: true,
    prepare(home, root, url) {
      write(
        join(home, ".codex/config.toml"),
        `model = "stand-in"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
base_url = "${url}/v1"
[projects."${root}"]
trust_level = "trusted"
`,
      );
    },
    environment: () => ({}),
    run: ["exec", PROMPT],
  },
  gemini: {
    peer: "gemini-cli-mcp-client",
    ends: "SIGTERM",
    prepare(home, root) {
      write(join(home, ".gemini/trustedFolders.json"), { [root]: "TRUST_FOLDER" });
      write(join(home, ".gemini/settings.json"), {
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: "gemini-api-key" } },
      });
    },
    environment: (url) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url }),
    run: ["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", PROMPT],
    health: ["mcp", "list"],
  },
  copilot: {
    peer: "copilot-cli",
    ends: "SIGTERM",
    inside: true,
    prepare(home, root) {
      write(join(home, ".copilot/config.json"), { trustedFolders: [root] });
    },
    environment: (url) => ({
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_MODEL: "stand-in",
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    }),
    run: ["-p", PROMPT, "--allow-tool", "majordomus"],
  },
  opencode: {
    peer: "opencode",
    ends: "end of input",
    inside: true,
    prepare(home, root, url) {
      write(join(home, ".config/opencode/opencode.json"), {
        autoupdate: false,
        model: "stand-in/model",
        provider: {
          "stand-in": {
            npm: "@ai-sdk/openai-compatible",
            options: { apiKey: "none", baseURL: `${url}/v1` },
            models: { model: {} },
          },
        },
      });
    },
    environment: () => ({ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    run: ["run", PROMPT],
    health: ["mcp", "list"],
  },
  qwen: {
    peer: "qwen-cli-mcp-client-majordomus",
    ends: "end of input",
    prepare(home) {
      write(join(home, ".qwen/settings.json"), {
        memory: { enableManagedAutoMemory: false },
        privacy: { usageStatisticsEnabled: false },
        tools: { toolSearch: { enabled: false } },
      });
    },
    environment: (url) => ({
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: "stand-in",
      QWEN_CODE_SUPPRESS_YOLO_WARNING: "1",
    }),
    approve: ["mcp", "approve", "majordomus"],
    run: ["--auth-type", "openai", "--approval-mode", "yolo", PROMPT],
    health: ["mcp", "list"],
  },
};

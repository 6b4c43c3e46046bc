package mcpconfig

import "strings"

// m keeps the order of keys that matter to a reader: there are few enough of them
// that JSON's alphabetical order is as good.
type m = map[string]any

// entry is the form that most clients share.
func entry(s Server, args []string) m { return m{"command": s.Command, "args": args} }

const edits = "The client's own tools for files still read and write outside the sandbox: only commands are confined."

func claudeCode(s Server) Setup {
	server := entry(s, s.in(""))
	server["type"] = "stdio"
	return Setup{
		Steps: []Step{
			{add, ".mcp.json in the project, or the part mcpServers of ~/.claude.json", "json", pretty(m{"mcpServers": m{"qsandbox": server}})},
			{instead, "a terminal", "shell", "claude mcp add-json --scope user qsandbox " + shell(compact(server)) + "\n"},
			{switchOff, "~/.claude/settings.json, or .claude/settings.json in the project", "json",
				pretty(m{"permissions": m{"deny": []string{"Bash", "PowerShell", "Monitor"}, "allow": []string{"mcp__qsandbox"}}})},
		},
		Notes: []string{
			"A denied tool is not offered to the model. Hooks and the line that begins with ! still run outside: they are yours.",
			"The part allow lets the sandboxed tools run without asking each time; leave it out to be asked.",
			edits,
		},
		Source: "https://code.claude.com/docs/en/mcp and https://code.claude.com/docs/en/permissions",
	}
}

func claudeDesktop(s Server) Setup {
	return Setup{
		Steps: []Step{{add, `claude_desktop_config.json: macOS ~/Library/Application Support/Claude, Windows %APPDATA%\Claude; Settings > Developer > Edit Config opens it`, "json",
			pretty(m{"mcpServers": m{"qsandbox": entry(s, s.in(s.Here))}})}},
		Notes: []string{
			"The chat has no shell of its own, so there is nothing to switch off.",
			"WARNING: other servers in the same file that run commands or write files are not confined: look through them. The app's Code part is Claude Code and has a shell: see qsandbox mcp config claude-code.",
			"The app starts servers in no particular directory: the workspace must be named. Quit the app and start it again after the change.",
		},
		Source: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
	}
}

func codex(s Server) Setup {
	var b strings.Builder
	b.WriteString("[mcp_servers.qsandbox]\ncommand = " + toml(s.Command) + "\nargs = [")
	for i, a := range s.in("") {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(toml(a))
	}
	b.WriteString("]\ntool_timeout_sec = 660\n")
	return Setup{
		Steps: []Step{
			{add, "~/.codex/config.toml", "toml", b.String()},
			{switchOff, "~/.codex/config.toml", "toml", "[features]\nshell_tool = false\nunified_exec = false\n"},
		},
		Notes: []string{
			"Both features are ways to run commands, and both must be off. Once the file has a part [features], add the two lines to it.",
			"tool_timeout_sec lets a command take as long as the tool allows; the client's own limit is shorter.",
			"The client's own edits are confined by its own sandbox_mode, not by this one.",
		},
		Source: "https://developers.openai.com/codex/mcp and https://developers.openai.com/codex/config-reference",
	}
}

func cursor(s Server) Setup {
	server := entry(s, s.in("${workspaceFolder}"))
	server["type"] = "stdio"
	return Setup{
		Steps: []Step{
			{add, ".cursor/mcp.json in the project, or ~/.cursor/mcp.json", "json", pretty(m{"mcpServers": m{"qsandbox": server}})},
			{switchOff + " (Cursor CLI alone)", "~/.cursor/cli-config.json, or .cursor/cli.json in the project", "json", pretty(m{"permissions": m{"deny": []string{"Shell(*)"}}})},
		},
		Notes: []string{
			"WARNING: the editor has no setting that takes the terminal away from its agent. Under Settings > Agents > Approvals & Execution choose Allowlist with an empty list, so that each command of its own has to be approved, and refuse them; a rule that asks the model to use the tool Bash is a request and no boundary.",
			edits,
		},
		Source: "https://cursor.com/docs/mcp and https://cursor.com/docs/cli/reference/permissions",
	}
}

func gemini(s Server) Setup {
	server := entry(s, s.in(""))
	server["timeout"] = 660_000
	return Setup{
		Steps: []Step{
			{add, "~/.gemini/settings.json, or .gemini/settings.json in the project", "json", pretty(m{"mcpServers": m{"qsandbox": server}})},
			{switchOff, "the same file", "json", pretty(m{"tools": m{"exclude": []string{"run_shell_command"}}})},
		},
		Notes:  []string{"The line that begins with ! still runs outside: it is yours.", edits},
		Source: "https://geminicli.com/docs/tools/mcp-server and https://geminicli.com/docs/reference/configuration",
	}
}

func vscode(s Server) Setup {
	server := entry(s, s.in("${workspaceFolder}"))
	server["type"] = "stdio"
	named := entry(s, s.in("${workspaceFolder}"))
	named["name"] = "qsandbox"
	return Setup{
		Steps: []Step{
			{add, ".vscode/mcp.json in the project, or the user's mcp.json (command MCP: Open User Configuration)", "json", pretty(m{"servers": m{"qsandbox": server}})},
			{instead, "a terminal", "shell", "code --add-mcp " + shell(compact(named)) + "\n"},
			{switchOff, ".github/agents/sandboxed.agent.md in the project; then choose this agent in the chat", "markdown",
				"---\nname: sandboxed\ndescription: Runs commands in the sandbox only\ntools: ['read', 'edit', 'search', 'qsandbox/*']\n---\nRun commands with the tool Bash of qsandbox.\n"},
		},
		Notes: []string{
			"WARNING: no setting takes the terminal away from every agent. It is off only in an agent whose list of tools leaves out execute (runInTerminal, runTask), or while it is unticked under Configure Tools in the chat; the choice is made anew for each agent.",
			edits,
		},
		Source: "https://code.visualstudio.com/docs/copilot/customization/mcp-servers and https://code.visualstudio.com/docs/copilot/customization/custom-agents",
	}
}

func zed(s Server) Setup {
	return Setup{
		Steps: []Step{
			{add, "settings.json (command zed: open settings file)", "json", pretty(m{"context_servers": m{"qsandbox": entry(s, s.in(s.Here))}})},
			{switchOff, "the same file", "json", pretty(m{"agent": m{"tool_permissions": m{"tools": m{"terminal": m{"default": "deny"}}}}})},
		},
		Notes: []string{
			"This is for Zed's own agent, from version 0.224. An external agent in Zed has its own shell.",
			"The workspace is the one named here for every project: a project's own .zed/settings.json can name another.",
			edits,
		},
		Source: "https://zed.dev/docs/ai/mcp and https://zed.dev/docs/ai/agent-settings",
	}
}

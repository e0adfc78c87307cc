// helix-graph for OpenCode 1: asks `helix-graph hook` at the events of a session, and puts the answers where the model
// reads them. `helix-graph setup opencode` writes this file, and `--remove` takes it away while nobody has changed it.
import { spawn } from "node:child_process"

const PROGRAM = "helix-graph"
// The hook stops by itself long before.
const LIMIT = 5000

function ask(event, payload) {
  return new Promise((answered) => {
    const child = spawn(PROGRAM, ["hook", event], { stdio: ["pipe", "pipe", "ignore"], timeout: LIMIT })
    let said = ""
    child.on("error", () => answered(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (piece) => (said += piece))
    child.on("close", () => {
      try {
        answered(JSON.parse(said).hookSpecificOutput?.additionalContext ?? "")
      } catch {
        answered("") // most events have no answer
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const HelixGraph = async ({ directory }) => {
  // A session's briefing is part of every request, always in the same words, so that the prompt stays in the cache.
  const briefings = new Map()
  const compacted = new Set()
  const about = (session) => ({ session_id: session, cwd: directory })

  return {
    event: async ({ event }) => {
      if (event.type === "session.compacted") {
        briefings.delete(event.properties.sessionID)
        compacted.add(event.properties.sessionID)
      }
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!briefings.has(sessionID)) {
        const source = compacted.delete(sessionID) ? "compact" : "startup"
        briefings.set(sessionID, ask("session-start", { ...about(sessionID), source }))
      }
      const briefing = await briefings.get(sessionID)
      if (briefing) output.system.push(briefing)
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const typed = parts.findLast((part) => part.type === "text" && !part.synthetic)
      if (!typed) return
      const advice = await ask("user-prompt", { ...about(sessionID), prompt: typed.text, prompt_id: message.id })
      if (advice) parts.push({ ...typed, id: `${typed.id}0`, text: advice, synthetic: true })
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      if (tool !== "bash") return
      const response = { output: output.output, exit_code: output.metadata?.exit }
      const met = { ...about(sessionID), tool_name: "Bash", tool_input: args, tool_response: response }
      const precedent = await ask("post-tool", met)
      if (precedent) output.output += `\n\n${precedent}`
    },
  }
}

#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'

// V8 grows the space of new objects from 1 to 16 MB per half under load, and never gives it back. A decision leaves
// almost nothing behind, so a small space is collected as cheaply. It must be said before anything else is loaded. What
// ends soon is quicker without. Threads that help to collect so little cost more than they save.
if (process.argv.includes('serve')) {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--no-parallel-scavenge')
}
// Until the command has been loaded; see `letOptimize`.
setFlagsFromString('--no-opt')

const { runCommandLine } = await import('./cli/run-command-line.js')
const { systemTerminal } = await import('./cli/session/terminal.js')

process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal())

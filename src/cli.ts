#!/usr/bin/env node
/** Oldest supported major release of Node.js, as in `engines` of package.json. */
const MIN_NODE = 22

if (Number.parseInt(process.versions.node, 10) < MIN_NODE) {
  process.stderr.write(
    `tidegate needs Node.js ${MIN_NODE} or later and this is ${process.version}: install Node.js 24 and run the command again\n`,
  )
  process.exitCode = 2
} else {
  // Imported after the check: on an older release, the native parts would crash the process.
  const { runCommandLine } = await import('./cli/run-command-line.js')
  const { systemTerminal } = await import('./cli/session/terminal.js')
  process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal())
}

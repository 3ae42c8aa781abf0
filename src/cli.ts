#!/usr/bin/env node
import { loadBuiltIns } from './lib/threads/load-built-ins.js'
import {
  keepYoungGenerationSmall,
  letYoungGenerationGrowAtOnce,
} from './lib/threads/small-young-generation.js'
import { keepFlag } from './lib/threads/v8-flags.js'

if (process.argv.includes('serve')) {
  await loadBuiltIns()
  keepYoungGenerationSmall()
} else {
  // What ends soon is quicker with much room.
  letYoungGenerationGrowAtOnce()
}
// Until the command has been loaded; see `letOptimizeLate`.
keepFlag('opt', false)

const { runCommandLine } = await import('./cli/run-command-line.js')
const { systemTerminal } = await import('./cli/session/terminal.js')

process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal())

#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'

import {
  keepYoungGenerationSmall,
  letYoungGenerationGrowAtOnce,
} from './lib/threads/small-young-generation.js'

// What ends soon is quicker without.
if (process.argv.includes('serve')) keepYoungGenerationSmall()
else letYoungGenerationGrowAtOnce()
// Until the command has been loaded; see `letOptimizeLate`.
setFlagsFromString('--no-opt')

const { runCommandLine } = await import('./cli/run-command-line.js')
const { systemTerminal } = await import('./cli/session/terminal.js')

process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal())

#!/usr/bin/env node
import { runCommandLine } from './cli/run-command-line.js'
import { systemTerminal } from './cli/terminal.js'

process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal())

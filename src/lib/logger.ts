import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'

import { openLogStream } from './log-stream.js'
import { escapeControls } from './text/shown-text.js'

export type { Logger }

const STANDARD_ERROR = 2

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly format: 'json' | 'text'
}

/** The log of the service: a line of JSON (or of text, for people) per entry, on standard error unless told otherwise. */
export function makeLogger(options: LoggerOptions, destination?: DestinationStream): Logger {
  const stream = destination ?? openLogStream(STANDARD_ERROR)
  const settings = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const toLine = options.format === 'json' ? (line: string) => line : toText
  return pino(settings, { write: (line) => stream.write(escapeControls(toLine(line))) })
}

/** `2026-01-02T03:04:05.678Z info  message key=value`. */
function toText(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
  return `${String(time)} ${String(level).padEnd(5)} ${typeof msg === 'string' ? msg.replaceAll('\n', String.raw`\n`) : ''}${pairs.join('')}\n`
}

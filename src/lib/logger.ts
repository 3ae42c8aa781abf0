import { fstatSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'

import { pino } from 'pino'
import type { DestinationStream, Logger } from 'pino'
import { escapeControls } from './text/shown-text.js'

export type { Logger }

const STANDARD_ERROR = 2

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly format: 'json' | 'text'
}

/**
 * Creates the log of the service: one line of JSON or text per entry, by default on standard error.
 */
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

/** Maximum number of bytes that wait for a pipe. Further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024

/**
 * Opens a log stream to a file descriptor. A full disk, a closed pipe or a pipe that nobody reads
 * loses lines but never delays or ends the process. The number of lost lines is logged with the
 * next line that can be written.
 */
export function openLogStream(fd: number): DestinationStream {
  const isPiped = isPipe(fd)
  return logStream(
    isPiped ? writeToPipe(new Socket({ fd, readable: false, writable: true })) : writeToFile(fd),
  )
}

/** Opens a log stream over a write function. */
export function logStream(write: Write): DestinationStream {
  let leftOut = 0
  return {
    write: (line) => {
      const isWritten = write(leftOut === 0 ? line : `${leftOutNote(leftOut)}${line}`)
      leftOut = isWritten ? 0 : leftOut + 1
    },
  }
}

/** Writes a text. Returns whether it was accepted. */
export type Write = (text: string) => boolean

function writeToFile(fd: number): Write {
  return (text) => {
    try {
      writeSync(fd, text)
      return true
    } catch {
      return false
    }
  }
}

/** Buffers lines that the reader of a pipe has not read, up to a limit. */
export function writeToPipe(socket: Socket): Write {
  // The reader is gone, so the error cannot be reported anywhere.
  socket.on('error', () => socket.destroy())
  return (text) => {
    if (socket.destroyed || socket.writableLength > MAX_WAITING_BYTES) return false
    socket.write(text)
    return true
  }
}

function isPipe(fd: number): boolean {
  try {
    const found = fstatSync(fd)
    return found.isFIFO() || found.isSocket()
  } catch {
    return false
  }
}

function leftOutNote(lines: number): string {
  const msg = 'lines of this log could not be written and were dropped'
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg })}\n`
}

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

/** What a pipe has not taken yet; lines beyond it are left out. */
const MAX_WAITING_BYTES = 1024 * 1024

/**
 * Where the lines of a log go to a file descriptor. A full disk, a pipe that is closed or that nobody reads costs lines, never an answer and never the process; how
 * many is told as soon as one can be written.
 */
export function openLogStream(fd: number): DestinationStream {
  const isPiped = isPipe(fd)
  return logStream(
    isPiped ? writeToPipe(new Socket({ fd, readable: false, writable: true })) : writeToFile(fd),
  )
}

/** The same by a way of writing. */
export function logStream(write: Write): DestinationStream {
  let leftOut = 0
  return {
    write: (line) => {
      const isWritten = write(leftOut === 0 ? line : `${leftOutNote(leftOut)}${line}`)
      leftOut = isWritten ? 0 : leftOut + 1
    },
  }
}

/** Takes text; whether it did. */
export type Write = (text: string) => boolean

/** A file takes its bytes at once, or there is no room for them. */
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

/** The reader of a pipe may take its time: what it has not read waits here, up to a bound. */
export function writeToPipe(socket: Socket): Write {
  // Whoever read it is gone: there is nowhere to tell it.
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
  const msg = 'lines of this log could not be written and were left out'
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg })}\n`
}

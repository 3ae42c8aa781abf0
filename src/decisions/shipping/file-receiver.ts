import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'

import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'
import type { DecisionReceiver } from '../../store/ports/decision-shipping.js'
import type { StoredDecision } from '../../store/ports/decision-store.js'
import type { ShapeDecision } from './shape-event.js'

export interface FileReceiverOptions {
  readonly path: string
  readonly shape: ShapeDecision
  /** The file is rotated before it exceeds this size, in bytes. */
  readonly maxBytes: number
  /** Number of rotated files. `PATH.1` is the newest. */
  readonly files: number
}

const READABLE_BY_OWNER = 0o600
const LINE_END = Buffer.from('\n')

/**
 * Appends decisions to a file, one JSON line each in the format of OPA's decision log events. The
 * file is opened for each batch, so that other programs may also rotate it. A batch is on the disk
 * in whole or not at all, except after a crash.
 */
export class FileReceiver implements DecisionReceiver {
  readonly #options: FileReceiverOptions

  constructor(options: FileReceiverOptions) {
    this.#options = options
  }

  keep(decisions: readonly StoredDecision[]): Promise<void> {
    return new Promise((resolve) => {
      this.#append(decisions)
      resolve()
    })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #append(decisions: readonly StoredDecision[]): void {
    const { path, shape, maxBytes, files } = this.#options
    const events = decisions.flatMap((decision) => shape(decision)?.event ?? [])
    if (events.length === 0) return
    const lines = Buffer.from(events.map((event) => `${event}\n`).join(''))
    if (lines.length > maxBytes && decisions.length > 1)
      throw new AppError('too_large', `${path}: these lines do not fit in one file`)
    try {
      if (!appendIfFits(path, lines, maxBytes)) {
        rotate(path, files)
        appendIfFits(path, lines, Infinity)
      }
    } catch (raw) {
      throw new AppError('unavailable', `append to ${path}: ${toError(raw).message}`, { cause: raw })
    }
  }
}

/** Appends and flushes lines, all or none. Returns false if the file would exceed `maxBytes`. */
function appendIfFits(path: string, lines: Uint8Array, maxBytes: number): boolean {
  const file = openSync(path, 'a+', READABLE_BY_OWNER)
  try {
    const { size } = fstatSync(file)
    if (size > 0 && size + lines.length > maxBytes) return false
    try {
      if (!endsLine(file, size)) writeWhole(file, LINE_END)
      writeWhole(file, lines)
      fsyncSync(file)
    } catch (raw) {
      ftruncateSync(file, size)
      throw raw
    }
    return true
  } finally {
    closeSync(file)
  }
}

/** False after a crash during a write, which leaves a part of a line. */
function endsLine(file: number, size: number): boolean {
  const last = Buffer.alloc(1)
  return size === 0 || readSync(file, last, 0, 1, size - 1) === 0 || last.equals(LINE_END)
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
}

function rotate(path: string, files: number): void {
  for (let number = files; number > 0; number -= 1) {
    renameIfPresent(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`)
  }
}

function renameIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (raw) {
    if (!hasErrorCode(raw, 'ENOENT')) throw raw
  }
}

import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { z } from 'zod'
import { AppError, hasErrorCode, toError } from '../errors/app-error.js'

/** A piece of work by its kind and what tells it from others of the kind. */
export interface NotedWork {
  readonly kind: string
  readonly key: string
}

interface Unfinished extends NotedWork {
  readonly attempts: number
}

/** `[how often it has been begun and did not end, kind, key]`; the last line about a piece of work counts. */
const Line = z.tuple([z.number().int().min(0), z.string(), z.string()])
/** A file that has grown so much is written again. */
const MAX_BYTES = 1024 * 1024

/**
 * Which work was begun and has not ended, in a file that outlives the process. It is not flushed to the disk: what the work ends is
 * the process, and what that has written stays. Beginning and ending take microseconds each. A file that cannot be written costs
 * the note, not the work.
 */
export class WorkJournal {
  readonly #path: string
  readonly #attempts = new Map<string, Unfinished>()
  #file: number | undefined
  #bytes = 0

  /** Raises `unavailable` for a file that cannot be read. */
  constructor(path: string) {
    this.#path = path
    for (const { kind, key, attempts } of readLines(path)) this.#keep({ kind, key }, attempts)
  }

  attempts(work: NotedWork): number {
    return this.#attempts.get(idOf(work))?.attempts ?? 0
  }

  unfinished(): readonly Unfinished[] {
    return [...this.#attempts.values()]
  }

  begin(work: NotedWork): void {
    this.#note(work, this.attempts(work) + 1)
  }

  /** Whether it had been begun. */
  end(work: NotedWork): boolean {
    if (this.attempts(work) === 0) return false
    this.#note(work, 0)
    return true
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #keep(work: NotedWork, attempts: number): void {
    if (attempts === 0) this.#attempts.delete(idOf(work))
    else this.#attempts.set(idOf(work), { ...work, attempts })
  }

  #note(work: NotedWork, attempts: number): void {
    this.#keep(work, attempts)
    try {
      if (this.#file === undefined || this.#bytes > MAX_BYTES) this.#writeAnew()
      else this.#bytes += writeSync(this.#file, lineOf({ ...work, attempts }))
    } catch {
      // Written again with the next note.
      this.close()
    }
  }

  #writeAnew(): void {
    this.close()
    const text = this.unfinished().map(lineOf).join('')
    const written = `${this.#path}.new`
    writeFileSync(written, text, { mode: 0o600 })
    renameSync(written, this.#path)
    this.#file = openSync(this.#path, 'a')
    this.#bytes = Buffer.byteLength(text)
  }
}

function idOf({ kind, key }: NotedWork): string {
  return `${kind} ${key}`
}

function lineOf({ kind, key, attempts }: Unfinished): string {
  return `${JSON.stringify([attempts, kind, key])}\n`
}

/** A line that is cut off, by a full disk for instance, tells nothing. */
function readLines(path: string): Unfinished[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (raw) {
    if (hasErrorCode(raw, 'ENOENT')) return []
    const { message } = toError(raw)
    throw new AppError(
      'unavailable',
      `cannot read ${path}, in which unfinished work is noted (${message}): make it a readable file, or move it away`,
      { cause: raw },
    )
  }
  return text.split('\n').flatMap((line) => {
    const read = Line.safeParse(tryParse(line)).data
    return read === undefined ? [] : [{ attempts: read[0], kind: read[1], key: read[2] }]
  })
}

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

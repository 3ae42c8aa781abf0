import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'

import { AppError, hasErrorCode, toError } from '../errors/app-error.js'
import { z } from 'zod'

/** A piece of work, identified by its kind and a key within the kind. */
export interface NotedWork {
  readonly kind: string
  readonly key: string
}

interface Unfinished extends NotedWork {
  readonly attempts: number
}

/** `[number of unfinished attempts, kind, key]`. The last line about a piece of work counts. */
const Line = z.tuple([z.number().int().min(0), z.string(), z.string()])
/** A larger file is rewritten. */
const MAX_BYTES = 1024 * 1024

/**
 * Unfinished work, in a file that outlives the process. It is not flushed to disk, because written
 * data survives the end of a process. Each update takes microseconds. If the file cannot be
 * written, the note is lost but the work continues.
 */
class WorkJournal {
  readonly #path: string
  readonly #attempts = new Map<string, Unfinished>()
  #file: number | undefined
  #bytes = 0

  /** Throws `unavailable` for an unreadable file. */
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

  /** Returns whether it had been started. */
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
      // The next note rewrites the file.
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

/** A truncated line, for example after a full disk, is ignored. */
function readLines(path: string): Unfinished[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (raw) {
    if (hasErrorCode(raw, 'ENOENT')) return []
    const { message } = toError(raw)
    throw new AppError(
      'unavailable',
      `cannot read ${path}, which records unfinished work (${message}): make it readable, or move it away`,
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

/** Work that is not started again because it has repeatedly ended the process or its thread. */
export interface SuspendedWork extends NotedWork {
  /** A sentence for users. */
  readonly reason: string
}

/** Prevents work that ends the process from ending it at every start. */
export interface WorkAttempts {
  /**
   * Runs a piece of work and records it while it is running. Throws an AppError with the code
   * `WORK_SUSPENDED`, without starting it, if it has ended the process twice. `endsThread`
   * recognizes errors that mean the death of the work's own thread, which count as well.
   */
  readonly run: <Result>(
    work: NotedWork,
    act: () => Promise<Result>,
    endsThread?: (error: unknown) => boolean,
  ) => Promise<Result>
  /** Number of unfinished attempts. */
  readonly unfinished: (work: NotedWork) => number
  readonly suspended: () => readonly SuspendedWork[]
  /** Forgets the attempts of a piece of work. Returns whether there were any. */
  readonly forget: (work: NotedWork) => boolean
}

export const WORK_SUSPENDED = 'work_set_aside'
/** A single end may be accidental. */
const MAX_ATTEMPTS = 2

/** Records running work in a file. */
export class JournaledAttempts implements WorkAttempts {
  readonly #journal: WorkJournal
  /**
   * Work that was running when the process ended is run one at a time, so that the next end
   * identifies its cause.
   */
  #suspects: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#journal = new WorkJournal(path)
  }

  async run<Result>(
    work: NotedWork,
    act: () => Promise<Result>,
    endsThread: (error: unknown) => boolean = () => false,
  ): Promise<Result> {
    const attempts = this.#journal.attempts(work)
    if (attempts >= MAX_ATTEMPTS) {
      throw new AppError('unavailable', reasonOf(attempts), { code: WORK_SUSPENDED })
    }
    if (attempts === 0) return await this.#noted(work, act, endsThread)
    const done = this.#suspects.then(() => this.#noted(work, act, endsThread))
    this.#suspects = done.catch(() => undefined)
    return await done
  }

  unfinished(work: NotedWork): number {
    return this.#journal.attempts(work)
  }

  suspended(): readonly SuspendedWork[] {
    return this.#journal
      .unfinished()
      .filter(({ attempts }) => attempts >= MAX_ATTEMPTS)
      .map(({ kind, key, attempts }) => ({ kind, key, reason: reasonOf(attempts) }))
  }

  forget(work: NotedWork): boolean {
    return this.#journal.end(work)
  }

  close(): void {
    this.#journal.close()
  }

  async #noted<Result>(
    work: NotedWork,
    act: () => Promise<Result>,
    endsThread: (error: unknown) => boolean,
  ): Promise<Result> {
    this.#journal.begin(work)
    let hasEndedThread = false
    try {
      return await act()
    } catch (error) {
      hasEndedThread = endsThread(error)
      throw error
    } finally {
      if (!hasEndedThread) this.#journal.end(work)
    }
  }
}

function reasonOf(attempts: number): string {
  return `the service or the thread of this work ended ${attempts} times while it was running; it is not started again until someone resumes it`
}

export function isSuspended(error: unknown): error is AppError {
  return error instanceof AppError && error.code === WORK_SUSPENDED
}

/** Attempts without a record, for work that ends with its caller. */
export const UNNOTED_ATTEMPTS: WorkAttempts = {
  run: (_, act) => act(),
  unfinished: () => 0,
  suspended: () => [],
  forget: () => false,
}

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { toError } from '../../../errors/app-error.js'
import { findLost } from './kept-files.js'
import type { KeptFile } from './kept-files.js'

export interface WatchedDatabase {
  readonly path: string
  readonly applicationId: number
  /** The database and the files next to it. */
  readonly files: readonly KeptFile[]
  /** Called with the problem when it changes, and with undefined when it is gone. */
  readonly changed: (problem: string | undefined) => void
}

const CHECK_INTERVAL_MS = 1000
/** sqlite.org/fileformat2.html, "The database header". */
const MAGIC = Buffer.from('SQLite format 3\0')
const APPLICATION_ID_OFFSET = 68
const HEADER_BYTES = 100

/** Checks once a second whether an open database is still at its path and has its header. */
export class FileWatch {
  readonly #watched: WatchedDatabase
  readonly #handle: FileHandle
  readonly #timer: NodeJS.Timeout
  #problem: string | undefined
  #overwritten: string | undefined
  #checking: Promise<void> | undefined

  private constructor(watched: WatchedDatabase, handle: FileHandle) {
    this.#watched = watched
    this.#handle = handle
    this.#timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS)
    this.#timer.unref()
  }

  /**
   * Starts the checks. `close` must follow the end of all connections of this process: closing any
   * descriptor of a file drops the process's locks on it (sqlite.org/howtocorrupt.html, 2.2).
   */
  static async open(watched: WatchedDatabase): Promise<FileWatch> {
    return new FileWatch(watched, await open(watched.path, 'r'))
  }

  /** Problem found by the last check. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Problem with the content of the file, which checks of the paths do not find. */
  get overwritten(): string | undefined {
    return this.#overwritten
  }

  /** Checks now, or waits for the running check. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#find()
      .then((problem) => this.#note(problem))
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking
    await this.#handle.close()
  }

  #note(problem: string | undefined): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.#watched.changed(problem)
  }

  async #find(): Promise<string | undefined> {
    const { path, files } = this.#watched
    try {
      this.#overwritten = await this.#findOverwritten()
      return (await findLost(files)) ?? this.#overwritten
    } catch (raw) {
      return `${basename(path)} cannot be checked: ${toError(raw).message}`
    }
  }

  async #findOverwritten(): Promise<string | undefined> {
    const { path, applicationId } = this.#watched
    const header = Buffer.alloc(HEADER_BYTES)
    const { bytesRead } = await this.#handle.read(header, 0, HEADER_BYTES, 0)
    const isSound =
      bytesRead === HEADER_BYTES &&
      header.subarray(0, MAGIC.length).equals(MAGIC) &&
      header.readUInt32BE(APPLICATION_ID_OFFSET) === applicationId
    if (isSound) return undefined
    return `${basename(path)} was overwritten or emptied while it was open, so nothing is written: stop the service and restore a backup`
  }
}

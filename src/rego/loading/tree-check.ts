import { setImmediate } from 'node:timers/promises'
import { toError } from '../../errors/app-error.js'
import { listSourceTree } from '../compile/files/list-source-files.js'
import type { DirectoryWatch } from './directory-watch.js'

/** Shortest time between two checks of all files, in milliseconds. */
const MIN_MS = 2000
/** Largest share of the time spent on checks; large trees are checked less often. */
const PAUSE_FACTOR = 50
/** Directories are often created and removed together. */
const SOON_MS = 20

/**
 * Lists all files of policy directories at intervals and updates the watch. It finds changes that a
 * watch misses: redirected links, a file with the same time as the previous one, and directories
 * that cannot be watched.
 */
export class TreeCheck {
  readonly #directories: readonly string[]
  readonly #watch: Pick<DirectoryWatch, 'cover'>
  readonly #changed: (sinceMs: number) => void
  #known: string
  /** Time of the last listing. */
  #knownSinceMs = performance.now()
  #timer: NodeJS.Timeout | undefined
  #isDueSoon = false
  #isStopped = false
  /** The number of listings started, and the one that the watch covers. */
  #lists = 0
  #covered = 0

  /**
   * `known` is the result of `versionOfTrees` for the loaded files. `changed` gets the time since
   * when a change may exist, as `performance.now` counts.
   */
  constructor(
    directories: readonly string[],
    watch: Pick<DirectoryWatch, 'cover'>,
    known: string,
    changed: (sinceMs: number) => void,
  ) {
    this.#directories = directories
    this.#watch = watch
    this.#known = known
    this.#changed = changed
  }

  /** Checks immediately, then at intervals. Resolves when everything is watched. */
  async start(): Promise<void> {
    if (this.#directories.length > 0) await this.#look()
  }

  /** Treats the current files as known; later differences are changes. */
  async note(): Promise<void> {
    const startedAt = performance.now()
    this.#setKnown(await this.#list(), startedAt)
  }

  /** Checks soon, because files may have been added. */
  lookSoon(): void {
    if (this.#isDueSoon) return
    this.#isDueSoon = true
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#lookIn(SOON_MS)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #lookIn(ms: number): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#look(), ms)
  }

  async #look(): Promise<void> {
    this.#timer = undefined
    this.#isDueSoon = false
    const startedAt = performance.now()
    const before = this.#known
    const version = await this.#list()
    // Changes that the watch reports take precedence over the listing.
    await setImmediate()
    // The caller that noted the files loads them anyway.
    if (before === this.#known) {
      const since = this.#knownSinceMs
      this.#setKnown(version, startedAt)
      if (version !== before && !this.#isStopped) this.#changed(since)
    }
    this.#lookIn(this.#pauseAfter(performance.now() - startedAt))
  }

  #pauseAfter(tookMs: number): number {
    return this.#isDueSoon ? SOON_MS : Math.max(MIN_MS, tookMs * PAUSE_FACTOR)
  }

  #setKnown(version: string, sinceMs: number): void {
    this.#known = version
    this.#knownSinceMs = sinceMs
  }

  /**
   * Returns the version of the files when all are watched. Changes before that were not reported.
   */
  async #list(): Promise<string> {
    for (;;) {
      const list = (this.#lists += 1)
      const { version, watchable } = await listTrees(this.#directories)
      if (watchable === undefined || list < this.#covered) return version
      this.#covered = list
      if (!(await this.#watch.cover(watchable))) return version
    }
  }
}

/** Returns a text that differs when a file changes. */
export async function versionOfTrees(directories: readonly string[]): Promise<string> {
  return (await listTrees(directories)).version
}

/** Returns the files and watchable paths; undefined if a path cannot be listed. */
async function listTrees(
  directories: readonly string[],
): Promise<{ readonly version: string; readonly watchable: readonly string[] | undefined }> {
  const trees = await Promise.all(
    directories.map((directory) =>
      listSourceTree(directory).then(
        ({ sources, watchable }) => {
          const version = sources.map((source) => `${source.file} ${source.version}`).join('\n')
          return { version, watchable }
        },
        (raw: unknown) => ({ version: toError(raw).message, watchable: undefined }),
      ),
    ),
  )
  const listed = trees.flatMap(({ watchable }) => (watchable === undefined ? [] : [watchable]))
  return {
    version: trees.map(({ version }) => version).join('\n'),
    watchable: listed.length === trees.length ? listed.flat() : undefined,
  }
}

import { setImmediate } from 'node:timers/promises'

import { toError } from '../../errors/app-error.js'
import { listSourceTree } from '../compile/files/list-source-files.js'
import type { DirectoryWatch } from './directory-watch.js'

/** The least time between two looks at all files, in milliseconds. */
const LEAST_MS = 2000
/** Looking takes no more than this share of the time: large trees are looked at less often. */
const PAUSE_FACTOR = 50
/** Directories mostly come and go with others. */
const SOON_MS = 20

/**
 * Looks at all files of policy directories from time to time, and has a watch cover what it finds. It finds what the watch does not tell: a link that leads elsewhere
 * now, a file with the time of the one before it, and all of a directory that cannot be watched.
 */
export class TreeCheck {
  readonly #directories: readonly string[]
  readonly #watch: Pick<DirectoryWatch, 'cover'>
  readonly #changed: (sinceMs: number) => void
  #known: string
  /** When what is known was looked for. */
  #knownSinceMs = performance.now()
  #timer: NodeJS.Timeout | undefined
  #isDueSoon = false
  #isStopped = false
  /** How many lists have been begun, and which of them the watch covers. */
  #lists = 0
  #covered = 0

  /**
   * `known` is what `versionOfTrees` gave for the files that were loaded. `changed` is told since when something may have changed, as
   * `performance.now` counts.
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

  /** Looks at once, and from then on again and again. Resolves once all is watched. */
  async start(): Promise<void> {
    if (this.#directories.length > 0) await this.#look()
  }

  /** Takes the files as they are now for known: what changes from here on is a change. */
  async note(): Promise<void> {
    const startedAt = performance.now()
    this.#setKnown(await this.#list(), startedAt)
  }

  /** Looks before long, as there may be other files. */
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
    // What the watch has to tell of what was listed comes first.
    await setImmediate()
    // Whoever noted the files meanwhile loads them anyway.
    if (before === this.#known) {
      const since = this.#knownSinceMs
      this.#setKnown(version, startedAt)
      if (version !== before && !this.#isStopped) this.#changed(since)
    }
    this.#lookIn(this.#pauseAfter(performance.now() - startedAt))
  }

  #pauseAfter(tookMs: number): number {
    return this.#isDueSoon ? SOON_MS : Math.max(LEAST_MS, tookMs * PAUSE_FACTOR)
  }

  #setKnown(version: string, sinceMs: number): void {
    this.#known = version
    this.#knownSinceMs = sinceMs
  }

  /** The version of the files once all of them are watched: what changed before they were has been told by nobody. */
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

/** A text that is another one as soon as a file is. */
export async function versionOfTrees(directories: readonly string[]): Promise<string> {
  return (await listTrees(directories)).version
}

/** With what there is to watch; undefined where not all can be listed. */
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

import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { toError } from '../../errors/app-error.js'
import { versionOfFile } from '../../lib/file-version.js'
import { listSourceTree } from '../compile/files/list-source-files.js'
import { DirectoryWatch } from './directory-watch.js'
import type { Policies } from './policies.js'

/** Interval between checks of removed directories and single files. */
const CHECK_MS = 200

export interface PolicyWatcher {
  close(): Promise<void>
}

/** A state of policy directories and of single files such as bundles. */
export interface NotedFiles {
  readonly trees: string
  /** The versions of single files, by path. */
  readonly files: ReadonlyMap<string, string>
}

export interface WatchOptions {
  /** The files before the served policies were read; differences are changes. */
  readonly noted: NotedFiles
  /** Called with a path that cannot be watched. Its changes are found some seconds later. */
  readonly unwatched: (error: Error) => void
}

/**
 * Returns the state of policy directories and single files: bundles, and the keys that verify them.
 */
export async function noteFiles(
  directories: readonly string[],
  files: readonly string[],
): Promise<NotedFiles> {
  const paths = files.map((file) => resolve(file))
  const versions = await Promise.all(
    paths.map(async (path) => [path, (await versionOfFile(path)) ?? ''] as const),
  )
  return { trees: await versionOfTrees(directories.map((path) => resolve(path))), files: new Map(versions) }
}

/**
 * Reloads the policies when a policy file or a verification key is saved, added or removed, and
 * when a removed directory is back. Resolves when it is watching.
 */
export async function watchPolicies(
  policies: Policies,
  { noted: before, unwatched }: WatchOptions,
): Promise<PolicyWatcher> {
  const { directories } = policies.locations
  const roots = directories.map((path) => resolve(path))
  let noted = Promise.resolve()
  // Files are noted before they are read, so the next check finds later changes.
  const quiet = new QuietTime({
    soon: () => {
      noted = noted.then(() => tree.note()).catch((raw: unknown) => unwatched(toError(raw)))
    },
    now: () => void noted.then(() => policies.reload()),
  })
  const reloadSoon = (): void => quiet.begin()
  const reloadMissed = (): void => {
    // A watch follows the old directory if a directory is replaced, so it is renewed.
    void watch.forget()
    reloadSoon()
  }
  let reportedAt = 0
  const told = (act: () => void) => () => {
    reportedAt = performance.now()
    act()
  }
  const watch = new DirectoryWatch(roots, {
    changed: told(reloadSoon),
    rearranged: told(() => tree.lookSoon()),
    unwatched,
  })
  const tree = new TreeCheck(roots, watch, before.trees, (since) => {
    if (reportedAt < since) reloadMissed()
    else reloadSoon()
  })
  await tree.start()
  const files = new ReplacedFiles(before.files, versionOfFile)
  const links = new ReplacedFiles(new Map(await Promise.all(linksOf(roots).map(versionOfLink))), placeOf)
  const check = setInterval(() => {
    void files.areReplaced().then((are) => {
      if (are) reloadSoon()
    })
    void links.areReplaced().then((are) => {
      if (are) reloadMissed()
    })
  }, CHECK_MS)
  return {
    close: async () => {
      clearInterval(check)
      quiet.end()
      tree.stop()
      await watch.close()
    },
  }
}

/**
 * Returns paths that may change their target: the directories, and the link through which
 * Kubernetes mounts a ConfigMap.
 */
function linksOf(roots: readonly string[]): string[] {
  return roots.flatMap((root) => [root, join(root, '..data')])
}

async function versionOfLink(path: string): Promise<readonly [path: string, place: string | undefined]> {
  return [path, await placeOf(path)]
}

/** Returns the target of a path and its version; undefined if it has none. */
async function placeOf(path: string): Promise<string | undefined> {
  try {
    const [place, { dev, ino }] = await Promise.all([realpath(path), stat(path)])
    return `${place} ${dev}:${ino}`
  } catch {
    return undefined
  }
}

/**
 * Single files and links, which are replaced as a whole. A watch follows the old file and misses
 * the second of two renames.
 */
class ReplacedFiles {
  readonly #versions: Map<string, string | undefined>
  readonly #versionOf: (path: string) => Promise<string | undefined>

  constructor(
    versions: ReadonlyMap<string, string | undefined>,
    versionOf: (path: string) => Promise<string | undefined>,
  ) {
    this.#versions = new Map(versions)
    this.#versionOf = versionOf
  }

  /** True if one of them changed since the last check. A removed one counts when it is back. */
  async areReplaced(): Promise<boolean> {
    let isAny = false
    for (const file of this.#versions.keys()) {
      const version = await this.#versionOf(file)
      // Another check may have finished first.
      if (version === this.#versions.get(file)) continue
      this.#versions.set(file, version)
      if (version !== undefined) isAny = true
    }
    return isAny
  }
}

/** Quiet time after the last change, in milliseconds. Editors save in several steps. */
const QUIET_MS = 60
/** Share of the listing time to wait, for listings that take long. */
const BEGUN_AFTER = 0.25
/** Longest wait in milliseconds, for files that change continually. */
const LONGEST_MS = 400

/** Called after changes have stopped. */
export interface AtRest {
  /** Called shortly before `now`, possibly without a change; more may follow. */
  readonly soon: () => void
  readonly now: () => void
}

/** Waits until no change has arrived for the quiet time, up to the longest wait. */
export class QuietTime {
  readonly #atRest: AtRest
  #timers: readonly NodeJS.Timeout[] = []
  /** Time of the first change that has not been handled. */
  #changedAt: number | undefined

  constructor(atRest: AtRest) {
    this.#atRest = atRest
  }

  /** Reports a change. */
  begin(): void {
    this.end()
    this.#changedAt ??= performance.now()
    const quietMs = Math.max(0, Math.min(QUIET_MS, this.#changedAt + LONGEST_MS - performance.now()))
    const now = (): void => {
      this.#changedAt = undefined
      this.#atRest.now()
    }
    this.#timers = [setTimeout(this.#atRest.soon, quietMs * BEGUN_AFTER), setTimeout(now, quietMs)]
  }

  /** Discards pending changes. */
  end(): void {
    this.#timers.forEach(clearTimeout)
  }
}

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

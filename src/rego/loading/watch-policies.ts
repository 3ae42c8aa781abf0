import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { toError } from '../../errors/app-error.js'
import { versionOfFile } from '../../lib/file-version.js'
import { DirectoryWatch } from './directory-watch.js'
import type { Policies } from './policies.js'
import { TreeCheck, versionOfTrees } from './tree-check.js'

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

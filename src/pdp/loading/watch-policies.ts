import { existsSync, realpathSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'

import { watch } from 'chokidar'

import { toError } from '../../errors/app-error.js'
import { versionOfFile } from '../../lib/file-version.js'
import { isSourceFile } from '../compile/list-source-files.js'
import type { Policies } from './policies.js'
import { TreeCheck, versionOfTrees } from './tree-check.js'

/** Editors save in several steps; a reload waits until the files have been quiet for this long. */
const QUIET_MS = 60
/** How often a directory that was taken away is looked for again, and single files for another version. */
const CHECK_MS = 200

export interface PolicyWatcher {
  close(): Promise<void>
}

/** Directories of policies, and single files such as bundles, as they were at a moment. */
export interface NotedFiles {
  readonly trees: string
  /** The versions of single files, by their paths. */
  readonly files: ReadonlyMap<string, string>
}

export interface WatchOptions {
  /** The files as they were before the policies in service were read: what has changed since then is a change. */
  readonly noted: NotedFiles
  /** Told what cannot be watched; its changes are found nevertheless, some seconds later. */
  readonly unwatched: (error: Error) => void
}

/** Notes directories of policies and single files: bundles, and the keys that verify them. */
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
 * Reloads the policies whenever one of their files is saved, added or removed, or one of the keys that verify them, and when a
 * directory that was taken away is back. Resolves once it is watching.
 */
export async function watchPolicies(
  policies: Policies,
  { noted, unwatched }: WatchOptions,
): Promise<PolicyWatcher> {
  const { directories } = policies.locations
  const roots = directories.map((path) => resolve(path))
  let timer: NodeJS.Timeout | undefined
  const reloadSoon = (): void => {
    clearTimeout(timer)
    // The files are noted before they are read: what is saved from then on is found by the next look.
    timer = setTimeout(() => void tree.note().then(() => policies.reload()), QUIET_MS)
  }
  const tree = new TreeCheck(roots, noted.trees, reloadSoon)
  const missing = new Set<string>()
  const watcher = watch(roots, { ignoreInitial: true, ignored: leadsAbove })
  watcher.on('all', (event, file) => {
    const path = resolve(file)
    if (event.startsWith('unlink') && roots.includes(path)) missing.add(path)
    if (isSourceFile(path) || roots.includes(path)) reloadSoon()
  })
  // A directory that may not be read, a link to itself, too many open files: nothing of it may end the service.
  watcher.on('error', (raw) => unwatched(toError(raw)))
  // Without anything to watch it is never ready, and after some errors neither.
  if (roots.length > 0) {
    await new Promise<void>((ready) => {
      watcher.once('ready', ready)
      watcher.once('error', () => ready())
    })
  }
  tree.start()
  const files = new ReplacedFiles(noted.files)
  const check = setInterval(() => {
    void files.areReplaced().then((are) => {
      if (are) reloadSoon()
    })
    for (const root of [...missing].filter((path) => existsSync(path))) {
      missing.delete(root)
      // A watch ends with what it is on; what has the name now needs its own.
      watcher.unwatch(root)
      watcher.add(root)
      reloadSoon()
    }
  }, CHECK_MS)
  return {
    close: async () => {
      clearInterval(check)
      clearTimeout(timer)
      tree.stop()
      await watcher.close()
    },
  }
}

/** Whether a path is, by links, one of the directories above it: following it would never end. */
function leadsAbove(path: string, stats?: Stats): boolean {
  if (stats?.isDirectory() !== true) return false
  try {
    const real = realpathSync(path)
    for (
      let [below, above] = [path, dirname(path)];
      above !== below;
      [below, above] = [above, dirname(above)]
    ) {
      if (realpathSync(above) === real) return true
    }
    return false
  } catch {
    // What is gone meanwhile, or may not be read, is told by the one who watches it.
    return false
  }
}

/** Single files, which are replaced as a whole: a watch is on what had the name, and misses the second of two renames. */
class ReplacedFiles {
  readonly #versions: Map<string, string>

  constructor(versions: ReadonlyMap<string, string>) {
    this.#versions = new Map(versions)
  }

  /** Whether one of them is another than it was at the last look; one that is gone is none until it is back. */
  async areReplaced(): Promise<boolean> {
    let isAny = false
    for (const [file, known] of this.#versions) {
      const version = await versionOfFile(file)
      if (version === undefined || version === known) continue
      this.#versions.set(file, version)
      isAny = true
    }
    return isAny
  }
}

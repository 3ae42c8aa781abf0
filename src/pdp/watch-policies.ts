import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

import { watch } from 'chokidar'

import { isSourceFile } from './compile/collect-sources.js'
import type { Policies } from './policies.js'

/** Editors save in several steps; a reload waits until the files have been quiet for this long. */
const QUIET_MS = 60
/** How often a directory that was taken away is looked for again. */
const RETURN_CHECK_MS = 200

export interface PolicyWatcher {
  close(): Promise<void>
}

/**
 * Reloads the policies whenever one of their files is saved, added or removed, and when a directory that was taken away
 * is back. Resolves once it is watching.
 */
export async function watchPolicies(policies: Policies): Promise<PolicyWatcher> {
  const { directories, bundles } = policies.locations
  const roots = [...directories, ...bundles].map((path) => resolve(path))
  let timer: NodeJS.Timeout | undefined
  const reloadSoon = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => void policies.reload(), QUIET_MS)
  }
  const missing = new Set<string>()
  const watcher = watch(roots, { ignoreInitial: true })
  watcher.on('all', (event, file) => {
    const path = resolve(file)
    if (event.startsWith('unlink') && roots.includes(path)) missing.add(path)
    if (isSourceFile(path) || roots.includes(path)) reloadSoon()
  })
  await new Promise<void>((ready) => watcher.once('ready', ready))
  const returnCheck = setInterval(() => {
    for (const root of [...missing].filter((path) => existsSync(path))) {
      missing.delete(root)
      // A watch ends with what it is on; what has the name now needs its own.
      watcher.unwatch(root)
      watcher.add(root)
      reloadSoon()
    }
  }, RETURN_CHECK_MS)
  return {
    close: async () => {
      clearInterval(returnCheck)
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

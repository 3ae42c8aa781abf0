import { watch } from 'chokidar'

import { isSourceFile } from './compile/collect-sources.js'
import type { Policies } from './policies.js'

/** Editors save in several steps; a reload waits until the files have been quiet for this long. */
const QUIET_MS = 60

export interface PolicyWatcher {
  close(): Promise<void>
}

/** Reloads the policies whenever one of their files is saved, added or removed. Resolves once it is watching. */
export async function watchPolicies(policies: Policies): Promise<PolicyWatcher> {
  const { directories, bundles } = policies.locations
  let timer: NodeJS.Timeout | undefined
  const watcher = watch([...directories, ...bundles], { ignoreInitial: true })
  watcher.on('all', (_event, file) => {
    if (!isSourceFile(file) && !bundles.includes(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => void policies.reload(), QUIET_MS)
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  return {
    close: async () => {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}

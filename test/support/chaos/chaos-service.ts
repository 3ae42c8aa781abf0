import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { startReceiver } from '../callback-receiver.js'
import type { CallbackReceiver } from '../callback-receiver.js'
import { FILE_ANALYSIS } from '../file-analysis.js'
import { PROGRAM, PROJECT_ROOT } from '../project-root.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import type { Workspace } from '../workspace.js'

/** Longer than any run of a program: its first interval never comes. */
const DEFINITION = { ...FILE_ANALYSIS, lifetimeMinutes: 600 }

/**
 * A service with everything that mixed writes need, which can be started again and again over the
 * same data.
 */
interface ChaosService {
  readonly start: () => Promise<TidegateProcess>
  readonly receiver: CallbackReceiver
  readonly dataDir: string
  readonly remove: () => Promise<void>
}

/** Writes the files for mixed writes into a workspace and returns the configuration. */
export function configureMixedWrites(workspace: Workspace) {
  workspace.write({ 'definitions/shop.json': JSON.stringify(DEFINITION) })
  return {
    callbacks: { allowLoopback: true, firstRetrySeconds: 1 },
    gates: { definitions: [{ id: 7, name: 'Release', application: 'shop' }] },
    analysis: {
      sources: [{ name: 'files', type: 'file', directory: workspace.path }],
      definitions: join(workspace.path, 'definitions'),
    },
  }
}

/**
 * Compiles the shipped policies once, so that a start takes as little as it can; returns the path
 * of the bundle.
 */
export function writeBundle(workspace: Workspace): string {
  const bundle = join(workspace.path, 'bundle.tar.gz')
  execFileSync(process.execPath, [PROGRAM, 'build', join(PROJECT_ROOT, 'policies'), '-o', bundle], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return bundle
}

/** A service that is not started yet. */
export async function makeChaosService(): Promise<ChaosService> {
  const receiver = await startReceiver()
  const workspace = makeWorkspace()
  const config = { ...configureMixedWrites(workspace), policies: { bundles: [writeBundle(workspace)] } }
  return {
    start: () => startTidegate({ workspace, directories: [], config }),
    receiver,
    dataDir: join(workspace.path, 'data'),
    remove: async () => {
      await receiver.close()
      workspace.remove()
    },
  }
}

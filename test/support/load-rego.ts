import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inTemporaryDirectory } from '../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../src/pdp/builtins/index.js'
import { loadSnapshot } from '../../src/pdp/loading/load-snapshot.js'
import { findOpa } from '../../src/pdp/opa/find-opa.js'
import type { Snapshot } from '../../src/pdp/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from './default-limits.js'

/** Compiles and loads policies that are given as texts by their file names. */
export async function loadRego(
  files: Readonly<Record<string, string>>,
  limits = DEFAULT_LIMITS,
): Promise<Snapshot> {
  return await inTemporaryDirectory(async (directory) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
    return await loadSnapshot(
      { directories: [directory], bundles: [] },
      { findOpa: () => findOpa({ env: process.env }), builtins: hostBuiltins, limits },
    )
  })
}

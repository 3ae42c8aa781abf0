import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { inTemporaryDirectory } from '../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../src/rego/builtins/index.js'
import type { BuildOptions } from '../../src/rego/compile/build-module.js'
import { loadSnapshot } from '../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../src/rego/opa/find-opa.js'
import type { Snapshot } from '../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from './default-limits.js'

/** Policies and data, by file name, compiled by the real OPA and loaded as the service does. */
export async function loadPolicies(
  files: Readonly<Record<string, string>>,
  limits = DEFAULT_LIMITS,
  compiling: Partial<BuildOptions> = {},
): Promise<Snapshot> {
  return await inTemporaryDirectory(async (directory) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    const options = {
      findOpa: () => findOpa({ env: process.env }),
      builtins: hostBuiltins,
      limits,
      ...compiling,
    }
    return await loadSnapshot({ directories: [directory], bundles: [] }, options)
  })
}

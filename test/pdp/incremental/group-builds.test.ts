import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { GroupBuilds } from '../../../src/pdp/incremental/group-builds.js'
import { outlineModule } from '../../../src/pdp/lint/outline-module.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

/** The first that is started goes on for long; each later one dies at once. */
const OPA = `#!/bin/sh
cd "$(dirname "$0")"
echo $$ >> started
mkdir first 2>/dev/null && exec sleep 60
kill -9 $$
`

test.skipIf(availableParallelism() < 2)('once one group fails, the compilers of the others end', async () => {
  const workspace = makeWorkspace({ opa: OPA })
  onTestFinished(workspace.remove)
  const path = join(workspace.path, 'opa')
  chmodSync(path, 0o755)
  const groups = Array.from({ length: availableParallelism() + 2 }, (_, place) => {
    const module = outlineModule({ file: `p${place}.rego`, text: `package p${place}\nq := 1\n` })
    const modules = module === undefined ? [] : [module]
    return { now: modules, compiled: modules }
  })

  await expect(new GroupBuilds().build({ path, source: 'PATH' }, groups, false)).rejects.toThrow(AppError)

  const started = readFileSync(join(workspace.path, 'started'), 'utf8').trim().split('\n').map(Number)
  const running = (): number[] => started.filter((pid) => existsSync(`/proc/${pid}`))
  await waitUntil(
    () => running().length === 0 || undefined,
    () => `still running: ${running().join(' ')}`,
  )
})

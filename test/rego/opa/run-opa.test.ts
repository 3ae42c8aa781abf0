import { chmodSync } from 'node:fs'
import type * as os from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test, vi } from 'vitest'

import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { makeWorkspace } from '../../support/workspace.js'

vi.mock('node:os', async (original) => ({ ...(await original<typeof os>()), getPriority: () => 4 }))

test.skipIf(process.platform === 'win32')(
  'opa steps back behind a service that has itself stepped back',
  async () => {
    // Its priority is set before its input ends.
    const { path, remove } = makeWorkspace({ opa: '#!/bin/sh\ncat > /dev/null\nnice\n' })
    onTestFinished(remove)
    chmodSync(join(path, 'opa'), 0o755)
    const run = await runOpa({ path: join(path, 'opa'), source: 'PATH', niceness: 5 }, [])
    expect(run.stdout.trim()).toBe('9')
  },
)

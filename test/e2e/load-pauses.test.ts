import { expect, test } from 'vitest'

import { writeBindings } from '../../bench/growth/generate.js'
import { threadCpuMs } from '../../src/lib/threads/thread-cpu-time.js'
import { loadDataInThread } from '../../src/main/threads/load-threads.js'
import { hostBuiltins } from '../../src/rego/builtins/index.js'
import { evaluateDocument, planDocument } from '../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { loadSnapshot } from '../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../src/rego/opa/find-opa.js'
import { DEFAULT_LIMITS } from '../support/default-limits.js'
import { makeWorkspace } from '../support/workspace.js'

const BYTES = 40_000_000
/** Built in one turn, data of this size would block the thread for 800 ms. */
const MAX_MS = 400

test(
  'data is prepared during decisions: no turn of the deciding thread is long',
  { timeout: 60_000 },
  async () => {
    const workspace = makeWorkspace()
    const input = writeBindings(workspace.path, BYTES)
    let longestMs = 0
    let before = threadCpuMs()
    const look = (): void => {
      const now = threadCpuMs()
      longestMs = Math.max(longestMs, now - before)
      before = now
      looking = setImmediate(look)
    }
    let looking = setImmediate(look)
    const snapshot = await loadSnapshot(
      { directories: [workspace.path], bundles: [] },
      {
        findOpa: () => findOpa({ env: process.env }),
        builtins: hostBuiltins,
        limits: DEFAULT_LIMITS,
        loadData: loadDataInThread,
        analysis: { staticPackages: ['static.**'], undefinedData: 'warn' },
      },
    )
    clearImmediate(looking)
    workspace.remove()
    const plan = planDocument(snapshot, ['access', 'allow'])
    expect(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall({ nowMs: 0 }))).toBe('true')
    expect(longestMs).toBeLessThan(MAX_MS)
  },
)

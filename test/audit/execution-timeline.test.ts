import { expect, test } from 'vitest'

import { executionTimeline } from '../../src/audit/execution-timeline.js'
import { decideByPolicy } from '../../src/gates/decide-by-policy.js'
import type { StoredDecision } from '../../src/store/decision-store.js'
import { NOW_MS, makeGate, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()

const decision: StoredDecision = {
  seq: 1,
  decisionId: 'd1',
  timeMs: NOW_MS,
  kind: 'runtime',
  path: 'release/approval',
  revision: 'r1',
  outcome: 'allow',
  application: 'shop',
  caller: 'gates',
  durationNs: 1,
  requestId: null,
  error: null,
  input: Buffer.from('{"executionId":"01J"}'),
  inputBytes: 21,
  inputTruncated: false,
  result: null,
  resultTruncated: false,
}

test('of one millisecond, a decision stands before what it led to', async () => {
  const { writer, reader } = await open()
  await triggered(writer, makeGate({ policy: 'release/approval' }), {
    actor: { user: 'ci', origin: 'test', nowMs: NOW_MS - 1 },
  })
  const verdict = { policy: 'release/approval', denials: [], problem: undefined }
  await writer.run(decideByPolicy, { instanceId: 1, ...verdict, nowMs: NOW_MS })
  const decisions = { page: () => Promise.resolve({ decisions: [decision] }) }
  const { entries } = await executionTimeline({ reader, decisions }, '01J')
  expect(entries.map(({ kind }) => kind)).toEqual([
    'gate.activated',
    'decision release/approval',
    'gate.approved',
  ])
})

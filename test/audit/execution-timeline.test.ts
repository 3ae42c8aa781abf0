import { expect, test } from 'vitest'

import { executionTimeline } from '../../src/audit/execution-timeline.js'
import { recordDecisions } from '../../src/audit/record-decisions.js'
import { decideByPolicy } from '../../src/gates/work/decide-by-policy.js'
import type { DecisionHead } from '../../src/store/ports/decision-store.js'
import { NOW_MS, makeGate, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()

const decision: DecisionHead = {
  seq: 1,
  decisionId: 'd1',
  timeMs: NOW_MS,
  kind: 'runtime',
  path: 'release/approval',
  revision: 'r1',
  outcome: 'allow',
  application: 'shop',
  executionId: '01J',
  caller: 'gates',
}
/** The decision log's answer about an execution. */
const log = (decisions: readonly DecisionHead[]) => (_: string, limit: number) =>
  Promise.resolve(decisions.slice(0, limit))
const reported = {
  ...decision,
  requestId: null,
  traceId: null,
  error: null,
  result: '[]',
  isResultCut: false,
}

test('of one millisecond, a decision precedes what it led to', async () => {
  const { writer, reader } = await open()
  await triggered(writer, makeGate({ policy: 'release/approval' }), {
    actor: { user: 'ci', origin: 'test', nowMs: NOW_MS - 1 },
  })
  const verdict = { policy: 'release/approval', reasons: { denials: [], warnings: [] }, problem: undefined }
  await writer.run(decideByPolicy, { instanceId: 1, ...verdict, nowMs: NOW_MS })
  const { entries } = await executionTimeline({ reader, decisionsOf: log([decision]) }, '01J')
  expect(entries.map(({ kind }) => kind)).toEqual(['gate.activated', 'policy.decision', 'gate.approved'])
})

test('a decision of the log and its record in the trail are one entry', async () => {
  const { writer, reader } = await open()
  const other = { ...reported, decisionId: 'd0', timeMs: NOW_MS - 5, outcome: 'deny' }
  await writer.run(recordDecisions, { decisions: [other, reported], gap: undefined })
  const alone = { ...decision, decisionId: 'd2', timeMs: NOW_MS + 5 }
  const timeline = await executionTimeline({ reader, decisionsOf: log([decision, alone]) }, '01J')
  expect(
    timeline.entries.map(({ decisionId, auditSeq, path, status }) => [decisionId, auditSeq, path, status]),
  ).toEqual([
    ['d0', 1, undefined, 'deny'],
    ['d1', 2, 'release/approval', 'allow'],
    ['d2', undefined, 'release/approval', 'allow'],
  ])
})

test('an execution that the trail does not know has the story of its decisions', async () => {
  const { reader } = await open()
  expect(await executionTimeline({ reader, decisionsOf: log([decision]) }, '01J')).toMatchObject({
    application: 'shop',
    entries: [{ source: 'policy', status: 'allow', user: 'gates', path: 'release/approval' }],
    isTruncated: false,
  })
})

test.each([
  [2000, false],
  [2001, true],
])('of %i decisions it is said whether there are more than are shown', async (count, isTruncated) => {
  const { writer, reader } = await open()
  const decisions = Array.from({ length: count }, (_, n) => ({
    ...decision,
    decisionId: `d${n}`,
    timeMs: NOW_MS + n,
  }))
  const late = { ...reported, decisionId: 'late', timeMs: NOW_MS + 10_000 }
  await writer.run(recordDecisions, { decisions: [late], gap: undefined })
  const timeline = await executionTimeline({ reader, decisionsOf: log(decisions) }, '01J')
  expect(timeline.isTruncated).toBe(isTruncated)
  // Entries later than the first omitted one would hide the gap before it.
  expect(timeline.entries.some(({ decisionId }) => decisionId === 'late')).toBe(!isTruncated)
})

test('an execution that nobody knows is not found, whether decisions are kept or not', async () => {
  const { reader } = await open()
  for (const decisionsOf of [undefined, log([])]) {
    await expect(executionTimeline({ reader, decisionsOf }, '01J')).rejects.toMatchObject({
      kind: 'not_found',
    })
  }
})

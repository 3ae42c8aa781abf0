import { expect, test } from 'vitest'

import { findDefinition } from '../../../src/analysis/runs/analysis-operations.js'
import { defineAnalysis } from '../../../src/analysis/runs/define-analysis.js'
import { toLinesData, toSeriesData } from '../../../src/analysis/runs/intervals/interval-data.js'
import { showRun, shownDocument } from '../../../src/analysis/runs/show-run.js'
import { failedLines, failedSeries } from '../../../src/analysis/sources/answers/answers.js'
import { START_MS, makeRunPlan, storeRun } from '../../support/analyses.js'
import { trail } from '../../support/gates.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const QUERY = 'external("https://bot:hunter2-s3cret@metrics.example/api?access_token=hunter2-s3cret")'
const actor = { nowMs: START_MS, user: 'ana', origin: 'test' }

/** A definition with a weight of 100 for the group `auth token`. */
function definitionWith(query: string): Record<string, unknown> {
  const metric = { name: 'logins', groups: ['auth token'], query: { customInlineTemplate: query } }
  const canaryConfig = {
    name: 'shop',
    metrics: [metric],
    classifier: { groupWeights: { 'auth token': 100 } },
  }
  return { metrics: { source: 'files', canaryConfig } }
}

test('credentials in the query of a definition reach the source, but no view and no trail', async () => {
  const store = await open()
  const request = { application: 'shop', document: definitionWith(QUERY), origin: 'api' } as const
  await defineAnalysis(store, request, actor)
  const stored = await store.reader.run(findDefinition, 'shop')
  expect(stored?.definition).toContain('hunter2-s3cret')
  const shown = shownDocument(stored?.definition ?? '{}')
  expect(JSON.stringify(shown)).not.toContain('hunter2')
  expect(shown).toMatchObject({
    metrics: { canaryConfig: { classifier: { groupWeights: { 'auth token': 100 } } } },
  })
  expect(JSON.stringify(await trail(store))).not.toContain('hunter2')
})

test('a definition that was read where its secrets are not shown cannot be put back without them', async () => {
  const store = await open()
  const document = shownDocument(JSON.stringify(definitionWith(QUERY)))
  const request = { application: 'shop', document, origin: 'api' } as const
  await expect(defineAnalysis(store, request, actor)).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('[redacted]') as unknown,
  })
})

test('credentials in a plan are in no view of its run and not in the trail', async () => {
  const store = await open()
  const side = { scope: { password: 'hunter2-s3cret' }, startMs: START_MS }
  const metrics = {
    source: 'files',
    aggregate: undefined,
    metrics: [],
    groupWeights: { 'auth token': 100 },
    warnings: [QUERY],
    ...{ baseline: side, canary: side },
  }
  const id = await storeRun(
    store.writer,
    makeRunPlan({ targets: [{ name: 'shop', metrics, logs: undefined }] }),
  )
  const shown = await store.reader.run(showRun, id)
  expect(shown).not.toContain('hunter2')
  expect(shown).toContain('"groupWeights":{"auth token":100}')
  expect(JSON.stringify(await trail(store))).not.toContain('hunter2')
})

test('what an interval keeps of its queries and of what went wrong has no credentials', () => {
  const window = { startMs: START_MS, endMs: START_MS + 60_000 }
  const grid = { startMs: START_MS, stepMs: 60_000, count: 1 }
  const kept = [
    toSeriesData(failedSeries(QUERY, grid, `no answer to ${QUERY}`)),
    toLinesData(failedLines(QUERY, window, `no answer to ${QUERY}`), START_MS),
  ]
  expect(JSON.stringify(kept)).toContain('[redacted]')
  expect(JSON.stringify(kept)).not.toContain('hunter2')
})

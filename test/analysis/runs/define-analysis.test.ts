import { expect, test } from 'vitest'

import { findDefinition } from '../../../src/analysis/runs/analysis-operations.js'
import { defineAnalysis } from '../../../src/analysis/runs/define-analysis.js'
import { START_MS } from '../../support/analyses.js'
import { FILE_ANALYSIS } from '../../support/file-analysis.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const actor = { nowMs: START_MS, user: 'ana', origin: 'test' }

test('an application whose name no registration could give is not defined', async () => {
  const store = await open()
  const longest = 'x'.repeat(2000)
  const define = (application: string): Promise<unknown> =>
    defineAnalysis(store, { application, document: FILE_ANALYSIS, origin: 'api' }, actor)
  await define(longest)
  expect(await store.reader.run(findDefinition, longest)).toBeDefined()
  await expect(define(`${longest}x`)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'the name of the application has more than 2000 characters',
  })
})

import { expect, test } from 'vitest'

import { reportDocument } from '../../../src/canary/judge/judge-run.js'
import { judge, simulatedSeries } from '../../support/judge-metrics.js'

const { SAME } = simulatedSeries()

test('a report lists its warnings', () => {
  const report = judge([SAME])
  expect(reportDocument(report, ['one'])).toHaveProperty('warnings', ['one'])
  expect(reportDocument(report)).not.toHaveProperty('warnings')
})

test('a report has the shape of Kayenta, with what was found next to it', () => {
  const { results } = reportDocument(judge([SAME])) as { results: object[] }
  expect(results).toMatchObject([
    {
      name: 'm0',
      experimentMetadata: { stats: { count: 60 } },
      controlMetadata: { stats: { count: 60 } },
      resultMetadata: { ratio: expect.any(Number) as number },
      finding: { kind: 'gauge' },
    },
  ])
  expect(results[0]).not.toHaveProperty('noData')
})

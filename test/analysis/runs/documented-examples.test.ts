import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { readCanaryConfig } from '../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../src/canary/judge/judge-run.js'
import { readLogTemplate } from '../../../src/canary/logs/model/log-template.js'
import { readCanaryGroups } from '../../../src/analysis/runs/definitions/canary-groups.js'
import { readDefinition } from '../../../src/analysis/runs/definitions/definition.js'
import { readMetricTemplate } from '../../../src/analysis/runs/definitions/metric-template.js'
import { parseDocumentFile } from '../../../src/analysis/runs/definitions/parse-document.js'
import { readRegistration } from '../../../src/analysis/runs/definitions/registration.js'

const pageText = (page: string): string =>
  readFileSync(join(import.meta.dirname, '../../../docs', page), 'utf8')
const TEXT = ['analysis', 'analysis-templates', 'analysis-api']
  .map((page) => pageText(`reference/${page}.md`))
  .join('\n')

/** The blocks of the page that are marked as one kind of document. */
function examples(kind: string): unknown[] {
  const blocks = TEXT.matchAll(new RegExp(`^\`\`\`(?:yaml|json) ${kind}\\n(.*?)^\`\`\`$`, 'gms'))
  return [...blocks].map(([, block]) => parseDocumentFile(block ?? ''))
}

test('the first example of docs/reference/canary-config.md can be judged', () => {
  const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(pageText('reference/canary-config.md')) ?? []
  const { verdict, results } = judgeMetrics(readCanaryConfig(JSON.parse(example)), { judge: 'default' })
  expect([verdict, results.map(({ classification }) => classification)]).toEqual(['Success', ['Pass']])
})

describe('the documented examples of analyses', () => {
  test('are definitions that work', () => {
    const definitions = examples('definition').map((document) => readDefinition(document))
    expect(definitions.map(({ lifetimeMinutes }) => lifetimeMinutes)).toEqual([60, 30, 30, 30, 30])
    const groups = readCanaryGroups(definitions[0]?.metrics?.canaryConfig)
    expect(groups.metrics.map(({ query }) => query)).toEqual([
      'round(sum(increase(http_errors_total{app="${application}",version="${version}"}[30s])))',
      'avg(request_seconds{app="${application}",version="${version}"})',
    ])
    expect(readCanaryGroups(definitions[1]?.metrics?.canaryConfig).metrics).toMatchObject([
      { exposureQuery: expect.stringContaining('http_requests_total') as unknown },
    ])
  })

  test('are templates that work', () => {
    const [metric, ...others] = examples('metric-template').map((document) => readMetricTemplate(document))
    expect(metric?.metrics).toMatchObject([{ spec: { direction: 'increase', margin: 0.1, critical: false } }])
    expect(others).toEqual([])
    const logs = examples('log-template').map((document) => readLogTemplate(document))
    expect(logs.map(({ errorTopics }) => errorTopics.length)).toEqual([expect.any(Number)])
  })

  test('are registrations that work', () => {
    expect(examples('registration').map((body) => readRegistration(body).targets)).toMatchObject([
      [{ service: 'cart', metric: { canary: { ns: 'shop', pod: 'cart-canary' } } }],
    ])
  })
})

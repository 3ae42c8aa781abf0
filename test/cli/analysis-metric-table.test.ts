import { expect, test } from 'vitest'

import { readCanaryConfig } from '../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../src/canary/judge/judge-run.js'
import { judgeReportText } from '../../src/cli/analysis/judge-file.js'
import { makeColours } from '../../src/cli/output/colours.js'

const control = Array.from({ length: 40 }, (_, index) => 100 + ((index * 7) % 11))
const experiment = control.map((value) => 2 * value)

function textOf(names: readonly string[], judge: 'default' | 'kayenta' = 'default', canary = {}): string {
  const metrics = names.map((name) => ({
    name,
    analysisConfigurations: { canary },
    values: { control, experiment },
  }))
  return judgeReportText(judgeMetrics(readCanaryConfig({ metrics }), { judge }), makeColours(false))
}

test('metrics with short names have a line each', () => {
  expect(textOf(['latency'])).toMatch(
    /^METRIC .*POINTS\nlatency +High .* 40\/40\n {2}All values are far above/,
  )
})

test('long names stand on lines of their own, so that the numbers fit', () => {
  const name = 'histogram_quantile(0.95, sum by (le) (rate(request_seconds_bucket[5m])))'
  const text = textOf([name, 'short'])
  expect(text).toMatch(/^METRIC\n {2}RESULT /)
  expect(text).toContain(`\n${name}\n  High `)
  const wide = text.split('\n').filter((line) => line.length > 80)
  expect(wide).toEqual([])
})

test('columns that say nothing are left out, and the means tell the change where no test does', () => {
  expect(textOf(['latency'], 'kayenta')).toMatch(
    /^METRIC +RESULT +SCORE +CHANGE +POINTS\nlatency +High +0 +\+100 % +40\/40\n/,
  )
})

test('no heading stands above groups that are not there', () => {
  expect(textOf(['latency'], 'default', { muted: true })).not.toContain('GROUPS')
})

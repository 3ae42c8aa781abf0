import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { findProgram, runProgram } from '../support/find-program.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { useTidegate } from '../support/use-tidegate.js'

const MONITORING = join(PROJECT_ROOT, 'build/monitoring')
const promtool = findProgram('promtool')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

const readText = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8')
const rules = (parse(readText('build/monitoring/alerts.yaml')) as Rules).groups.flatMap(
  (group) => group.rules,
)
const { panels } = JSON.parse(readText('build/monitoring/dashboard.json')) as Dashboard

/** The metrics in an expression: names before a brace or a range. */
function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?<name>(?:tidegate|http|process|nodejs)_[a-z0-9_]+)/g)].map(
    ({ groups }) => groups?.['name'] ?? '',
  )
}

describe('the files for Prometheus and Grafana', () => {
  const service = useTidegate()
  let known: Set<string>
  beforeAll(async () => {
    const text = await (await fetch(`${service().url}/metrics`)).text()
    const families = [...text.matchAll(/^# TYPE (?<name>\S+) (?<type>\S+)/gm)]
    known = new Set(
      families.flatMap(({ groups }) => {
        const name = groups?.['name'] ?? ''
        return groups?.['type'] === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
      }),
    )
  })

  it.each(rules.map(({ alert, expr }) => ({ alert, expr })))(
    '$alert queries metrics that the service exports',
    ({ expr }) => {
      const asked = metricsIn(expr)
      expect(asked.length > 0 || expr.startsWith('up{')).toBe(true)
      expect(asked.filter((name) => !known.has(name))).toEqual([])
    },
  )

  it('has a dashboard with metrics of the service', () => {
    const asked = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)))
    expect(asked.length).toBeGreaterThan(panels.length - 1)
    expect(asked.filter((name) => !known.has(name))).toEqual([])
  })

  it('documents every metric and every alert', () => {
    const page = readText('docs/reference/metrics.md')
    const alerts = readText('docs/guides/troubleshoot.md')
    const ours = [...known].filter((name) => /^(?:tidegate|http)_/.test(name))
    const families = new Set(ours.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))
    expect([...families].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    expect(rules.filter(({ alert }) => !alerts.includes(alert)).map(({ alert }) => alert)).toEqual([])
  })

  it.skipIf(promtool === undefined)('has rules that fire when they should (needs promtool)', () => {
    expect(runProgram(promtool ?? '', ['check', 'rules', 'alerts.yaml'], MONITORING)).toMatchObject({
      succeeded: true,
    })
    expect(runProgram(promtool ?? '', ['test', 'rules', 'alerts.test.yaml'], MONITORING)).toMatchObject({
      succeeded: true,
    })
  })

  it('has the same rules in the chart, which cannot read them from elsewhere', () => {
    expect(readText('build/chart/tidegate/alerts.yaml')).toBe(readText('build/monitoring/alerts.yaml'))
  })
})

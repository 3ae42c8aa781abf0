import { describe, expect, it } from 'vitest'

import { InstanceStatus, MemoryReports, describeFleet } from '../../src/distribution/fleet.js'
import { MAX_REPORTS, REPORT_KEPT_MS } from '../../src/store/ports/instance-reports.js'
import type { InstanceReport } from '../../src/store/ports/instance-reports.js'

const NOW_MS = Date.parse('2030-01-01T12:00:00Z')
const before = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString()

function report(id: string, status: object, secondsAgo = 0): InstanceReport {
  const whole = { labels: { id, version: '1' }, ...status }
  return { id, status: JSON.stringify(whole), reportedBy: 'sidecar', reportedMs: NOW_MS - secondsAgo * 1000 }
}

const bundle = (revision: string, secondsAgo: number, more: object = {}) => ({
  main: { active_revision: revision, last_successful_activation: before(secondsAgo), ...more },
})
const tidegate = { node: '24', startedAt: before(500), intervalMs: 10_000, lastDecisionAt: before(5) }

describe('the fleet', () => {
  it('shows how long an instance lacks a revision that another one serves', () => {
    const fleet = describeFleet(
      [
        report('a', { bundles: bundle('2', 60), tidegate }),
        report('b', { bundles: bundle('2', 40) }),
        report('c', { bundles: bundle('1', 900) }),
      ],
      NOW_MS,
    )
    expect(fleet.map(({ id, type, bundles }) => [id, type, bundles[0]?.revision, bundles[0]?.lagMs])).toEqual(
      [
        ['a', 'tidegate', '2', 0],
        ['b', 'opa', '2', 0],
        ['c', 'opa', '1', 60_000],
      ],
    )
    expect(fleet[0]).toMatchObject({
      ...{ version: '1', node: '24', health: 'ok', reportedBy: 'sidecar' },
      ...{ startedMs: NOW_MS - 500_000, lastDecisionMs: NOW_MS - 5000 },
    })
  })

  it('shows an instance without a rollback as behind those that serve the earlier revision again', () => {
    const fleet = describeFleet(
      [report('a', { bundles: bundle('1', 30) }), report('b', { bundles: bundle('2', 100) })],
      NOW_MS,
    )
    expect(fleet.map(({ bundles }) => bundles[0]?.lagMs)).toEqual([0, 30_000])
  })

  it('shows the same lag in whatever order the instances report', () => {
    const reports = [
      report('a', { bundles: bundle('1', 50) }),
      report('b', { bundles: bundle('2', 60) }),
      report('c', { bundles: bundle('2', 40) }),
    ]
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    for (const order of orders) {
      const fleet = describeFleet(
        order.flatMap((place) => reports[place] ?? []),
        NOW_MS,
      )
      expect(fleet.map(({ bundles }) => bundles[0]?.lagMs)).toEqual([60_000, 0, 0])
    }
  })

  it('shows instances with failing bundles and components, and those that report no longer', () => {
    const fleet = describeFleet(
      [
        report('a', { bundles: bundle('1', 9, { message: 'no server' }), tidegate }),
        report('b', { plugins: { store: { state: 'NOT_READY', message: 'disk full' } } }),
        report('c', { plugins: { bundle: { state: 'OK' }, other: null } }, 359),
        report('d', {}, 361),
        report('e', { tidegate }, 31),
      ],
      NOW_MS,
    )
    expect(fleet.map(({ health, problem }) => [health, problem])).toEqual([
      ['failing', 'no server'],
      ['failing', 'store: disk full'],
      ['ok', undefined],
      ['lost', undefined],
      ['lost', undefined],
    ])
  })

  it('leaves out what OPA reports for a bundle that was never activated, and unreadable reports', () => {
    const never = { main: { name: 'main', last_successful_activation: '0001-01-01T00:00:00Z', message: '' } }
    const fleet = describeFleet(
      [report('a', { bundles: never }), { ...report('b', {}), status: '{"labels":{}}' }],
      NOW_MS,
    )
    expect(fleet.map(({ bundles }) => bundles)).toEqual([
      [{ name: 'main', revision: undefined, sinceMs: undefined, lagMs: 0, problem: undefined }],
    ])
  })

  it('stores no metrics, and no status without an id', () => {
    const status = { labels: { id: 'a', app: 'x' }, metrics: { prometheus: {} } }
    expect(InstanceStatus.parse(status)).toEqual({ labels: status.labels, bundles: {}, plugins: {} })
    expect(InstanceStatus.safeParse({ labels: { app: 'x' } }).success).toBe(false)
  })
})

describe('reports in memory', () => {
  it('replace those of the same instance, end after an hour, and have a maximum', async () => {
    let now = NOW_MS
    const reports = new MemoryReports(() => now)
    const put = (id: string) => reports.put({ id, status: '{}', reportedBy: undefined })
    await put('old')
    now += REPORT_KEPT_MS + 1
    await put('a')
    await put('a')
    expect((await reports.list()).map(({ id }) => id)).toEqual(['a'])
    for (let number = 0; number < MAX_REPORTS; number++) await put(String(number))
    const ids = (await reports.list()).map(({ id }) => id)
    expect(ids).toHaveLength(MAX_REPORTS)
    expect(ids).not.toContain('a')
  })
})

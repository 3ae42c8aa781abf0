import { describe, expect, it } from 'vitest'

import { seededRandom } from '../../../src/canary/judge/series/seeded-random.js'
import { judge, logSide } from '../../support/logs/log-side.js'

const ORDINARY = { text: 'INFO request {n} served', times: 600 }
const FAILURE = 'ERROR order {n} could not be stored'
const CRASH = 'FATAL order {n} lost'
/** Patterns of lines that an application must never log. */
const LOST_IS_CRITICAL = { topics: [{ string: 'lost', severity: 'critical', isOwn: true }] } as const

describe('a canary whose log is like that of its baseline', () => {
  it('is a success with all points', () => {
    const side = logSide([ORDINARY, { text: FAILURE, times: 20 }, { text: CRASH, times: 2 }])
    const { report } = judge(side, side)
    expect(report).toMatchObject({ state: 'compared', score: 100, verdict: 'Success', mixDivergence: 0 })
    expect(report.reason).toBe('No error is new or more frequent')
    expect(report.findings.map(({ change }) => change)).toEqual(['same', 'same'])
  })

  it('is seldom blamed for what is chance', () => {
    const random = seededRandom(7)
    const poisson = (mean: number): number => {
      let count = 0
      for (let left = Math.exp(-mean), product = random(); product > left; product *= random()) count += 1
      return count
    }
    const kinds = Array.from(
      'abcdefghij',
      (letter) => `ERROR ${letter.repeat(4)} failed with ${letter.repeat(3)}`,
    )
    const side = () => logSide([ORDINARY, ...kinds.map((text) => ({ text, times: poisson(12) }))])
    const verdicts = Array.from({ length: 200 }, () => judge(side(), side()).report.score)
    expect(verdicts.filter((score) => score < 100).length).toBeLessThanOrEqual(4)
  })
})

describe('an error that only the canary logs', () => {
  const baseline = logSide([ORDINARY])

  it('costs points when it is more than chance, and says what it is', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: FAILURE, times: 12 }]))
    const [finding] = report.findings
    expect(finding).toMatchObject({
      template: 'order <*> could not be stored',
      severity: 'error',
      topic: 'ERROR',
      change: 'new',
      isUnexpected: true,
      baselineEvents: 0,
      canaryEvents: 12,
      ratio: null,
    })
    expect(finding?.samples.canary).toEqual([0, 1, 2].map((n) => `ERROR order ${n} could not be stored`))
    expect(finding?.p).toBeCloseTo(0.5 ** 12, 12)
    expect(report.score).toBeLessThan(100)
    expect(report.score).toBeCloseTo(100 - (finding?.lostPoints ?? 0), 9)
    expect(report.reason).toContain('New: 12 in the canary, 0 in the baseline')
  })

  it('costs nothing when it is too little to tell', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: FAILURE, times: 3 }]))
    expect(report).toMatchObject({ score: 100, verdict: 'Success' })
    expect(report.findings[0]?.reason).toContain('The difference may be chance (p = 0.125)')
  })

  it('needs a review when it is critical by its name alone, were it but one, and fails the run when it is proven', () => {
    const one = judge(baseline, logSide([ORDINARY, { text: CRASH, times: 1 }])).report
    expect(one).toMatchObject({ verdict: 'Review', endsRun: false })
    expect(one.reason).toContain('Critical and new: 1 in the canary, 0 in the baseline. This needs a review')
    for (const more of [{ times: 12 }, { times: 12, inMinute: 14 }]) {
      const many = judge(baseline, logSide([ORDINARY, { text: CRASH, ...more }])).report
      expect(many).toMatchObject({ score: 0, verdict: 'Fail', endsRun: true })
    }
  })

  it('is nothing new when an earlier release logged it', () => {
    const canary = logSide([ORDINARY, { text: CRASH, times: 1 }])
    const { templatesToRemember: seenTemplates } = judge(baseline, canary)
    expect(judge(baseline, canary, { seenTemplates }).report.verdict).toBe('Success')
  })

  it('fails the run when people said that it is critical, were it but one', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: CRASH, times: 1 }]), LOST_IS_CRITICAL)
    expect(report).toMatchObject({ score: 0, verdict: 'Fail', endsRun: true })
    expect(report.findings[0]).toMatchObject({ lostPoints: 100, isUnexpected: true })
    expect(report.reason).toContain('Critical and new')
  })

  it('does not fail the run for being critical where that is switched off', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: CRASH, times: 1 }]), {
      failsOnCritical: false,
    })
    expect(report.verdict).toBe('Success')
  })

  it('costs more when it is an error than when it is a warning, and the more the higher the sensitivity', () => {
    const scores = (text: string) =>
      (['high', 'medium', 'low'] as const).map(
        (sensitivity) =>
          judge(baseline, logSide([ORDINARY, { text, times: 60 }]), { sensitivity }).report.score,
      )
    const [high = 0, medium = 0, low = 0] = scores(FAILURE)
    expect([high < medium, medium < low, low < 100]).toEqual([true, true, true])
    const [warning = 0] = scores('WARN order {n} is slow')
    expect([high < warning, warning < 100]).toEqual([true, true])
  })

  it('costs nothing when a topic says to ignore it', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: FAILURE, times: 60 }]), {
      topics: [{ string: 'could not be stored', severity: 'ignore' }],
    })
    expect(report).toMatchObject({ score: 100 })
    expect(report.findings[0]?.reason).toContain('A topic says to ignore it')
  })
})

describe('an error that both log', () => {
  const baseline = logSide([ORDINARY, { text: FAILURE, times: 10 }])

  it('costs points when the canary logs more of it', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: FAILURE, times: 50 }]))
    expect(report.findings[0]).toMatchObject({ change: 'more', isUnexpected: true, ratio: 5 })
    expect(report.findings[0]?.ratioLower).toBeGreaterThan(2)
    expect(report.score).toBeLessThan(100)
  })

  it('is compared by traffic: ten times the requests may log ten times the errors', () => {
    const busy = logSide([
      { ...ORDINARY, times: 6000 },
      { text: FAILURE, times: 100 },
    ])
    const { report } = judge(baseline, busy)
    expect(report.exposure).toMatchObject({ basis: 'ordinaryLines', baseline: 600, canary: 6000 })
    expect(report.score).toBe(100)
    expect(report.warnings).toEqual([expect.stringContaining('10.0 times as many ordinary lines')])
  })

  it('is compared by requests where they are known', () => {
    const canary = logSide([ORDINARY, { text: FAILURE, times: 50 }], { requests: 5000 })
    const { report } = judge({ ...baseline, requests: 1000 }, canary)
    expect(report.exposure?.basis).toBe('requests')
    expect(report.score).toBe(100)
  })

  it('is compared by the time of instances where there are few ordinary lines', () => {
    const failures = (times: number, instances: number) => logSide([{ text: FAILURE, times }], { instances })
    const { report } = judge(failures(10, 1), failures(50, 5))
    expect(report.exposure).toMatchObject({ basis: 'time', baseline: 30, canary: 150 })
    expect(report.score).toBe(100)
  })

  it('counts as few events when it comes in one burst', () => {
    const { report } = judge(baseline, logSide([ORDINARY, { text: FAILURE, times: 60, inMinute: 12 }]))
    expect(report.findings[0]?.dispersion).toBeGreaterThan(10)
    expect(report.findings[0]?.reason).toContain('in bursts')
    expect(report.score).toBe(100)
  })

  it('is a success when the canary logs less of it', () => {
    const { report } = judge(baseline, logSide([ORDINARY]))
    expect(report).toMatchObject({ score: 100, verdict: 'Success' })
  })

  it('is distinguished by topic within one template', () => {
    const side = (status: number) => logSide([ORDINARY, { text: `served status=${status}`, times: 40 }])
    const { report } = judge(side(200), side(500))
    expect(report.findings[0]).toMatchObject({ topic: 'status=500', change: 'new', isUnexpected: true })
  })
})

describe('stack traces', () => {
  const trace = [
    'ERROR order failed',
    'shop.StockException: none left',
    '\tat shop.Orders.place(Orders.java:4)',
  ]

  it('are one event each, however many lines they have', () => {
    const lines = Array.from({ length: 12 }, (_, n) =>
      trace.map((text) => ({ atMs: n * 120_000, text })),
    ).flat()
    const quiet = logSide([ORDINARY])
    const { report } = judge(quiet, { ...quiet, lines: [...quiet.lines, ...lines] })
    expect(report.canary).toMatchObject({ lines: 636, events: 612 })
    expect(report.findings[0]).toMatchObject({
      template: 'shop.StockException at shop.Orders.place',
      canaryEvents: 12,
      isUnexpected: true,
    })
    expect(report.findings[0]?.samples.canary).toEqual([trace.join('\n')])
  })
})

describe('the history of an application', () => {
  const baseline = logSide([ORDINARY])
  const canary = logSide([ORDINARY, { text: FAILURE, times: 12 }])

  it('makes what no earlier release logged weigh more', () => {
    const { templatesToRemember } = judge(baseline, canary)
    const known = judge(baseline, canary, { seenTemplates: templatesToRemember }).report
    const unheard = judge(baseline, canary, { seenTemplates: ['something else'] }).report
    expect(known.findings[0]?.isNewEver).toBe(false)
    expect(unheard.findings[0]?.isNewEver).toBe(true)
    expect(unheard.score).toBeLessThan(known.score)
    expect(unheard.reason).toContain('No earlier release logged it')
  })

  it('knows a template again though other lines are about', () => {
    const { templatesToRemember } = judge(
      baseline,
      logSide([{ text: 'ERROR no session for user ann', times: 9 }]),
    )
    const later = logSide([
      { text: 'ERROR no session for user bob', times: 9 },
      { text: 'ERROR no session for user ann', times: 9 },
    ])
    const { report } = judge(baseline, later, { seenTemplates: templatesToRemember })
    expect(report.findings[0]).toMatchObject({
      template: 'no session for user <*>',
      isNewEver: false,
    })
  })

  it('remembers no ordinary lines', () => {
    expect(judge(baseline, baseline).templatesToRemember).toEqual([])
  })
})

describe('a canary without a baseline', () => {
  it('is reviewed by people when it logs errors of which nothing is known', () => {
    const { report } = judge(undefined, logSide([ORDINARY, { text: FAILURE, times: 12 }]))
    expect(report).toMatchObject({ state: 'noBaseline', verdict: 'Review', exposure: null, baseline: null })
    expect(report.reason).toContain('Without a baseline')
  })

  it('is a success when it logs what earlier releases logged', () => {
    const canary = logSide([ORDINARY, { text: FAILURE, times: 12 }])
    const { templatesToRemember } = judge(undefined, canary)
    expect(judge(undefined, canary, { seenTemplates: templatesToRemember }).report).toMatchObject({
      score: 100,
      verdict: 'Success',
    })
  })

  it('fails when it logs something critical', () => {
    const { report } = judge(undefined, logSide([ORDINARY, { text: CRASH, times: 1 }]), LOST_IS_CRITICAL)
    expect(report).toMatchObject({ score: 0, verdict: 'Fail' })
  })
})

describe('a side without lines', () => {
  const some = logSide([ORDINARY, { text: FAILURE, times: 12 }])
  const none = logSide([])

  it.each([
    ['the canary', some, none, 'canaryEmpty'],
    ['the baseline', none, some, 'baselineEmpty'],
    ['both', none, none, 'bothEmpty'],
  ])('needs a review: %s', (_which, baseline, canary, state) => {
    expect(judge(baseline, canary).report).toMatchObject({ state, verdict: 'Review', endsRun: false })
  })

  it.each([
    { pass: 90, marginal: 70 },
    { pass: 80, marginal: 80 },
  ])('has a score below the passing one, whatever the marginal one is: %j', (thresholds) => {
    for (const { report } of [
      judge(none, none, { thresholds }),
      judge(some, none, { thresholds }),
      judge(undefined, logSide([ORDINARY, { text: FAILURE, times: 12 }]), { thresholds }),
    ]) {
      expect(report.verdict).toBe('Review')
      expect(report.score).toBeLessThan(thresholds.pass)
    }
  })

  it('fails or is ignored where the settings say so', () => {
    const verdict = (emptyLog: 'fail' | 'ignore') => judge(some, none, { emptyLog }).report.verdict
    expect([verdict('fail'), verdict('ignore')]).toEqual(['Fail', 'Success'])
  })

  it('does not hide something critical', () => {
    const { report } = judge(none, logSide([{ text: CRASH, times: 1 }]), LOST_IS_CRITICAL)
    expect(report).toMatchObject({ verdict: 'Fail', endsRun: true })
  })
})

describe('the report', () => {
  it('lists what the canary lacks, as information', () => {
    const { report } = judge(
      logSide([ORDINARY, { text: 'INFO backup {n} done well', times: 30 }]),
      logSide([ORDINARY]),
    )
    expect(report.missing).toEqual([
      expect.objectContaining({ template: 'backup <*> done well', change: 'missing', lostPoints: 0 }),
    ])
    expect(report.score).toBe(100)
  })

  it('is the same for the same input, and JSON', () => {
    const sides = [
      logSide([ORDINARY, { text: FAILURE, times: 5 }]),
      logSide([ORDINARY, { text: FAILURE, times: 40 }, { text: CRASH, times: 3 }]),
    ] as const
    const first = judge(...sides)
    expect(judge(...sides)).toEqual(first)
    expect(JSON.parse(JSON.stringify(first))).toEqual(first)
  })

  it('says when a limit left lines out, and when lines have no time', () => {
    const cut = logSide([ORDINARY], { isTruncated: true })
    const timeless = { ...cut, lines: Array.from(cut.lines, ({ text }) => ({ atMs: Number.NaN, text })) }
    expect(judge(cut, timeless).report.warnings).toEqual([
      'A limit left out lines of the baseline',
      'A limit left out lines of the canary',
      'Some lines have no time. Bursts among them count in full',
    ])
  })

  it('keeps a bounded number of findings and of samples, each of bounded length', () => {
    const word = (n: number) => String(n).replaceAll(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))
    const kinds = Array.from({ length: 260 }, (_, n) => ({
      text: `ERROR ${word(n)} ${word(n * 7)} ${word(n * 13)} ${'x '.repeat(400)}`,
      times: 5,
    }))
    const { report } = judge(logSide([ORDINARY]), logSide([ORDINARY, ...kinds]))
    expect(report.findings).toHaveLength(200)
    expect(report.omittedFindings).toBe(60)
    expect(report.findings[0]?.samples.canary[0]?.length).toBeLessThanOrEqual(501)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { judgeMetrics, reportDocument } from '../../../src/canary/judge/judge-run.js'
import type { JudgeInput, JudgeOptions, JudgeReport, Side } from '../../../src/canary/judge/series/types.js'
import { readCanaryConfig } from '../../../src/canary/judge/canary-config.js'

const MAX = Number.MAX_VALUE
const EXTREMES = [
  ...[0, -0, 1, -1, 1e-75, 1e75, -1e75, 9.9e74, 1e-74, 2 ** 53, 2 ** 53 + 2, 1e16, 1 + Number.EPSILON],
  ...[MAX, -MAX, MAX / 2, 1e308, 1e300, 1e154, 1e155, 1e-154, 1e-300, 5e-324, -5e-324, 2.2e-308],
  ...[Number.NaN, Infinity, -Infinity],
]
const JUDGES = ['default', 'kayenta'] as const

interface Shape {
  readonly control: readonly number[]
  readonly experiment: readonly number[]
  readonly exposure?: { readonly control: readonly number[]; readonly experiment: readonly number[] }
  readonly canary?: object
}

function inputOf({ control, experiment, exposure, canary = {} }: Shape): JudgeInput {
  const { metrics, ...rest } = readCanaryConfig({
    metrics: [
      {
        name: 'm',
        groups: ['g'],
        analysisConfigurations: { canary },
        values: { control: [1], experiment: [1] },
      },
    ],
    classifier: { scoreThresholds: { pass: 90, marginal: 60 } },
  })
  const side = (values: readonly number[], amounts?: readonly number[]): Side => ({
    values: Float64Array.from(values),
    ...(amounts && { exposure: Float64Array.from(amounts) }),
  })
  return {
    ...rest,
    metrics: metrics.map(({ spec }) => ({
      spec,
      control: side(control, exposure?.control),
      experiment: side(experiment, exposure?.experiment),
    })),
  }
}

const judge = (shape: Shape, judge: JudgeOptions['judge']): JudgeReport =>
  judgeMetrics(inputOf(shape), { judge })

/** Every number of a report, by the way to it. */
function numbersIn(value: unknown, path = '$'): (readonly [string, number])[] {
  if (typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => numbersIn(inner, `${path}.${name}`))
}

function expectNumbers(report: JudgeReport): void {
  const odd = numbersIn(reportDocument(report)).filter(([, value]) => !Number.isFinite(value))
  expect(odd).toEqual([])
  for (const { classificationReason } of report.results) expect(classificationReason).not.toMatch(/NaN/)
}

/** Some values, each again and again, as series have them, or points all of their own. */
const series = (value: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
  fc.oneof(
    fc.array(value, { minLength: 0, maxLength: 60 }),
    fc
      .tuple(fc.array(value, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 60 }))
      .map(([few, count]) => Array.from({ length: count }, (_, index) => few[index % few.length] ?? 0)),
  )
const anyValue = fc.oneof(fc.constantFrom(...EXTREMES), fc.double())
const finiteValue = fc.oneof(
  fc.constantFrom(...EXTREMES.filter(Number.isFinite)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const settings = fc.constantFrom(
  ...[
    {},
    { nanStrategy: 'replace' },
    { outliers: { strategy: 'remove' } },
    { kind: 'count' },
    { kind: 'gauge' },
  ],
  ...[{ direction: 'increase' }, { effectSize: { measure: 'cles' } }, { critical: true }],
)
const exposure = fc.option(fc.record({ control: series(anyValue), experiment: series(anyValue) }), {
  nil: undefined,
})

describe.each(JUDGES)('the %s judge', (name) => {
  it('always ends with a report of numbers, whatever doubles the sources give', () => {
    const shape = fc.record({
      control: series(anyValue),
      experiment: series(anyValue),
      exposure,
      canary: settings,
    })
    fc.assert(
      fc.property(shape, (given) => {
        const isAlike = (amounts: readonly number[] | undefined, values: readonly number[]): boolean =>
          amounts?.length === values.length
        const { exposure: amounts, ...plain } = given
        const isExposed =
          isAlike(amounts?.control, given.control) && isAlike(amounts?.experiment, given.experiment)
        expectNumbers(judge(isExposed && amounts ? { ...plain, exposure: amounts } : plain, name))
      }),
      { numRuns: 400 },
    )
  })

  it('calls nothing a success that has a value too large to be judged', () => {
    const huge = fc.constantFrom(MAX, -MAX, 1e308, 1.1e75, Infinity, -Infinity)
    const shape = fc.record({
      control: series(finiteValue),
      experiment: series(finiteValue),
      huge,
      at: fc.nat(),
    })
    fc.assert(
      fc.property(shape, fc.boolean(), ({ control, experiment, huge: value, at }, isControl) => {
        const [x, y] = [[...control], [...experiment]]
        const side = isControl ? x : y
        side.splice(at % (side.length + 1), 0, value)
        const report = judge({ control: x, experiment: y }, name)
        expect(report.verdict).not.toBe('Success')
        expect(report.results[0]?.classificationReason).toMatch(/cannot be judged/)
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    ['both ends of the range', [MAX, -MAX], [MAX, -MAX]],
    ['the ends the other way round', [MAX, -MAX, 0], [-MAX, MAX, 1]],
    ['one end each', [MAX], [-MAX]],
    ['infinities', [Infinity, -Infinity], [-Infinity, Infinity]],
  ])('does not pass %s', (_, few, others) => {
    const repeated = (values: readonly number[]): number[] => Array.from({ length: 20 }, () => values).flat()
    const report = judge({ control: repeated(few), experiment: repeated(others) }, name)
    expectNumbers(report)
    expect(report.verdict).not.toBe('Success')
  })

  it('does not count fewer than no events', () => {
    const counts = Array.from({ length: 20 }, (_, index) => [0, -4e33, 2e-47][index % 3] ?? 0)
    const report = judge({ control: counts, experiment: [0, 1, 42], canary: { kind: 'count' } }, name)
    expect(report.verdict).not.toBe('Success')
    expect(report.results[0]?.classificationReason).toMatch(/cannot be judged/)
  })

  it('fails a critical metric that cannot be judged, and cannot be told to ignore it', () => {
    const canary = { critical: true, noData: { sourceError: 'ignore', empty: 'ignore' } }
    expect(judge({ control: [MAX], experiment: [1], canary }, name).verdict).toBe('Fail')
  })
})

it('judges stretches in which fewer values than usual are not 0', () => {
  const control = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 1 : 0))
  const experiment = control.map((value, index) => (index % 10 === 0 ? value : 0))
  for (const each of [
    { control, experiment },
    {
      control: [1e-75, 0, 1e-75, 0, 1e-75, 0, 1e-75, 0],
      experiment: [0, 1e-74, 0, 1e-74, 0, 1e-74, 0, 1e-74, 0],
    },
  ])
    expectNumbers(judge({ ...each, canary: { kind: 'gauge' } }, 'default'))
})

it('takes what decaying averages leave behind for nothing', () => {
  const ones = Array.from({ length: 40 }, (_, index) => (index % 7) + 1)
  const rests = ones.map((value) => value * 5e-324)
  const [tiny, none] = [rests, rests.map(() => 0)].map((experiment) =>
    judge({ control: rests.map(() => 0), experiment }, 'default'),
  )
  expect(tiny?.verdict).toBe(none?.verdict)
})

import { describe, expect, test } from 'vitest'

import { readCanaryConfig, readMetricSpecs } from '../../../src/canary/judge/canary-config.js'
import { AppError } from '../../../src/errors/app-error.js'

const VALUES = { control: [1, null, 'NaN', 2.5], experiment: ['+Inf', 3] }

const problemsOf = (document: unknown): string[] => {
  try {
    readCanaryConfig(document)
  } catch (raw) {
    if (raw instanceof AppError) return raw.details.map(({ message }) => message)
    throw raw
  }
  return []
}

describe('a canary config of Kayenta', () => {
  test('has the defaults that Kayenta gives', () => {
    const { metrics, thresholds } = readCanaryConfig({ metrics: [{ name: 'm', values: VALUES }] })
    expect(thresholds).toEqual({ pass: 95, marginal: 75 })
    expect(metrics[0]?.spec).toEqual({
      name: 'm',
      groups: [''],
      direction: 'either',
      nanStrategy: 'remove',
      critical: false,
      mustHaveData: false,
      muted: false,
      outliers: { strategy: 'keep', factor: 3 },
      effectSize: {
        measure: 'meanRatio',
        allowedIncrease: 1,
        allowedDecrease: 1,
        criticalIncrease: 1,
        criticalDecrease: 1,
      },
      kind: 'auto',
      noData: {},
    })
  })

  test.each([
    [5, '5 would accept a change of 500 %. Write 0.05 for 5 %'],
    [50, '50 would accept a change of 5000 %. Write 0.5 for 50 %'],
  ])('refuses a margin of %d, which is a percentage by mistake', (margin, says) => {
    const problems = (canary: object): string =>
      problemsOf({ metrics: [{ name: 'm', analysisConfigurations: { canary }, values: VALUES }] }).join()
    expect(problems({ margin })).toContain(
      `metrics[0].analysisConfigurations.canary.margin is a share of the baseline, so ${says}`,
    )
    expect(problems({ margin: 1 })).toBe('')
    expect(problems({ margin, upperBound: 100 })).toBe('')
  })

  test('keeps what the metric says', () => {
    const canary = {
      direction: 'increase',
      critical: true,
      outliers: { strategy: 'remove', outlierFactor: 2 },
      effectSize: { measure: 'cles', allowedIncrease: 0.8 },
      limits: { max: 5 },
      noData: { empty: 'ignore' },
    }
    const [spec] = readMetricSpecs({
      name: 'whole config',
      judge: { name: 'NetflixACAJudge-v1.0' },
      metrics: [{ name: 'm', groups: ['a', 'b'], query: { type: 'x' }, analysisConfigurations: { canary } }],
    })
    expect(spec).toMatchObject({
      groups: ['a', 'b'],
      direction: 'increase',
      critical: true,
      outliers: { strategy: 'remove', factor: 2 },
      effectSize: { measure: 'cles', allowedIncrease: 0.8, criticalIncrease: 0.5 },
      limits: { figure: 'mean', max: 5 },
      noData: { empty: 'ignore' },
    })
  })

  test('reads everything that is no number as a gap', () => {
    const [metric] = readCanaryConfig({ metrics: [{ name: 'm', values: VALUES }] }).metrics
    expect(metric?.control.values).toEqual(Float64Array.of(1, Number.NaN, Number.NaN, 2.5))
    expect(metric?.experiment.values).toEqual(Float64Array.of(Number.NaN, 3))
  })

  test('reads a direction in any case, and refuses one that it does not know', () => {
    const specsOf = (direction: string | null) =>
      readMetricSpecs({ metrics: [{ name: 'm', analysisConfigurations: { canary: { direction } } }] })
    expect(specsOf('INCREASE')[0]?.direction).toBe('increase')
    expect(specsOf(null)[0]?.direction).toBe('either')
    expect(() => specsOf('upwards')).toThrow('the canary config is invalid')
  })

  test('counts a metric out of another one that it names', () => {
    const analysisConfigurations = { canary: { exposure: 'requests' } }
    const requests = { control: [10, 20], experiment: [1, 2] }
    const { metrics } = readCanaryConfig({
      metrics: [
        { name: 'errors', values: { control: [1, 2], experiment: [0, 1] }, analysisConfigurations },
        { name: 'requests', values: requests },
      ],
    })
    expect(metrics[0]).toMatchObject({
      control: { exposure: Float64Array.of(10, 20) },
      experiment: { exposure: Float64Array.of(1, 2) },
    })
    expect(metrics[1]?.control.exposure).toBeUndefined()
  })

  test.each([
    [
      'has too few points',
      { values: { control: [10], experiment: [1, 2] } },
      /exposure has 1 points for 2 values/,
    ],
    ['could not be had', { error: 'it answers 503' }, /exposure: it answers 503/],
  ])('cannot judge a metric whose exposure %s', (_, requests, message) => {
    const analysisConfigurations = { canary: { exposure: 'requests' } }
    const { metrics } = readCanaryConfig({
      metrics: [
        { name: 'errors', values: { control: [1, 2], experiment: [0, 1] }, analysisConfigurations },
        { name: 'requests', ...requests },
      ],
    })
    expect(metrics[0]?.control.error).toMatch(message)
  })

  test('that is wrong has all its problems named at once', () => {
    const document = {
      metrics: [
        { name: 'a', values: { control: [1, 'one', true], experiment: [] } },
        { name: 'b', analysisConfigurations: { canary: { nanStrategy: 'drop', critical: 'yes' } } },
      ],
      classifier: { groupWeights: { a: -1 } },
    }
    const problems = problemsOf(document).join('\n')
    for (const path of ['control[1]', 'control[2]', 'nanStrategy', 'critical', 'groupWeights.a']) {
      expect(problems).toContain(path)
    }
  })

  test.each([
    [
      {
        metrics: [
          { name: 'a', values: VALUES },
          { name: 'a', values: VALUES },
        ],
      },
      /another metric named "a"/,
    ],
    [{ metrics: [{ name: 'a' }] }, /metrics\[0\]\.values is required/],
    [
      { metrics: [{ name: 'a', values: VALUES, exposure: { control: [1], experiment: [1, 1] } }] },
      /exposure\.control must have a number for each of the 4 values/,
    ],
    [{ metrics: [] }, /metrics/],
    [[], /the document/],
  ])('%#: is refused with the place and what is wanted', (document, message) => {
    expect(problemsOf(document).join('\n')).toMatch(message)
  })

  test('names a metric without values even where others are malformed, in words', () => {
    const problems = problemsOf({
      metrics: [
        { name: '', values: VALUES },
        { name: 'b' },
        { name: 'c', groups: 'g', analysisConfigurations: { canary: { critical: 'yes' } }, values: VALUES },
      ],
      classifier: { groupWeights: { g: 'much' }, scoreThresholds: { pass: 950 } },
    })
    expect(problems).toEqual([
      'metrics[0].name must have at least 1 character',
      'metrics[1].values is required: {"control": […], "experiment": […]}',
      'metrics[2].groups must be an array, not "g"',
      'metrics[2].analysisConfigurations.canary.critical must be true or false, not "yes"',
      'classifier.groupWeights.g must be a number, not "much"',
      'classifier.scoreThresholds.pass must be at most 100',
    ])
  })

  test('names a hundred problems and counts the others', () => {
    const control = Array.from({ length: 150 }, () => 'x')
    const problems = problemsOf({ metrics: [{ name: 'm', values: { control, experiment: [] } }] })
    expect(problems).toHaveLength(101)
    expect(problems.at(-1)).toBe('50 more problems are not named')
  })

  test('takes null for a member that is left out, as Kayenta writes it', () => {
    const [spec] = readMetricSpecs({
      metrics: [
        {
          name: 'm',
          groups: null,
          analysisConfigurations: { canary: { direction: 'increase', outliers: null, effectSize: null } },
        },
      ],
      classifier: { groupWeights: null, scoreThresholds: null },
    })
    expect(spec).toMatchObject({ groups: [''], direction: 'increase', outliers: { strategy: 'keep' } })
  })
})

test('a dry run is a muted metric', () => {
  const specs = readMetricSpecs({
    metrics: [
      { name: 'shown', groups: ['g'], analysisConfigurations: { canary: { dryRun: true } } },
      { name: 'counted', groups: ['g'] },
    ],
  })
  expect(specs.map(({ muted }) => muted)).toEqual([true, false])
})

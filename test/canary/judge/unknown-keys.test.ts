import { describe, expect, test } from 'vitest'

import { unknownKeys } from '../../../src/canary/judge/unknown-keys.js'

const metric = (more: object, canary: object = {}): object => ({
  name: 'm',
  groups: ['g'],
  analysisConfigurations: { canary },
  ...more,
})
const CANARY = 'metrics[0].analysisConfigurations.canary'

describe('what nobody reads of a canary config', () => {
  test.each([
    [
      'a misspelt name',
      metric({}, { criticl: true }),
      `${CANARY}.criticl is not known and does nothing: did you mean critical?`,
    ],
    [
      'a name in another case',
      metric({}, { musthavedata: true }),
      `${CANARY}.musthavedata is not known and does nothing: did you mean mustHaveData?`,
    ],
    ['a name of nothing', metric({}, { colour: 'red' }), `${CANARY}.colour is not known and does nothing`],
    [
      'a name in the wrong place',
      metric({ critical: true }),
      'metrics[0].critical is not known and does nothing: it belongs into analysisConfigurations.canary',
    ],
    [
      'a member of a member',
      metric({}, { effectSize: { allowedIncrese: 2 } }),
      `${CANARY}.effectSize.allowedIncrese is not known and does nothing: did you mean allowedIncrease?`,
    ],
    [
      'the query',
      metric({ query: { labelBinding: [] } }),
      'metrics[0].query.labelBinding is not known and does nothing: did you mean labelBindings?',
    ],
    [
      'the configuration itself',
      metric({ analysisConfiguration: {} }),
      'metrics[0].analysisConfiguration is not known and does nothing',
    ],
  ])('is told with its place: %s', (_, given, says) => {
    expect(unknownKeys({ metrics: [given] })).toEqual([says])
  })

  test('is told of the classifier and the document too', () => {
    const document = { metrics: [metric({})], classifer: {}, classifier: { groupWeigths: {} } }
    expect(unknownKeys(document)).toEqual([
      'classifer is not known and does nothing',
      'classifier.groupWeigths is not known and does nothing: did you mean groupWeights?',
    ])
  })

  test('is named up to a number', () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`unheard${index}of`, 1]))
    const told = unknownKeys({ metrics: [metric({}, many)] })
    expect(told).toHaveLength(21)
    expect(told.at(-1)).toBe('5 more members are not known')
  })

  test.each([
    [
      'a config as Kayenta stores it',
      {
        id: 'x',
        name: 'shop',
        description: '',
        configVersion: '1',
        applications: ['shop'],
        createdTimestamp: 1,
        createdTimestampIso: '',
        updatedTimestamp: 1,
        updatedTimestampIso: '',
        judge: { name: 'NetflixACAJudge-v1.0', judgeConfigurations: {} },
        templates: { one: 'a=1' },
        classifier: { groupWeights: { g: 100 }, scoreThresholds: { pass: 95, marginal: 75 } },
        metrics: [
          metric(
            {
              scopeName: 'default',
              query: {
                type: 'stackdriver',
                serviceType: 'stackdriver',
                metricType: 'x',
                resourceType: 'gce_instance',
                crossSeriesReducer: 'REDUCE_MEAN',
                perSeriesAligner: 'ALIGN_MEAN',
                groupByFields: [],
                customInlineTemplate: null,
                somethingOfItsOwn: 1,
              },
            },
            {
              direction: 'either',
              nanStrategy: 'replace',
              critical: true,
              mustHaveData: true,
              effectSize: { measure: 'meanRatio', allowedIncrease: 1.1, criticalIncrease: 2 },
              outliers: { strategy: 'keep', outlierFactor: 3 },
            },
          ),
        ],
      },
    ],
    [
      'what Tidegate has beside',
      {
        metrics: [
          metric(
            { values: { control: [1], experiment: [1] }, exposureQuery: {}, error: 'x' },
            {
              margin: 0.1,
              kind: 'count',
              limits: { figure: 'max', max: 1 },
              noData: { empty: 'fail' },
              muted: true,
            },
          ),
        ],
      },
    ],
    ['members that are null', { metrics: [metric({}, { criticl: null })] }],
    ['no document', undefined],
  ])('is nothing of %s', (_, document) => {
    expect(unknownKeys(document)).toEqual([])
  })
})

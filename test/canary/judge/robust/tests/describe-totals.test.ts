import { expect, test } from 'vitest'

import { judge, judgeOne, points } from '../../../../support/judge-metrics.js'

const every = (step: number, events: number): number[] => points((index) => (index % step === 0 ? events : 0))
const requests = { control: points(() => 850), experiment: points(() => 867) }

test.each([
  {
    name: 'events out of requests in every point',
    metric: { control: every(3, 2), experiment: points(() => 23), exposure: requests },
    says: '1,380 events in 52,020, 40 in 51,000 in the baseline: 2.7 % against 0.078 %',
  },
  {
    name: 'the same where only events are given',
    metric: { control: every(3, 2), experiment: points(() => 23), canary: { kind: 'count' } },
    says: '1,380 events, 40 in the baseline',
  },
  {
    name: 'rare events that come alone',
    metric: { control: points(() => 0), experiment: every(6, 1) },
    says: '10 events, 0 in the baseline. 17 % of the points have events, 0.0 % in the baseline',
  },
  {
    name: 'rare events in clusters, of more requests',
    metric: {
      control: every(20, 5),
      experiment: every(3, 100),
      exposure: { control: points(() => 200), experiment: points(() => 300) },
    },
    says: '2,000 events in 18,000, 15 in 12,000 in the baseline: 11 % against 0.13 %',
  },
  {
    name: 'sides of different length',
    metric: { control: every(3, 2), experiment: points(() => 23, 30), canary: { kind: 'count' } },
    says: '690 events in 30 points, 40 in 60 in the baseline',
  },
  {
    name: 'more events than what they are counted out of',
    metric: {
      control: points(() => 0.5),
      experiment: points(() => 20),
      exposure: { control: points(() => 2), experiment: points(() => 2) },
    },
    says: '1,200 events in 120, 30 in 120 in the baseline: 10 against 0.25 each',
  },
  {
    name: 'as many events as what they are counted out of',
    metric: {
      control: points(() => 2),
      experiment: points(() => 5),
      exposure: { control: points(() => 5), experiment: points(() => 5) },
    },
    says: '300 events in 300, 120 in 300 in the baseline: 100 % against 40 %',
  },
])('the reason gives the totals of both sides: $name', ({ metric, says }) => {
  const { classification, classificationReason } = judgeOne(metric)
  expect({ classification, says: classificationReason.slice(0, says.length) }).toEqual({
    classification: 'High',
    says,
  })
})

test('the metric that says what events are counted out of names them, when it is a word', () => {
  const of = (name: string): string => {
    const metrics = [
      { ...requests, name, canary: { muted: true } },
      { control: every(3, 2), experiment: points(() => 23), canary: { exposure: name } },
    ]
    return judge(metrics).results[1]?.classificationReason ?? ''
  }
  expect(of('requests')).toContain('1,380 events in 52,020 requests, 40 in 51,000 in the baseline')
  expect(of('sum(rate(requests[1m]))')).toContain('1,380 events in 52,020, 40 in 51,000')
})

test('a count that passes says how many there were', () => {
  const result = judgeOne({ control: every(10, 1), experiment: every(12, 1) })
  expect(result.classificationReason).toContain('No change is proven: 5 events, 6 in the baseline')
})

import { expect, test } from 'vitest'

import { FeedbackBody } from '../../../src/http/routes/analysis/analysis.js'
import { DelegationBody } from '../../../src/http/routes/gates/delegations.js'
import { ExceptionBody } from '../../../src/http/routes/policies/exceptions.js'
import { InstanceStatus } from '../../../src/distribution/fleet.js'

const exception = {
  package: 'static.a',
  application: 'shop',
  pipeline: 'p',
  reason: 'two\nlines',
  until: '2030-01-01',
}
const delegation = { to: 'bo', until: '2030-01-01', reason: 'two\r\n\tlines' }
const feedback = { judgement: 'right', metrics: ['latency'], comment: 'two\nlines' }
const bodies = [
  ['an exception', ExceptionBody, exception],
  ['a delegation', DelegationBody, delegation],
  ['feedback', FeedbackBody, feedback],
  ['the labels of a status', InstanceStatus.shape.labels.pick({ id: true }), { id: 'one' }],
] as const

test.each(bodies)('%s may contain lines, but no other control characters', (_, schema, body) => {
  expect(schema.safeParse(body).success).toBe(true)
  const members = Object.entries(body).filter(([name]) => !['until', 'judgement'].includes(name))
  for (const [name, value] of members)
    for (const character of ['\0', '\u001b', '\u009b']) {
      const wrong = Array.isArray(value) ? [`a${character}b`] : `a${character}b`
      expect(schema.safeParse({ ...body, [name]: wrong }).error?.issues).toMatchObject([
        { message: expect.stringContaining('must not contain control characters') as unknown },
      ])
    }
})

import { expect, test } from 'vitest'

import { collectInstance, instanceDetails } from '../../src/gates/instances/instance-view.js'
import { reviewInstance } from '../../src/gates/reviewing/review-instance.js'
import { approvalPage } from '../../src/http/pages/approval-page.js'
import { NOW_MS, makeGate, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()
const [BO, CY, DI] = ['bo', 'cy', 'di'].map((name) => ({ name, groups: [] }))
const VIEWER = {
  ...{ name: 'eve', formToken: 'form', prefix: '', mayDecide: false, entersName: false },
  roles: ['approver'] as const,
}

/** An instance that needs two, which some people have approved while all of them might. */
async function approvedBy(...people: readonly string[]) {
  const { writer, lookups } = await open()
  await triggered(writer, makeGate({ approvals: 2 }))
  for (const person of people) {
    const attempt = { person, action: 'approve' as const, comment: '', groups: [], timeMs: NOW_MS }
    await writer.run(reviewInstance, { instanceId: 1, attempt, origin: undefined })
  }
  return lookups
}

test.each([
  ['who may still approve', [BO!, CY!], 1],
  ['who may not any more', [CY!, DI!], 0],
  ['where nobody is asked who they are', undefined, 1],
])('an open instance is shown with the approvals that a decision would count: of one %s', async (...row) => {
  const [, approvers, approvals] = row
  const lookups = await approvedBy('bo')
  expect(await instanceDetails(lookups, 1, NOW_MS, approvers)).toMatchObject({
    ...{ approvals, approvalsNeeded: 2 },
    reviews: [{ person: 'bo', action: 'approve' }],
  })
  const whole = await collectInstance(lookups, 1, NOW_MS, approvers)
  const { body } = approvalPage(
    {
      ...whole,
      decisions: undefined,
      timeline: { executionId: 'e', entries: [], isTruncated: false },
      ...{ nowMs: 0, subject: undefined, lastApproved: undefined, runs: [] },
    },
    VIEWER,
  )
  const text = String(await body)
  expect(text).toContain(`${approvals} of 2`)
  expect(text.includes('no longer counted')).toBe(approvals === 0)
})

test('a decided instance is shown with all approvals that were given', async () => {
  const lookups = await approvedBy('bo', 'cy')
  const shown = await instanceDetails(lookups, 1, NOW_MS, [DI!])
  expect(shown).toMatchObject({ status: 'approved', approvals: 2 })
})

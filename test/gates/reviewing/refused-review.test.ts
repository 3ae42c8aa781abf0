import { describe, expect, test } from 'vitest'

import { refusedReview } from '../../../src/http/routes/gates/review-by-caller.js'
import { recordIgnoredReview } from '../../../src/gates/reviewing/ignored-reviews.js'
import { NOW_MS, makeInstance, trail, triggered } from '../../support/gates.js'
import { useServiceStore } from '../../support/service-store.js'

const APPROVED = { state: 'approved', decidedBy: 'ana', decidedMs: NOW_MS } as const

describe('whose review does nothing is told', () => {
  test.each([
    ['not_an_approver', {}, 'forbidden', 'bo is not an approver of the gate Release'],
    ['own_trigger', {}, 'forbidden', 'bo triggered instance 1 and may not approve it: someone else must'],
    [
      'nameless',
      {},
      'forbidden',
      'approving instance 1 needs a name, since its gate counts different people: sign in with a token of auth.tokens, or, where none are configured, give a name (on the page, with --as, or in x-spinnaker-user)',
    ],
    ['no_comment', {}, 'invalid', 'The gate Release requires a comment. Say why you decide this way.'],
    ['already_decided', {}, 'conflict', 'bo has already decided on instance 1: it waits for decisions'],
    [
      'not_activated',
      { state: 'not_activated' },
      'conflict',
      'instance 1 cannot be decided yet: it has not been triggered',
    ],
    [
      'closed',
      { ...APPROVED, comment: 'looks good' },
      'conflict',
      'instance 1 is closed: it was approved by ana at 2026-03-01T12:00:00.000Z (looks good)',
    ],
    [
      'closed',
      APPROVED,
      'conflict',
      'instance 1 is closed: it was approved by ana at 2026-03-01T12:00:00.000Z',
    ],
    ['closed', { state: 'expired' }, 'conflict', 'instance 1 is closed: it was expired'],
  ] as const)('%s of %o: %s, %s', (reason, instance, kind, message) => {
    expect(refusedReview(makeInstance(instance), reason, 'bo')).toMatchObject({ kind, message })
  })

  test('the present state, where it is a conflict', () => {
    const { details } = refusedReview(makeInstance(APPROVED), 'closed', 'bo')
    expect(details).toEqual([{ code: 'present_state', message: 'approved' }])
  })
})

describe('a review by somebody without the right', () => {
  const open = useServiceStore()
  const ignored = {
    ...{ instanceId: 1, action: 'cancel', reason: 'no right', unrecorded: 3 },
    actor: { user: 'eve', origin: 'test', nowMs: NOW_MS },
  }

  test('is in the trail, with how many before it are not', async () => {
    const store = await open()
    await triggered(store.writer)
    await store.writer.run(recordIgnoredReview, ignored)
    expect((await trail(store)).at(-1)).toMatchObject({
      kind: 'gate.review_ignored',
      user: 'eve',
      application: 'shop',
      body: { instance: 1, action: 'cancel', reason: 'no right', unrecorded: 3 },
    })
  })

  test('of an instance that nobody knows is not', async () => {
    const store = await open()
    await store.writer.run(recordIgnoredReview, ignored)
    expect(await trail(store)).toEqual([])
  })
})

import { describe, expect, test } from 'vitest'

import type { ReviewAction } from '../../../src/store/ports/gate-instance.js'
import {
  applyCancellation,
  applyPolicy,
  applyReview,
  expire,
  isDue,
} from '../../../src/gates/instances/transition.js'
import type { ReviewAttempt } from '../../../src/gates/instances/transition.js'
import { NOW_MS, makeGate, makeInstance } from '../../support/gates.js'

const review = (person: string, action: ReviewAction, groups: readonly string[] = []): ReviewAttempt => ({
  person,
  action,
  comment: `${person} says ${action}`,
  groups,
  timeMs: NOW_MS,
})

const STATES = ['not_activated', 'activated', 'approved', 'rejected', 'canceled', 'expired'] as const
const FINAL = ['approved', 'rejected', 'canceled', 'expired'] as const

describe('a review', () => {
  test('approves once enough different people have', () => {
    const gate = makeGate({ approvals: 3 })
    const said = [review('bo', 'approve'), review('cy', 'approve')]
    expect(applyReview(makeInstance(), gate, [], review('bo', 'approve'))).toMatchObject({
      kind: 'counted',
      approvals: 1,
    })
    expect(applyReview(makeInstance(), gate, said, review('di', 'approve'))).toMatchObject({
      kind: 'closed',
      state: 'approved',
      comment: 'di says approve',
      decidedBy: 'di',
    })
  })

  test.each(['anonymous', 'Anonymous ', '[anonymous]', 'anonymousUser', '__unrestricted_user__'])(
    'of a caller called %j is no approval where several are needed',
    (name) => {
      const open = makeInstance({ triggeredBy: undefined })
      const gate = makeGate({ approvals: 2 })
      expect(applyReview(open, gate, [], review(name, 'approve'))).toEqual({
        kind: 'refused',
        reason: 'nameless',
      })
      const earlier = [review(name, 'approve')]
      expect(applyReview(open, gate, earlier, review('bo', 'approve'))).toMatchObject({
        kind: 'counted',
        approvals: 1,
      })
      expect(applyReview(open, gate, [], review(name, 'reject'))).toMatchObject({ state: 'rejected' })
      expect(applyReview(open, makeGate(), [], review(name, 'approve'))).toMatchObject({ state: 'approved' })
    },
  )

  test('rejects at once, whoever has approved before', () => {
    const gate = makeGate({ approvals: 3 })
    expect(
      applyReview(makeInstance(), gate, [review('bo', 'approve')], review('cy', 'reject')),
    ).toMatchObject({
      state: 'rejected',
      decidedBy: 'cy',
    })
  })

  test.each(['approve', 'reject'] as const)('of a person who has decided may not %s again', (action) => {
    const gate = makeGate({ approvals: 2 })
    expect(applyReview(makeInstance(), gate, [review('Bo', 'approve')], review('bo', action))).toEqual({
      kind: 'refused',
      reason: 'already_decided',
    })
  })

  test.each([
    ['jos\u00e9', 'jose\u0301'],
    ['Ana', 'a\u200bna'],
    ['Stra\u00dfe', 'STRASSE'],
    ['\u0130x', 'i\u0307x'],
    ['\u212aim', ' kim\u00a0'],
  ])('knows %j and %j for one person, as approver and as triggerer', (name, again) => {
    const gate = makeGate({ approvals: 2 })
    const open = makeInstance({ triggeredBy: 'zoe' })
    const said = [review(name, 'approve')]
    expect(applyReview(open, gate, said, review(again, 'approve'))).toMatchObject({
      reason: 'already_decided',
    })
    expect(
      applyReview(makeInstance({ triggeredBy: name }), gate, [], review(again, 'approve')),
    ).toMatchObject({ reason: 'own_trigger' })
    expect(applyReview(open, gate, said, review('jose', 'approve'))).toMatchObject({ state: 'approved' })
  })

  test('may cancel after an approval of the same person', () => {
    const gate = makeGate({ approvals: 2 })
    expect(
      applyReview(makeInstance(), gate, [review('bo', 'approve')], review('bo', 'cancel')),
    ).toMatchObject({
      state: 'canceled',
    })
  })

  test.each(
    FINAL.flatMap((state) =>
      (['approve', 'reject', 'cancel'] as const).map((action) => [state, action] as const),
    ),
  )('of an instance that is %s may not %s', (state, action) => {
    expect(applyReview(makeInstance({ state }), makeGate(), [], review('bo', action))).toEqual({
      kind: 'refused',
      reason: 'closed',
    })
  })

  test('of an instance that nobody has triggered can only cancel', () => {
    const reserved = makeInstance({ state: 'not_activated', triggeredBy: undefined })
    const effect = (action: ReviewAction) => applyReview(reserved, makeGate(), [], review('bo', action))
    expect(effect('approve')).toEqual({ kind: 'refused', reason: 'not_activated' })
    expect(effect('reject')).toEqual({ kind: 'refused', reason: 'not_activated' })
    expect(effect('cancel')).toMatchObject({ kind: 'closed', state: 'canceled' })
  })
})

describe('who triggered an instance', () => {
  test.each(['ana', 'ANA', 'ci'])('may not approve it, as %s', (person) => {
    expect(applyReview(makeInstance(), makeGate(), [], review(person, 'approve'))).toEqual({
      kind: 'refused',
      reason: 'own_trigger',
    })
  })

  test('may reject it', () => {
    expect(applyReview(makeInstance(), makeGate(), [], review('ana', 'reject'))).toMatchObject({
      state: 'rejected',
    })
  })

  test('may approve it where the gate says so', () => {
    const gate = makeGate({ triggererMayApprove: true })
    expect(applyReview(makeInstance(), gate, [], review('ana', 'approve'))).toMatchObject({
      state: 'approved',
    })
  })
})

describe('a gate with approvers', () => {
  const gate = makeGate({ approvers: { users: ['bo'], groups: ['leads'] } })

  test.each([
    ['a named user', 'bo', [], true],
    ['a member of a named group', 'cy', ['devs', 'leads'], true],
    ['anyone else', 'cy', ['devs'], false],
    ['a user who is called like the group', 'leads', [], false],
  ] as const)('is decided by %s: %s %j -> %s', (_, person, groups, may) => {
    const effect = applyReview(makeInstance(), gate, [], review(person, 'approve', groups))
    expect(effect.kind === 'closed').toBe(may)
    if (!may) expect(effect).toEqual({ kind: 'refused', reason: 'not_an_approver' })
  })

  const approved = (person: string) => ({ person, action: 'approve', comment: '', timeMs: NOW_MS }) as const
  const of2 = makeGate({ approvers: { users: ['bo'], groups: ['leads'] }, approvals: 2 })
  const bo = { name: 'Bo', groups: [] }

  test.each([
    ['is one still', 'cy', [bo, { name: 'cy', groups: ['leads'] }], 'closed'],
    ['left the group', 'cy', [bo, { name: 'cy', groups: ['devs'] }], 'counted'],
    ['has no token any more', 'cy', [bo], 'counted'],
    ['is not named by the gate any more', 'di', [bo, { name: 'di', groups: [] }], 'counted'],
    [
      'triggered it, which must not approve any more',
      'ana',
      [bo, { name: 'ana', groups: ['leads'] }],
      'counted',
    ],
    ['said a name where nobody is asked for a token, and is not named', 'cy', undefined, 'counted'],
  ] as const)(
    'counts the approval of who %s only where it may be given now: %s',
    (_, person, approvers, kind) => {
      const attempt = { ...review('bo', 'approve'), approvers }
      expect(applyReview(makeInstance(), of2, [approved(person)], attempt).kind).toBe(kind)
    },
  )

  test('does not tell others that an instance is closed', () => {
    const effect = applyReview(makeInstance({ state: 'approved' }), gate, [], review('cy', 'approve'))
    expect(effect).toEqual({ kind: 'refused', reason: 'not_an_approver' })
  })
})

describe('the clock', () => {
  test('ends what is open from the millisecond on in which it expires', () => {
    const instance = makeInstance({ expiresMs: NOW_MS })
    expect(isDue(instance, NOW_MS - 1)).toBe(false)
    expect(isDue(instance, NOW_MS)).toBe(true)
    expect(expire(instance)).toEqual({
      kind: 'closed',
      state: 'expired',
      comment: 'expired: no decision until 2026-03-01T12:00:00.000Z',
      decidedBy: undefined,
    })
  })

  test.each(STATES)('may end an instance that is %s only while it is open', (state) => {
    const isOpen = state === 'not_activated' || state === 'activated'
    expect(isDue(makeInstance({ state, expiresMs: 0 }), NOW_MS)).toBe(isOpen)
  })
})

describe("the orchestrator's cancellation", () => {
  test.each(STATES)('of an instance that is %s changes it only while it is open', (state) => {
    const isOpen = state === 'not_activated' || state === 'activated'
    const closing = applyCancellation(makeInstance({ state }), 'pipeline stopped')
    expect(closing?.state).toBe(isOpen ? 'canceled' : undefined)
  })
})

describe("the policy's verdict", () => {
  test('approves without a denial and rejects with the denials as its words', () => {
    const verdict = (denials: string[]) =>
      applyPolicy(makeInstance(), { policy: 'release/approval', denials, warnings: [] })
    expect(verdict([])).toMatchObject({ state: 'approved', decidedBy: 'policy:release/approval' })
    expect(verdict(['no ticket', 'no build'])).toMatchObject({
      state: 'rejected',
      comment: 'no ticket; no build',
    })
  })

  test.each(STATES.filter((state) => state !== 'activated'))('changes nothing once it is %s', (state) => {
    expect(applyPolicy(makeInstance({ state }), { policy: 'p', denials: [], warnings: [] })).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { committersOf, isCommitter } from '../../../src/gates/instances/committers.js'
import {
  applyReview,
  approvalsNeeded,
  countedApprovals,
  groupsWithoutApproval,
} from '../../../src/gates/instances/transition.js'
import type { ReviewAttempt } from '../../../src/gates/instances/transition.js'
import type { Review } from '../../../src/store/ports/gate-instance.js'
import { NOW_MS, makeGate, makeInstance } from '../../support/gates.js'

const INSTANCE = makeInstance({ triggeredBy: 'tom', triggerToken: undefined })

function approval(
  person: string,
  groups: readonly string[],
  more: Partial<ReviewAttempt> = {},
): ReviewAttempt {
  return { person, groups, action: 'approve', comment: '', timeMs: NOW_MS, ...more }
}
function earlier(person: string, groups: readonly string[], onBehalfOf?: string): Review {
  return { person, groups, onBehalfOf, action: 'approve', comment: '', timeMs: NOW_MS }
}

describe('a gate that needs one approver of each group', () => {
  const gate = makeGate({ approvers: { users: [], groups: ['sre', 'qa'] }, eachGroup: true })

  it('needs as many people as groups', () => {
    expect(approvalsNeeded(gate)).toBe(2)
    expect(approvalsNeeded({ ...gate, approvals: 3 })).toBe(3)
  })

  it('is not approved by two people of one group, and is by one of the other', () => {
    const first = [earlier('ana', ['sre'])]
    expect(applyReview(INSTANCE, gate, first, approval('bo', ['sre']))).toMatchObject({ kind: 'counted' })
    const both = [...first, earlier('bo', ['sre'])]
    expect(applyReview(INSTANCE, gate, both, approval('cy', ['qa']))).toMatchObject({ state: 'approved' })
  })

  it('counts a person of several groups once, for the group that nobody else can give', () => {
    expect(applyReview(INSTANCE, gate, [], approval('ana', ['sre', 'qa']))).toMatchObject({ kind: 'counted' })
    const first = [earlier('ana', ['sre', 'qa'])]
    expect(applyReview(INSTANCE, gate, first, approval('bo', ['sre']))).toMatchObject({ state: 'approved' })
    expect(groupsWithoutApproval(gate, [['qa', 'sre'], ['qa']])).toEqual([])
    expect(groupsWithoutApproval(gate, [['sre'], ['sre']])).toEqual(['qa'])
  })

  it('is rejected by one person of any group', () => {
    const attempt = approval('ana', ['sre'], { action: 'reject' })
    expect(applyReview(INSTANCE, gate, [], attempt)).toMatchObject({ state: 'rejected' })
  })
})

describe('accounts of a provider, whose groups are only known when they act', () => {
  it('count with the groups that they had, for a gate with a quorum of a group', () => {
    const gate = makeGate({ approvers: { users: [], groups: ['sre'] }, approvals: 2 })
    expect(countedApprovals(INSTANCE, gate, [earlier('ana', ['sre'])])).toHaveLength(1)
    expect(applyReview(INSTANCE, gate, [earlier('ana', ['sre'])], approval('bo', ['sre']))).toMatchObject({
      state: 'approved',
    })
  })
})

describe('a gate that refuses committers', () => {
  const gate = makeGate({ committersMayApprove: false })
  const effect = (attempt: ReviewAttempt) => applyReview(INSTANCE, gate, [], attempt)

  it('refuses them by name, address and account, and lets them reject', () => {
    const committers = ['Ana Smith <ana@example.org>']
    for (const name of ['ana', 'ANA@example.org', 'Ana Smith', 'ana\u200b'])
      expect(effect(approval(name, [], { committers }))).toEqual({ kind: 'refused', reason: 'committer' })
    expect(effect(approval('bo', [], { committers }))).toMatchObject({ state: 'approved' })
    expect(effect(approval('ana', [], { committers, action: 'reject' }))).toMatchObject({ state: 'rejected' })
  })

  it('refuses everybody while committers are unknown', () => {
    expect(effect(approval('bo', []))).toEqual({ kind: 'refused', reason: 'unknown_committers' })
  })
})

describe('committers', () => {
  const commit = (author: unknown, authorEmail: unknown = null) => ({
    ...{ connectorType: 'GITHUB', state: 'fetched', output: [{ kind: 'commit', author, authorEmail }] },
  })
  it('are the authors in the evidence and in the events', () => {
    expect(committersOf([commit('Ana Smith', 'ana@example.org')], ['bo'])).toEqual([
      'Ana Smith',
      'ana@example.org',
      'bo',
    ])
  })

  it.each([
    ['without any', [], []],
    ['with a commit without an author', [commit(null)], ['bo']],
    ['with a display name alone, which any account can have', [commit('Ana Smith')], []],
    ['with evidence that could not be fetched', [commit('ana'), { state: 'failed', output: [] }], []],
    ['with an empty name', [commit('')], []],
  ])('are unknown %s', (_, evidence, events) => {
    expect(committersOf(evidence, events)).toBeUndefined()
  })

  it('are not those whose names merely start alike', () => {
    expect(isCommitter('an', ['ana@example.org'])).toBe(false)
  })
})

describe('a delegation', () => {
  const gate = makeGate({ approvers: { users: ['ana'], groups: [] } })
  const delegators = [{ name: 'ana', groups: [] }]
  const effect = (attempt: ReviewAttempt, reviews: readonly Review[] = []) =>
    applyReview(INSTANCE, gate, reviews, attempt)

  it('lets a person approve with the rights of another', () => {
    expect(effect(approval('bo', []))).toEqual({ kind: 'refused', reason: 'not_an_approver' })
    expect(effect(approval('bo', [], { delegators }))).toMatchObject({
      ...{ state: 'approved', decidedBy: 'bo', authority: { name: 'ana' } },
    })
  })

  it('gives one vote to both people together', () => {
    const two = makeGate({ approvers: { users: ['ana', 'cy'], groups: [] }, approvals: 2 })
    const own = [earlier('ana', [])]
    expect(applyReview(INSTANCE, two, own, approval('bo', [], { delegators }))).toEqual({
      ...{ kind: 'refused', reason: 'already_decided' },
    })
    const delegated = [earlier('bo', [], 'ana')]
    expect(applyReview(INSTANCE, two, delegated, approval('ana', []))).toEqual({
      ...{ kind: 'refused', reason: 'already_decided' },
    })
    expect(applyReview(INSTANCE, two, delegated, approval('cy', []))).toMatchObject({ state: 'approved' })
  })

  it('does not get around the rule about who triggered, or who committed', () => {
    const byAna = makeInstance({ triggeredBy: 'ana', triggerToken: undefined })
    const attempt = approval('bo', [], { delegators })
    expect(applyReview(byAna, gate, [], attempt)).toEqual({ kind: 'refused', reason: 'own_trigger' })
    const byBo = makeInstance({ triggeredBy: 'bo', triggerToken: undefined })
    expect(applyReview(byBo, gate, [], attempt)).toEqual({ kind: 'refused', reason: 'own_trigger' })
    const strict = { ...gate, committersMayApprove: false }
    expect(applyReview(INSTANCE, strict, [], { ...attempt, committers: ['ana'] })).toEqual({
      ...{ kind: 'refused', reason: 'committer' },
    })
  })

  it('is not used by a person who may approve already', () => {
    const both = makeGate({ approvers: { users: ['ana', 'bo'], groups: [] } })
    expect(applyReview(INSTANCE, both, [], approval('bo', [], { delegators }))).toMatchObject({
      authority: { name: 'bo' },
    })
  })

  it('no longer counts when either person has lost the role', () => {
    const two = makeGate({ approvals: 2, approvers: { users: ['ana', 'cy'], groups: [] } })
    const reviews = [earlier('bo', [], 'ana')]
    const known = (...names: string[]) => names.map((name) => ({ name, groups: [] }))
    expect(countedApprovals(INSTANCE, two, reviews, known('ana', 'bo'))).toHaveLength(1)
    expect(countedApprovals(INSTANCE, two, reviews, known('ana'))).toEqual([])
    expect(countedApprovals(INSTANCE, two, reviews, known('bo'))).toEqual([])
  })
})

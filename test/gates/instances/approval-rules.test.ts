import { describe, expect, it } from 'vitest'
import { committersOf, excludedCommitters, isCommitter } from '../../../src/gates/instances/committers.js'
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
    expect(countedApprovals(INSTANCE, gate, [earlier('ana', ['sre'])], {})).toHaveLength(1)
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

  it('does not count earlier approvals by them, or while they are unknown', () => {
    const reviews = [earlier('ana', []), earlier('bo', [])]
    expect(countedApprovals(INSTANCE, gate, reviews, { committers: ['ana'] })).toMatchObject([
      { person: 'bo' },
    ])
    expect(countedApprovals(INSTANCE, gate, reviews, {})).toEqual([])
  })

  it('refuses a caller without a name', () => {
    expect(effect(approval('anonymous', [], { committers: ['ana'] }))).toMatchObject({ kind: 'refused' })
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
    ['with an empty name in the events', [commit('ana')], ['bo', '']],
    ['with a connector that had no account', [commit('ana'), { state: 'skipped', output: [] }], []],
    ['with evidence that a limit cut', [{ ...commit('ana'), truncated: true }], []],
  ])('are unknown %s', (_, evidence, events) => {
    expect(committersOf(evidence, events)).toBeUndefined()
  })

  it('are unknown until the evidence is fetched, and nobody where they may approve', () => {
    const evidence = [commit('ana')]
    const gate = { committersMayApprove: false }
    expect(excludedCommitters(gate, { work: 'evidence' }, evidence, ['bo'])).toBeUndefined()
    expect(excludedCommitters(gate, { work: undefined }, evidence, ['bo'])).toEqual(['ana', 'bo'])
    expect(excludedCommitters({}, { work: 'evidence' }, evidence, [])).toEqual([])
  })

  it.each(['123+ana@users.noreply.github.com', '123-ana@users.noreply.gitlab.com'])(
    'are known by their private address: %s',
    (address) => {
      expect(isCommitter('ana', [address])).toBe(true)
    },
  )

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
    expect(countedApprovals(INSTANCE, two, reviews, { approvers: known('ana', 'bo') })).toHaveLength(1)
    expect(countedApprovals(INSTANCE, two, reviews, { approvers: known('ana') })).toEqual([])
    expect(countedApprovals(INSTANCE, two, reviews, { approvers: known('bo') })).toEqual([])
  })
})

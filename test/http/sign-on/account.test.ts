import { expect, test } from 'vitest'

import { accountOf, principalOf } from '../../../src/http/sign-on/account.js'

const names = { nameClaim: 'email', groupsClaim: 'groups' }
const roles = { approver: ['managers'], auditor: ['*'], orchestrator: ['robots'], author: [], admin: [] }

test.each([
  ['a list', ['managers', 7, null], ['managers']],
  ['a single text', 'managers', ['managers']],
  ['nothing', undefined, []],
  ['an object', { managers: true }, []],
])('reads groups from %s', (_, groups, read) => {
  expect(accountOf({ email: 'ana@example.org', groups }, names).groups).toEqual(read)
})

test.each([undefined, 7, '', ' ana', 'a'.repeat(101), 'a\nb'])('refuses %j as a name', (email) => {
  expect(() => accountOf({ email }, names)).toThrow(/no usable claim email/)
})

test('refuses an address that the provider has not verified, and accepts one of which it says nothing', () => {
  const claims = { email: 'ana@example.org' }
  expect(() => accountOf({ ...claims, email_verified: false }, names)).toThrow(/has not verified/)
  expect(accountOf(claims, names).name).toBe('ana@example.org')
})

test('gives each role that a group has, and those of everybody', () => {
  const account = { name: 'ana', groups: ['managers', 'robots'] }
  const principal = principalOf(account, { roles, reserved: new Set<string>() })
  expect(principal.roles).toEqual(['orchestrator', 'approver', 'auditor'])
})

test('refuses an account without a role, and says why', () => {
  const rules = { roles: { ...roles, auditor: [] }, reserved: new Set<string>() }
  expect(() => principalOf({ name: 'ana', groups: ['staff'] }, rules)).toThrow(/has no role here/)
})

test.each(['orca', 'Orca', 'ｏｒｃａ', 'or\u200bca'])(
  'refuses %j where a token is named orca, since gates take both for one person',
  (name) => {
    const account = { name, groups: ['managers'] }
    expect(() => principalOf(account, { roles, reserved: new Set(['orca']) })).toThrow(/name of a token/)
  },
)

import { describe, expect, test } from 'vitest'

import { makeAuthenticate } from '../../../src/http/pipeline/authenticate.js'
import { makeFindPerson } from '../../../src/http/sign-on/find-person.js'
import type { ProxyRules } from '../../../src/http/sign-on/find-person.js'
import { FakeExchange } from '../../support/fake-exchange.js'

const proxy: ProxyRules = {
  addresses: ['10.1.0.0/16', 'fd00::1'],
  ...{ userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups' },
  roles: { approver: ['managers'], auditor: ['*'], orchestrator: [], author: [], admin: ['operators'] },
  reserved: new Set(['orca']),
}

/** How a request with these headers from an address is let in for approvers. */
async function outcome(
  address: string,
  headers: Record<string, string>,
  rawHeaders: readonly string[] = [],
): Promise<unknown> {
  const authenticate = makeAuthenticate({
    ...{ tokens: [], openToOrchestrator: false, findPerson: makeFindPerson(proxy, undefined) },
  })
  const exchange = new FakeExchange({ headers })
  Object.defineProperty(exchange, 'remoteAddress', { value: address })
  Object.defineProperty(exchange, 'rawHeaders', { value: rawHeaders })
  try {
    await authenticate(exchange, ['approver'])
    const { tokenName, groups } = exchange.caller
    return [tokenName, groups]
  } catch (raw) {
    return (raw as { kind: string }).kind
  }
}

const ana = { 'x-forwarded-user': 'ana', 'x-forwarded-groups': 'staff, managers' }

describe('a request through a proxy that authenticates people', () => {
  test.each(['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1'])(
    'is from the person it names: %s',
    async (address) => {
      expect(await outcome(address, ana)).toEqual(['ana', ['staff', 'managers']])
    },
  )

  test.each(['10.2.0.1', '127.0.0.1', 'fd00::2', ''])(
    'counts for nothing from another address: %j',
    async (address) => {
      expect(await outcome(address, ana)).toBe('unauthenticated')
    },
  )

  test.each([
    ['without a name', {}, 'unauthenticated'],
    ['with an empty name', { 'x-forwarded-user': ' ' }, 'forbidden'],
    ['with a name of 101 characters', { ...ana, 'x-forwarded-user': 'a'.repeat(101) }, 'forbidden'],
    ['with the name of a token', { ...ana, 'x-forwarded-user': 'orca' }, 'forbidden'],
    ['with that name in capitals', { ...ana, 'x-forwarded-user': 'ORCA' }, 'forbidden'],
    ['without a group for the role', { 'x-forwarded-user': 'ana' }, 'forbidden'],
    ['with a token of nobody', { ...ana, authorization: 'Bearer wrong' }, 'unauthenticated'],
    ['with a token of three parts', { ...ana, authorization: 'Bearer a.b.c' }, 'unauthenticated'],
  ])('%s is refused', async (_, headers, kind) => {
    expect(await outcome('10.1.2.3', headers)).toBe(kind)
  })

  test.each([
    ['the name', ['X-Forwarded-User', 'boss', 'x-forwarded-user', 'ana']],
    ['the groups', ['x-forwarded-groups', 'managers', 'X-FORWARDED-GROUPS', 'staff']],
  ])('is refused if a caller added %s, which Node.js joins', async (_, rawHeaders) => {
    expect(await outcome('10.1.2.3', ana, rawHeaders)).toBe('forbidden')
    expect(await outcome('10.1.2.3', ana, rawHeaders.slice(2))).toEqual(['ana', ['staff', 'managers']])
  })
})
